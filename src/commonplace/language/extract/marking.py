"""Marked sentences: names and pronouns replaced by node marks, and back to third person.

"My sister Noa works at Acme" → "⟨p0⟩'s sister ⟨p4⟩ works at ⟨o2⟩". The letter tells what kind of
node it is, the number which one, and a last letter how it was called: i (I, we), m (me, us),
h (he, she: whoever was spoken of before, which is a guess), y (you: whoever is spoken to),
r (by the role that stands before it).
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
_MAX_ROLE_DISTANCE = (
    25  # characters: a name that stands further on is not tied to the role by a pattern
)
_LOOK_BACK = 2  # sentences, for whom a pronoun means
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
    text_without_asides: (
        str  # without what is said in passing: "Noa, my sister, works" → "Noa works"
    )
    utterance: Utterance
    persons: tuple[int, ...]  # who is named in it, besides its speaker, in order
    things: tuple[int, ...] = ()  # what is named in it, but for places

    def in_words(self, part: str, nodes: Sequence[FoundNode]) -> str:
        """A part of it as people read it: names for guesses, "I" where it was said."""

        def word(mark: re.Match[str]) -> str:
            beside = part.endswith(" and ", 0, mark.start()) or part.startswith(" and ", mark.end())
            if mark[3] == "m" or (mark[3] == "i" and beside):
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
    """Goes through a source in its order, and remembers who was spoken of last."""

    def __init__(self, nodes: Sequence[FoundNode], speakers: Collection[int] = ()):
        """``speakers``: all who speak in it. Of two each speaks to the other."""
        self._nodes = nodes
        self._pair = frozenset(speakers) if len(set(speakers)) == _TWO else frozenset()
        self._called = {
            name.casefold(): place
            for place, node in enumerate(nodes)
            if node.type is NodeType.PERSON
            for name in (*node.name.split()[:1], *node.aliases, node.name)
        }
        self._before: deque[MarkedUtterance] = deque(maxlen=_LOOK_BACK)
        self._women = self._named_in("she")
        self._men = self._named_in("he")

    def _named_in(self, gender: str) -> set[int]:
        """By first names that only women or only men have."""
        return {
            place
            for place, node in enumerate(self._nodes)
            if node.type is NodeType.PERSON
            and fold_name(node.name.partition(" ")[0]) in _GENDERED_NAMES[gender]
        }

    def mark(self, said: Utterance) -> MarkedUtterance:
        self._learn_gender("".join(self._pieces(said, met=None)))
        met: list[int] = []
        whole = "".join(self._pieces(said, met))
        around = SentenceContext(
            said.speaker, self._only(values.ORGANIZATION, met), self._only(values.EVENT, met)
        )
        text = fill_ellipsis(expand_contractions(whole), around)
        self._learn_gender(text)
        marked = MarkedUtterance(
            text=text,
            text_without_asides=fill_ellipsis(expand_contractions(remove_asides(whole)), around),
            utterance=said,
            persons=tuple(each for each in met if self._is_other(each, said)),
            things=tuple(each for each in met if self._is_thing(each)),
        )
        self._before.append(marked)
        return marked

    def _pieces(self, said: Utterance, met: list[int] | None) -> Iterator[str]:
        """``met``: who was named so far, for the pronouns; None leaves these as they are."""
        place = 0
        for span in said.spans:
            yield self._between(said.own[place : span.start], said, met)
            yield self._name(said, span)
            if met is not None and span.node != said.speaker:
                met.append(span.node)
            place = span.end
        yield self._between(said.own[place:], said, met)

    def _between(self, text: str, said: Utterance, met: list[int] | None) -> str:
        return text if met is None else self._with_pronouns(text, said, met)

    def _is_other(self, node: int, said: Utterance) -> bool:
        return self._is_person(node) and node != said.speaker

    def _only(self, subtype: str, met: Sequence[int]) -> str | None:
        """The one of its sort that was spoken of, in this sentence or in the one before."""
        for things in (met, self._earlier(is_thing=True)):
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

    def _name(self, said: Utterance, span: NodeSpan) -> str:
        text = said.own[span.start : span.end]
        mark = f"⟨{letter_of_node(self._nodes[span.node])}{span.node}⟩"
        if span.node == said.speaker and _FIRST_PERSON_PRONOUN.fullmatch(text):
            return self._first(text, said)
        if mark[1] == PERSON_LETTER and (other := self._of_another(said, span)):
            return other
        role = _ROLE_PHRASE.fullmatch(text)
        if role is None or said.speaker is None or span.node == said.speaker:
            return mark
        if mark[1] != PERSON_LETTER:  # "my flatmates are Zoe and Hamza", "time with my family"
            return mark if role["group"] else self._with_pronouns(text, said, [])
        # "my manager is Dana": Dana is marked herself.
        is_named = self._is_named_next(said, span) or any(
            each.node == span.node and each != span and each.start - span.end < _MAX_ROLE_DISTANCE
            for each in said.spans
        )
        is_said_of_another = _PREDICATE.search(said.own[: span.start]) is not None
        words = self._with_pronouns(text, said, [])
        return words if is_named or is_said_of_another else f"{words} {mark[:-1]}{ROLE_SUFFIX}⟩"

    def _of_another(self, said: Utterance, span: NodeSpan) -> str:
        """ "Tom's wife" is Tom's; empty where the words before the role name nobody."""
        owned = _OWNED_ROLE.fullmatch(said.own[span.start : span.end])
        owner = self._called.get(owned["owner"].casefold()) if owned else None
        if owned is None or owner is None or owner == span.node:
            return ""
        is_named = any(each.node == span.node and each != span for each in said.spans)
        is_said_of_another = _PREDICATE_OF.search(said.own[: span.start]) is not None
        mark = (
            "" if is_named or is_said_of_another else f" ⟨{PERSON_LETTER}{span.node}{ROLE_SUFFIX}⟩"
        )
        return f"⟨{PERSON_LETTER}{owner}⟩'s {owned['role']}{mark}"

    def _is_named_next(self, said: Utterance, span: NodeSpan) -> bool:
        """ "My boss there is Dana", "my dentist is a woman called Noa": the name comes next."""
        after = (each for each in said.spans if each.start >= span.end)
        person = next((each for each in after if self._is_person(each.node)), None)
        return person is not None and bool(
            _NAME_FOLLOWS.fullmatch(said.own[span.end : person.start])
        )

    # ——— pronouns ———

    def _with_pronouns(self, text: str, said: Utterance, met: list[int]) -> str:
        text = expand_casual_spelling(_BRACKETS.sub(" ", text))
        if said.speaker is not None and is_hebrew(text):
            text = separate_hebrew_suffixes(text, f"⟨p{said.speaker}i⟩")

        def put(match: re.Match[str]) -> str:
            word = match[0]
            if _FIRST_PERSON_PRONOUN.fullmatch(word):
                return self._first(word, said)
            if _SECOND_PERSON_PRONOUN.fullmatch(word):
                return self._second(word, said)
            return self._third(match, met)

        return _PRONOUN.sub(put, text)

    def _first(self, word: str, said: Utterance) -> str:
        if said.speaker is None or word == "US":
            return word
        word = word.lower()
        if word in ("my", "our", "mine", "ours"):
            return f"⟨p{said.speaker}i⟩'s"
        return f"⟨p{said.speaker}{'m' if word in ('me', 'us') else 'i'}⟩"

    def _second(self, word: str, said: Utterance) -> str:
        """ "Bring your friend Tasha": whoever is spoken to, where it is clear who that is."""
        whom = self._spoken_to(said)
        if whom is None:
            return word
        mark = f"⟨p{whom}{ADDRESSEE_SUFFIX}⟩"
        return f"{mark}'s" if word.lower().startswith("your") else mark

    def _spoken_to(self, said: Utterance) -> int | None:
        first = said.spans[0] if said.spans else None
        if first is not None and self._is_person(first.node) and first.node != said.speaker:
            before, after = said.own[: first.start], said.own[first.end : first.end + 2]
            if _ADDRESS_OPENING.fullmatch(before) and after.startswith(
                (", ", ",", ":", " –", " —")
            ):
                return first.node
        others = self._pair - {said.speaker}
        return next(iter(others)) if len(others) == 1 else None

    def _third(self, match: re.Match[str], met: list[int]) -> str:
        word, _, short = match[0].lower().partition("'")
        lead = "ו" if word in ("והוא", "והיא") else ""
        if word in _HEBREW_COPULAS and not match.string[match.end() :].strip():
            return match[0]  # «המנהלת שלי היא דנה»: "is", and not "she"
        word = _HEBREW_PRONOUNS.get(word.removeprefix("ו"), word)
        # "Pilar, her classmate": somebody else's.
        is_aside = word in _POSSESSIVE_PRONOUNS and match.string[: match.start()] == ", "
        # "Odile and her kids": hers.
        is_hers = (
            word in _POSSESSIVE_PRONOUNS and match.string[: match.start()] == " and " and bool(met)
        )
        others = met[:-1] if is_aside else met[-1:] if is_hers else met
        if _is_object_pronoun(match) and not _NEW_CLAUSE.search(match.string, 0, match.start()):
            others = [each for each in met if each != met[-1]]  # "Ben will bring him": another
        node = self._whom(word, others)
        if node is None:
            return match[0]
        met.append(node)
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

    def _whom(self, word: str, met: Sequence[int]) -> int | None:
        """The one who fits, of this sentence or of the one before; None where two would."""
        is_thing = word in ("it", "its")
        earlier = self._earlier(is_thing)
        if word in ("they", "them", "their"):  # several, or a company; seldom one from before
            earlier = ()
            if any(map(self._is_thing, met)):
                return None
        wanted = self._is_thing if is_thing else self._is_person
        for spoken_of in ([each for each in met if wanted(each)], earlier):
            fits = [each for each in dict.fromkeys(spoken_of) if self._fits(word, each)]
            known = [each for each in fits if each in self._gender(word)]
            if len(fits) == 1 or len(known) == 1:
                return (known or fits)[0]
            if fits:
                return None
        return None

    def _earlier(self, is_thing: bool) -> tuple[int, ...]:
        """Of the sentence before; where that names nobody, of the one before it."""
        for marked in reversed(self._before):
            if spoken_of := marked.things if is_thing else marked.persons:
                return spoken_of
        return ()

    def _is_person(self, node: int) -> bool:
        return self._nodes[node].type is NodeType.PERSON

    def _fits(self, word: str, node: int) -> bool:
        """Whoever is not known to be of the other gender."""
        other = {"she": self._men, "he": self._women}.get(_PRONOUN_GENDERS.get(word, ""), set())
        return node not in other

    def _gender(self, word: str) -> set[int]:
        """Those who are known to be of the gender of a pronoun."""
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
# As an object, or with a verb that tells of a thing: "it rains" and "it's true" mean nothing.
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
_HEBREW_POSSESSIVE_PRONOUNS = frozenset(("שלו", "שלה"))  # stands behind what is his or hers
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
# Behind these another clause begins, whose object may be the subject of the one before; of "Ben's
# sister called him" she is the subject.
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


