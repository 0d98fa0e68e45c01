"""Prompt injection: detects instructions to an agent.

The patterns are in prompt_injection.toml, word groups of each language in
prompt_injection_languages.toml; disguised writing is undone by `text_readings`.

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
from commonplace.language.text.lexicon import compile_any_of, load_patterns

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
    is_latin = on_one_line.isascii() or not _OTHER_SCRIPT.search(on_one_line)
    if not _any_word(is_latin).search(on_one_line):  # nearly all texts
        return None
    if any(words in on_one_line for words in _patterns().look_closer):
        for reason, pattern in _patterns().rules:
            if _compile_rule(pattern).search(plain):
                return reason
    languages = [
        language
        for language in _patterns().languages
        if any(words in on_one_line for words in language.words_in(is_latin))
    ]
    if not languages:
        return None
    sentences = list(dict.fromkeys((*_sentences(plain), *_sentences(on_one_line))))
    found = (language.reason_of(sentences) for language in languages)
    return next(filter(None, found), None)


_OTHER_SCRIPT = re.compile("[\u0370-\u1dff\u2e80-\ud7ff\uf900-\ufeff\uff66-\uff9f]")
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
    latin_words: tuple[str, ...]
    groups: dict[str, str]  # patterns
    combinations: tuple[tuple[str, tuple[str, ...]], ...]  # reason, names of groups

    def words_in(self, is_latin: bool) -> tuple[str, ...]:
        """Words that call for a closer look and that a text in Latin letters, or any, can have."""
        return self.latin_words if is_latin else self.look_closer

    def reason_of(self, sentences: Sequence[str]) -> str | None:
        """Few sentences have such a word, and most of them lack the words of any combination."""
        closer = [each for each in sentences if any(words in each for words in self.look_closer)]
        text = "\n".join(closer)
        occurs: dict[str, bool] = {}
        for reason, names in self.combinations:
            if all(self._occurs(name, text, occurs) for name in names):
                patterns = [_compile_group(self.groups[name]) for name in names]
                for sentence in closer:
                    if all(pattern.search(sentence) for pattern in patterns):
                        return reason
        return None

    def _occurs(self, name: str, text: str, known: dict[str, bool]) -> bool:
        if name not in known:
            known[name] = _compile_group(self.groups[name]).search(text) is not None
        return known[name]


@dataclass(frozen=True, slots=True)
class _InjectionPatterns:
    look_closer: tuple[str, ...]
    rules: tuple[tuple[str, str], ...]  # reason, pattern
    languages: tuple[_LanguagePatterns, ...]


@cache
def _patterns() -> _InjectionPatterns:
    table = load_patterns("safety/prompt_injection")
    spoken = load_patterns("safety/prompt_injection_languages")
    combinations = tuple(
        (reason, tuple(names))
        for reason, listed in spoken["combinations"].items()
        for names in listed
    )
    return _InjectionPatterns(
        tuple(map(fold_writing, table["look_closer"])),
        tuple(
            (rule["reason"], _fill_words(rule["patterns"], table["words"]))
            for rule in table["rule"]
        ),
        tuple(
            _language_patterns(language, combinations) for language in spoken["language"].values()
        ),
    )


def _language_patterns(
    language: dict[str, Any], combinations: Sequence[tuple[str, tuple[str, ...]]]
) -> _LanguagePatterns:
    groups = {name: words for name, words in language.items() if name != "look_closer"}
    look_closer = tuple(map(fold_writing, language["look_closer"]))
    return _LanguagePatterns(
        look_closer,
        tuple(filter(str.isascii, look_closer)),
        groups,
        tuple(each for each in combinations if groups.keys() >= set(each[1])),
    )


@cache
def _any_word(is_latin: bool) -> re.Pattern[str]:
    """Finds any of the words that call for a closer look, in one pass."""
    patterns = _patterns()
    spoken = (words for each in patterns.languages for words in each.words_in(is_latin))
    return compile_any_of((*patterns.look_closer, *spoken))


# Most texts need few of the patterns, and compiling all of them takes long.
@cache
def _compile_rule(pattern: str) -> re.Pattern[str]:
    return re.compile(_fold_pattern(pattern).replace(" ", r"\s"), re.S)


@cache
def _compile_group(words: str) -> re.Pattern[str]:
    return re.compile(_fold_pattern(words), re.MULTILINE)  # a line is a sentence


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
    return joined
