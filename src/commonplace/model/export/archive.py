"""Export archive: writes and reads all lines of one user's memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from commonplace.errors import InvalidInput
from commonplace.model import validation
from commonplace.model.access.principal import Scope
from commonplace.model.export.graph import GraphReader, graph_lines
from commonplace.model.export.records import (
    FieldReader,
    SourceReader,
    WholeSource,
    add_once,
    count,
    decode_logged,
    decode_proposal,
    encode_logged,
    encode_proposal,
    fraction,
    metadata,
    one_of,
    optional,
    read_record,
    reference,
    source_lines,
    when,
    whole_number,
    word,
)
from commonplace.model.graph.snapshot import NO_GRAPH, WholeGraph
from commonplace.model.journal import (
    Entry,
    Event,
    JournalNode,
    JournalRow,
    JournalStatus,
    Op,
    RecallLogEntry,
)
from commonplace.model.memory.kinds import POLICIES, Stability
from commonplace.model.memory.memory import (
    HeldValue,
    Link,
    LinkType,
    Memory,
    Sensitivity,
    State,
    Version,
)
from commonplace.model.profile.fields import Proposal

FORMAT = 1

# When this store got an item is the store's own business, not the item's.
# The question that a memory is asked about in travels with what is held in it.
_OMITTED_FIELDS = frozenset({"user_id", "arrived_at", "conflict"})


@dataclass(frozen=True, slots=True)
class ScopeExport:
    """All that one user owns in a store."""

    memories: tuple[Memory, ...]
    versions: tuple[Version, ...]
    links: tuple[Link, ...]
    journal: tuple[JournalRow, ...]
    revision: int
    profile_numbers: int
    held: tuple[HeldValue, ...] = ()
    sources: tuple[WholeSource, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    recall_log: tuple[RecallLogEntry, ...] = ()
    graph: WholeGraph = NO_GRAPH


def to_plain_json(value: Any) -> Any:
    """Values as JSON has them."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(name): to_plain_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain_json(item) for item in value]
    return str(value) if isinstance(value, str) else value


def to_lines(user_id: str, belongings: ScopeExport) -> Iterator[str]:
    header = {
        "type": "commonplace",
        "format": FORMAT,
        "user_id": user_id,
        "revision": belongings.revision,
        "profile_numbers": belongings.profile_numbers,
    }
    yield _line(header)
    for memory in belongings.memories:
        yield _line({"type": "memory", **_encode_memory(memory)})
    for version in belongings.versions:
        yield _line(
            {
                "type": "version",
                "memory": _encode_memory(version.memory),
                "recorded_at": version.recorded_at,
                "invalidated_at": version.invalidated_at,
            }
        )
    for link in belongings.links:
        yield _line({"type": "link", **{f.name: getattr(link, f.name) for f in fields(link)}})
    for held in belongings.held:
        yield _line({"type": "held", **_encode_held(held, belongings.memories)})
    for proposal in belongings.proposals:
        yield _line({"type": "proposal", **encode_proposal(proposal)})
    for whole in belongings.sources:
        yield from map(_line, source_lines(whole))
    for line in graph_lines(belongings.graph, Scope.of_user(user_id).key):
        yield _line(line)
    for logged in belongings.recall_log:
        yield _line({"type": "search", **encode_logged(logged)})
    for row in belongings.journal:
        yield _line({"type": "journal", **_encode_journal(row)})


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(to_plain_json(record), ensure_ascii=False, separators=(",", ":"))


def _encode_memory(memory: Memory) -> dict[str, Any]:
    return {
        f.name: getattr(memory, f.name) for f in fields(memory) if f.name not in _OMITTED_FIELDS
    }


def _encode_held(held: HeldValue, memories: Iterable[Memory]) -> dict[str, Any]:
    return {
        "memory": _encode_memory(held.memory),
        "conflict": held.conflict,
        "targets": [m.id for m in memories if m.conflict and m.conflict == held.conflict],
        "beside": held.beside,
        "merged_into": held.merged_into,
        "mentioned": sorted(held.mentioned),
        "reason": held.reason,
        "actor": held.actor,
        "held_at": held.held_at,
    }


def _encode_journal(row: JournalRow) -> dict[str, Any]:
    return {
        "seq": row.seq,
        "ts": row.ts,
        "revision": row.revision,
        "thread_id": row.thread_id,
        "actor": row.actor,
        **asdict(row.entry),
    }


def from_lines(lines: Iterable[str], user_id: str) -> ScopeExport:
    """Read back what `to_lines` wrote, now belonging to ``user_id``."""
    if isinstance(lines, str | bytes) or not isinstance(lines, Iterable):
        raise InvalidInput("lines must be a list.", remedy=_REMEDY)
    reader = _ArchiveReader(user_id)
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


