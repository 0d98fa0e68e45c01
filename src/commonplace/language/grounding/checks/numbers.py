"""Numbers of a text by value: digits and words, times of day, resolved dates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from commonplace.language.text.detect import Script, detect_script
from commonplace.language.text.lexicon import fold_word
from commonplace.language.text.normalise import split_words
from commonplace.language.text.numbers import parse_number, parse_number_words, parse_ordinal

_NUMERAL = re.compile(r"\d+(?:[.,:/'’-]\d+)*")
_CLOCK = re.compile(r"(\d{1,2})(?::(\d\d))?\s?([ap])\.?m\b", re.IGNORECASE)
_SEPARATOR = re.compile(r"[.,:/'’-]")
_SCALES = {"k": 1_000, "m": 1_000_000}
_SCALED = re.compile(r"(\d+(?:[.,]\d+)?)\s?([km])(?!\w)", re.IGNORECASE)
_HEBREW_PREFIXED = tuple(
    re.compile(rf"(?<![א-ת])[והבלכמש]{{{count}}}(?=[א-ת]{{3}})") for count in (1, 2)
)
# "The two had the same braces": who is meant, not how many.
_THE_TWO = re.compile(
    r"\bthe (?:two|three|four) (?=(?:of|are|were|have|had|has|will|would|both|share|shared|met)\b)",
    re.IGNORECASE,
)
_LONGEST_NUMBER = 40  # digits
_LONGEST_PHRASE = 12  # words of one number
_NAMED = {
    word: value
    for words, value in (
        ("couple both pair twins twin beide ambos twice זוג תאומים תאומות שניהם שתיהן", 2),
        ("יומיים שבועיים חודשיים שנתיים פעמיים שעתיים", 2),
        ("noon mittag mediodía צהריים", 12),
        ("half halb media חצי", 30),
        ("quarter viertel רבע", 15),
    )
    for word in words.split()
}
_LANGUAGES = {Script.HEBREW: ("he",), Script.ARABIC: ("ar",), Script.CYRILLIC: ("ru",)}


@dataclass(frozen=True, slots=True)
class TextNumbers:
    values: frozenset[Decimal]
    written: frozenset[tuple[str, ...]]  # groups of digits, in order

    def has(self, numeral: str) -> bool:
        groups = _groups(numeral)
        if groups in self.written:
            return True
        if len(groups) > 1 and ":" in numeral:
            return self._has_time(groups)
        if groups[0].startswith("0") and len(groups[0]) > 1:
            return False  # a code, not a quantity
        value = parse_number(numeral, "en")
        return value is not None and value in self.values

    def _has_time(self, groups: tuple[str, ...]) -> bool:
        """19:00 is 7, as people say it; 7:30 is 19:30, and half past seven."""
        hour, minutes = int(groups[0]), groups[1]
        hours = [each for each in (hour, hour - 12, hour + 12) if each >= 0]
        if any((str(each), minutes) in self.written for each in hours):
            return True
        is_said = minutes == "00" or Decimal(minutes) in self.values
        return is_said and any(Decimal(each) in self.values for each in hours)


def numbers_of(text: str, language: str) -> TextNumbers:
    plain = _with_plain_digits(text)
    values: set[Decimal] = set()
    written: set[tuple[str, ...]] = set()
    for match in _NUMERAL.finditer(plain):
        groups = _groups(match[0])
        written.add(groups)
        written.update((group,) for group in groups)
        values.update(Decimal(group) for group in groups if len(group) <= _LONGEST_NUMBER)
        values.update(
            value for notation in ("en", "de") if (value := parse_number(match[0], notation))
        )
    for match in _SCALED.finditer(plain):
        if (amount := parse_number(match[1], "en")) is not None:
            values.add(amount * _SCALES[match[2].lower()])
    for match in _CLOCK.finditer(plain):
        hour = int(match[1]) % 12 + (12 if match[3] in "pP" else 0)
        values.add(Decimal(hour))
        written.add((str(hour), match[2] or "00"))
    values.update(map(Decimal, _word_values(plain, language, with_ordinals=True)))
    for prefix in _HEBREW_PREFIXED:  # «לשני»: "to Monday"; «ושלושה»: "and three"
        bare = prefix.sub(" ", plain)
        if bare != plain:
            values.update(map(Decimal, _word_values(bare, language, with_ordinals=True)))
    return TextNumbers(frozenset(values), frozenset(written))


def unknown_numbers(
    text: str, language: str, known: Iterable[TextNumbers], days: Set[date], said: date
) -> list[str]:
    """Numbers in the text that neither the passages nor the resolved days have. The day on which it
    was ``said`` is known as a whole date only."""
    sources = (*known, numbers_of(" ".join(f"{day.day} {day.year}" for day in days), "en"))
    plain = _with_plain_digits(text)
    dates = {day.isoformat()[:length] for day in (*days, said) for length in (7, 10)}
    dates |= {f"{day.day}{mark}{day.month}" for day in days for mark in "./"}
    missing = [
        numeral
        for numeral in _NUMERAL.findall(_without_written_scales(plain, sources))
        if not (numeral in dates or any(each.has(numeral) for each in sources))
    ]
    counts = _word_values(_THE_TWO.sub(" ", plain), language, with_ordinals=False)
    missing += [
        str(count)
        for count in counts
        if count > 1 and not any(Decimal(count) in each.values for each in sources)
    ]
    return missing


def _without_written_scales(text: str, sources: Iterable[TextNumbers]) -> str:
    """Without "4.2k" where the passages have 4200."""

    def replaced(match: re.Match[str]) -> str:
        amount = parse_number(match[1], "en")
        scaled = amount * _SCALES[match[2].lower()] if amount is not None else None
        return " " if any(scaled in each.values for each in sources) else match[0]

    return _SCALED.sub(replaced, text)


def _groups(numeral: str) -> tuple[str, ...]:
    return tuple(_SEPARATOR.split(numeral))


def _with_plain_digits(text: str) -> str:
    if text.isascii():
        return text
    return "".join(str(int(c)) if c.isdecimal() and not c.isascii() else c for c in text)


def _word_values(text: str, language: str, *, with_ordinals: bool) -> Iterator[int]:
    """Numbers in words; the name of a weekday («יום שלישי») is an ordinal in Hebrew."""
    words = [fold_word(word) for word in split_words(text)]
    for each in _languages_of(text, language):
        place = 0
        while place < len(words):
            phrase = words[place : place + _LONGEST_PHRASE]
            found = parse_number_words(phrase, 0, each)
            if found is not None:
                yield found[0]
                place += found[1]
                continue
            if with_ordinals:
                ordinal = parse_ordinal(words[place], each)
                if ordinal is not None:
                    yield ordinal
                if words[place] in _NAMED:
                    yield _NAMED[words[place]]
            place += 1


def _languages_of(text: str, language: str) -> tuple[str, ...]:
    """The language of a short text is a guess: English is always tried for Latin letters."""
    own = _LANGUAGES.get(detect_script(text))
    return own or tuple(dict.fromkeys((language, "en")))
