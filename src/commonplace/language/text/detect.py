"""Detects script, language and traits (question, number, time, name) of a text.

Traits are one small number stored with the terms, so that ranking can tell without the text whether
a passage may answer "when …", "how many …" or "who …".
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from enum import IntFlag, StrEnum
from functools import cache, lru_cache

from commonplace.language.text.lexicon import (
    LATIN_LANGUAGES,
    STOP_WORD_LANGUAGES,
    english_homographs,
    fold_word,
    language_evidence,
    load_table,
    load_word_lists,
    negation_words,
    stop_words,
)
from commonplace.language.text.normalise import split_words
from commonplace.model.unicode_text import normal_form


class Script(StrEnum):
    """Writing systems that are distinguished."""

    LATIN = "latin"
    HEBREW = "hebrew"
    ARABIC = "arabic"
    CYRILLIC = "cyrillic"
    GREEK = "greek"
    CJK = "cjk"
    DEVANAGARI = "devanagari"
    OTHER = "other"


# The Unicode name of a letter begins with its script.
_SCRIPT_BY_UNICODE_NAME = {
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

_LATIN_LANGUAGES = tuple(
    language for language in STOP_WORD_LANGUAGES if language not in ("ru", "he")
)

# A single function word is no evidence: "Dan" is Dutch for "then", "car" French for "because".
_ENOUGH_EVIDENCE = 2

_ASCII_LETTER = re.compile("[A-Za-z]")

# Letters that few other languages use.
_LANGUAGE_LETTERS = {
    **dict.fromkeys("äöü", "de"),
    **dict.fromkeys("ñ¿¡", "es"),
    **dict.fromkeys("ãõ", "pt"),
    **dict.fromkeys("œêûîë", "fr"),
    **dict.fromkeys("ìò", "it"),
}


def detect_script(text: str) -> Script:
    """The script of most letters; OTHER without letters; the first one in a tie."""
    if text.isascii():
        return Script.LATIN if _ASCII_LETTER.search(text) else Script.OTHER
    counts = Counter(map(_SCRIPT_OF.__getitem__, text))
    counts[None] = 0
    best = max(Script, key=counts.__getitem__)
    return best if counts[best] else Script.OTHER


def detect_language(text: str) -> str:
    """ISO 639-1 code of the text's language; English for Latin letters without evidence."""
    main = detect_script(text)
    if main is Script.CJK:
        return _east_asian_language(text)
    return _LANGUAGE_OF_SCRIPT.get(main) or detect_latin_language(split_words(text))


def detect_latin_language(folded_words: Iterable[str]) -> str:
    """The most likely language of words in Latin letters; English without enough evidence."""
    evidence = _stop_word_evidence()
    found: Counter[str] = Counter()
    for word in folded_words:
        for language in evidence.get(word, ()):
            found[language] += 1
        if not word.isascii():
            found.update(_LANGUAGE_LETTERS[c] for c in word if c in _LANGUAGE_LETTERS)
    best = max(_LATIN_LANGUAGES, key=found.__getitem__)
    return best if found[best] >= _ENOUGH_EVIDENCE else "en"


@cache
def _stop_word_evidence() -> dict[str, tuple[str, ...]]:
    """Languages by function word."""
    languages_by_word: dict[str, list[str]] = {word: ["en"] for word in english_homographs()}
    for language in _LATIN_LANGUAGES:
        for word in sorted(stop_words(language) | negation_words(language)):
            languages = languages_by_word.setdefault(word, [])
            if language not in languages:
                languages.append(language)
    return {word: tuple(languages) for word, languages in languages_by_word.items()}


def _east_asian_language(text: str) -> str:
    """Kana is only Japanese and Hangul only Korean; Han alone counts as Chinese."""
    names = {unicodedata.name(c, "").partition(" ")[0] for c in normal_form(text, "NFKC")}
    if names & {"HIRAGANA", "KATAKANA"}:
        return "ja"
    return "ko" if "HANGUL" in names else "zh"


class _ScriptOfCharacter(dict[str, Script | None]):
    """Script by character, None for non-letters; filled on lookup."""

    def __missing__(self, character: str) -> Script | None:
        found = None
        if character.isalpha():
            name = unicodedata.name(character, "").partition(" ")[0]
            found = _SCRIPT_BY_UNICODE_NAME.get(name.partition("-")[0], Script.OTHER)
        self[character] = found
        return found


_SCRIPT_OF = _ScriptOfCharacter()


def script_of_letter(character: str) -> Script | None:
    """The script of one character; None if it is not a letter."""
    return _SCRIPT_OF[character]


_READ_CHARACTERS = 1_000  # read for the language
_LANGUAGE_BY_SCRIPT = {Script.HEBREW: "he", Script.ARABIC: "ar", Script.CYRILLIC: "ru"}
_LETTER_RUN = re.compile(r"[^\W\d_]+")
_FRENCH_PAST = re.compile(r"\b(?:a|ai|as|ont|avons|est|sont) \w{2,40}ée?s?\b")  # "a visité Rome"


def statement_language(*texts: str) -> str:
    """The language of one text, or the common one of several."""
    alone = {_unambiguous_language(text[:_READ_CHARACTERS]) for text in texts}
    if len(alone) == 1 and (only := next(iter(alone))):
        return only
    return statement_languages(*texts)[0]


@lru_cache(maxsize=4_096)
def _unambiguous_language(text: str) -> str:
    """The language of a text if it is unambiguous, else ""."""
    found = statement_languages(text)
    return found[0] if len(found) == 1 else ""


