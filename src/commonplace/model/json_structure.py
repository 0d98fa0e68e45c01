"""Depth and number of values of a JSON text, checked before it is parsed.

Parsed JSON takes up to thirty times the memory of its text, and the interpreter keeps most of it:
57 MB of empty lists became 1.7 GB. The check reads tokens until there are too many, so its time and
memory are bounded by the limits; a string is one token, whatever it contains.
"""

from __future__ import annotations

import re

from commonplace.errors import InvalidInput, TooLong

MAX_DEPTH = 64
MAX_TOKENS = 400_000  # strings, brackets and commas: about 130,000 names with values
# Possessive: an unfinished string is not read again from each of its quotation marks.
_TOKEN = re.compile(rb'["\[\]{},]')
_STRING_END = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)


def check_json_structure(
    text: bytes,
    name: str,
    most: int = MAX_TOKENS,
    remedy: str = "Send less at once.",
    field: str | None = None,
) -> None:
    """Invalid JSON passes, within the same limits: the parser reports it. ``field``: the parameter
    where it is not called ``name``."""
    field = field or name
    depth = count = position = 0
    while found := _TOKEN.search(text, position):
        position = found.end()
        count += 1
        if count > most:
            raise TooLong(f"{name} has too many JSON values.", remedy=remedy, field=field)
        match found[0]:
            case b'"':
                position = _STRING_END.match(text, position).end() + 1  # type: ignore[union-attr]
            case b"[" | b"{":
                depth += 1
                if depth > MAX_DEPTH:
                    raise InvalidInput(
                        f"{name} is not valid JSON: it is nested too deeply.", field=field
                    )
            case b"]" | b"}":
                depth -= 1
