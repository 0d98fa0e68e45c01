"""Functions of Neo4j that the engine lacks, or means otherwise, in the engine's words.

Each takes the call, its arguments as they are written in the engine's dialect, and the time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from commonplace.errors import BadCypher
from commonplace.recall.cypher import times
from commonplace.recall.cypher.schema import KEY
from commonplace.recall.cypher.tree import Call, Expression, Literal, MapOf, Matching, Property
from commonplace.recall.cypher.values import moment_text, quoted, text, written
from commonplace.recall.cypher.words import functions

Arguments = Sequence[str]


def call(call: Call, arguments: Arguments, now: datetime) -> str:
    if call.of_all:
        return "count(*)"
    if special := _SPECIAL.get(call.name):
        return special(call, arguments, now)
    function = functions()[call.name]
    spelling = function.spelling(len(arguments))
    if spelling is None:
        raise _miscounted(call)
    if call.distinct:
        arguments = [f"DISTINCT {arguments[0]}"]
    return spelling.format(*arguments)


def _miscounted(call: Call) -> BadCypher:
    return BadCypher(f"{call.name}() does not take {len(call.arguments)} arguments.")


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


def _key(call: Call, arguments: Arguments, now: datetime) -> str:
    if len(arguments) != 1:
        raise _miscounted(call)
    return key_of(arguments[0])


def _head(call: Call, arguments: Arguments, now: datetime) -> str:
    if len(arguments) != 1:
        raise _miscounted(call)
    return item(arguments[0], "0" if call.name == "head" else "(-1)")


def _exists(call: Call, arguments: Arguments, now: datetime) -> str:
    if len(arguments) != 1:
        raise _miscounted(call)
    if isinstance(call.arguments[0], Matching):
        return arguments[0]
    if not isinstance(call.arguments[0], Property):
        raise BadCypher("exists() asks for a property, exists(n.name), or a pattern.")
    return f"({arguments[0]} IS NOT NULL)"


def _coalesce(call: Call, arguments: Arguments, now: datetime) -> str:
    if not arguments:
        raise _miscounted(call)
    return f"coalesce({', '.join(arguments)})"


def _size(call: Call, arguments: Arguments, now: datetime) -> str:
    """size((a)--(b)) is how often the pattern is found."""
    if len(arguments) != 1:
        raise _miscounted(call)
    return f"size({arguments[0]})"


# ——— time ———


def _datetime(call: Call, arguments: Arguments, now: datetime) -> str:
    if not arguments:
        return written(now)
    if len(arguments) != 1:
        raise _miscounted(call)
    given = _given(call.arguments[0])
    if isinstance(given, str):
        return written(times.moment(given))
    if isinstance(given, dict):
        return written(times.moment_of(given))
    return f"cast({arguments[0]} AS TIMESTAMP)"


def _timestamp(call: Call, arguments: Arguments, now: datetime) -> str:
    """Neo4j's timestamp() is a number of milliseconds; with an argument it is a moment."""
    return _datetime(call, arguments, now) if arguments else str(int(now.timestamp() * 1000))


def _date(call: Call, arguments: Arguments, now: datetime) -> str:
    if not arguments:
        return written(now.date())
    if len(arguments) != 1:
        raise _miscounted(call)
    given = _given(call.arguments[0])
    if isinstance(given, str):
        return written(times.day(given))
    if isinstance(given, dict):
        return written(times.moment_of(given).date())
    return f"cast({arguments[0]} AS DATE)"


def _duration(call: Call, arguments: Arguments, now: datetime) -> str:
    given = _given(call.arguments[0]) if len(arguments) == 1 else None
    if isinstance(given, str):
        return times.duration(given)
    if isinstance(given, dict):
        return times.duration_of(given)
    raise BadCypher("duration() takes a text such as 'P7D', or a map such as {days: 7}.")


def _truncate(call: Call, arguments: Arguments, now: datetime) -> str:
    if len(arguments) not in (1, 2) or not isinstance(call.arguments[0], Literal):
        raise BadCypher(f"{call.name}() takes a unit such as 'month', and a moment.")
    of = arguments[1] if len(arguments) == 2 else f"timestamp({text(moment_text(now))})"
    truncated = f"date_trunc({text(times.unit(call.arguments[0].value))}, {of})"
    return f"cast({truncated} AS DATE)" if call.name.startswith("date.") else truncated


def _given(argument: Expression) -> object:
    """The value of an argument that is written out, or given as a parameter; else None."""
    if isinstance(argument, Literal):
        return dict(argument.value) if isinstance(argument.value, dict) else argument.value
    if isinstance(argument, MapOf):
        values = dict(argument.items)
        if all(isinstance(value, Literal) for value in values.values()):
            return {k: v.value for k, v in values.items() if isinstance(v, Literal)}
    return None


_SPECIAL: dict[str, Callable[[Call, Arguments, datetime], str]] = {
    "id": _key,
    "elementid": _key,
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
