"""JSON out of what a model wrote: fences, thoughts and text around it are left out. Pure."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

MAX_CHARS = 2_000_000
_MAX_STARTS = 20  # places where a value may begin that are tried
_FENCED = re.compile(r"```[A-Za-z]*[ \t]*\n([^`]*)```")
_TRAILING_COMMA = re.compile(r",(\s{0,100}[}\]])")


class NoJson(ValueError):
    """The message says what was found instead, without any of it."""


def read_json(text: str) -> Any:
    """The value, or the longest object or list in the text."""
    if len(text) > MAX_CHARS:
        raise NoJson("it is too long")
    if not text.strip():
        raise NoJson("it is empty")
    try:
        for candidate in _candidates(text):
            try:
                return _DECODER.decode(candidate.strip())
            except ValueError:
                continue
        return _longest_value(text)
    except RecursionError:
        raise NoJson("it is nested too deeply") from None


def _candidates(text: str) -> Iterator[str]:
    yield text
    after_thoughts = text.rpartition("</think>")[2]
    if after_thoughts != text:
        yield after_thoughts
    for fenced in _FENCED.finditer(after_thoughts):
        yield fenced[1]
        yield _TRAILING_COMMA.sub(r"\1", fenced[1])
    yield _TRAILING_COMMA.sub(r"\1", after_thoughts)


def _longest_value(text: str) -> Any:
    found, longest, place = None, 0, 0
    for _ in range(_MAX_STARTS):
        opening = re.compile(r"[{\[]").search(text, place)
        if opening is None:
            break
        place = opening.start()
        try:
            value, end = _DECODER.raw_decode(text, place)
        except ValueError:
            place += 1
            continue
        if end - place > longest:
            found, longest = value, end - place
        place = end
    if not longest:
        raise NoJson("it is not JSON")
    return found


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=lambda _: None)
