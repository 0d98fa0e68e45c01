"""A sentence with marks in place of names and pronouns, so that one pattern fits whoever it is.

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

from commonplace.language.extracting import found
from commonplace.language.extracting.forms import (
    Around,
    filled_in,
    in_full,
    spelled_out,
    without_asides,
)
from commonplace.language.extracting.found import FoundNode, Span
from commonplace.language.extracting.hebrew_forms import MINE, in_two_words
from commonplace.language.extracting.table import words_of
from commonplace.language.extracting.utterances import Utterance
from commonplace.language.names import bare
from commonplace.language.observing.hebrew import is_hebrew
from commonplace.language.wordlists import word_lists
from commonplace.model.graph.words import NodeType

GUESSED, BY_ROLE, SPOKEN_TO = "h", "r", "y"
_TWO = 2
_FAR = 25  # characters: a name that stands further on is not tied to the role by a pattern
_LOOK_BACK = 2  # sentences, for whom a pronoun means
MARK = re.compile(r"⟨([a-z])(\d+)([imhry]?)⟩")
LETTERS = {
    found.ORGANIZATION: "o", found.LOCATION: "l", found.PROJECT: "j", found.PRODUCT: "d",
    found.EVENT: "v", found.GROUP: "g",
}  # fmt: skip
PERSON, CONCEPT, SCHOOL, OTHER = "p", "c", "s", "e"
_SCHOOL = re.compile(
    r"\b(?:university|college|school|academy|institute of technology|primary|kindergarten)\b"
    r"|אוניברסיט|טכניון|מכללת|בית.ספר|תיכון",
    re.IGNORECASE,
)
_CLUB = re.compile(
    r"\b(?:club|society|band|choir|quartet|trio|orchestra|ensemble|association|league|guild|team|"
    r"crew|committee|union)\b|מועדון|להקת|מקהלת|תזמורת|אגודת|ועד",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    text: str
    shorter: str  # without what is said in passing: "Noa, my sister, works" → "Noa works"
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


def letter_of(node: FoundNode) -> str:
    if node.type is NodeType.PERSON:
        return PERSON
    if node.type is NodeType.CONCEPT:
        return CONCEPT
    if node.subtype == found.ORGANIZATION and _SCHOOL.search(node.name):
        return SCHOOL
    if node.subtype == found.ORGANIZATION and _CLUB.search(node.name):
        return LETTERS[found.GROUP]
    return LETTERS.get(node.subtype, OTHER)


class Marker:
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
        self._before: deque[Marked] = deque(maxlen=_LOOK_BACK)
        self._women = self._named_in("she")
        self._men = self._named_in("he")

    def _named_in(self, gender: str) -> set[int]:
        """By first names that only women or only men have."""
        return {
            place
            for place, node in enumerate(self._nodes)
            if node.type is NodeType.PERSON and bare(node.name.partition(" ")[0]) in _NAMES[gender]
        }

    def mark(self, said: Utterance) -> Marked:
        self._learn_gender("".join(self._pieces(said, met=None)))
        met: list[int] = []
        whole = "".join(self._pieces(said, met))
        around = Around(
            said.speaker, self._only(found.ORGANIZATION, met), self._only(found.EVENT, met)
        )
        text = filled_in(spelled_out(whole), around)
        self._learn_gender(text)
        marked = Marked(
            text=text,
            shorter=filled_in(spelled_out(without_asides(whole)), around),
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
                f"⟨{letter_of(node)}{each}{GUESSED}⟩"
                for each in things
                if (node := self._nodes[each]).subtype == subtype
            }
            if marks:
                return marks.pop() if len(marks) == 1 else None
        return None

    def _is_thing(self, node: int) -> bool:
        is_entity = self._nodes[node].type is NodeType.ENTITY
        return is_entity and self._nodes[node].subtype != found.LOCATION

    def _name(self, said: Utterance, span: Span) -> str:
        text = said.own[span.start : span.end]
        mark = f"⟨{letter_of(self._nodes[span.node])}{span.node}⟩"
        if span.node == said.speaker and _FIRST.fullmatch(text):
            return self._first(text, said)
        if mark[1] == PERSON and (other := self._of_another(said, span)):
            return other
        role = _ROLE.fullmatch(text)
        if role is None or said.speaker is None or span.node == said.speaker:
            return mark
        if mark[1] != PERSON:  # "my flatmates are Zoe and Hamza", "time with my family"
            return mark if role["group"] else self._with_pronouns(text, said, [])
        # "my manager is Dana": Dana is marked herself.
        is_named = self._is_named_next(said, span) or any(
            each.node == span.node and each != span and each.start - span.end < _FAR
            for each in said.spans
        )
        is_said_of_another = _PREDICATE.search(said.own[: span.start]) is not None
        words = self._with_pronouns(text, said, [])
        return words if is_named or is_said_of_another else f"{words} {mark[:-1]}{BY_ROLE}⟩"

    def _of_another(self, said: Utterance, span: Span) -> str:
        """ "Tom's wife" is Tom's; empty where the words before the role name nobody."""
        owned = _OWNED_ROLE.fullmatch(said.own[span.start : span.end])
        owner = self._called.get(owned["owner"].casefold()) if owned else None
        if owned is None or owner is None or owner == span.node:
            return ""
        is_named = any(each.node == span.node and each != span for each in said.spans)
        is_said_of_another = _PREDICATE_OF.search(said.own[: span.start]) is not None
        mark = "" if is_named or is_said_of_another else f" ⟨{PERSON}{span.node}{BY_ROLE}⟩"
        return f"⟨{PERSON}{owner}⟩'s {owned['role']}{mark}"

    def _is_named_next(self, said: Utterance, span: Span) -> bool:
        """ "My boss there is Dana", "my dentist is a woman called Noa": the name comes next."""
        after = (each for each in said.spans if each.start >= span.end)
        person = next((each for each in after if self._is_person(each.node)), None)
        return person is not None and bool(_SAYS_WHO.fullmatch(said.own[span.end : person.start]))

    # ——— pronouns ———

    def _with_pronouns(self, text: str, said: Utterance, met: list[int]) -> str:
        text = in_full(_BRACKETS.sub(" ", text))
        if said.speaker is not None and is_hebrew(text):
            text = in_two_words(text, f"⟨p{said.speaker}i⟩")

        def put(match: re.Match[str]) -> str:
            word = match[0]
            if _FIRST.fullmatch(word):
                return self._first(word, said)
            if _SECOND.fullmatch(word):
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
        mark = f"⟨p{whom}{SPOKEN_TO}⟩"
        return f"{mark}'s" if word.lower().startswith("your") else mark

    def _spoken_to(self, said: Utterance) -> int | None:
        first = said.spans[0] if said.spans else None
        if first is not None and self._is_person(first.node) and first.node != said.speaker:
            before, after = said.own[: first.start], said.own[first.end : first.end + 2]
            if _CALLING.fullmatch(before) and after.startswith((", ", ",", ":", " –", " —")):
                return first.node
        others = self._pair - {said.speaker}
        return next(iter(others)) if len(others) == 1 else None

    def _third(self, match: re.Match[str], met: list[int]) -> str:
        word, _, short = match[0].lower().partition("'")
        lead = "ו" if word in ("והוא", "והיא") else ""
        if word in _COPULAS and not match.string[match.end() :].strip():
            return match[0]  # «המנהלת שלי היא דנה»: "is", and not "she"
        word = _HEBREW.get(word.removeprefix("ו"), word)
        # "Pilar, her classmate": somebody else's.
        is_aside = word in _OWNING and match.string[: match.start()] == ", "
        # "Odile and her kids": hers.
        is_hers = word in _OWNING and match.string[: match.start()] == " and " and bool(met)
        others = met[:-1] if is_aside else met[-1:] if is_hers else met
        if _is_object(match) and not _NEW_CLAUSE.search(match.string, 0, match.start()):
            others = [each for each in met if each != met[-1]]  # "Ben will bring him": another
        node = self._whom(word, others)
        if node is None:
            return match[0]
        met.append(node)
        if match[0] in _OF_THEM:
            return f"של ⟨{PERSON}{node}{GUESSED}⟩"
        owns = word in ("his", "their", "hers") or (
            word == "her" and _OWNED.match(match.string, match.end())
        )
        ending = "'s" if owns else ""
        if short:
            has = match.string.startswith((" been", " got"), match.end())
            ending = " has" if has else " is"
        return f"{lead}⟨{letter_of(self._nodes[node])}{node}{GUESSED}⟩{ending}"

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
        other = {"she": self._men, "he": self._women}.get(_GENDERED.get(word, ""), set())
        return node not in other

    def _gender(self, word: str) -> set[int]:
        """Those who are known to be of the gender of a pronoun."""
        return {"she": self._women, "he": self._men}.get(_GENDERED.get(word, ""), set())

    def _learn_gender(self, text: str) -> None:
        for gender, known in ((_WOMAN, self._women), (_MAN, self._men)):
            for match in gender.finditer(text):
                known.add(int(match["before"] or match["after"]))


