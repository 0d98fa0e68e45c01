"""Which two statements are worth a closer look as duplicates, by their terms alone. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from commonplace.language.text.terms import analyse

MIN_SHARED = 1 / 3  # of the terms of the shorter statement
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


def terms_key(text: str) -> tuple[str, ...]:
    """Equal for texts of the same normalised terms, in any order. Order may matter for what they
    say ("Dan owes Ana"), so that this alone does not make them the same."""
    return tuple(sorted(analyse(text)))


def overlaps(one: Collection[str], other: Collection[str]) -> bool:
    """Whether the statements with these terms share enough of them."""
    a, b = set(one), set(other)
    return bool(a and b) and len(a & b) >= MIN_SHARED * min(len(a), len(b))


def is_numeric_step(one: str, other: str) -> bool:
    """ "Ran 5 km", "Ran 6 km": the same but for the numbers."""
    return _numbers(one) != _numbers(other) and _masked(one) == _masked(other)


def _numbers(text: str) -> Sequence[str]:
    return _NUMBER.findall(text)


def _masked(text: str) -> list[str]:
    return analyse(_NUMBER.sub("0", text))
