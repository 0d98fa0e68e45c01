"""Export archive: writes and reads all lines of one user's memory."""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, fields
from functools import reduce
from typing import Any

from commonplace.errors import InvalidInput
from commonplace.model.export.records import (
    LINE_TYPES,
    EdgeLine,
    HeldLine,
    NodeLine,
    OriginalLine,
    StatsLine,
    WholeSource,
    record_codec,
)
from commonplace.model.graph.elements import Node
from commonplace.model.graph.snapshot import NO_GRAPH, WholeGraph
from commonplace.model.graph.storylines import Story, Storyline
from commonplace.model.journal import JournalRow, RecallLogEntry
from commonplace.model.json_structure import check_json_structure
from commonplace.model.memory.memory import HeldValue, Link, Memory, State, Version
from commonplace.model.model_calls import ModelReading
from commonplace.model.profile.fields import Proposal
from commonplace.model.sources.source import Passage, Source, original_digest
from commonplace.model.validation import integer

FORMAT = 1
LONG_LINE = 100_000  # characters; shorter ones cannot hold too many values


@dataclass(frozen=True, slots=True)
class ScopeExport:
    """Everything that one user owns in a store."""

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
    readings: tuple[ModelReading, ...] = ()  # so that a model does not read all of it again


# ——— writing ———

_NAMES = {kind: name for name, kind in LINE_TYPES.items()}


def to_lines(user_id: str, export: ScopeExport) -> Iterator[str]:
    codec = record_codec(user_id)
    yield _line(
        "commonplace",
        {
            "format": FORMAT,
            "user_id": user_id,
            "revision": export.revision,
            "profile_numbers": export.profile_numbers,
        },
    )
    for value in _line_values(export):
        yield _line(_NAMES[type(value)], codec.write(value))


def _line(type_: str, data: Mapping[str, Any]) -> str:
    record = {"type": type_, **data}
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"), default=_base64)


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


def _line_values(export: ScopeExport) -> Iterator[Any]:
    """In an order in which references point backwards."""
    yield from export.memories
    yield from export.versions
    yield from export.links
    for held in export.held:
        yield _held_line(held, export.memories)
    yield from export.proposals
    for whole in export.sources:
        yield whole.source
        for part, raw in enumerate(whole.original, 1):
            yield OriginalLine(whole.source.id, part, raw)
        yield from whole.passages
    graph = export.graph
    for node in graph.nodes:
        yield NodeLine(node, graph.texts.get(node.id, ""))
    yield from graph.node_assertions
    for edge in graph.edges:
        yield EdgeLine(edge, graph.texts.get(edge.id, ""))
    yield from graph.edge_assertions
    yield from graph.notes
    yield from graph.artifacts
    yield from graph.storylines
    yield from graph.macros
    yield from graph.extractions
    yield from export.readings
    for id, stats in sorted(graph.marks.items()):
        yield StatsLine(id, stats)
    yield from export.recall_log
    yield from export.journal


def _held_line(held: HeldValue, memories: Iterable[Memory]) -> HeldLine:
    targets = tuple(m.id for m in memories if m.conflict and m.conflict == held.conflict)
    return HeldLine(
        targets=targets,
        **{_HELD_KEYS.get(f.name, f.name): getattr(held, f.name) for f in fields(HeldValue)},
    )


def _held_value(line: HeldLine) -> HeldValue:
    return HeldValue(
        **{f.name: getattr(line, _HELD_KEYS.get(f.name, f.name)) for f in fields(HeldValue)}
    )


# Fields whose key in the format has an older name.
_HELD_KEYS = {"alternative_to": "beside", "contributes_to": "merged_into"}


# ——— reading ———

_PROFILE_NOTE = re.compile(r"profile:(\d{1,15})")
_REMEDY = "Import a file that `commonplace export` wrote."


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
            message = f"Line {number} cannot be read: {type(error).__name__}."
            raise InvalidInput(message, remedy=_REMEDY) from error
    return reader.export()


def _id(value: Any) -> str:
    return str(value.id)


