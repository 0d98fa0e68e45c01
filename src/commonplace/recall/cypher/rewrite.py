"""Functions of Neo4j that the engine lacks, or means otherwise, in the engine's words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from commonplace.errors import BadCypher
from commonplace.recall.cypher import times
from commonplace.recall.cypher.conversions import CONVERSIONS
from commonplace.recall.cypher.kinds import DAY, MOMENT, Kind
from commonplace.recall.cypher.schema import KEY
from commonplace.recall.cypher.tree import (
    Call,
    Expression,
    Literal,
    MapOf,
    Matching,
    Prefixed,
    Property,
)
from commonplace.recall.cypher.values import moment_text, quoted, text, written
from commonplace.recall.cypher.words import functions


@dataclass(frozen=True, slots=True)
class Asked:
    """A call, with its arguments as they are written in the engine's dialect."""

    call: Call
    arguments: Sequence[str]
    kinds: Sequence[Kind]  # of the arguments
    now: datetime
    may_be_nothing: bool = True  # the first argument: what an OPTIONAL MATCH did not find

    @property
    def only(self) -> str:
        if len(self.arguments) != 1:
            raise _miscounted(self.call)
        return self.arguments[0]


def call(asked: Asked) -> str:
    call, arguments = asked.call, asked.arguments
    if call.of_all:
        return "count(*)"
    if _is_of_null(call):
        return "NULL"
    _check_counts(call)
    _check_separator(call)
    if conversion := CONVERSIONS.get(call.name):
        return conversion(asked.only, asked.kinds[0])
    if special := _SPECIAL.get(call.name):
        return special(asked)
    spelling = functions()[call.name].spelling(len(arguments))
    if spelling is None:
        raise _miscounted(call)
    if call.distinct:
        arguments = [f"DISTINCT {arguments[0]}"]
    return spelling.format(*arguments)


def _miscounted(call: Call) -> BadCypher:
    return BadCypher(f"{call.name}() does not take {len(call.arguments)} arguments.")


def _is_of_null(call: Call) -> bool:
    """What is given a null gives one. The engine fails on a null of which it knows no kind."""
    if call.name in _TAKES_NULL or functions()[call.name].is_aggregate:
        return False
    asked = call.arguments[:1] if call.name == "nullif" else call.arguments
    return any(isinstance(each, Literal) and each.value is None for each in asked)


_TAKES_NULL = ("coalesce", "exists")


def _check_counts(call: Call) -> None:
    """left('abc', -1) is an error in Cypher; the engine would count from the other end."""
    counts = call.arguments[1:] if call.name in ("left", "right", "substring") else ()
    if any(_is_negative(each) for each in counts):
        raise BadCypher(
            f"{call.name}() counts from 0: its numbers are not negative.",
            remedy="The last letters are right(text, 3); without the first: substring(text, 1).",
        )


def _check_separator(call: Call) -> None:
    separator = call.arguments[1] if call.name == "split" and len(call.arguments) == 2 else None
    if isinstance(separator, Literal) and separator.value == "":
        raise BadCypher(
            "split() needs something to split at.",
            remedy="Letters are [i IN range(0, size(text) - 1) | substring(text, i, 1)].",
        )


def _is_negative(it: Expression) -> bool:
    if isinstance(it, Prefixed):
        return it.sign == "-" and isinstance(it.of, Literal)
    return isinstance(it, Literal) and isinstance(it.value, int | float) and it.value < 0


def item(items: str, index: str) -> str:
    """Item number ``index``, from 0, or from the end where it is negative; null beyond the ends.
    The engine counts from 1, and fails beyond them."""
    first = f"list_any_value(list_slice({items}, {index} + 1, {index} + 1))"
    last = f"list_any_value(list_slice({items}, {index}, {index}))"
    return (
        f"(CASE WHEN {index} >= 0 AND size({items}) > {index} THEN {first} "
        f"WHEN {index} < 0 AND size({items}) >= -({index}) THEN {last} ELSE NULL END)"
    )


def key_of(variable: str) -> str:
    return f"{variable}.{quoted(KEY)}"


# ——— the graph ———


def if_there(of: str, told: str, may_be_nothing: bool) -> str:
    """The engine knows a label even of what an OPTIONAL MATCH did not find."""
    return f"(CASE WHEN {of} IS NOT NULL THEN {told} END)" if may_be_nothing else told


def _key(asked: Asked) -> str:
    return key_of(asked.only)


def _label(asked: Asked) -> str:
    return if_there(asked.only, f"label({asked.only})", asked.may_be_nothing)


def _labels(asked: Asked) -> str:
    return if_there(asked.only, f"[label({asked.only})]", asked.may_be_nothing)


