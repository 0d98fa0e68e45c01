"""Values that come with a query: which may, and how the engine's dialect writes them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from commonplace.errors import BadCypher

_LARGEST = 2**63
_DEEPEST = 10
_MOST = 10_000  # items of one parameter
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_ ]*|[0-9]+")  # a number: what the caller left unnamed


def integer(text: str) -> int:
    value = int(text)
    if value >= _LARGEST:
        raise BadCypher(f"The number {text[:40]} is too large.")
    return value


def checked_parameter(name: str, value: Any) -> Any:
    """As it came, with lists and maps of what JSON can hold, and moments."""
    _check(f"${name}", value, 0)
    return value


def _check(name: str, value: Any, depth: int) -> None:
    if depth > _DEEPEST:
        raise BadCypher(f"The parameter {name} is nested more than {_DEEPEST} deep.")
    if isinstance(value, str):
        if "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
            raise BadCypher(f"The parameter {name} holds a NUL or half a surrogate pair.")
    elif isinstance(value, bool | datetime | date) or value is None:
        return
    elif isinstance(value, int):
        if not -_LARGEST <= value < _LARGEST:
            raise BadCypher(f"The parameter {name} is too large a number.")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise BadCypher(f"The parameter {name} is no finite number.")
    elif isinstance(value, list | tuple):
        _check_size(name, len(value))
        for each in value:
            _check(name, each, depth + 1)
    elif isinstance(value, Mapping):
        _check_size(name, len(value))
        for key, each in value.items():
            if not isinstance(key, str) or not _KEY.fullmatch(key):
                raise BadCypher(f"The parameter {name} has a key that is no plain name.")
            _check(name, each, depth + 1)
    else:
        raise BadCypher(f"The parameter {name} is a {type(value).__name__}, which has no meaning.")


def _check_size(name: str, size: int) -> None:
    if size > _MOST:
        raise BadCypher(f"The parameter {name} has {size:,} items; the limit is {_MOST:,}.")


def written(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return text(value)
    if isinstance(value, datetime):
        return f"timestamp({text(moment_text(value))})"
    if isinstance(value, date):
        return f"date({text(value.isoformat())})"
    if isinstance(value, list | tuple):
        return f"[{', '.join(written(each) for each in value)}]"
    if isinstance(value, Mapping):
        pairs = (f"{quoted(key)}: {written(each)}" for key, each in value.items())
        return f"{{{', '.join(pairs)}}}"
    number = repr(value).replace("e+", "e")  # the engine reads 1e20 and 1e-7, but no 1e+20
    return f"({number})" if value < 0 else number


def text(value: str) -> str:
    """The engine gives meaning to the backslash and the quote alone."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def quoted(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise BadCypher(f"'{name[:40]}' is no name of a property.")
    return f"`{name}`"


def moment_text(moment: datetime) -> str:
    """The engine's moments know no time zones: all are UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    try:
        return aware.astimezone(UTC).replace(tzinfo=None).isoformat(sep=" ")
    except OverflowError:
        raise BadCypher("In UTC that moment is before the year 1 or after 9999.") from None
