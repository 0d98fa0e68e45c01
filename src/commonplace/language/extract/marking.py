"""Marked sentences: names and pronouns are replaced by node marks.

"My sister Noa works at Acme" → "⟨p0⟩'s sister ⟨p4⟩ works at ⟨o2⟩". A mark has a letter for the
node's kind, the node's index, and optionally a letter for the form: i (I, we), m (me, us), h (he,
she: resolved by a guess), y (you: the addressee), r (named only by the role before it).

Marked sentences are also rewritten in the third person here.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from commonplace.language.extract import values
from commonplace.language.extract.patterns import pattern_words
from commonplace.language.extract.sentences import (
    HEBREW_MY_WORDS,
    OWNER_INDEX,
    SentenceContext,
    Utterance,
    expand_casual_spelling,
    expand_contractions,
    fill_ellipsis,
    remove_asides,
    separate_hebrew_suffixes,
)
from commonplace.language.extract.values import FoundNode, NodeSpan
from commonplace.language.fields.names import fold_name
from commonplace.language.observe import english, hebrew
from commonplace.language.observe.hebrew import is_hebrew
from commonplace.language.observe.sentence import USER
from commonplace.language.text.lexicon import load_word_lists
from commonplace.language.text.relative_dates import resolve_relative_dates
from commonplace.language.text.sentences import is_past
from commonplace.model.graph.types import NodeType

GUESSED_SUFFIX, ROLE_SUFFIX, ADDRESSEE_SUFFIX = "h", "r", "y"
_TWO = 2
_MAX_ROLE_DISTANCE = 25  # characters: no pattern connects a role with a name that is further away
_LOOK_BACK = 2  # sentences in which a pronoun's referent is searched
MARK = re.compile(r"⟨([a-z])(\d+)([imhry]?)⟩")
KIND_LETTERS = {
    values.ORGANIZATION: "o", values.LOCATION: "l", values.PROJECT: "j", values.PRODUCT: "d",
    values.EVENT: "v", values.GROUP: "g",
}  # fmt: skip
PERSON_LETTER, CONCEPT_LETTER, SCHOOL_LETTER, OTHER_LETTER = "p", "c", "s", "e"
_SCHOOL_NAME = re.compile(
    r"\b(?:university|college|school|academy|institute of technology|primary|kindergarten)\b"
    r"|אוניברסיט|טכניון|מכללת|בית.ספר|תיכון",
    re.IGNORECASE,
)
_CLUB_NAME = re.compile(
    r"\b(?:club|society|band|choir|quartet|trio|orchestra|ensemble|association|league|guild|team|"
    r"crew|committee|union)\b|מועדון|להקת|מקהלת|תזמורת|אגודת|ועד",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedUtterance:
    text: str
    text_without_asides: str  # without parentheticals: "Noa, my sister, works" → "Noa works"
    utterance: Utterance
    persons: tuple[int, ...]  # mentioned persons except the speaker, in order
    things: tuple[int, ...] = ()  # mentioned entities except locations

    def in_words(self, part: str, nodes: Sequence[FoundNode]) -> str:
        """A part of the text with words for marks: names for resolved pronouns, "I" for the
        speaker."""

        def word(mark: re.Match[str]) -> str:
            is_joined = part.endswith(" and ", 0, mark.start()) or part.startswith(
                " and ", mark.end()
            )
            if mark[3] == "m" or (mark[3] == "i" and is_joined):
                return "me"
            return "I" if mark[3] == "i" else nodes[int(mark[2])].name

        part = re.sub(r" ⟨p\d+r⟩", "", part)
        return MARK.sub(word, re.sub(r"⟨p\d+i⟩'s\b", "my", part))


def letter_of_node(node: FoundNode) -> str:
    if node.type is NodeType.PERSON:
        return PERSON_LETTER
    if node.type is NodeType.CONCEPT:
        return CONCEPT_LETTER
    if node.subtype == values.ORGANIZATION and _SCHOOL_NAME.search(node.name):
        return SCHOOL_LETTER
    if node.subtype == values.ORGANIZATION and _CLUB_NAME.search(node.name):
        return KIND_LETTERS[values.GROUP]
    return KIND_LETTERS.get(node.subtype, OTHER_LETTER)


class SentenceMarker:
    """Marks the sentences of a source in order; keeps the context for pronouns."""

    def __init__(self, nodes: Sequence[FoundNode], speakers: Collection[int] = ()):
        """``speakers``: all speakers of the source. If there are two, "you" is the other one."""
        self._nodes = nodes
        self._pair = frozenset(speakers) if len(set(speakers)) == _TWO else frozenset()
        self._persons_by_name = {
            name.casefold(): index
            for index, node in enumerate(nodes)
            if node.type is NodeType.PERSON
            for name in (*node.name.split()[:1], *node.aliases, node.name)
        }
        self._previous: deque[MarkedUtterance] = deque(maxlen=_LOOK_BACK)
        self._women = self._with_gendered_name("she")
        self._men = self._with_gendered_name("he")

    def _with_gendered_name(self, gender: str) -> set[int]:
        """Persons with a first name that only women or only men have."""
        return {
            index
            for index, node in enumerate(self._nodes)
            if node.type is NodeType.PERSON
            and fold_name(node.name.partition(" ")[0]) in _GENDERED_NAMES[gender]
        }

    def mark(self, utterance: Utterance) -> MarkedUtterance:
        self._learn_gender("".join(self._marked_parts(utterance, mentioned=None)))
        mentioned: list[int] = []
        whole = "".join(self._marked_parts(utterance, mentioned))
        context = SentenceContext(
            utterance.speaker,
            self._only_mark(values.ORGANIZATION, mentioned),
            self._only_mark(values.EVENT, mentioned),
        )
        text = fill_ellipsis(expand_contractions(whole), context)
        self._learn_gender(text)
        marked = MarkedUtterance(
            text=text,
            text_without_asides=fill_ellipsis(expand_contractions(remove_asides(whole)), context),
            utterance=utterance,
            persons=tuple(each for each in mentioned if self._is_other_person(each, utterance)),
            things=tuple(each for each in mentioned if self._is_thing(each)),
        )
        self._previous.append(marked)
        return marked

    def _marked_parts(self, utterance: Utterance, mentioned: list[int] | None) -> Iterator[str]:
        """``mentioned``: nodes so far, for the pronouns; None leaves pronouns as they are."""
        position = 0
        for span in utterance.spans:
            yield self._mark_between(utterance.own[position : span.start], utterance, mentioned)
            yield self._mark_name(utterance, span)
            if mentioned is not None and span.node != utterance.speaker:
                mentioned.append(span.node)
            position = span.end
        yield self._mark_between(utterance.own[position:], utterance, mentioned)

    def _mark_between(self, text: str, utterance: Utterance, mentioned: list[int] | None) -> str:
        return text if mentioned is None else self._with_pronouns(text, utterance, mentioned)

    def _is_other_person(self, node: int, utterance: Utterance) -> bool:
        return self._is_person(node) and node != utterance.speaker

    def _only_mark(self, subtype: str, mentioned: Sequence[int]) -> str | None:
        """The mark of the only node of this subtype in this sentence, else in an earlier one."""
        for things in (mentioned, self._previous_nodes(is_thing=True)):
            marks = {
                f"⟨{letter_of_node(node)}{each}{GUESSED_SUFFIX}⟩"
                for each in things
                if (node := self._nodes[each]).subtype == subtype
            }
            if marks:
                return marks.pop() if len(marks) == 1 else None
        return None

    def _is_thing(self, node: int) -> bool:
        is_entity = self._nodes[node].type is NodeType.ENTITY
        return is_entity and self._nodes[node].subtype != values.LOCATION

    def _mark_name(self, utterance: Utterance, span: NodeSpan) -> str:
        text = utterance.own[span.start : span.end]
        mark = f"⟨{letter_of_node(self._nodes[span.node])}{span.node}⟩"
        if span.node == utterance.speaker and _FIRST_PERSON_PRONOUN.fullmatch(text):
            return self._mark_first_person(text, utterance)
        if mark[1] == PERSON_LETTER and (other := self._mark_owned_role(utterance, span)):
            return other
        role = _ROLE_PHRASE.fullmatch(text)
        if role is None or utterance.speaker is None or span.node == utterance.speaker:
            return mark
        if mark[1] != PERSON_LETTER:  # "my flatmates are Zoe and Hamza", "time with my family"
            return mark if role["group"] else self._with_pronouns(text, utterance, [])
        # "my manager is Dana": Dana has her own mark.
        is_named = self._is_named_next(utterance, span) or any(
            each.node == span.node and each != span and each.start - span.end < _MAX_ROLE_DISTANCE
            for each in utterance.spans
        )
        is_predicate = _PREDICATE.search(utterance.own[: span.start]) is not None
        words = self._with_pronouns(text, utterance, [])
        return words if is_named or is_predicate else f"{words} {mark[:-1]}{ROLE_SUFFIX}⟩"

    def _mark_owned_role(self, utterance: Utterance, span: NodeSpan) -> str:
        """ "Tom's wife" is marked as Tom's; empty if the possessor is unknown."""
        owned = _OWNED_ROLE.fullmatch(utterance.own[span.start : span.end])
        owner = self._persons_by_name.get(owned["owner"].casefold()) if owned else None
        if owned is None or owner is None or owner == span.node:
            return ""
        is_named = any(each.node == span.node and each != span for each in utterance.spans)
        is_predicate = _PREDICATE_OF.search(utterance.own[: span.start]) is not None
        mark = "" if is_named or is_predicate else f" ⟨{PERSON_LETTER}{span.node}{ROLE_SUFFIX}⟩"
        return f"⟨{PERSON_LETTER}{owner}⟩'s {owned['role']}{mark}"

    def _is_named_next(self, utterance: Utterance, span: NodeSpan) -> bool:
        """ "My boss there is Dana", "my dentist is a woman called Noa": a name follows the role."""
        after = (each for each in utterance.spans if each.start >= span.end)
        person = next((each for each in after if self._is_person(each.node)), None)
        return person is not None and bool(
            _NAME_FOLLOWS.fullmatch(utterance.own[span.end : person.start])
        )

    # ——— pronouns ———

    def _with_pronouns(self, text: str, utterance: Utterance, mentioned: list[int]) -> str:
        text = expand_casual_spelling(_BRACKETS.sub(" ", text))
        if utterance.speaker is not None and is_hebrew(text):
            text = separate_hebrew_suffixes(text, f"⟨p{utterance.speaker}i⟩")

        def replace_pronoun(match: re.Match[str]) -> str:
            word = match[0]
            if _FIRST_PERSON_PRONOUN.fullmatch(word):
                return self._mark_first_person(word, utterance)
            if _SECOND_PERSON_PRONOUN.fullmatch(word):
                return self._mark_second_person(word, utterance)
            return self._mark_third_person(match, mentioned)

        return _PRONOUN.sub(replace_pronoun, text)

    def _mark_first_person(self, word: str, utterance: Utterance) -> str:
        if utterance.speaker is None or word == "US":
            return word
        word = word.lower()
        if word in ("my", "our", "mine", "ours"):
            return f"⟨p{utterance.speaker}i⟩'s"
        return f"⟨p{utterance.speaker}{'m' if word in ('me', 'us') else 'i'}⟩"

    def _mark_second_person(self, word: str, utterance: Utterance) -> str:
        """ "Bring your friend Tasha": "your" is the addressee, if there is exactly one."""
        addressee = self._addressee(utterance)
        if addressee is None:
            return word
        mark = f"⟨p{addressee}{ADDRESSEE_SUFFIX}⟩"
        return f"{mark}'s" if word.lower().startswith("your") else mark

    def _addressee(self, utterance: Utterance) -> int | None:
        first = utterance.spans[0] if utterance.spans else None
        if first is not None and self._is_person(first.node) and first.node != utterance.speaker:
            before, after = utterance.own[: first.start], utterance.own[first.end : first.end + 2]
            if _ADDRESS_OPENING.fullmatch(before) and after.startswith(
                (", ", ",", ":", " –", " —")
            ):
                return first.node
        others = self._pair - {utterance.speaker}
        return next(iter(others)) if len(others) == 1 else None

    def _mark_third_person(self, match: re.Match[str], mentioned: list[int]) -> str:
        word, _, short = match[0].lower().partition("'")
        lead = "ו" if word in ("והוא", "והיא") else ""
        if word in _HEBREW_COPULAS and not match.string[match.end() :].strip():
            return match[0]  # «המנהלת שלי היא דנה»: "is", not "she"
        word = _HEBREW_PRONOUNS.get(word.removeprefix("ו"), word)
        # "Pilar, her classmate": not Pilar's.
        is_aside = word in _POSSESSIVE_PRONOUNS and match.string[: match.start()] == ", "
        # "Odile and her kids": Odile's.
        is_hers = (
            word in _POSSESSIVE_PRONOUNS
            and match.string[: match.start()] == " and "
            and bool(mentioned)
        )
        others = mentioned[:-1] if is_aside else mentioned[-1:] if is_hers else mentioned
        if _is_object_pronoun(match) and not _NEW_CLAUSE.search(match.string, 0, match.start()):
            # "Ben will bring him": not Ben
            others = [each for each in mentioned if each != mentioned[-1]]
        node = self._resolve_pronoun(word, others)
        if node is None:
            return match[0]
        mentioned.append(node)
        if match[0] in _HEBREW_POSSESSIVE_PRONOUNS:
            return f"של ⟨{PERSON_LETTER}{node}{GUESSED_SUFFIX}⟩"
        owns = word in ("his", "their", "hers") or (
            word == "her" and _POSSESSED_NOUN.match(match.string, match.end())
        )
        ending = "'s" if owns else ""
        if short:
            has = match.string.startswith((" been", " got"), match.end())
            ending = " has" if has else " is"
        return f"{lead}⟨{letter_of_node(self._nodes[node])}{node}{GUESSED_SUFFIX}⟩{ending}"

    def _resolve_pronoun(self, word: str, mentioned: Sequence[int]) -> int | None:
        """The only matching node of this sentence, else of an earlier one; None if ambiguous."""
        is_thing = word in ("it", "its")
        earlier = self._previous_nodes(is_thing)
        if word in ("they", "them", "their"):  # plural or a company, rarely a single person
            earlier = ()
            if any(map(self._is_thing, mentioned)):
                return None
        wanted = self._is_thing if is_thing else self._is_person
        for nodes in ([each for each in mentioned if wanted(each)], earlier):
            fits = [each for each in dict.fromkeys(nodes) if self._may_have_gender(word, each)]
            known = [each for each in fits if each in self._known_of_gender(word)]
            if len(fits) == 1 or len(known) == 1:
                return (known or fits)[0]
            if fits:
                return None
        return None

    def _previous_nodes(self, is_thing: bool) -> tuple[int, ...]:
        """Nodes of the previous sentence, or of the one before it if that mentions none."""
        for marked in reversed(self._previous):
            if nodes := marked.things if is_thing else marked.persons:
                return nodes
        return ()

    def _is_person(self, node: int) -> bool:
        return self._nodes[node].type is NodeType.PERSON

    def _may_have_gender(self, word: str, node: int) -> bool:
        """False if the node is known to have another gender than the pronoun."""
        other = {"she": self._men, "he": self._women}.get(_PRONOUN_GENDERS.get(word, ""), set())
        return node not in other

    def _known_of_gender(self, word: str) -> set[int]:
        """Nodes that are known to have the pronoun's gender."""
        return {"she": self._women, "he": self._men}.get(_PRONOUN_GENDERS.get(word, ""), set())

    def _learn_gender(self, text: str) -> None:
        for gender, known in ((_WOMAN, self._women), (_MAN, self._men)):
            for match in gender.finditer(text):
                known.add(int(match["before"] or match["after"]))


