"""A sentence with marks in place of names and pronouns, so that one pattern fits whoever it is.

"My sister Noa works at Acme" → "⟨p0⟩'s sister ⟨p4⟩ works at ⟨o2⟩". The letter tells what kind of
node it is, the number which one, and a last letter how it was called: i (I, we), m (me, us),
h (he, she: whoever was spoken of before, which is a guess).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from commonplace.language.extracting import found
from commonplace.language.extracting.found import FoundNode
from commonplace.language.extracting.hebrew_forms import in_two_words
from commonplace.language.extracting.table import words_of
from commonplace.language.extracting.utterances import Utterance
from commonplace.language.observing.hebrew import is_hebrew
from commonplace.model.graph.words import NodeType

GUESSED = "h"
MARK = re.compile(r"⟨([a-z])(\d+)([imh]?)⟩")
LETTERS = {
    found.ORGANIZATION: "o", found.LOCATION: "l", found.PROJECT: "j", found.PRODUCT: "d",
    found.EVENT: "v", found.GROUP: "g",
}  # fmt: skip
PERSON, CONCEPT, OTHER = "p", "c", "e"


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    text: str
    shorter: str  # without what is said in passing: "Noa, my sister, works" → "Noa works"
    utterance: Utterance
    persons: tuple[int, ...]  # who is named in it, besides its speaker, in order

    def in_words(self, part: str, nodes: Sequence[FoundNode]) -> str:
        """A part of it as people read it: names for guesses, "I" where it was said."""

        def word(mark: re.Match[str]) -> str:
            beside = part.endswith(" and ", 0, mark.start()) or part.startswith(" and ", mark.end())
            if mark[3] == "m" or (mark[3] == "i" and beside):
                return "me"
            return "I" if mark[3] == "i" else nodes[int(mark[2])].name

        return MARK.sub(word, re.sub(r"⟨p\d+i⟩'s\b", "my", part))


def letter_of(node: FoundNode) -> str:
    if node.type is NodeType.PERSON:
        return PERSON
    if node.type is NodeType.CONCEPT:
        return CONCEPT
    return LETTERS.get(node.subtype, OTHER)


class Marker:
    """Goes through a source in its order, and remembers who was spoken of last."""

    def __init__(self, nodes: Sequence[FoundNode]):
        self._nodes = nodes
        self._before: Marked | None = None
        self._women: set[int] = set()
        self._men: set[int] = set()

    def mark(self, said: Utterance) -> Marked:
        pieces: list[str] = []
        met: list[int] = []
        place = 0
        for span in said.spans:
            pieces.append(self._with_pronouns(said.own[place : span.start], said, met))
            pieces.append(self._name(said, said.own[span.start : span.end], span.node))
            if self._is_other(span.node, said):
                met.append(span.node)
            place = span.end
        pieces.append(self._with_pronouns(said.own[place:], said, met))
        whole = "".join(pieces)
        text = _spelled_out(whole)
        self._learn_gender(text)
        self._before = Marked(
            text=text,
            shorter=_spelled_out(_without_asides(whole)),
            utterance=said,
            persons=tuple(dict.fromkeys(met)),
        )
        return self._before

    def _is_other(self, node: int, said: Utterance) -> bool:
        return self._nodes[node].type is NodeType.PERSON and node != said.speaker

    def _name(self, said: Utterance, text: str, node: int) -> str:
        mark = f"⟨{letter_of(self._nodes[node])}{node}⟩"
        if node == said.speaker:
            own = _FIRST.fullmatch(text)
            return self._first(text, said) if own else mark
        role = _ROLE_AS_NAME.fullmatch(text)  # "my manager": a node without a name
        if role and said.speaker is not None:
            return f"⟨p{said.speaker}i⟩'s {role['role']} {mark}"
        return mark

    # ——— pronouns ———

    def _with_pronouns(self, text: str, said: Utterance, met: list[int]) -> str:
        text = _BRACKETS.sub(" ", text)
        if said.speaker is not None and is_hebrew(text):
            text = in_two_words(text, f"⟨p{said.speaker}i⟩")

        def put(match: re.Match[str]) -> str:
            word = match[0]
            if _FIRST.fullmatch(word):
                return self._first(word, said)
            return self._third(match, met)

        return _PRONOUN.sub(put, text)

    def _first(self, word: str, said: Utterance) -> str:
        if said.speaker is None or word == "US":
            return word
        word = word.lower()
        if word in ("my", "our", "mine", "ours"):
            return f"⟨p{said.speaker}i⟩'s"
        return f"⟨p{said.speaker}{'m' if word in ('me', 'us') else 'i'}⟩"

    def _third(self, match: re.Match[str], met: list[int]) -> str:
        word, _, short = match[0].lower().partition("'")
        node = self._whom(word, met)
        if node is None:
            return match[0]
        met.append(node)
        owns = word == "her" and _OWNED.match(match.string, match.end())
        ending = " is" if short else "'s" if owns or word in ("his", "their", "hers") else ""
        return f"⟨p{node}{GUESSED}⟩{ending}"

    def _whom(self, word: str, met: Sequence[int]) -> int | None:
        """The one who fits, of this sentence or of the one before; None where two would."""
        earlier = self._before.persons if self._before else ()
        for persons in (met, earlier):
            fits = [each for each in dict.fromkeys(persons) if self._fits(word, each)]
            if len(fits) == 1:
                return fits[0]
            if fits:
                return None
        return None

    def _fits(self, word: str, node: int) -> bool:
        if word in ("she", "her", "hers"):
            return node not in self._men
        if word in ("he", "him", "his"):
            return node not in self._women
        return True

    def _learn_gender(self, text: str) -> None:
        for gender, known in ((_WOMAN, self._women), (_MAN, self._men)):
            for match in gender.finditer(text):
                known.add(int(match["before"] or match["after"]))


_WORDS = words_of("relations")
_BRACKETS = re.compile("[⟨⟩]")
_FIRST = re.compile(r"I|i|me|my|mine|we|us|our|ours|Me|My|We|Our|Us")
_PRONOUN = re.compile(
    r"(?<![\w'@./-])(?:I|i|me|my|mine|we|us|our|ours|Me|My|We|Our|Us"
    r"|[Hh]e(?:'s)?|[Hh]im|[Hh]is|[Ss]he(?:'s)?|[Hh]ers?|[Tt]hey|[Tt]hem|[Tt]heir)"
    r"(?![\w@/-])(?!\.\w)"
)
# "Her brother", but "I love her very much".
_OWNED = re.compile(
    r" (?!(?:and|or|but|so|very|too|to|at|in|on|for|with|from|because|when|if|is|was|a|an|the|that|"
    r"about|yesterday|today|last|again|much|as|by|since|while|every|more|well|out|up|back)\b)[a-z]"
)
_ROLE_AS_NAME = re.compile(r"(?:my|our|My|Our) (?P<role>[a-z][\w -]{2,40})")
_GENDER = (
    r"(?:\b(?:{words}),? (?:called |named |is |is called )?⟨p(?P<after>\d+)⟩"
    r"|⟨p(?P<before>\d+)⟩(?:,| is| was) ⟨p\d+\w?⟩'s (?:\w+ ){{0,2}}(?:{words})\b)"
)
_WOMAN, _MAN = (
    re.compile(_GENDER.format(words="|".join(_WORDS[each].split())), re.IGNORECASE)
    for each in ("women", "men")
)


# ——— one form for the patterns ———

_M = r"(⟨[a-z]\d+[imh]?⟩)"
_FORMS = tuple(
    (re.compile(short, re.IGNORECASE), long)
    for short, long in (
        (rf"{_M}'m\b", r"\1 am"),
        (rf"{_M}'re\b", r"\1 are"),
        (rf"{_M}'ve\b", r"\1 have"),
        (rf"{_M}'ll\b", r"\1 will"),
        (rf"{_M}'d\b", r"\1 would"),
        (
            rf"{_M}'s (?=(?:an?|the|not|now|in|at|on|from|been|got|going|married|engaged|dating|"
            rf"based|located|also|currently|still|no|leaving|joining|moving|working|living|"
            rf"⟨p\d+\w?⟩'s)\b)",
            r"\1 is ",
        ),
        # "Dana, who works at Acme": what follows is said of her.
        (rf"{_M}(?:,? who|, which) (?!⟨)", r"\1 "),
    )
)


def _spelled_out(text: str) -> str:
    for short, long in _FORMS:
        text = short.sub(long, text)
    return text


_ASIDES = tuple(
    (re.compile(aside, re.IGNORECASE), without)
    for aside, without in (
        (rf"{_M}, (?:⟨p\d+[ih]?⟩'s|an?|the) [^,.;⟨⟩]{{2,50}}(?:⟨\w\d+\w?⟩)?,(?= \w)", r"\1"),
        (rf"{_M}(?:,? who|, which) [^,.;]{{2,80}},(?= \w)", r"\1"),
        (rf"{_M} \([^()]{{2,60}}\)", r"\1"),
        # "A friend of mine, Dana, works": the name alone.
        (rf"\b(?:an?|one) [^,.;⟨⟩]{{2,40}} of ⟨p\d+[ih]⟩'s, {_M},", r"\1"),
        (rf"⟨p\d+[ih]?⟩'s [^,.;⟨⟩]{{2,40}}, {_M},", r"\1"),
    )
)


def _without_asides(text: str) -> str:
    for aside, without in _ASIDES:
        text = aside.sub(without, text)
    return text
