"""A user's memory as lines of JSON: everything, in a form that any tool can read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from commonplace.errors import InvalidInput
from commonplace.model import check
from commonplace.model.journal import Entry, Event, JournalRow, Node, Op, Status
from commonplace.model.kinds import Kind, Stability
from commonplace.model.memory import Link, Memory, Relation, Sensitivity, State, Version

FORMAT = 1

# When this store got an item is the store's own business, not the item's.
_LEFT_OUT = frozenset({"user_id", "arrived_at"})


@dataclass(frozen=True, slots=True)
class Belongings:
    """All that one user owns in a store."""

    memories: tuple[Memory, ...]
    versions: tuple[Version, ...]
    links: tuple[Link, ...]
    journal: tuple[JournalRow, ...]
    revision: int
    profile_numbers: int


def plain(value: Any) -> Any:
    """Values as JSON has them."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, str) else value


def to_lines(user_id: str, belongings: Belongings) -> Iterator[str]:
    header = {
        "type": "commonplace",
        "format": FORMAT,
        "user_id": user_id,
        "revision": belongings.revision,
        "profile_numbers": belongings.profile_numbers,
    }
    yield _line(header)
    for memory in belongings.memories:
        yield _line({"type": "memory", **_memory_out(memory)})
    for version in belongings.versions:
        yield _line(
            {
                "type": "version",
                "memory": _memory_out(version.memory),
                "recorded_at": version.recorded_at,
                "invalidated_at": version.invalidated_at,
            }
        )
    for link in belongings.links:
        yield _line({"type": "link", **{f.name: getattr(link, f.name) for f in fields(link)}})
    for row in belongings.journal:
        yield _line({"type": "journal", **_journal_out(row)})


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(plain(record), ensure_ascii=False, separators=(",", ":"))


def _memory_out(memory: Memory) -> dict[str, Any]:
    return {f.name: getattr(memory, f.name) for f in fields(memory) if f.name not in _LEFT_OUT}


def _journal_out(row: JournalRow) -> dict[str, Any]:
    return {
        "seq": row.seq,
        "ts": row.ts,
        "revision": row.revision,
        "thread_id": row.thread_id,
        "actor": row.actor,
        **asdict(row.entry),
    }


def from_lines(lines: Iterable[str], user_id: str) -> Belongings:
    """Read back what `to_lines` wrote, now belonging to ``user_id``."""
    memories: list[Memory] = []
    versions: list[Version] = []
    links: list[Link] = []
    journal: list[JournalRow] = []
    header: dict[str, Any] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            match record.pop("type", None):
                case "commonplace":
                    header = _header(record)
                case "memory":
                    memories.append(_memory_in(record, user_id))
                case "version":
                    versions.append(_version_in(record, user_id))
                case "link":
                    links.append(_link_in(record))
                case "journal":
                    journal.append(_journal_in(record, user_id))
                case other:
                    raise InvalidInput(f"Unknown type of record: {other!r}.")
            if not header:
                raise InvalidInput("It does not begin with a Commonplace header.")
        except InvalidInput as error:
            raise InvalidInput(f"Line {number}: {error.message}", remedy=_REMEDY) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            told = f"Line {number} cannot be read: {type(error).__name__}."
            raise InvalidInput(told, remedy=_REMEDY) from error
    if not header:
        raise InvalidInput("The file is empty.", remedy=_REMEDY)
    return Belongings(
        tuple(memories),
        tuple(versions),
        tuple(links),
        tuple(journal),
        header["revision"],
        header["profile_numbers"],
    )


_REMEDY = "Import a file that `commonplace export` wrote."
_MOMENTS = (
    "expires_at",
    "purge_at",
    "valid_from",
    "valid_to",
    "created_at",
    "updated_at",
    "last_accessed_at",
)


def _header(record: Mapping[str, Any]) -> dict[str, Any]:
    if record.get("format") != FORMAT:
        raise InvalidInput(f"Format {record.get('format')!r} is not {FORMAT}.")
    return {
        "revision": check.integer(record.get("revision"), "revision", 0, 2**62),
        "profile_numbers": check.integer(record.get("profile_numbers"), "numbers", 0, 2**62),
    }


def _memory_in(record: dict[str, Any], user_id: str) -> Memory:
    check.text(record["content"], "content")
    for name in _MOMENTS:
        if record.get(name) is not None:
            record[name] = check.when(record[name], name)
    return Memory(
        **{
            **record,
            "user_id": user_id,
            "id": check.word(record["id"], "id"),
            "kind": Kind(record["kind"]),
            "stability": Stability(record["stability"]),
            "sensitivity": Sensitivity(record["sensitivity"]),
            "state": State(record["state"]),
            "tags": tuple(record["tags"]),
            "evidence": tuple(record["evidence"]),
            "metadata": check.metadata(record["metadata"]),
            "importance": check.integer(record["importance"], "importance", 1, 5),
            "confidence": check.number(record["confidence"], "confidence", 0, 1),
        }
    )


def _version_in(record: dict[str, Any], user_id: str) -> Version:
    invalidated = record["invalidated_at"]
    return Version(
        _memory_in(record["memory"], user_id),
        check.when(record["recorded_at"], "recorded_at"),
        None if invalidated is None else check.when(invalidated, "invalidated_at"),
    )


def _link_in(record: dict[str, Any]) -> Link:
    return Link(
        check.word(record["a"], "a"),
        check.word(record["b"], "b"),
        check.number(record["strength"], "strength", 0, 1),
        check.when(record["created_at"], "created_at"),
        Relation(record["relation"]),
    )


def _journal_in(record: dict[str, Any], user_id: str) -> JournalRow:
    place = {name: record.pop(name) for name in ("seq", "ts", "revision", "thread_id", "actor")}
    entry = Entry(
        **{
            **record,
            "op": Op(record["op"]),
            "node": Node(record["node"]),
            "status": Status(record["status"]),
            "event": Event(record["event"]) if record["event"] else None,
        }
    )
    return JournalRow(
        seq=place["seq"],
        ts=check.when(place["ts"], "ts"),
        user_id=user_id,
        revision=place["revision"],
        thread_id=place["thread_id"],
        actor=place["actor"],
        entry=entry,
    )
