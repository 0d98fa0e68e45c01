"""Names of times in a text: weekdays, months, "tomorrow", in all languages that are known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from datetime import date
from functools import cache

from commonplace.language.text.detect import ambiguous_months, month_names
from commonplace.language.text.lexicon import fold_word, load_table

NamedTime = tuple[str, int]  # ("month", 3), ("weekday", 1), ("in days", 1)
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_HEBREW_PREFIXES = "והבלכמש"
_HEBREW_WEEKDAYS = {"שבת": 5}  # the others are ordinals, too: «שלישי»


def named_times(text: str) -> frozenset[NamedTime]:
    found: set[NamedTime] = set()
    for word in _WORD.findall(text):
        found |= _times_of(word)
    return frozenset(found)


def unknown_times(text: str, known: Set[NamedTime]) -> list[str]:
    """Words of the text for times that are not known. "may" and "sun" count with a capital only."""
    missing = []
    for word in _WORD.findall(text):
        if fold_word(word) in ambiguous_months() and not word[0].isupper():
            continue
        times = _times_of(word)
        if times and known.isdisjoint(times):
            missing.append(word)
    return missing


def times_of_days(days: Iterable[date]) -> frozenset[NamedTime]:
    listed = list(days)
    months = {("month", day.month) for day in listed}
    return frozenset(months | {("weekday", day.weekday()) for day in listed})


def _times_of(word: str) -> frozenset[NamedTime]:
    folded = fold_word(word)
    found = _names().get(folded)
    if found is None and folded[:1] in _HEBREW_PREFIXES:
        found = _names().get(folded[1:])
    return found or frozenset()


@cache
def _names() -> dict[str, frozenset[NamedTime]]:
    named: dict[str, set[NamedTime]] = {}
    for number, forms in month_names().items():
        for form in forms:
            named.setdefault(form, set()).add(("month", number))
    for word, weekday in _HEBREW_WEEKDAYS.items():
        named.setdefault(word, set()).add(("weekday", weekday))
    for table in load_table("day_words").values():
        for number, joined in enumerate(table["days"].split()):
            for form in joined.split("|"):
                named.setdefault(fold_word(form), set()).add(("weekday", number))
        for entry in table["offsets"].split():
            word, days = entry.split("=")
            if "_" not in word:
                named.setdefault(fold_word(word), set()).add(("in days", int(days)))
    for word, offset in (("היום", 0), ("מחר", 1), ("מחרתיים", 2), ("אתמול", -1), ("שלשום", -2)):
        named.setdefault(word, set()).add(("in days", offset))
    return {word: frozenset(times) for word, times in named.items()}
