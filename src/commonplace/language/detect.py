"""Which script and which language a text is written in, by counting letters and small words."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from functools import cache

from commonplace.language.stopwords import LANGUAGES, also_english, negations, stop_words
from commonplace.language.words import words


class Script(StrEnum):
    """The writing systems the engine tells apart."""

    LATIN = "latin"
    HEBREW = "hebrew"
    ARABIC = "arabic"
    CYRILLIC = "cyrillic"
    GREEK = "greek"
    CJK = "cjk"
    DEVANAGARI = "devanagari"
    OTHER = "other"


# Unicode names every letter after its script, so the first word of the name tells it.
_BY_NAME = {
    "CJK": Script.CJK,
    "HIRAGANA": Script.CJK,
    "KATAKANA": Script.CJK,
    "HALFWIDTH": Script.CJK,
    "HANGUL": Script.CJK,
    "IDEOGRAPHIC": Script.CJK,
    "FULLWIDTH": Script.LATIN,
} | {script.name: script for script in Script if script is not Script.CJK}

_LANGUAGE_OF_SCRIPT = {
    Script.HEBREW: "he",
    Script.ARABIC: "ar",
    Script.CYRILLIC: "ru",
    Script.GREEK: "el",
    Script.DEVANAGARI: "hi",
}

_LATIN_LANGUAGES = tuple(language for language in LANGUAGES if language not in ("ru", "he"))

# One small word proves nothing: "Dan" is Dutch for "then", and "car" French for "because".
_ENOUGH_EVIDENCE = 2

_ASCII_LETTER = re.compile("[A-Za-z]")

# Letters that few other languages use.
_TELLING_LETTERS = {
    **dict.fromkeys("äöü", "de"),
    **dict.fromkeys("ñ¿¡", "es"),
    **dict.fromkeys("ãõ", "pt"),
    **dict.fromkeys("œêûîë", "fr"),
    **dict.fromkeys("ìò", "it"),
}


def script(text: str) -> Script:
    """The script of most letters; OTHER without letters, the earlier one in a tie."""
    if text.isascii():
        return Script.LATIN if _ASCII_LETTER.search(text) else Script.OTHER
    counts = Counter(map(_SCRIPT_OF.__getitem__, text))
    counts[None] = 0
    best = max(Script, key=counts.__getitem__)
    return best if counts[best] else Script.OTHER


def detect(text: str) -> str:
    """The ISO 639-1 code of the text's language; English for Latin letters without evidence."""
    main = script(text)
    if main is Script.CJK:
        return _east_asian(text)
    return _LANGUAGE_OF_SCRIPT.get(main) or latin_language(words(text))


def latin_language(folded_words: Iterable[str]) -> str:
    """The most likely language of words in Latin letters; English unless the words speak up."""
    evidence = _evidence()
    found: Counter[str] = Counter()
    for word in folded_words:
        for language in evidence.get(word, ()):
            found[language] += 1
        if not word.isascii():
            found.update(_TELLING_LETTERS[c] for c in word if c in _TELLING_LETTERS)
    best = max(_LATIN_LANGUAGES, key=found.__getitem__)
    return best if found[best] >= _ENOUGH_EVIDENCE else "en"


@cache
def _evidence() -> dict[str, tuple[str, ...]]:
    """For each small word, the languages it speaks for."""
    speaks_for: dict[str, list[str]] = {word: ["en"] for word in also_english()}
    for language in _LATIN_LANGUAGES:
        for word in sorted(stop_words(language) | negations(language)):
            languages = speaks_for.setdefault(word, [])
            if language not in languages:
                languages.append(language)
    return {word: tuple(languages) for word, languages in speaks_for.items()}


def _east_asian(text: str) -> str:
    """Kana is only Japanese and Hangul only Korean; Han alone is taken for Chinese."""
    names = {unicodedata.name(c, "").partition(" ")[0] for c in unicodedata.normalize("NFKC", text)}
    if names & {"HIRAGANA", "KATAKANA"}:
        return "ja"
    return "ko" if "HANGUL" in names else "zh"


class _ScriptOf(dict[str, Script | None]):
    """The script of a character, None for what is no letter; remembered once looked up."""

    def __missing__(self, character: str) -> Script | None:
        found = None
        if character.isalpha():
            name = unicodedata.name(character, "").partition(" ")[0]
            found = _BY_NAME.get(name.partition("-")[0], Script.OTHER)
        self[character] = found
        return found


_SCRIPT_OF = _ScriptOf()


def script_of_letter(character: str) -> Script | None:
    """The script of one character; None when it is no letter."""
    return _SCRIPT_OF[character]
