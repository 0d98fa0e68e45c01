"""Validation of input: each function returns the cleaned value or raises."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from commonplace.errors import BadText, InvalidInput, MissingField, TooLong, UnknownField
from commonplace.model.filters import (
    EXACT_FIELDS,
    FILTER_NAMES,
    METADATA_PREFIX,
    Filters,
    metadata_text,
)
from commonplace.model.memory.kinds import Kind
from commonplace.model.memory.memory import MAX_QUESTIONS
from commonplace.model.sources.source import PASSAGE_KIND
from commonplace.model.unicode_text import has_surrogate, normal_form


def stored_form(text: str) -> str:
    """NFC, newlines as \\n, trimmed."""
    return normal_form(text.replace("\r\n", "\n").replace("\r", "\n"), "NFC").strip()


MAX_CONTENT = 32_000
MAX_WORD = 200  # names, categories, tags
MAX_ID = 1200  # a source's id may be its path
MAX_SENTENCE = 2000  # a step, a piece of evidence
MAX_LIST = 100
MAX_QUESTION = 200
MAX_IDS = 1000
MAX_METADATA = 16_000  # of one call
MAX_KEPT_METADATA = 8 * MAX_METADATA  # of one memory, after many calls
MAX_DAYS = 36_500
MAX_WHOLE_NUMBER = 2**63 - 1  # what every database and most languages can hold

EnumT = TypeVar("EnumT", bound=StrEnum)

# A day inside datetime's range, so that a time zone conversion never overflows.
_EARLIEST = datetime(1, 1, 2, tzinfo=UTC)
_LATEST = datetime(9999, 12, 30, tzinfo=UTC)


_KEEP_WHOLE = "Shorten it, or keep it whole as a source: ingest."


def text(value: object, field: str, limit: int = MAX_CONTENT, *, shorten: str | None = None) -> str:
    """Valid Unicode in NFC, trimmed, not empty. ``shorten``: the remedy where it is too long."""
    if not isinstance(value, str):
        raise InvalidInput(f"{field} must be text, not {_type(value)}.", field=field)
    if "\x00" in value:
        raise BadText(f"{field} contains a NUL byte.", field=field)
    if has_surrogate(value):
        raise BadText(f"{field} contains a lone surrogate.", field=field)
    cleaned = stored_form(value)
    if not cleaned:
        raise BadText(f"{field} is empty.", field=field)
    if (length := _read_length(cleaned, limit)) > limit:
        raise TooLong(
            f"{field} has {length:,} characters; the limit is {limit:,}.",
            remedy=shorten or (_KEEP_WHOLE if limit == MAX_CONTENT else None),
            field=field,
        )
    return cleaned


def _read_length(cleaned: str, limit: int) -> int:
    """The number of characters to read: some stand for up to 18 others. A text that at most doubles
    counts as it is written."""
    if len(cleaned) > limit or cleaned.isascii():
        return len(cleaned)
    spelled_out = len(normal_form(cleaned, "NFKC"))
    return spelled_out if spelled_out > 2 * len(cleaned) else len(cleaned)


def word(value: object, field: str, limit: int = MAX_WORD) -> str:
    """A short single line: a name, a category, a tag."""
    cleaned = text(value, field, limit)
    if any(unicodedata.category(character) == "Cc" for character in cleaned):
        raise BadText(f"{field} contains a control character.", field=field)
    return cleaned


def words(value: object, field: str, limit: int = MAX_LIST) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word(item, field) for item in _listed(value, field, limit)))


def texts(value: object, field: str) -> tuple[str, ...]:
    """Sentences, in order, with repetitions."""
    return tuple(text(item, field, MAX_SENTENCE) for item in _listed(value, field, MAX_LIST))


def questions(value: object) -> tuple[str, ...]:
    """Without repetitions."""
    given = _listed(value, "questions", MAX_QUESTIONS)
    return tuple(dict.fromkeys(text(item, "questions", MAX_QUESTION) for item in given))


def several(value: object, field: str, limit: int = MAX_LIST) -> list[object]:
    """One text or a list of texts, as a list."""
    return _listed([value] if isinstance(value, str) else value, field, limit)


def _listed(value: object, field: str, limit: int) -> list[object]:
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise InvalidInput(f"{field} must be a list of texts, not {_type(value)}.", field=field)
    items = list(value)
    if len(items) > limit:
        raise TooLong(f"{field} has {len(items)} entries; the limit is {limit}.", field=field)
    return items


def choice(value: object, field: str, of: type[EnumT], aliases: Mapping[str, str]) -> EnumT:
    wanted = aliases.get(value, value) if isinstance(value, str) else value
    try:
        return of(wanted)  # type: ignore[arg-type]
    except ValueError:
        known = ", ".join(of)
        raise InvalidInput(f"{field} must be one of {known}, not {value!r}.", field=field) from None


def kind(value: object, field: str = "kind") -> Kind:
    return choice(value, field, Kind, {})


def integer(value: object, field: str, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"{field} must be a whole number, not {_type(value)}.", field=field)
    if not low <= value <= high:
        raise InvalidInput(
            f"{field} must be from {low} to {high}, not {_format_number(value)}.", field=field
        )
    return value


def number(value: object, field: str, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise InvalidInput(f"{field} must be a number, not {value!r}.", field=field)
    if not low <= value <= high:
        shown = _format_number(value)
        raise InvalidInput(f"{field} must be from {low:g} to {high:g}, not {shown}.", field=field)
    return float(value)


def _format_number(value: float) -> str:
    """A number in a message. Python refuses to format extremely long integers."""
    return f"{value:g}" if abs(value) <= MAX_WHOLE_NUMBER else "one that large"


def flag(value: object, field: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(f"{field} must be true or false, not {_type(value)}.", field=field)
    return value


def when(value: object, field: str) -> datetime:
    """A datetime or ISO 8601 text, as UTC. Without a time zone it is taken as UTC."""
    return local_time(value, field).astimezone(UTC)


def local_time(value: object, field: str) -> datetime:
    """The same with its own time zone."""
    if isinstance(value, str):
        written = value.strip()
        try:
            value = datetime.fromisoformat(written)
        except ValueError:
            raise InvalidInput(
                f"{field} is not a date: {written[:40]!r}.",
                remedy="Write it as 2026-03-01 or 2026-03-01T09:30:00+02:00.",
                field=field,
            ) from None
    if not isinstance(value, datetime):
        raise InvalidInput(f"{field} must be a date, not {_type(value)}.", field=field)
    moment = value if value.tzinfo else value.replace(tzinfo=UTC)
    if not _EARLIEST <= moment <= _LATEST:
        raise InvalidInput(f"{field} is out of range.", field=field)
    return moment


def metadata(value: object, field: str = "metadata", limit: int = MAX_METADATA) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{field} must be a map of names to values.", field=field)
    cleaned = {word(name, f"{field}.{name}"): _json(item, field) for name, item in value.items()}
    if len(json.dumps(cleaned, ensure_ascii=False)) > limit:
        raise TooLong(f"{field} is larger than {limit:,} characters.", field=field)
    return cleaned


def json_value(value: object, field: str, limit: int) -> Any:
    """Any JSON value."""
    cleaned = _json(value, field)
    size = len(json.dumps(cleaned, ensure_ascii=False))
    if size > limit:
        raise TooLong(f"{field} has {size:,} characters; the limit is {limit:,}.", field=field)
    return cleaned


def _json(value: object, field: str, depth: int = 0) -> Any:
    """JSON values only; text is validated at every depth."""
    if depth > 8:
        raise InvalidInput(f"{field} is nested too deeply.", field=field)
    if isinstance(value, str):
        return text(value, field) if value.strip() else ""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return integer(value, field, -MAX_WHOLE_NUMBER, MAX_WHOLE_NUMBER)
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, Mapping):
        return {word(k, field): _json(v, field, depth + 1) for k, v in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [_json(item, field, depth + 1) for item in value]
    raise InvalidInput(f"{field} cannot hold {_type(value)}.", field=field)


_VOWELS = frozenset("aeiou")


def required(present: Mapping[str, object], names: Iterable[str], kind_name: str) -> None:
    for name in names:
        if present.get(name) in (None, "", (), []):
            article = "An" if kind_name[:1] in _VOWELS else "A"
            raise MissingField(f"{article} {kind_name} needs {name}.", field=name)


def known_fields(given: Iterable[object], known: Iterable[str], what: str) -> None:
    unknown = [name for name in given if name not in set(known)]
    if unknown:
        listed = ", ".join(known)
        raise UnknownField(
            f"{what} has no field {unknown[0]!r}.",
            remedy=f"Known fields: {listed}.",
            field=str(unknown[0])[:MAX_WORD],
        )


def filters(given: object) -> Filters:
    """Filters from a map of names; singular names are accepted, too."""
    if given is None:
        return Filters()
    if isinstance(given, Filters):
        return given
    if not isinstance(given, Mapping):
        raise InvalidInput("filters must be a map of names to values.", field="filters")
    spelled = {_PLURAL.get(str(name), str(name)): value for name, value in given.items()}
    dotted = {n: spelled.pop(n) for n in list(spelled) if n.startswith(METADATA_PREFIX)}
    if dotted:
        spelled["metadata"] = {
            **_metadata_map(spelled.get("metadata")),
            **{name.removeprefix(METADATA_PREFIX): value for name, value in dotted.items()},
        }
    known_fields(spelled, FILTER_NAMES, "filters")
    present = {name: value for name, value in spelled.items() if value is not None}
    return Filters(**{name: _filter(name, value) for name, value in present.items()})


_PLURAL = {"kind": "kinds", "category": "categories", "tag": "tags"}


def _metadata_map(value: object) -> Mapping[str, object]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidInput(
            "metadata must be a map of names to values.",
            remedy='Give {"metadata.project": "atlas"}.',
            field="metadata",
        )
    return {word(name, "metadata"): each for name, each in value.items()}


def _metadata_filter(value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(
        (name, _metadata_values(f"{METADATA_PREFIX}{name}", each))
        for name, each in sorted(_metadata_map(value).items())
    )


def _metadata_values(field: str, value: object) -> tuple[str, ...]:
    """One value, or any of a list."""
    listed = value if isinstance(value, list | tuple) else [value]
    if not listed or not all(isinstance(each, str | int | float) for each in listed):
        raise InvalidInput(f"{field} must be a text, a number or a list of them.", field=field)
    if len(listed) > MAX_IDS:
        raise TooLong(f"{field} holds at most {MAX_IDS} values.", field=field)
    return tuple(
        dict.fromkeys(
            text(each, field) if isinstance(each, str) else metadata_text(each) for each in listed
        )
    )


def _filter(name: str, value: object) -> Any:
    if name == "metadata":
        return _metadata_filter(value)
    if name in ("kinds", "categories", "tags"):
        listed = (value,) if isinstance(value, str) else value
        several = words(listed, name)
        return tuple(_filter_kind(item) for item in several) if name == "kinds" else several
    if name == "pinned":
        return flag(value, name)
    if name in EXACT_FIELDS:
        return word(value, name)
    if name.startswith("importance"):
        return integer(value, name, 1, 5)
    return when(value, name)


def _filter_kind(value: str) -> Kind:
    """Hits have the kind "passage", so callers filter by it; but it is no kind of memory."""
    if value == PASSAGE_KIND:
        raise InvalidInput(
            "A passage is no kind of memory.",
            remedy='To recall passages alone, give sources="only"; to browse, use sources.',
            field="kinds",
        )
    return kind(value, "kinds")


def ids(value: object, field: str = "ids") -> tuple[str, ...]:
    unique = tuple(dict.fromkeys(id(each, field) for each in several(value, field, MAX_IDS)))
    if not unique:
        raise MissingField(f"{field} is empty.", field=field)
    return unique


def id(value: object, field: str = "id") -> str:
    return word(value, field, MAX_ID)


def _type(value: object) -> str:
    return type(value).__name__