# A phrase in place of a name: "my manager", «המנהלת שלי», «אחותי».
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


MAX_RETOLD_LENGTH = 280


def to_third_person_or_original(
    marked: MarkedUtterance, part: str, nodes: Sequence[FoundNode]
) -> str:
    """A part of a sentence in the third person and with dates; else the sentence as it stands, or
    nothing where it has another one's "I"."""
    told = to_third_person(marked, part, nodes)
    if told:
        return told
    said = marked.utterance
    if said.speaker != OWNER_INDEX and _has_first_person(marked.text):
        return ""
    return shorten(resolve_relative_dates(said.written, said.at, hebrew.is_hebrew(said.own)).text)


def _has_first_person(text: str) -> bool:
    """In marks, or in words where nobody knows who speaks."""
    return any(mark[3] in ("i", "m") for mark in MARK.finditer(text)) or bool(
        _FIRST_PERSON_WORD.search(text)
    )


_FIRST_PERSON_WORD = re.compile(
    r"\b(?:I|me|my|we|us|our)\b|(?<![א-ת])(?:אני|אנחנו|שלי|שלנו)(?![א-ת])"
)


def to_third_person(marked: MarkedUtterance, part: str, nodes: Sequence[FoundNode]) -> str:
    """Empty where it cannot be understood without the rest of the talk."""
    said, utterance = marked.in_words(part, nodes).strip(" ,;:–-"), marked.utterance
    is_hebrew = hebrew.is_hebrew(said)
    if is_hebrew and any(mark[3] in ("i", "m") for mark in MARK.finditer(part)):
        # The endings of its words are no longer as they were said: as it was written, then.
        said = utterance.own.strip(" ,;:–-.")
    subject = USER if utterance.speaker in (None, OWNER_INDEX) else nodes[utterance.speaker].name
    tell = hebrew.to_third_person if is_hebrew else english.to_third_person
    told = tell(said, subject)
    if not told:
        return ""
    return shorten(
        resolve_relative_dates(told, utterance.at, is_hebrew, backwards=is_past(said)).text
    )


def shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_RETOLD_LENGTH else text[: MAX_RETOLD_LENGTH - 1].rstrip() + "…"
