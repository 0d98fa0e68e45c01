"""Lines that were broken since they were full, as mail programs do: their sentences go on. Pure."""

from __future__ import annotations

import re
from itertools import pairwise

_NARROWEST, _WIDEST = 55, 100  # characters of a full line
_ENDS = re.compile(r"[.!?:;…][\"'”’»)]*\s*$|^\s*$")
_BEGINS = re.compile(r"\s*(?:[-*•>|#]|\d{1,3}[.)]\s|\S+(?: \S+){0,2}:\s|$)")  # a line of its own
_SEVERAL = 2


def unwrapped(text: str) -> str:
    """With a space in place of such a break, so that every place stays what it was. A line was full
    if the first word of the next one would not have fitted; one alone may be long by chance."""
    lines = text.split("\n")
    width = max(map(len, lines))
    if not _NARROWEST <= width <= _WIDEST:
        return text
    full = [_goes_on(*two, width) for two in pairwise(lines)]
    is_wrapped = sum(full) >= _SEVERAL
    signs = (
        " " if goes_on and (is_wrapped or following.lstrip()[0].islower()) else "\n"
        for goes_on, following in zip(full, lines[1:], strict=True)
    )
    return "".join(part for two in zip(lines, (*signs, ""), strict=True) for part in two)


def _goes_on(line: str, following: str, width: int) -> bool:
    if _ENDS.search(line) or _BEGINS.match(following):
        return False
    return len(line) + 1 + len(following.split(maxsplit=1)[0]) > width