def _keys(asked: Asked) -> str:
    """Of a node or a relationship those that are declared, whether it has a value there or not."""
    if asked.kinds and asked.kinds[0].name == "MAP":
        return written([name for name, _ in asked.kinds[0].fields])
    return if_there(asked.only, f"keys({asked.only})", asked.may_be_nothing)


def _head(asked: Asked) -> str:
    return item(asked.only, "0" if asked.call.name == "head" else "(-1)")


def _exists(asked: Asked) -> str:
    only = asked.only
    if isinstance(asked.call.arguments[0], Matching):
        return only
    if not isinstance(asked.call.arguments[0], Property):
        raise BadCypher("exists() asks for a property, exists(n.name), or a pattern.")
    return f"({only} IS NOT NULL)"


def _coalesce(asked: Asked) -> str:
    if not asked.arguments:
        raise _miscounted(asked.call)
    return f"coalesce({', '.join(asked.arguments)})"


def _size(asked: Asked) -> str:
    """The engine would take anything, and say how long it is as a text."""
    kind = asked.kinds[0] if asked.kinds else None
    if kind is not None and kind.name not in ("", "LIST", "STRING"):
        raise BadCypher(
            "size() takes a text or a list.",
            remedy="A path has a length(p), a pattern is counted with COUNT { … }.",
        )
    return f"size({asked.only})"


# ——— time ———


def _datetime(asked: Asked) -> str:
    if not asked.arguments:
        return written(asked.now)
    only, given = asked.only, _given(asked.call.arguments[0])
    if isinstance(given, str):
        return written(times.moment(given))
    if isinstance(given, dict):
        return written(times.moment_of(given))
    if asked.kinds[0] in (MOMENT, DAY):
        return f"cast({only} AS TIMESTAMP)"
    return f"cast(cast({only} AS TIMESTAMP_TZ) AS TIMESTAMP)"  # else it would forget the zone


def _timestamp(asked: Asked) -> str:
    """Neo4j's timestamp() is a number of milliseconds; with an argument it is a moment."""
    return _datetime(asked) if asked.arguments else str(int(asked.now.timestamp() * 1000))


def _date(asked: Asked) -> str:
    if not asked.arguments:
        return written(asked.now.date())
    only, given = asked.only, _given(asked.call.arguments[0])
    if isinstance(given, str):
        return written(times.day(given))
    if isinstance(given, dict):
        return written(times.moment_of(given).date())
    return f"cast({only} AS DATE)"


def _duration(asked: Asked) -> str:
    given = _given(asked.call.arguments[0]) if len(asked.arguments) == 1 else None
    if isinstance(given, str):
        return times.duration(given)
    if isinstance(given, dict):
        return times.duration_of(given)
    raise BadCypher("duration() takes a text such as 'P7D', or a map such as {days: 7}.")


def _truncate(asked: Asked) -> str:
    call, arguments = asked.call, asked.arguments
    if len(arguments) not in (1, 2) or not isinstance(call.arguments[0], Literal):
        raise BadCypher(f"{call.name}() takes a unit such as 'month', and a moment.")
    of = arguments[1] if len(arguments) == 2 else f"timestamp({text(moment_text(asked.now))})"
    truncated = f"date_trunc({text(times.unit(call.arguments[0].value))}, {of})"
    return f"cast({truncated} AS DATE)" if call.name.startswith("date.") else truncated


def part_of(part: str, moment: str) -> str:
    told = f"date_part({text(part)}, {moment})"
    # Monday is 1 and Sunday 7; to the engine Sunday is 0
    return f"(({told} + 6) % 7 + 1)" if part == "dayofweek" else told


def days_of(it: Property, span: str) -> str:
    if not isinstance(it.of, Call) or it.of.name != "duration.indays" or it.key != "days":
        raise BadCypher(
            f"A duration has no property {it.key} here.",
            remedy="The days between two moments are duration.inDays(a, b).days.",
        )
    return f"date_part('day', {span})"


def _given(argument: Expression) -> object:
    """The value of an argument that is written out, or given as a parameter; else None."""
    if isinstance(argument, Literal):
        return dict(argument.value) if isinstance(argument.value, dict) else argument.value
    if isinstance(argument, MapOf):
        values = dict(argument.items)
        if all(isinstance(value, Literal) for value in values.values()):
            return {k: v.value for k, v in values.items() if isinstance(v, Literal)}
    return None


_SPECIAL: dict[str, Callable[[Asked], str]] = {
    "id": _key,
    "elementid": _key,
    "type": _label,
    "label": _label,
    "labels": _labels,
    "keys": _keys,
    "head": _head,
    "last": _head,
    "exists": _exists,
    "coalesce": _coalesce,
    "size": _size,
    "datetime": _datetime,
    "localdatetime": _datetime,
    "timestamp": _timestamp,
    "date": _date,
    "duration": _duration,
    "datetime.truncate": _truncate,
    "date.truncate": _truncate,
}
