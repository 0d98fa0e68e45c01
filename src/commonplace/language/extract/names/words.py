"""Words of a text with positions and capitals; entity mentions and votes for their kind.

A capital tells of a name only where nothing else explains it: not the beginning of a sentence, not
a heading with capitals throughout, not shouting. Addresses, handles, tags, code and quoted
titles of books and films are no words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from commonplace.language.fields.names import fold_name
from commonplace.language.text.lexicon import load_word_lists

# All repetitions are bounded or possessive: the time stays linear in the text, whatever it is.
_TOKEN = re.compile(
    r"(?P<skip>https?://\S{1,2000}|www\.\S{1,500}|[@#]\w{1,100}"
    r"|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,6}"
    r"|`[^`\n]{0,200}`|</?[A-Za-z][^<>\n]{0,200}>"
    r"|[\"“](?:[A-Z][\w'’-]{0,30}+[:,]?+"
    r"(?: (?:of|the|and|in|on|to|a|an|with|for|at)){0,2}+ ?+){2,8}+[\"”])"
    r"|(?P<word>(?:[A-Z]\.){2,6}"
    r"|[^\W_]++(?:(?:['’&־-]|(?<=[א-ת])[\"״]|\.(?=(?:com|js|io|ai|net|org)\b))[^\W_]++)*+)"
)
_CLITIC = re.compile(r"['’](?:s|S|ll|d|ve|re|m)$")
_GAP_INSIDE_SENTENCE = re.compile(r"[\s,'’()/&–—-]*")
_ABBREVIATIONS = load_word_lists("extract/names/name_words.txt")["en abbreviated"]
_SMALL_WORDS = frozenset(
    ("a", "an", "the", "of", "and", "or", "for", "in", "on", "to", "at", "by", "with")
)
_MIN_HEADING_WORDS = 3  # words
_MAX_UPPERCASE_SHARE = 0.6


@dataclass(frozen=True, slots=True)
class Word:
    start: int
    end: int  # without a possessive
    text: str
    key: str  # folded, without accents
    gap: str  # what stands between it and the word before
    capital: bool  # somewhere in it: "iPhone"
    owns: bool = False  # "Sarah's"
    first: bool = False  # of a sentence: anything has a capital there
    among_capitals: bool = False  # all around have capitals

    @property
    def capital_signals_name(self) -> bool:
        """Whether its capital says that it is of a name."""
        return self.capital and not self.first and not self.among_capitals

    @property
    def hebrew(self) -> bool:
        return "א" <= self.text[0] <= "ת"


@dataclass(frozen=True, slots=True)
class TokenizedPassage:
    number: int
    text: str
    words: tuple[Word, ...]


def split_words(text: str) -> tuple[Word, ...]:
    found: list[Word] = []
    line: list[Word] = []
    for word in _read_words(text):
        if "\n" in word.gap and line:
            found += _flag_uninformative_capitals(line)
            line = []
        line.append(word)
    return (*found, *_flag_uninformative_capitals(line))


def _read_words(text: str) -> Iterator[Word]:
    before: Word | None = None
    at = 0
    for match in _TOKEN.finditer(text):
        if match["skip"]:
            continue
        written = match[0]
        clitic = _CLITIC.search(written)
        bare_text = written[: clitic.start()] if clitic else written
        gap = text[at : match.start()]
        end = match.start() + len(bare_text)
        first = before is None or _begins_sentence(gap, before)
        owns = (clitic is not None and clitic[0][1:] in "sS") or text.startswith(("' ", "’ "), end)
        capital = not bare_text.islower() and any(map(str.isupper, bare_text))
        before = Word(
            match.start(), end, bare_text, fold_name(bare_text), gap, capital, owns, first
        )
        yield before
        at = match.end()


def _begins_sentence(gap: str, before: Word) -> bool:
    """Whether a sentence begins behind this gap."""
    if gap.startswith(".") and (before.key in _ABBREVIATIONS or len(before.text) == 1):
        gap = gap[1:]
    return "\n" in gap or _GAP_INSIDE_SENTENCE.fullmatch(gap) is None


def _flag_uninformative_capitals(line: Sequence[Word]) -> Iterator[Word]:
    mute = _is_heading(line) or _is_uppercase_line(line)
    return (replace(word, among_capitals=True) if mute else word for word in line)


def _is_heading(line: Sequence[Word]) -> bool:
    """All words have capitals but the smallest: "Notes of the Planning Meeting"."""
    spoken = [word for word in line if word.key not in _SMALL_WORDS and word.text[0].isalpha()]
    one_sentence = not any(word.first for word in line[1:])
    listed = any("," in word.gap for word in line)
    return (
        one_sentence
        and not listed
        and len(line) >= _MIN_HEADING_WORDS
        and len(spoken) > 1
        and all(word.capital and not word.hebrew for word in spoken)
    )


def _is_uppercase_line(line: Sequence[Word]) -> bool:
    words = [word for word in line if len(word.text) > 1 and word.text.isalpha()]
    loud = sum(word.text.isupper() for word in words)
    return len(words) > 1 and loud > len(words) * _MAX_UPPERCASE_SHARE


def are_adjacent(words: Sequence[Word]) -> bool:
    return all(is_adjacent(one, other) for one, other in pairwise(words))


def is_adjacent(one: Word, other: Word) -> bool:
    """Whether two words follow one another with nothing but a space between them."""
    if one.owns:
        return False
    dotted = other.gap.startswith(". ") and (len(one.text) == 1 or one.key in _ABBREVIATIONS)
    gap = other.gap[1:] if dotted else other.gap
    return gap in (" ", "\xa0")


CERTAIN = 0.95  # those who take part
SURE = 0.9
LIKELY = 0.8
KNOWN = 0.75  # in a gazetteer, with nothing around it
DOUBTFUL = 0.65
GUESSED = 0.5  # a capital alone
AGREEMENT_BONUS = 0.05  # what a second, different sign adds
LEANING = 0.55

_MIN_SUPPORT = 0.6  # what is weaker does not support another sign


@dataclass(frozen=True, slots=True)
class KindVote:
    kind: str
    weight: float
    by: str = ""  # which sort of sign it is: signs of one sort do not support each other


@dataclass(frozen=True, slots=True)
class EntityMention:
    passage: int
    start: int
    end: int
    text: str
    key: str  # words folded, without a possessive
    votes: tuple[KindVote, ...] = ()
    phrase: bool = False  # "my manager": no name


def build_mention(
    passage: TokenizedPassage, start: int, end: int, votes: Iterable[KindVote], phrase: bool = False
) -> EntityMention:
    """Of the words from ``start`` to ``end``."""
    row = passage.words[start:end]
    first, last = row[0].start, row[-1].end
    key = " ".join(
        f"{word.key}'s" if word.owns and word is not row[-1] else word.key for word in row
    )
    return EntityMention(
        passage.number, first, last, passage.text[first:last], key, tuple(votes), phrase
    )


def combine_votes(votes: Iterable[KindVote]) -> KindVote:
    """The kind that the strongest sign speaks for; others that agree add a little."""
    best: dict[str, dict[str, float]] = {}
    for vote in votes:
        signs = best.setdefault(vote.kind, {})
        signs[vote.by] = max(signs.get(vote.by, 0.0), vote.weight)
    if not best:
        return KindVote("", 0.0)
    weights = {kind: _combined_weight(tuple(signs.values())) for kind, signs in best.items()}
    kind = max(weights, key=lambda each: weights[each])
    return KindVote(kind, round(weights[kind], 2))


def _combined_weight(signs: tuple[float, ...]) -> float:
    strongest, *others = sorted(signs, reverse=True)
    support = sum(weight >= _MIN_SUPPORT for weight in others)
    return min(CERTAIN, strongest + AGREEMENT_BONUS * support)