_WORDS = words_of("marks")
_NAMES = word_lists("extracting/gendered_names.txt")
_BRACKETS = re.compile("[⟨⟩]")
_FIRST = re.compile(r"I|i|me|my|mine|we|us|our|ours|Me|My|We|Our|Us")
_SECOND = re.compile(r"[Yy]ou(?:rs?)?")
_CALLING = re.compile(
    r"(?:(?:hi|hey|hello|dear|thanks|thank you|ok|okay|yes|no|and|so|oh)[, ]*)*", re.I
)
# As an object, or with a verb that tells of a thing: "it rains" and "it's true" mean nothing.
_IT = (
    r"it(?=\s+(?:with|in|last|on|at|since|for|from|and)\b|[.,;!?]|$)"
    r"|[Ii]t(?=\s+(?:uses|belongs|depends|integrates|is (?:based|located|part of|owned|built|made|"
    r"led|run))\b)|[Ii]t's(?=\s+(?:based|located|part of|owned|built|made|led|run)\b)"
)
_PRONOUN = re.compile(
    r"(?<![\w'@./-])(?:I|i|me|my|mine|we|us|our|ours|Me|My|We|Our|Us|[Yy]ours?|[Yy]ou"
    r"|[Hh]e(?:'s)?|[Hh]im|[Hh]is|[Ss]he(?:'s)?|[Hh]ers?|[Tt]hey|[Tt]hem|[Tt]heir"
    rf"|{_IT}|ו?(?:הוא|היא)|שלו|שלה)(?![\w@/-])(?!\.\w)"
)
_COPULAS = frozenset(("הוא", "היא"))
_OF_THEM = frozenset(("שלו", "שלה"))  # stands behind what is his or hers
_HEBREW = {"הוא": "he", "היא": "she", "שלו": "he", "שלה": "she"}
_GENDERED = {"she": "she", "her": "she", "hers": "she", "he": "he", "him": "he", "his": "he"}
_OWNING = frozenset(("his", "her", "their"))
# "Her brother", but "I love her very much".
_OWNED = re.compile(
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


def _is_object(pronoun: re.Match[str]) -> bool:
    word = pronoun[0].lower()
    if word == "her":
        return _OWNED.match(pronoun.string, pronoun.end()) is None
    return word in ("him", "them")


# A phrase in place of a name: "my manager", «המנהלת שלי», «אחותי».
_ROLE = re.compile(
    r"(?:my|our|My|Our) (?:(?P<group>family|team|company|class)|[a-z][\w -]{2,40}|[A-Z]{2,4})"
    rf"|[א-ת]+(?: [א-ת]+)? (?:שלי|שלנו)|{'|'.join(MINE)}"
)
_OWNED_ROLE = re.compile(r"(?P<owner>.+)'s (?P<role>[a-z][\w -]{2,40})")
_SAYS_WHO = re.compile(
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
_GENDER = (
    r"(?:\b(?:{words}),? (?:called |named |is |is called )?⟨p(?P<after>\d+)⟩"
    r"|⟨p(?P<before>\d+)⟩(?:,| is| was) ⟨p\d+\w?⟩'s (?:\w+ ){{0,2}}(?:{words})\b)"
)
_WOMAN, _MAN = (
    re.compile(_GENDER.format(words="|".join(_WORDS[each].split())), re.IGNORECASE)
    for each in ("women", "men")
)
