"""A text as words with their places, and what the capitals of each say.

A capital tells of a name only where nothing else explains it: not the beginning of a sentence, not
a heading with capitals throughout, not shouting. Addresses, handles, tags, code and quoted
titles of books and films are no words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from commonplace.language.names import bare
from commonplace.language.wordlists import word_lists

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
_INSIDE_A_SENTENCE = re.compile(r"[\s,'’()/&–—-]*")
_ABBREVIATED = word_lists("extracting/name_words.txt")["en abbreviated"]
_SMALL = frozenset(
    ("a", "an", "the", "of", "and", "or", "for", "in", "on", "to", "at", "by", "with")
)
_SHORTEST_HEADING = 3  # words
_MOST_SHOUTED = 0.6


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
    mute: bool = False  # all around have capitals

    @property
    def tells(self) -> bool:
        """Whether its capital says that it is of a name."""
        return self.capital and not self.first and not self.mute

    @property
    def hebrew(self) -> bool:
        return "א" <= self.text[0] <= "ת"


@dataclass(frozen=True, slots=True)
class Passage:
    number: int
    text: str
    words: tuple[Word, ...]


def words_of(text: str) -> tuple[Word, ...]:
    found: list[Word] = []
    line: list[Word] = []
    for word in _words(text):
        if "\n" in word.gap and line:
            found += _muted(line)
            line = []
        line.append(word)
    return (*found, *_muted(line))


def _words(text: str) -> Iterator[Word]:
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
        first = before is None or _begins(gap, before)
        owns = (clitic is not None and clitic[0][1:] in "sS") or text.startswith(("' ", "’ "), end)
        capital = not bare_text.islower() and any(map(str.isupper, bare_text))
        before = Word(match.start(), end, bare_text, bare(bare_text), gap, capital, owns, first)
        yield before
        at = match.end()


def _begins(gap: str, before: Word) -> bool:
    """Whether a sentence begins behind this gap."""
    if gap.startswith(".") and (before.key in _ABBREVIATED or len(before.text) == 1):
        gap = gap[1:]
    return "\n" in gap or _INSIDE_A_SENTENCE.fullmatch(gap) is None


def _muted(line: Sequence[Word]) -> Iterator[Word]:
    mute = _is_heading(line) or _is_shouted(line)
    return (replace(word, mute=True) if mute else word for word in line)


def _is_heading(line: Sequence[Word]) -> bool:
    """All words have capitals but the smallest: "Notes of the Planning Meeting"."""
    spoken = [word for word in line if word.key not in _SMALL and word.text[0].isalpha()]
    one_sentence = not any(word.first for word in line[1:])
    listed = any("," in word.gap for word in line)
    return (
        one_sentence
        and not listed
        and len(line) >= _SHORTEST_HEADING
        and len(spoken) > 1
        and all(word.capital and not word.hebrew for word in spoken)
    )


def _is_shouted(line: Sequence[Word]) -> bool:
    words = [word for word in line if len(word.text) > 1 and word.text.isalpha()]
    loud = sum(word.text.isupper() for word in words)
    return len(words) > 1 and loud > len(words) * _MOST_SHOUTED


def in_a_row(words: Sequence[Word]) -> bool:
    return all(beside(one, other) for one, other in pairwise(words))


def beside(one: Word, other: Word) -> bool:
    """Whether two words follow one another with nothing but a space between them."""
    if one.owns:
        return False
    dotted = other.gap.startswith(". ") and (len(one.text) == 1 or one.key in _ABBREVIATED)
    gap = other.gap[1:] if dotted else other.gap
    return gap in (" ", "\xa0")