def statement_languages(*texts: str) -> tuple[str, ...]:
    """The languages with most evidence: several if a short text is ambiguous."""
    counts = dict.fromkeys(LATIN_LANGUAGES, 0)
    for text in texts:
        written_in, found = _language_votes(text[:_READ_CHARACTERS])
        if written_in:
            return (written_in,)
        for language, count in found:
            counts[language] += count
    most = max(counts.values())
    return tuple(language for language in LATIN_LANGUAGES if counts[language] == most)


@lru_cache(maxsize=4_096)
def _language_votes(text: str) -> tuple[str | None, tuple[tuple[str, int], ...]]:
    """The language implied by the script, or the number of words per language."""
    written_in = _LANGUAGE_BY_SCRIPT.get(detect_script(text))
    if written_in:
        return written_in, ()
    known = language_evidence()
    evidence = Counter(
        language
        for word in _LETTER_RUN.findall(text.casefold())
        for language in known.get(word, ())
    )
    evidence["fr"] += 2 * bool(_FRENCH_PAST.search(text))
    return None, tuple(evidence.items())


class Trait(IntFlag):
    KNOWN = 1  # traits were computed: texts of older versions have none
    ENDS_IN_QUESTION = 2
    NUMBER = 4
    TIME = 8
    NAME = 16
    HAS_QUESTION = 32  # contains a question before its end


SCRIPT_SHIFT = 8
_SCRIPT_ORDER = tuple(Script)

_QUESTION_MARKS = "?؟"
_WORD_CHARACTER = re.compile(r"\w")
_QUESTION = re.compile(r"[?؟](?:\s|$|[\"'”’)])")
_DIGIT = re.compile(r"\d")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_CLOCK = re.compile(r"\b\d{1,2}(?::\d\d|\s?[ap]\.?m\b)", re.IGNORECASE)
# A capitalised word after a lower-case one, or quoted text.
_CAPITAL_INSIDE = re.compile(r"(?<=[a-zß-ÿа-яё0-9,;:] )[A-ZÀ-ÞА-ЯЁ][\w'’]+")
_QUOTED = re.compile(r"[\"“«„][^\"”»“]{2,80}[\"”»“]")
_ENGLISH_I = re.compile(r"^I(?:['’]\w+)?$")


def traits_of(text: str) -> int:
    found = Trait.KNOWN
    words = set(split_words(text))
    if _QUESTION.search(text):
        found |= Trait.HAS_QUESTION
    if _ends_in_question(text):
        found |= Trait.ENDS_IN_QUESTION
    if _DIGIT.search(text) or words & question_words("number"):
        found |= Trait.NUMBER
    if words & time_words() or _YEAR.search(text) or _CLOCK.search(text):
        found |= Trait.TIME
    if _has_name(text):
        found |= Trait.NAME
    return int(found) | (_SCRIPT_ORDER.index(detect_script(text)) << SCRIPT_SHIFT)


def _ends_in_question(text: str) -> bool:
    """A question mark after the last word, or before one remark in brackets at the end."""
    end = _after_last_word(text)
    if any(mark in text[end:] for mark in _QUESTION_MARKS):
        return True
    closes, opens = text.find("]", end), text.rfind("[", 0, end)
    if closes < 0 or opens < 0 or "]" in text[opens:end] or "[" in text[end:closes]:
        return False
    before = _after_last_word(text[:opens])
    return any(mark in text[before:opens] for mark in _QUESTION_MARKS)


def _after_last_word(text: str) -> int:
    """Where the last word ends. A pattern anchored at the end would try every run of signs."""
    return next((n + 1 for n in range(len(text) - 1, -1, -1) if _WORD_CHARACTER.match(text[n])), 0)


def script_codes(readable: frozenset[Script]) -> list[int]:
    """Codes of these scripts in the upper bits of traits."""
    return [place for place, each in enumerate(_SCRIPT_ORDER) if each in readable]


def _has_name(text: str) -> bool:
    if _QUOTED.search(text):
        return True
    return any(not _ENGLISH_I.match(word) for word in _CAPITAL_INSIDE.findall(text))


@cache
def question_words(what: str) -> frozenset[str]:
    """A list of question_words.txt, in all languages."""
    lists = load_word_lists("text/question_words.txt")
    return frozenset().union(*(lists[name] for name in lists if name.split()[1] == what))


@cache
def time_words() -> frozenset[str]:
    named = {word for numbered in month_names().values() for word in numbered} | set(
        weekday_names()
    )
    return question_words("time") | (named - ambiguous_months())


@cache
def month_names() -> dict[int, frozenset[str]]:
    """Names of each month, 1 to 12, in all known languages."""
    found: dict[int, set[str]] = {number: set() for number in range(1, 13)}
    for table in load_table("calendar").values():
        for number, forms in enumerate(table.get("months", "").split(), 1):
            found[number] |= {fold_word(form) for form in forms.split("|")}
    return {number: frozenset(forms) for number, forms in found.items()}


@cache
def weekday_names() -> frozenset[str]:
    return frozenset(
        fold_word(form)
        for table in load_table("calendar").values()
        for forms in table.get("days", "").split()
        for form in forms.split("|")
    )


@cache
def ambiguous_months() -> frozenset[str]:
    """Words that are months or days only if capitalised: may, march, sun."""
    return frozenset(map(fold_word, load_table("calendar")["words"]["ambiguous"].split()))