_GENDER_WORDS = pattern_words("marks")
_GENDERED_NAMES = load_word_lists("extract/gendered_names.txt")
_BRACKETS = re.compile("[⟨⟩]")
_FIRST_PERSON_PRONOUN = re.compile(r"I|i|me|my|mine|we|us|our|ours|Me|My|We|Our|Us")
_SECOND_PERSON_PRONOUN = re.compile(r"[Yy]ou(?:rs?)?")
_ADDRESS_OPENING = re.compile(
    r"(?:(?:hi|hey|hello|dear|thanks|thank you|ok|okay|yes|no|and|so|oh)[, ]*)*", re.I
)
# As an object, or with a verb for things. The "it" of "it rains" and "it's true" has no referent.
_IT_PATTERN = (
    r"it(?=\s+(?:with|in|last|on|at|since|for|from|and)\b|[.,;!?]|$)"
    r"|[Ii]t(?=\s+(?:uses|belongs|depends|integrates|is (?:based|located|part of|owned|built|made|"
    r"led|run))\b)|[Ii]t's(?=\s+(?:based|located|part of|owned|built|made|led|run)\b)"
)
_PRONOUN = re.compile(
    r"(?<![\w'@./-])(?:I|i|me|my|mine|we|us|our|ours|Me|My|We|Our|Us|[Yy]ours?|[Yy]ou"
    r"|[Hh]e(?:'s)?|[Hh]im|[Hh]is|[Ss]he(?:'s)?|[Hh]ers?|[Tt]hey|[Tt]hem|[Tt]heir"
    rf"|{_IT_PATTERN}|ו?(?:הוא|היא)|שלו|שלה)(?![\w@/-])(?!\.\w)"
)
_HEBREW_COPULAS = frozenset(("הוא", "היא"))
_HEBREW_POSSESSIVE_PRONOUNS = frozenset(("שלו", "שלה"))  # follow the noun
_HEBREW_PRONOUNS = {"הוא": "he", "היא": "she", "שלו": "he", "שלה": "she"}
_PRONOUN_GENDERS = {"she": "she", "her": "she", "hers": "she", "he": "he", "him": "he", "his": "he"}
_POSSESSIVE_PRONOUNS = frozenset(("his", "her", "their"))
# "Her brother", but "I love her very much".
_POSSESSED_NOUN = re.compile(
    r" (?!(?:already|now|and|or|but|so|very|too|to|at|in|on|for|with|from|because|when|if|is|was|"
    r"a|an|the|that|about|yesterday|today|tomorrow|tonight|later|soon|this|next|once|twice|maybe|"
    r"before|after|last|again|much|as|by|since|while|every|more|well|out|up|back)\b)"
    r"(?:[a-z]|[A-Z]{2,3}\b)"
)
# These begin a new clause, whose object may be the previous clause's subject. "'s": in "Ben's
# sister called him" the subject is the sister.
_NEW_CLAUSE = re.compile(
    r"^'s |[,;:–—]|\b(?:and|but|so|because|when|while|if|that|who|which|then|or|before|after|since|"
    r"until|what|how|where|to)\b",
    re.IGNORECASE,
)


