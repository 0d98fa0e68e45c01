"""Prompt injection: detects instructions to an agent.

The patterns are in prompt_injection.toml; disguised writing is undone by `text_readings`.

Detection decides what is left out of prompts. It is not what keeps prompts safe: words of sources
are fenced there whatever they say (`model/quotation.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from commonplace.language.safety.text_readings import fold_writing, readings
from commonplace.language.text.lexicon import load_patterns

# Invisible tag characters can spell ASCII. Legitimate text uses them only in regional flags.
_TAG_CHARACTERS = re.compile("[\U000e0020-\U000e007e]{4,}")
_REGION_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f")


def is_suspicious(text: str) -> bool:
    return suspicion_reason(text) is not None


def suspicion_reason(text: str) -> str | None:
    """The reason why a text is suspicious, as a clause; None if it is not."""
    if _TAG_CHARACTERS.search(_REGION_FLAG.sub("", text)):
        return "contains invisible characters"
    return next(filter(None, map(_reason_of_reading, readings(text))), None)


def _reason_of_reading(plain: str) -> str | None:
    on_one_line = plain.replace("\n", " ")
    if any(words in on_one_line for words in _patterns().look_closer):
        for reason, pattern in _patterns().rules:
            if pattern.search(plain):
                return reason
    languages = [
        language
        for language in _patterns().languages
        if any(words in on_one_line for words in language.look_closer)
    ]
    if not languages:
        return None
    sentences = list(dict.fromkeys((*_sentences(plain), *_sentences(on_one_line))))
    found = (language.reason_of(sentence) for language in languages for sentence in sentences)
    return next(filter(None, found), None)


_SENTENCE_END = re.compile(r"[.;](?=\s)|[!?。！？।۔؟\n]+")
_MAX_SENTENCE = 300  # characters; of longer ones, overlapping pieces are read


def _sentences(plain: str) -> Iterator[str]:
    for sentence in _SENTENCE_END.split(plain):
        stripped = sentence.strip()
        for start in range(0, max(1, len(stripped)), _MAX_SENTENCE // 2):
            if piece := stripped[start : start + _MAX_SENTENCE]:
                yield piece


@dataclass(frozen=True, slots=True)
class _LanguagePatterns:
    """The word groups of one language, and the combinations that are suspicious."""

    look_closer: tuple[str, ...]
    groups: dict[str, re.Pattern[str]]
    combinations: tuple[tuple[str, tuple[str, ...]], ...]  # reason, names of groups

    def reason_of(self, sentence: str) -> str | None:
        for reason, names in self.combinations:
            if all(self.groups[name].search(sentence) for name in names):
                return reason
        return None


@dataclass(frozen=True, slots=True)
class _InjectionPatterns:
    look_closer: tuple[str, ...]
    rules: tuple[tuple[str, re.Pattern[str]], ...]
    languages: tuple[_LanguagePatterns, ...]


@cache
def _patterns() -> _InjectionPatterns:
    table = load_patterns("safety/prompt_injection")
    combinations = tuple(
        (reason, tuple(names))
        for reason, listed in table["combinations"].items()
        for names in listed
    )
    return _InjectionPatterns(
        tuple(map(fold_writing, table["look_closer"])),
        tuple(
            (rule["reason"], re.compile(_fill_words(rule["patterns"], table["words"]), re.S))
            for rule in table["rule"]
        ),
        tuple(
            _language_patterns(language, combinations) for language in table["language"].values()
        ),
    )


def _language_patterns(
    language: dict[str, Any], combinations: Sequence[tuple[str, tuple[str, ...]]]
) -> _LanguagePatterns:
    groups = {
        name: re.compile(_fold_pattern(words))
        for name, words in language.items()
        if name != "look_closer"
    }
    return _LanguagePatterns(
        tuple(map(fold_writing, language["look_closer"])), groups, tuple(combinations)
    )


def _fold_pattern(pattern: str) -> str:
    """As the text is folded; classes such as \\S keep their letters."""
    pieces = re.split(r"(\\[A-Z])", pattern)  # every second one is such a class
    return "".join(
        piece if place % 2 else fold_writing(piece) for place, piece in enumerate(pieces)
    )


def _fill_words(patterns: list[str], words: dict[str, str]) -> str:
    joined = "|".join(patterns)
    for name, listed in words.items():
        joined = joined.replace("{" + name + "}", listed)
    return _fold_pattern(joined).replace(" ", r"\s")