# The unique key of a line, by type; default: its id.
_KEYS: Mapping[str, Callable[[Any], Hashable]] = {
    "version": lambda version: (version.memory.id, version.memory.version),
    "link": lambda link: (link.a, link.b),
    "held": lambda held: held.memory.id,
    "original": lambda original: (original.source_id, original.part),
    "passage": lambda passage: (passage.source_id, passage.number),
    "node": lambda line: line.node.id,
    "edge": lambda line: line.edge.id,
    "extraction": lambda extraction: (extraction.scope, extraction.source),
    "reading": lambda reading: (reading.source_scope, reading.source),
    "journal": lambda row: row.seq,
}
# References of a line, by type: the types of the lines they point to, and the ids.
_REFERENCES: Mapping[str, tuple[tuple[str, ...], Callable[[Any], tuple[str | None, ...]]]] = {
    "version": (("memory",), lambda version: (version.memory.id,)),
    "link": (("memory",), lambda link: (link.a, link.b)),
    "held": (("memory",), lambda held: _held_against(held)),
    "original": (("source",), lambda original: (original.source_id,)),
    "passage": (("source",), lambda passage: (passage.source_id,)),
    "node_telling": (("node",), lambda assertion: (assertion.node,)),
    "edge": (("node",), lambda line: line.edge.ends),
    "edge_telling": (("edge",), lambda assertion: (assertion.edge,)),
    "note": (("edge", "node"), lambda note: (note.about,)),
    "storyline": (("node",), lambda storyline: (storyline.anchor,)),
    "macro": (("node", "storyline"), lambda macro: (macro.anchor, *macro.storylines)),
}


def _held_against(held: HeldLine) -> tuple[str | None, ...]:
    return *held.targets, held.beside, held.merged_into


