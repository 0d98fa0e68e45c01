"""A user's memory as lines of JSON: everything, in a form that any tool can read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from commonplace.errors import InvalidInput
from commonplace.model import check
from commonplace.model.conflict import Held
from commonplace.model.graph.whole import NO_GRAPH, WholeGraph
from commonplace.model.journal import Entry, Event, JournalRow, Node, Op, Status
from commonplace.model.kinds import POLICIES, Stability
from commonplace.model.memory import Link, Memory, Relation, Sensitivity, State, Version
from commonplace.model.portable_fields import (
    Reading,
    count,
    maybe,
    metadata,
    once,
    one_of,
    read,
    reference,
    share,
    when,
    whole_number,
    word,
)
from commonplace.model.portable_graph import GraphReader, graph_lines
from commonplace.model.portable_proposals import proposal_in, proposal_out
from commonplace.model.portable_recall_log import logged_in, logged_out
from commonplace.model.portable_sources import SourceReader, WholeSource, source_lines
from commonplace.model.proposal import Proposal
from commonplace.model.recall_log import Logged
from commonplace.model.scope import Scope

FORMAT = 1

# When this store got an item is the store's own business, not the item's.
# The question that a memory is asked about in travels with what is held in it.
_LEFT_OUT = frozenset({"user_id", "arrived_at", "conflict"})


@dataclass(frozen=True, slots=True)
class Belongings:
    """All that one user owns in a store."""

    memories: tuple[Memory, ...]
    versions: tuple[Version, ...]
    links: tuple[Link, ...]
    journal: tuple[JournalRow, ...]
    revision: int
    profile_numbers: int
    held: tuple[Held, ...] = ()
    sources: tuple[WholeSource, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    recall_log: tuple[Logged, ...] = ()
    graph: WholeGraph = NO_GRAPH


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
    for held in belongings.held:
        yield _line({"type": "held", **_held_out(held, belongings.memories)})
    for proposal in belongings.proposals:
        yield _line({"type": "proposal", **proposal_out(proposal)})
    for whole in belongings.sources:
        yield from map(_line, source_lines(whole))
    for line in graph_lines(belongings.graph, Scope.of_user(user_id).key):
        yield _line(line)
    for logged in belongings.recall_log:
        yield _line({"type": "search", **logged_out(logged)})
    for row in belongings.journal:
        yield _line({"type": "journal", **_journal_out(row)})


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(plain(record), ensure_ascii=False, separators=(",", ":"))


def _memory_out(memory: Memory) -> dict[str, Any]:
    return {f.name: getattr(memory, f.name) for f in fields(memory) if f.name not in _LEFT_OUT}


def _held_out(held: Held, memories: Iterable[Memory]) -> dict[str, Any]:
    return {
        "memory": _memory_out(held.memory),
        "conflict": held.conflict,
        "targets": [m.id for m in memories if m.conflict and m.conflict == held.conflict],
        "beside": held.beside,
        "merged_into": held.merged_into,
        "mentioned": sorted(held.mentioned),
        "reason": held.reason,
        "actor": held.actor,
        "held_at": held.held_at,
    }


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
    if isinstance(lines, str | bytes) or not isinstance(lines, Iterable):
        raise InvalidInput("lines must be a list.", remedy=_REMEDY)
    reader = _Reader(user_id)
    for number, line in enumerate(lines, 1):
        try:
            reader.take(line)
        except InvalidInput as error:
            raise InvalidInput(f"Line {number}: {error.message}", remedy=_REMEDY) from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            told = f"Line {number} cannot be read: {type(error).__name__}."
            raise InvalidInput(told, remedy=_REMEDY) from error
    return reader.belongings()


_PROFILE_NOTE = re.compile(r"profile:(\d{1,15})")
_REMEDY = "Import a file that `commonplace export` wrote."


class _Reader:
    """Takes the lines one by one. A file may come from anywhere, so each is checked like input."""

    def __init__(self, user_id: str):
        self._user_id = user_id
        self._header: Mapping[str, int] = {}
        self._memories: dict[str, Memory] = {}
        self._versions: dict[tuple[str, int], Version] = {}
        self._links: dict[tuple[str, str], Link] = {}
        self._journal: dict[int, JournalRow] = {}
        self._held: dict[str, Held] = {}
        self._proposals: dict[str, Proposal] = {}
        self._sources = SourceReader(user_id)
        self._searches: dict[str, Logged] = {}
        self._graph = GraphReader(user_id)

    def take(self, line: str) -> None:
        if not line.strip():
            return
        record = json.loads(line)
        type_ = record.pop("type", None)
        if bool(self._header) == (type_ == "commonplace"):
            raise InvalidInput("The file must begin with exactly one Commonplace header.")
        match type_:
            case "commonplace":
                self._header = _header_in(record)
            case "memory":
                memory = _memory_in(record, self._user_id)
                once(self._memories, memory.id, memory)
            case "version":
                version = _version_in(record, self._user_id)
                self._about_known(version.memory.id)
                once(self._versions, (version.memory.id, version.memory.version), version)
            case "link":
                link = _link_in(record)
                self._about_known(link.a, link.b)
                once(self._links, (link.a, link.b), link)
            case "held":
                self._take_held(record)
            case "proposal":
                proposal = proposal_in(record)
                once(self._proposals, proposal.id, proposal)
            case "source":
                self._sources.take_source(record)
            case "original":
                self._sources.take_original(record)
            case "passage":
                self._sources.take_passage(record)
            case "search":
                logged = logged_in(record)
                once(self._searches, logged.id, logged)
            case "journal":
                row = _journal_in(record, self._user_id)
                once(self._journal, row.seq, row)
            case of_the_graph if take := self._graph.takers.get(of_the_graph):
                take(record)
            case other:
                raise InvalidInput(f"Unknown type of record: {other!r}.")

    def _take_held(self, record: Mapping[str, Any]) -> None:
        targets = check.ids(record["targets"]) if record["targets"] else ()
        held = _held_in(record, self._user_id)
        about = [id for id in (*targets, held.beside, held.merged_into) if id]
        self._about_known(*about)
        if sum(map(bool, (held.conflict, held.beside, held.merged_into))) != 1:
            raise InvalidInput(
                "A held value waits in a conflict or beside a memory, or is a part of one."
            )
        kinds = {self._memories[id].kind for id in about}
        if held.memory.state is not State.ACTIVE or kinds - {held.memory.kind}:
            raise InvalidInput("A held value is a live memory of the kind that it is held against.")
        once(self._held, held.memory.id, held)
        for id in targets:
            self._memories[id] = self._memories[id].evolve(conflict=held.conflict)

    def _about_known(self, *ids: str) -> None:
        for id in ids:
            if id not in self._memories:
                raise InvalidInput(f"It refers to {id!r}, which no earlier line defines.")

    def belongings(self) -> Belongings:
        if not self._header:
            raise InvalidInput("The file is empty.", remedy=_REMEDY)
        return Belongings(
            tuple(self._memories.values()),
            tuple(self._versions.values()),
            tuple(self._links.values()),
            tuple(self._journal.values()),
            max([self._header["revision"], *(row.revision for row in self._journal.values())]),
            max([self._header["profile_numbers"], *(n + 1 for n in self._profile_numbers())]),
            tuple(self._held.values()),
            self._sources.sources(),
            tuple(self._proposals.values()),
            tuple(self._searches.values()),
            self._graph.graph(),
        )

    def _profile_numbers(self) -> list[int]:
        found = (_PROFILE_NOTE.fullmatch(id) for id in self._memories)
        return [int(match[1]) for match in found if match]


def _header_in(record: Mapping[str, Any]) -> dict[str, int]:
    if record.get("format") != FORMAT:
        raise InvalidInput(f"Format {record.get('format')!r} is not {FORMAT}.")
    return {name: count(record.get(name), name) for name in ("revision", "profile_numbers")}


# ——— how each field is read ———

_MEMORY: dict[str, Reading] = {
    "id": check.word,
    "kind": check.kind,
    "content": check.text,
    "summary": check.text,
    "category": check.word,
    "tags": check.words,
    "metadata": metadata,
    "importance": whole_number(1, 5),
    "confidence": share,
    "stability": one_of(Stability),
    "sensitivity": one_of(Sensitivity),
    "pinned": check.flag,
    "evidence": check.texts,
    "facet": word,
    "source_type": word,
    "source_id": word,
    "job_id": word,
    "agent_id": word,
    "run_id": word,
    "actor_id": word,
    "role": word,
    "thread_id": word,
    "state": one_of(State),
    "expires_at": when,
    "superseded_by": word,
    "purge_at": when,
    "valid_from": when,
    "valid_to": when,
    "created_at": check.when,
    "updated_at": check.when,
    "version": whole_number(1),
    "last_accessed_at": when,
    "access_count": count,
}
_ENTRY: dict[str, Reading] = {
    "op": one_of(Op),
    "node": one_of(Node),
    "status": one_of(Status),
    "event": maybe(one_of(Event)),
    "subject": word,
    "category": word,
    "old_ref": maybe(reference),
    "new_ref": maybe(reference),
    "similarity": maybe(lambda value, field: check.number(value, field, -1, 1)),
    "meta": metadata,
}
_PLACE: dict[str, Reading] = {
    "seq": count,
    "ts": check.when,
    "revision": count,
    "thread_id": word,
    "actor": maybe(reference),
}
_LINK: dict[str, Reading] = {
    "a": check.word,
    "b": check.word,
    "strength": share,
    "created_at": check.when,
    "relation": one_of(Relation),
}


_HELD: dict[str, Reading] = {
    "conflict": word,
    "targets": lambda value, field: value,
    "beside": word,
    "merged_into": word,
    "mentioned": check.words,
    "reason": lambda value, field: check.text(value, field) if value else "",
    "actor": maybe(reference),
    "held_at": check.when,
}


def _memory_in(record: Mapping[str, Any], user_id: str) -> Memory:
    memory = Memory(user_id=user_id, **read(record, _MEMORY, "A memory"))
    present = {f"metadata.{name}": value for name, value in memory.metadata.items()}
    needed = [name for name in POLICIES[memory.kind].required if name.startswith("metadata.")]
    check.required(present, needed, memory.kind)
    return memory


def _version_in(record: Mapping[str, Any], user_id: str) -> Version:
    return Version(
        _memory_in(record["memory"], user_id),
        check.when(record["recorded_at"], "recorded_at"),
        when(record["invalidated_at"], "invalidated_at"),
    )


def _link_in(record: Mapping[str, Any]) -> Link:
    return Link(**read(record, _LINK, "A link"))


def _held_in(record: Mapping[str, Any], user_id: str) -> Held:
    told = {"merged_into": None} | {n: v for n, v in record.items() if n != "memory"}
    values = read(told, _HELD, "A held value")
    return Held(
        _memory_in(record["memory"], user_id),
        values["conflict"],
        values["beside"],
        frozenset(values["mentioned"]),
        values["reason"],
        values["actor"],
        values["held_at"],
        values["merged_into"],
    )


def _journal_in(record: Mapping[str, Any], user_id: str) -> JournalRow:
    values = read(record, {**_PLACE, **_ENTRY}, "A journal line")
    entry = Entry(**{name: values.pop(name) for name in _ENTRY})
    return JournalRow(user_id=user_id, entry=entry, **values)
