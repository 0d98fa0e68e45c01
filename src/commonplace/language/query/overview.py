"""Overviews: questions for all that is known of somebody or something, or of the user.

"What do you know about Noa?" is a search for Noa: the other words would only match by chance. The
patterns are in overview.toml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from commonplace.language.text.lexicon import load_patterns
from commonplace.language.text.normalise import fold_case

MAX_SUBJECT_WORDS = 5  # a longer rest is a question of its own
_GAP = "…"
_WORD = re.compile(r"[^\W_]+(?:['’\"״-][^\W_]+)*")
_CONTRACTED = {"who's": "who", "what's": "what", "whos": "who", "whats": "what"}  # and "is"
_CHAT_WORDS = {
    "u": "you",
    "abt": "about",
    "ur": "your",
    "r": "are",
    "hav": "have",
    "kno": "know",
    "youve": "you've",
    "uve": "you've",
    "ive": "i've",
}
_LANGUAGES = ("en", "he", "es", "de", "fr")


@dataclass(frozen=True, slots=True)
class Overview:
    subject: str  # as written; empty: the user, or all that is known

    @property
    def is_of_all(self) -> bool:
        return not self.subject


@dataclass(frozen=True, slots=True)
class _Pattern:
    before: tuple[str, ...]
    after: tuple[str, ...]
    has_subject: bool

    def subject(self, words: Sequence[str]) -> range | None:
        """The places of the subject; empty for a pattern without; None: no match."""
        end = len(words) - len(self.after)
        is_match = tuple(words[: len(self.before)]) == self.before
        if not is_match or tuple(words[end:]) != self.after:
            return None
        found = range(len(self.before), end)
        return found if bool(found) is self.has_subject else None


@dataclass(frozen=True, slots=True)
class _Language:
    by_first_word: Mapping[str, tuple[_Pattern, ...]]
    others: tuple[_Pattern, ...]  # those that begin with the subject
    self_words: frozenset[tuple[str, ...]]
    openers: tuple[tuple[str, ...], ...]
    endings: tuple[tuple[str, ...], ...]

    def patterns_for(self, words: Sequence[str]) -> tuple[_Pattern, ...]:
        """Those that can match, the longest first."""
        return self.by_first_word.get(words[0], self.others) if words else self.others


def parse_overview(text: str) -> Overview | None:
    """None: not a question for an overview."""
    spans = list(_spoken_words(text))
    for name in _LANGUAGES:
        language = _load_language(name)
        kept = _trim(spans, language)
        words = [word for word, _, _ in kept]
        for pattern in language.patterns_for(words):
            places = pattern.subject(words)
            if places is None or len(places) > MAX_SUBJECT_WORDS:
                continue
            if not places or tuple(words[places.start : places.stop]) in language.self_words:
                return Overview("")
            return Overview(text[kept[places.start][1] : kept[places.stop - 1][2]])
    return None


def _spoken_words(text: str) -> Iterator[tuple[str, int, int]]:
    """Folded words with their positions; "who's" is two words."""
    for match in _WORD.finditer(text):
        word = fold_case(match[0]).replace("’", "'")
        if word in _CONTRACTED:
            yield _CONTRACTED[word], match.start(), match.end()
            yield "is", match.start(), match.end()
        else:
            yield _CHAT_WORDS.get(word, word), match.start(), match.end()


def _trim(
    spans: Sequence[tuple[str, int, int]], language: _Language
) -> Sequence[tuple[str, int, int]]:
    """Without the words that may stand before and after."""
    words = [word for word, _, _ in spans]
    start, end = 0, len(words)
    while step := _longest(language.openers, words[start:end], at_end=False):
        start += step
    while step := _longest(language.endings, words[start:end], at_end=True):
        end -= step
    return spans[start:end]


def _longest(phrases: Sequence[tuple[str, ...]], words: Sequence[str], *, at_end: bool) -> int:
    """The length of the longest phrase that the words begin or end with."""
    lengths = (
        len(phrase)
        for phrase in phrases
        if tuple(words[-len(phrase) :] if at_end else words[: len(phrase)]) == phrase
    )
    return max(lengths, default=0)


@cache
def _load_language(name: str) -> _Language:
    table = load_patterns("query/overview")[name]
    parsed = [_parse_pattern(each) for each in table["patterns"]]
    patterns = sorted(parsed, key=lambda each: -len(each.before) - len(each.after))
    firsts = {each.before[0] for each in patterns if each.before}
    return _Language(
        {
            first: tuple(each for each in patterns if each.before[:1] in ((), (first,)))
            for first in firsts
        },
        tuple(each for each in patterns if not each.before),
        frozenset(map(_phrase, table["self"])),
        tuple(map(_phrase, table["openers"])),
        tuple(map(_phrase, table["endings"])),
    )


def _parse_pattern(written: str) -> _Pattern:
    before, gap, after = written.partition(_GAP)
    return _Pattern(_phrase(before), _phrase(after), bool(gap))


def _phrase(written: str) -> tuple[str, ...]:
    return tuple(written.split())