def _is_object_pronoun(pronoun: re.Match[str]) -> bool:
    word = pronoun[0].lower()
    if word == "her":
        return _POSSESSED_NOUN.match(pronoun.string, pronoun.end()) is None
    return word in ("him", "them")


# A role phrase in place of a name: "my manager", «המנהלת שלי», «אחותי».
_ROLE_PHRASE = re.compile(
    r"(?:my|our|My|Our) (?:(?P<group>family|team|company|class)|[a-z][\w -]{2,40}|[A-Z]{2,4})"
    rf"|[א-ת]+(?: [א-ת]+)? (?:שלי|שלנו)|{'|'.join(HEBREW_MY_WORDS)}"
)
_OWNED_ROLE = re.compile(r"(?P<owner>.+)'s (?P<role>[a-z][\w -]{2,40})")
_NAME_FOLLOWS = re.compile(
    r"(?: there| here| now| (?:at|in|from) [^,.;]{1,40}?)? "
    r"(?:is|are|was|were|will be|היא|הוא|יהיה|תהיה)"
    r"(?: (?:called|named|an? \w+ (?:called|named)))? "
)
_PREDICATE = re.compile(
    r"(?:\b(?:as|is|was|are|were|be|been|became|become|being)|'s)(?: still| now| also| like)? $",
    re.IGNORECASE,
)
# "Tom is my sister Shira's husband".
_PREDICATE_OF = re.compile(
    r"\b(?:is|was|are|were|became)(?: still| now)? (?:(?:my|our|his|her|their) (?:\w+ ){1,2})$",
    re.I,
)
_GENDER_PATTERN = (
    r"(?:\b(?:{words}),? (?:called |named |is |is called )?⟨p(?P<after>\d+)⟩"
    r"|⟨p(?P<before>\d+)⟩(?:,| is| was) ⟨p\d+\w?⟩'s (?:\w+ ){{0,2}}(?:{words})\b)"
)
_WOMAN, _MAN = (
    re.compile(_GENDER_PATTERN.format(words="|".join(_GENDER_WORDS[each].split())), re.IGNORECASE)
    for each in ("women", "men")
)


