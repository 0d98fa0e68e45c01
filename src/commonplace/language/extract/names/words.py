"""Words of a text with positions and capitals; entity mentions and votes for their kind.

A capital indicates a name only if nothing else explains it: the start of a sentence, a heading in
title case, text in upper case. Addresses, handles, tags, code and quoted titles of books and films
are not words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from commonplace.language.fields.names import fold_name
from commonplace.language.text.lexicon import load_word_lists

# All repetitions are bounded or possessive, so that matching takes linear time.
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
_MIN_HEADING_WORDS = 3
_MAX_UPPERCASE_SHARE = 0.6


@dataclass(frozen=True, slots=True)
class Word:
    start: int
    end: int  # without a possessive suffix
    text: str
    key: str  # folded, without accents
    gap: str  # text between the previous word and this one
    capital: bool  # anywhere in the word: "iPhone"
    owns: bool = False  # "Sarah's"
    first: bool = False  # of a sentence, where any word has a capital
    among_capitals: bool = False  # all words around it have capitals

    @property
    def capital_signals_name(self) -> bool:
        """Whether the capital indicates a name."""
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
    """Whether a sentence begins after this gap."""
    if gap.startswith(".") and (before.key in _ABBREVIATIONS or len(before.text) == 1):
        gap = gap[1:]
    return "\n" in gap or _GAP_INSIDE_SENTENCE.fullmatch(gap) is None


def _flag_uninformative_capitals(line: Sequence[Word]) -> Iterator[Word]:
    is_uninformative = _is_heading(line) or _is_uppercase_line(line)
    return (replace(word, among_capitals=True) if is_uninformative else word for word in line)


def _is_heading(line: Sequence[Word]) -> bool:
    """All words but the smallest have capitals: "Notes of the Planning Meeting"."""
    significant = [word for word in line if word.key not in _SMALL_WORDS and word.text[0].isalpha()]
    one_sentence = not any(word.first for word in line[1:])
    listed = any("," in word.gap for word in line)
    return (
        one_sentence
        and not listed
        and len(line) >= _MIN_HEADING_WORDS
        and len(significant) > 1
        and all(word.capital and not word.hebrew for word in significant)
    )


def _is_uppercase_line(line: Sequence[Word]) -> bool:
    words = [word for word in line if len(word.text) > 1 and word.text.isalpha()]
    uppercase = sum(word.text.isupper() for word in words)
    return len(words) > 1 and uppercase > len(words) * _MAX_UPPERCASE_SHARE


def are_adjacent(words: Sequence[Word]) -> bool:
    return all(is_adjacent(one, other) for one, other in pairwise(words))


def is_adjacent(one: Word, other: Word) -> bool:
    """Whether only a space is between two words."""
    if one.owns:
        return False
    dotted = other.gap.startswith(". ") and (len(one.text) == 1 or one.key in _ABBREVIATIONS)
    gap = other.gap[1:] if dotted else other.gap
    return gap in (" ", "\xa0")


CERTAIN = 0.95  # participants
SURE = 0.9
LIKELY = 0.8
KNOWN = 0.75  # in a gazetteer, no further evidence
DOUBTFUL = 0.65
GUESSED = 0.5  # only a capital
AGREEMENT_BONUS = 0.05  # for a second, independent piece of evidence
LEANING = 0.55

_MIN_SUPPORT = 0.6  # weaker votes do not support others


@dataclass(frozen=True, slots=True)
class KindVote:
    kind: str
    weight: float
    by: str = ""  # kind of evidence: votes of the same kind do not add up


@dataclass(frozen=True, slots=True)
class EntityMention:
    passage: int
    start: int
    end: int
    text: str
    key: str  # folded words, without a possessive suffix
    votes: tuple[KindVote, ...] = ()
    phrase: bool = False  # "my manager": not a name


def build_mention(
    passage: TokenizedPassage, start: int, end: int, votes: Iterable[KindVote], phrase: bool = False
) -> EntityMention:
    row = passage.words[start:end]
    first, last = row[0].start, row[-1].end
    key = " ".join(
        f"{word.key}'s" if word.owns and word is not row[-1] else word.key for word in row
    )
    return EntityMention(
        passage.number, first, last, passage.text[first:last], key, tuple(votes), phrase
    )


def combine_votes(votes: Iterable[KindVote]) -> KindVote:
    """The kind with the strongest evidence; agreeing votes add a bonus."""
    best: dict[str, dict[str, float]] = {}
    for vote in votes:
        weights_by_evidence = best.setdefault(vote.kind, {})
        weights_by_evidence[vote.by] = max(weights_by_evidence.get(vote.by, 0.0), vote.weight)
    if not best:
        return KindVote("", 0.0)
    weights = {
        kind: _combined_weight(tuple(weights_by_evidence.values()))
        for kind, weights_by_evidence in best.items()
    }
    kind = max(weights, key=lambda each: weights[each])
    return KindVote(kind, round(weights[kind], 2))


def _combined_weight(weights: tuple[float, ...]) -> float:
    strongest, *others = sorted(weights, reverse=True)
    support = sum(weight >= _MIN_SUPPORT for weight in others)
    return min(CERTAIN, strongest + AGREEMENT_BONUS * support)
