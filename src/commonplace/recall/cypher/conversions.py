"""Functions that depend on what kind of value they get: from one kind to another, and reverse().

Each takes the argument as it is written in the engine's dialect, and its kind. The engine looks at
all branches of a CASE in every row: what cannot be read is made null before it is cast.
"""

from __future__ import annotations

from collections.abc import Callable

from commonplace.errors import BadCypher
from commonplace.recall.cypher.kinds import (
    DAY,
    FRACTION,
    MOMENT,
    TEXT,
    TRUTH,
    UNKNOWN,
    WHOLE,
    Kind,
)
from commonplace.recall.cypher.tables import TEXT_OF
from commonplace.recall.cypher.values import text

_SPACE = r"[ \t\r\n]*"
_EXPONENT = r"([eE][+-]?[0-9]{1,3})?"
_NUMBER = rf"{_SPACE}[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+){_EXPONENT}{_SPACE}"
_IN_REACH = r"0*([0-8]?[0-9]{1,18}|9[01][0-9]{17})"  # of 64 bits
_INTEGER = rf"{_SPACE}[+-]?{_IN_REACH}{_SPACE}"
_REACH = "9.2e18"


def to_string(of: str, kind: Kind) -> str:
    _check("toString", kind, (TEXT, WHOLE, FRACTION, TRUTH, MOMENT, DAY))
    plain = f"cast({of} AS STRING)"
    if kind == FRACTION:
        return f"{TEXT_OF}({of})"
    if kind == TRUTH:
        return f"lower({plain})"
    if kind == MOMENT:
        return f"(CASE WHEN {of} IS NOT NULL THEN replace({plain}, ' ', 'T') + 'Z' END)"
    return plain if kind != UNKNOWN else _text_of_something(of, plain)


def _text_of_something(of: str, plain: str) -> str:
    """As it turns out while the query runs; fractions with six digits, which is all there is."""
    short = f"regexp_replace(regexp_replace({plain}, '0+$', ''), '[.]$', '.0')"
    return (
        f"(CASE typeof({of}) WHEN 'BOOL' THEN lower({plain}) WHEN 'DOUBLE' THEN {short} "
        f"ELSE {plain} END)"
    )


def to_float(of: str, kind: Kind) -> str:
    _check("toFloat", kind, (TEXT, WHOLE, FRACTION))
    if kind in (WHOLE, FRACTION):
        return f"cast({of} AS DOUBLE)"
    return f"cast(CASE WHEN {_reads_as(of, _NUMBER)} THEN {of} END AS DOUBLE)"


def to_integer(of: str, kind: Kind) -> str:
    _check("toInteger", kind, (TEXT, WHOLE, FRACTION, TRUTH))
    if kind == WHOLE:
        return of
    if kind == TRUTH:
        return f"(CASE WHEN {of} THEN 1 WHEN NOT ({of}) THEN 0 END)"
    if kind == FRACTION:
        return _cut(of)
    whole = f"cast(CASE WHEN {_reads_as(of, _INTEGER)} THEN {of} END AS INT64)"
    return f"coalesce({whole}, {_cut(to_float(of, kind))})"


def _cut(of: str) -> str:
    """Towards 0: the engine would round. Null beyond what 64 bits can hold."""
    near = f"CASE WHEN {of} > -{_REACH} AND {of} < {_REACH} THEN {of} END"
    return f"cast(CASE WHEN {of} < 0 THEN ceil({near}) ELSE floor({near}) END AS INT64)"


def _reads_as(of: str, pattern: str) -> str:
    return f"regexp_full_match(cast({of} AS STRING), {text(pattern)})"


def to_boolean(of: str, kind: Kind) -> str:
    _check("toBoolean", kind, (TEXT, WHOLE, TRUTH))
    if kind == TRUTH:
        return of
    if kind == WHOLE:
        return f"({of} <> 0)"
    told = f"lower(trim(cast({of} AS STRING)))"
    return f"(CASE {told} WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE END)"


def reverse(of: str, kind: Kind) -> str:
    if kind.is_list:
        return f"list_reverse({of})"
    if kind == TEXT:
        return f"reverse({of})"
    raise BadCypher(
        "reverse() takes a text or a list, and which of them this is cannot be told.",
        remedy="Write reverse(toString(…)) for a text, or reverse([x IN … | toString(x)]).",
    )


def _check(name: str, kind: Kind, taken: tuple[Kind, ...]) -> None:
    if kind not in taken and kind != UNKNOWN:
        told = ", ".join(_TOLD[each] for each in taken[:-1])
        raise BadCypher(
            f"{name}() takes {told} or {_TOLD[taken[-1]]}.",
            remedy="Take a property of it, or an item: `traverse --schema` tells what each holds. "
            "Of a list each item can be taken: [x IN xs | toString(x)].",
        )


_TOLD = {
    TEXT: "a text",
    WHOLE: "a whole number",
    FRACTION: "a number",
    TRUTH: "a truth",
    MOMENT: "a moment",
    DAY: "a day",
}

CONVERSIONS: dict[str, Callable[[str, Kind], str]] = {
    "tostring": to_string,
    "tofloat": to_float,
    "tointeger": to_integer,
    "toboolean": to_boolean,
    "reverse": reverse,
}