_MAX_LENGTH = 280


def to_third_person_or_original(
    marked: MarkedUtterance, part: str, nodes: Sequence[FoundNode]
) -> str:
    """A part of a sentence in the third person with absolute dates; else the original sentence, or
    "" if its first person is not the owner."""
    rewritten = to_third_person(marked, part, nodes)
    if rewritten:
        return rewritten
    utterance = marked.utterance
    if utterance.speaker != OWNER_INDEX and _has_first_person(marked.text):
        return ""
    return shorten(
        resolve_relative_dates(
            utterance.written, utterance.at, hebrew.is_hebrew(utterance.own)
        ).text
    )


def _has_first_person(text: str) -> bool:
    """Whether the text has a first-person mark, or a first-person word of an unknown speaker."""
    return any(mark[3] in ("i", "m") for mark in MARK.finditer(text)) or bool(
        _FIRST_PERSON_WORD.search(text)
    )


_FIRST_PERSON_WORD = re.compile(
    r"\b(?:I|me|my|we|us|our)\b|(?<![א-ת])(?:אני|אנחנו|שלי|שלנו)(?![א-ת])"
)


def to_third_person(marked: MarkedUtterance, part: str, nodes: Sequence[FoundNode]) -> str:
    """ "" if the text cannot be understood without its context."""
    original, utterance = marked.in_words(part, nodes).strip(" ,;:–-"), marked.utterance
    is_hebrew = hebrew.is_hebrew(original)
    if is_hebrew and any(mark[3] in ("i", "m") for mark in MARK.finditer(part)):
        # Separated Hebrew suffixes do not read naturally: use the original text.
        original = utterance.own.strip(" ,;:–-.")
    subject = USER if utterance.speaker in (None, OWNER_INDEX) else nodes[utterance.speaker].name
    rewrite = hebrew.to_third_person if is_hebrew else english.to_third_person
    rewritten = rewrite(original, subject)
    if not rewritten:
        return ""
    return shorten(
        resolve_relative_dates(rewritten, utterance.at, is_hebrew, backwards=is_past(original)).text
    )


def shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 1].rstrip() + "…"