class _ArchiveReader:
    """Takes the lines one by one. A file may come from anywhere, so each is checked like input."""

    def __init__(self, user_id: str):
        self._user_id = user_id
        self._header: Mapping[str, int] = {}
        self._memories: dict[str, Memory] = {}
        self._versions: dict[tuple[str, int], Version] = {}
        self._links: dict[tuple[str, str], Link] = {}
        self._journal: dict[int, JournalRow] = {}
        self._held: dict[str, HeldValue] = {}
        self._proposals: dict[str, Proposal] = {}
        self._sources = SourceReader(user_id)
        self._searches: dict[str, RecallLogEntry] = {}
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
                self._header = _decode_header(record)
            case "memory":
                memory = _decode_memory(record, self._user_id)
                add_once(self._memories, memory.id, memory)
            case "version":
                version = _decode_version(record, self._user_id)
                self._about_known(version.memory.id)
                add_once(self._versions, (version.memory.id, version.memory.version), version)
            case "link":
                link = _decode_link(record)
                self._about_known(link.a, link.b)
                add_once(self._links, (link.a, link.b), link)
            case "held":
                self._take_held(record)
            case "proposal":
                proposal = decode_proposal(record)
                add_once(self._proposals, proposal.id, proposal)
            case "source":
                self._sources.take_source(record)
            case "original":
                self._sources.take_original(record)
            case "passage":
                self._sources.take_passage(record)
            case "search":
                logged = decode_logged(record)
                add_once(self._searches, logged.id, logged)
            case "journal":
                row = _decode_journal(record, self._user_id)
                add_once(self._journal, row.seq, row)
            case of_the_graph if take := self._graph.takers.get(of_the_graph):
                take(record)
            case other:
                raise InvalidInput(f"Unknown type of record: {other!r}.")

    def _take_held(self, record: Mapping[str, Any]) -> None:
        targets = validation.ids(record["targets"]) if record["targets"] else ()
        held = _decode_held(record, self._user_id)
        about = [id for id in (*targets, held.beside, held.merged_into) if id]
        self._about_known(*about)
        if sum(map(bool, (held.conflict, held.beside, held.merged_into))) != 1:
            raise InvalidInput(
                "A held value waits in a conflict or beside a memory, or is a part of one."
            )
        kinds = {self._memories[id].kind for id in about}
        if held.memory.state is not State.ACTIVE or kinds - {held.memory.kind}:
            raise InvalidInput("A held value is a live memory of the kind that it is held against.")
        add_once(self._held, held.memory.id, held)
        for id in targets:
            self._memories[id] = self._memories[id].evolve(conflict=held.conflict)

    def _about_known(self, *ids: str) -> None:
        for id in ids:
            if id not in self._memories:
                raise InvalidInput(f"It refers to {id!r}, which no earlier line defines.")

    def belongings(self) -> ScopeExport:
        if not self._header:
            raise InvalidInput("The file is empty.", remedy=_REMEDY)
        return ScopeExport(
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


def _decode_header(record: Mapping[str, Any]) -> dict[str, int]:
    if record.get("format") != FORMAT:
        raise InvalidInput(f"Format {record.get('format')!r} is not {FORMAT}.")
    return {name: count(record.get(name), name) for name in ("revision", "profile_numbers")}


# ——— how each field is read ———

_MEMORY: dict[str, FieldReader] = {
    "id": validation.word,
    "kind": validation.kind,
    "content": validation.text,
    "summary": validation.text,
    "category": validation.word,
    "tags": validation.words,
    "metadata": metadata,
    "importance": whole_number(1, 5),
    "confidence": fraction,
    "stability": one_of(Stability),
    "sensitivity": one_of(Sensitivity),
    "pinned": validation.flag,
    "evidence": validation.texts,
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
    "created_at": validation.when,
    "updated_at": validation.when,
    "version": whole_number(1),
    "last_accessed_at": when,
    "access_count": count,
}
_ENTRY: dict[str, FieldReader] = {
    "op": one_of(Op),
    "node": one_of(JournalNode),
    "status": one_of(JournalStatus),
    "event": optional(one_of(Event)),
    "subject": word,
    "category": word,
    "old_ref": optional(reference),
    "new_ref": optional(reference),
    "similarity": optional(lambda value, field: validation.number(value, field, -1, 1)),
    "meta": metadata,
}
_JOURNAL_PLACE: dict[str, FieldReader] = {
    "seq": count,
    "ts": validation.when,
    "revision": count,
    "thread_id": word,
    "actor": optional(reference),
}
_LINK: dict[str, FieldReader] = {
    "a": validation.word,
    "b": validation.word,
    "strength": fraction,
    "created_at": validation.when,
    "relation": one_of(LinkType),
}


_HELD: dict[str, FieldReader] = {
    "conflict": word,
    "targets": lambda value, field: value,
    "beside": word,
    "merged_into": word,
    "mentioned": validation.words,
    "reason": lambda value, field: validation.text(value, field) if value else "",
    "actor": optional(reference),
    "held_at": validation.when,
}


def _decode_memory(record: Mapping[str, Any], user_id: str) -> Memory:
    memory = Memory(user_id=user_id, **read_record(record, _MEMORY, "A memory"))
    present = {f"metadata.{name}": value for name, value in memory.metadata.items()}
    needed = [name for name in POLICIES[memory.kind].required if name.startswith("metadata.")]
    validation.required(present, needed, memory.kind)
    return memory


def _decode_version(record: Mapping[str, Any], user_id: str) -> Version:
    return Version(
        _decode_memory(record["memory"], user_id),
        validation.when(record["recorded_at"], "recorded_at"),
        when(record["invalidated_at"], "invalidated_at"),
    )


def _decode_link(record: Mapping[str, Any]) -> Link:
    return Link(**read_record(record, _LINK, "A link"))


def _decode_held(record: Mapping[str, Any], user_id: str) -> HeldValue:
    told = {"merged_into": None} | {n: v for n, v in record.items() if n != "memory"}
    values = read_record(told, _HELD, "A held value")
    return HeldValue(
        _decode_memory(record["memory"], user_id),
        values["conflict"],
        values["beside"],
        frozenset(values["mentioned"]),
        values["reason"],
        values["actor"],
        values["held_at"],
        values["merged_into"],
    )


def _decode_journal(record: Mapping[str, Any], user_id: str) -> JournalRow:
    values = read_record(record, {**_JOURNAL_PLACE, **_ENTRY}, "A journal line")
    entry = Entry(**{name: values.pop(name) for name in _ENTRY})
    return JournalRow(user_id=user_id, entry=entry, **values)