class _ArchiveReader:
    """Reads lines one by one. A file is untrusted input, so each line is validated."""

    def __init__(self, user_id: str):
        self._codec = record_codec(user_id)
        self._header: Mapping[str, int] = {}
        self._records: dict[str, dict[Any, Any]] = {name: {} for name in LINE_TYPES}
        self._names: set[tuple[str, ...]] = set()  # of sources, active nodes and anchors
        self._pieces: Counter[tuple[str, str]] = Counter()  # count per line type and source
        self._checks: Mapping[str, Callable[[Any], None]] = {
            "held": self._check_held,
            "source": lambda source: self._add_name("source", source.origin, source.external_id),
            "original": lambda line: self._check_next("original", line.source_id, line.part),
            "passage": lambda each: self._check_next("passage", each.source_id, each.number),
            "node": self._check_node,
            "storyline": self._check_storyline,
            "macro": lambda macro: self._add_name("macro", macro.anchor),
        }

    def take(self, line: str) -> None:
        if not line.strip():
            return
        if len(line) > LONG_LINE:
            check_json_structure(line.encode("utf-8", "surrogatepass"), "lines")
        record = json.loads(line)
        type_ = record.pop("type", None)
        if bool(self._header) == (type_ == "commonplace"):
            raise InvalidInput("The file must begin with exactly one Commonplace header.")
        if type_ == "commonplace":
            self._header = _read_header(record)
        elif kind := LINE_TYPES.get(type_):
            self._add(type_, self._codec.read(kind, record))
        else:
            raise InvalidInput(f"Unknown type of record: {type_!r}.")

    def _add(self, type_: str, value: Any) -> None:
        if type_ in _REFERENCES:
            among, referred = _REFERENCES[type_]
            for id in referred(value):
                self._require(among, id)
        key = _KEYS.get(type_, _id)(value)
        if key in self._records[type_]:
            raise InvalidInput(f"It repeats {key!r}.")
        if check := self._checks.get(type_):
            check(value)
        self._records[type_][key] = value

    def _require(self, among: tuple[str, ...], id: str | None) -> None:
        if id and not any(id in self._records[each] for each in among):
            raise InvalidInput(f"It refers to {id!r}, which no earlier line defines.")

    def _check_held(self, held: HeldLine) -> None:
        if sum(map(bool, (held.conflict, held.beside, held.merged_into))) != 1:
            raise InvalidInput(
                "A held value needs exactly one of conflict, alternative_to and contributes_to."
            )
        memories = self._records["memory"]
        kinds = {memories[id].kind for id in _held_against(held) if id}
        if held.memory.state is not State.ACTIVE or kinds - {held.memory.kind}:
            raise InvalidInput("A held value is a live memory of the kind that it is held against.")
        for id in held.targets:
            memories[id] = memories[id].evolve(conflict=held.conflict)

    def _check_next(self, type_: str, source_id: str, number: int) -> None:
        """Parts and passages of a source must come in order."""
        source: Source = self._records["source"][source_id]
        what, total = (
            ("part", source.parts) if type_ == "original" else ("passage", source.passages)
        )
        self._pieces[type_, source_id] += 1
        if number != (expected := self._pieces[type_, source_id]):
            raise InvalidInput(f"{what} {number} is out of order: {what} {expected} is expected.")
        if number > total:
            raise InvalidInput(f"{what} {number} is one too many: its source has {total}.")

    def _check_node(self, line: NodeLine) -> None:
        node = line.node
        if node.stands_for_itself:
            self._add_name("node", node.type, node.subtype, node.key)
        if node.is_owner and any(each.node.is_owner for each in self._all("node")):
            raise InvalidInput("A graph has one owner.")

    def _check_storyline(self, storyline: Storyline) -> None:
        if storyline.is_open:
            self._add_name("storyline", storyline.anchor)

    def _add_name(self, *name: str) -> None:
        if name in self._names:
            raise InvalidInput(f"It repeats {name[1:]!r}.")
        self._names.add(name)

    def export(self) -> ScopeExport:
        if not self._header:
            raise InvalidInput("The file is empty.", remedy=_REMEDY)
        journal = self._all("journal")
        numbers = [
            int(match[1])
            for id in self._records["memory"]
            if (match := _PROFILE_NOTE.fullmatch(id))
        ]
        return ScopeExport(
            memories=self._all("memory"),
            versions=self._all("version"),
            links=self._all("link"),
            journal=journal,
            revision=max([self._header["revision"], *(row.revision for row in journal)]),
            profile_numbers=max([self._header["profile_numbers"], *(n + 1 for n in numbers)]),
            held=tuple(map(_held_value, self._all("held"))),
            sources=self._sources(),
            proposals=self._all("proposal"),
            recall_log=self._all("search"),
            graph=self._graph(),
            readings=self._all("reading"),
        )

    def _all(self, type_: str) -> tuple[Any, ...]:
        return tuple(self._records[type_].values())

    def _sources(self) -> tuple[WholeSource, ...]:
        original: dict[str, list[bytes]] = {id: [] for id in self._records["source"]}
        for line in self._all("original"):
            original[line.source_id].append(line.raw)
        passages: dict[str, list[Passage]] = {id: [] for id in self._records["source"]}
        for passage in self._all("passage"):
            passages[passage.source_id].append(passage)
        return tuple(
            _whole_source(source, original[source.id], passages[source.id])
            for source in self._all("source")
        )

    def _graph(self) -> WholeGraph:
        lines = {**self._records["node"], **self._records["edge"]}
        nodes = tuple(line.node for line in self._all("node"))
        for node in nodes:
            self._require(("node",), node.merged_into)
        stories: list[Story] = [*self._all("storyline"), *self._all("macro")]
        anchors = tuple({each.anchor for each in self._all(type_)} for type_ in _ANCHORED)
        texts = {id: line.found_by for id, line in lines.items() if line.found_by}
        return WholeGraph(
            nodes=tuple(_with_flags(node, *anchors) for node in nodes),
            edges=tuple(line.edge for line in self._all("edge")),
            node_assertions=self._all("node_telling"),
            edge_assertions=self._all("edge_telling"),
            notes=self._all("note"),
            artifacts=self._all("artifact"),
            storylines=self._all("storyline"),
            macros=self._all("macro"),
            extractions=self._all("extraction"),
            marks={line.id: line.stats for line in self._all("marks")},
            texts={**texts, **{story.id: story.search_text for story in stories}},
        )


_ANCHORED = ("storyline", "macro")


def _with_flags(node: Node, with_storyline: Set[str], with_macro: Set[str]) -> Node:
    """Erasure relies on these flags: a node with a storyline has them, whatever its line says."""
    has_meso, has_macro = node.id in with_storyline, node.id in with_macro
    if (has_meso, has_macro) == (node.has_meso, node.has_macro):
        return node
    return node.evolve(has_meso=has_meso, has_macro=has_macro)


def _whole_source(source: Source, original: list[bytes], passages: list[Passage]) -> WholeSource:
    if len(original) < source.parts or len(passages) < source.passages:
        raise InvalidInput(f"The file is truncated: {source.id} is incomplete.")
    if source.digest != reduce(lambda before, raw: original_digest(raw, before), original, ""):
        raise InvalidInput(f"The original of {source.id} does not match its digest.")
    return WholeSource(source, tuple(original), tuple(passages))


def _read_header(record: Mapping[str, Any]) -> dict[str, int]:
    if record.get("format") != FORMAT:
        raise InvalidInput(f"Format {record.get('format')!r} is not {FORMAT}.")
    return {
        name: integer(record.get(name), name, 0, 2**62) for name in ("revision", "profile_numbers")
    }
