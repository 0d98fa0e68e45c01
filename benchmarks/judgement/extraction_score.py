"""Extraction scores: labelled conversations, and found nodes and edges against them.

They live beside the source (`labelled/`, with a README on how they were made) and are not shipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.judgement.labels import HALVES
from commonplace.language.extract.values import (
    MIN_CONFIDENCE,
    AttributedPassage,
    ExtractionInput,
    FoundEdge,
    FoundNode,
    OwnerIdentity,
    SourceExtraction,
)
from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.model.graph.types import RELATIONSHIP_TYPES, NodeType, canonical_relationship
from commonplace.model.sources.source import SourceType

MORE = "more"  # written after the rules, to see how far they reach, and then tuned on
SETS = (*HALVES, MORE)
OWNER = "I"  # what the owner is called in the labels
_MACHINES = frozenset({"assistant", "tool"})
_LEADING = re.compile(r"^(?:my|our|the|an?|his|her|their) ")
_ADDRESS = re.compile(r"\s*<([^<>]*)>$")
_NOON = "T12:00:00"


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldNode:
    type: NodeType
    subtypes: frozenset[str]  # accepted; empty where the type has none
    names: tuple[str, ...]  # accepted spellings; edges call it by the first
    optional: bool = False  # right when found, and right when not

    @property
    def name(self) -> str:
        return self.names[0]

    def accepts(self, found: FoundNode) -> bool:
        if found.type != self.type or (self.subtypes and found.subtype not in self.subtypes):
            return False
        return not {folded(name) for name in self.names}.isdisjoint(
            map(folded, (found.name, *found.aliases))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldEdge:
    a: str
    b: str
    types: tuple[str, ...]  # accepted relationships
    ends: bool = False
    valid_from: str | None = None  # a day, or a month where no day is told
    attitude: frozenset[int] = frozenset()  # accepted values, where there is one
    optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    id: str
    language: str
    account: ExtractionInput
    nodes: tuple[GoldNode, ...]
    edges: tuple[GoldEdge, ...]


def folded(name: str) -> str:
    """One form of a name, however it is capitalised and whoever it is said to belong to."""
    return _LEADING.sub("", " ".join(name.casefold().split()))


def read_conversations(folder: Path, part: str) -> list[Conversation]:
    lines = (folder / f"conversations-{part}.jsonl").read_text(encoding="utf-8").splitlines()
    return [_conversation(json.loads(line)) for line in lines if line]


def _conversation(row: dict[str, Any]) -> Conversation:
    return Conversation(
        id=row["id"],
        language=row["language"],
        account=account_of(row),
        nodes=tuple(map(_node, row["nodes"])),
        edges=tuple(map(_edge, row["edges"])),
    )


def _node(row: dict[str, Any]) -> GoldNode:
    return GoldNode(
        type=NodeType(row["type"]),
        subtypes=frozenset(filter(None, (row["subtype"], *row.get("also", ())))),
        names=tuple(row["names"]),
        optional=row.get("optional", False),
    )


def _edge(row: dict[str, Any]) -> GoldEdge:
    accepted = {"types": tuple(row["types"]), "attitude": frozenset(row.get("attitude", ()))}
    return GoldEdge(**{**row, **accepted})


def account_of(row: dict[str, Any]) -> ExtractionInput:
    """A labelled conversation as extraction reads it."""
    owner: str = row["owner"]["name"]
    date = _moment(row["date"])
    said = tuple(
        _said(number, turn, owner, date) for number, turn in enumerate(row["turns"], start=1)
    )
    return ExtractionInput(
        passages=said,
        owner=OwnerIdentity(name=owner, names=frozenset({owner})),
        source_type=SourceType(row["source_type"]),
        date=date,
        participants=_participants(row["turns"]),
    )


def _said(number: int, turn: dict[str, Any], owner: str, date: datetime) -> AttributedPassage:
    speaker = _ADDRESS.sub("", turn["speaker"])
    return AttributedPassage(
        number=number,
        text=turn["text"],
        at=_moment(turn["at"]) if "at" in turn else date,
        speaker=speaker,
        by_owner=speaker == owner or turn.get("role") == "user",
        by_machine=turn.get("role") in _MACHINES,
        suspicious=is_suspicious(turn["text"]),
    )


def _participants(turns: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    people = (turn["speaker"] for turn in turns if turn.get("role") not in _MACHINES)
    return tuple(dict.fromkeys(people))


def _moment(day: str) -> datetime:
    return datetime.fromisoformat(day + _NOON).replace(tzinfo=UTC)


Extract = Callable[[ExtractionInput], SourceExtraction]
EdgeForm = tuple[str, str, str, bool]  # from whom, to whom, the relationship, whether it is over


# `cached_property` keeps its value in the instance, so there are no slots.
@dataclass(frozen=True)
class ExtractionResult:
    """A conversation, and what was found in it."""

    conversation: Conversation
    extracted: SourceExtraction

    @cached_property
    def kept(self) -> tuple[tuple[int, FoundNode], ...]:
        """The nodes that go into the graph, with their places. The owner is always there."""
        return tuple(
            (place, node)
            for place, node in enumerate(self.extracted.nodes)
            if node.confidence >= MIN_CONFIDENCE and not node.is_owner
        )

    @cached_property
    def gold_of(self) -> dict[int, GoldNode]:
        """By place, the node of the labels that it is. Each is found once: a second one for the
        same person is a mistake."""
        left = sorted(self.conversation.nodes, key=lambda node: node.optional)
        matched: dict[int, GoldNode] = {}
        for by_name in (True, False):  # whoever has the very name, before whoever has it as alias
            for place, found in self.kept:
                gold = next((one for one in left if one.accepts(found)), None)
                if place in matched or gold is None or (by_name and not _is_called(gold, found)):
                    continue
                matched[place] = gold
                left.remove(gold)
        return matched

    @cached_property
    def edges(self) -> dict[EdgeForm, list[FoundEdge]]:
        """Each relation once, however often it is told. Ends that are wrong are called by their
        place, which is in no label."""
        names = {place: node.name for place, node in self.gold_of.items()}
        names |= {n: OWNER for n, node in enumerate(self.extracted.nodes) if node.is_owner}
        kept = {place for place, _ in self.kept}
        told: dict[EdgeForm, list[FoundEdge]] = {}
        for edge in self.extracted.edges:
            if edge.confidence < MIN_CONFIDENCE or not {edge.a, edge.b} <= kept | names.keys():
                continue
            a, b = (names.get(place, f"#{place}") for place in (edge.a, edge.b))
            is_over = edge.ends or edge.valid_to is not None
            told.setdefault((*self._in_one_form(a, b, edge.type), is_over), []).append(edge)
        return told

    def _in_one_form(self, a: str, b: str, type: str) -> tuple[str, str, str]:
        """The direction tells something only between two of a type, and then only if it is known
        what the word means: "dentist" is said of both ends."""
        a, b, type = canonical_relationship(a, b, type)
        one, other = self._type_of.get(a), self._type_of.get(b)
        is_directed = one == other and (one != NodeType.PERSON or type in RELATIONSHIP_TYPES)
        return (a, b, type) if is_directed or a <= b else (b, a, type)

    @cached_property
    def _type_of(self) -> dict[str, NodeType]:
        types = {node.name: node.type for node in self.conversation.nodes}
        return types | {OWNER: NodeType.PERSON}

    def forms(self, gold: GoldEdge) -> set[EdgeForm]:
        """All that is accepted for an edge of the labels."""
        return {(*self._in_one_form(gold.a, gold.b, type), gold.ends) for type in gold.types}

    @cached_property
    def _accepted(self) -> dict[EdgeForm, GoldEdge]:
        return {form: gold for gold in self.conversation.edges for form in self.forms(gold)}

    def called(self, told: EdgeForm) -> str:
        """The relationship: by the label's first word where it is right, or else by its own."""
        gold = self._accepted.get(told)
        return gold.types[0] if gold else told[2]

    # ——— right, wrong, missing ———

    @property
    def wrong_nodes(self) -> list[FoundNode]:
        return [node for place, node in self.kept if place not in self.gold_of]

    @property
    def missing_nodes(self) -> list[GoldNode]:
        found = {node.name for node in self.gold_of.values()}
        return [node for node in self.due_nodes if node.name not in found]

    @property
    def due_nodes(self) -> list[GoldNode]:
        return [node for node in self.conversation.nodes if not node.optional]

    @property
    def wrong_edges(self) -> list[EdgeForm]:
        return [told for told in self.edges if told not in self._accepted]

    @property
    def missing_edges(self) -> list[GoldEdge]:
        return [gold for gold in self.due_edges if self.edges.keys().isdisjoint(self.forms(gold))]

    @property
    def due_edges(self) -> list[GoldEdge]:
        return [edge for edge in self.conversation.edges if not edge.optional]

    @property
    def dates_right(self) -> list[bool]:
        """For each edge that was found and has a date in the labels: whether it was found too."""
        return [
            any(_began(edge).startswith(gold.valid_from) for edge in found)
            for gold, found in self._found_of()
            if gold.valid_from
        ]

    @property
    def attitudes_right(self) -> list[bool]:
        return [
            any(edge.attitude in gold.attitude for edge in found)
            for gold, found in self._found_of()
            if gold.attitude
        ]

    def _found_of(self) -> Iterator[tuple[GoldEdge, list[FoundEdge]]]:
        for gold in self.conversation.edges:
            found = [edge for form in self.forms(gold) for edge in self.edges.get(form, ())]
            if found:
                yield gold, found


def _is_called(gold: GoldNode, found: FoundNode) -> bool:
    return folded(found.name) in map(folded, gold.names)


def _began(edge: FoundEdge) -> str:
    return edge.valid_from.date().isoformat() if edge.valid_from else ""


def extract_all(conversations: Sequence[Conversation], extract: Extract) -> list[ExtractionResult]:
    return [ExtractionResult(each, extract(each.account)) for each in conversations]


# ——— counts ———


@dataclass(frozen=True, slots=True)
class PrecisionCount:
    """How much was found, how much of it is wrong; how much is due, how much of it is missing."""

    found: int
    wrong: int
    due: int
    missing: int

    @property
    def precision(self) -> float | None:
        return percent(self.found - self.wrong, self.found)

    @property
    def recall(self) -> float | None:
        return percent(self.due - self.missing, self.due)


def count_nodes(readings: Sequence[ExtractionResult], sort: str | None = None) -> PrecisionCount:
    """Of all nodes, or of one sort: a type, or an entity's subtype."""

    def among(nodes: Sequence[FoundNode] | Sequence[GoldNode]) -> int:
        return sum(sort is None or sort in _sorts(node) for node in nodes)

    return PrecisionCount(
        sum(among([node for _, node in each.kept]) for each in readings),
        sum(among(each.wrong_nodes) for each in readings),
        sum(among(each.due_nodes) for each in readings),
        sum(among(each.missing_nodes) for each in readings),
    )


def _sorts(node: FoundNode | GoldNode) -> frozenset[str]:
    subtypes = node.subtypes if isinstance(node, GoldNode) else frozenset({node.subtype})
    return subtypes if node.type == NodeType.ENTITY else frozenset({str(node.type)})


def count_edges(readings: Sequence[ExtractionResult], type: str | None = None) -> PrecisionCount:
    """Of all edges, or of one relationship, as the labels call it."""

    def told(each: ExtractionResult, edges: Iterable[EdgeForm]) -> int:
        return sum(type is None or each.called(edge) == type for edge in edges)

    def gold(edges: Sequence[GoldEdge]) -> int:
        return sum(type is None or edge.types[0] == type for edge in edges)

    return PrecisionCount(
        sum(told(each, each.edges) for each in readings),
        sum(told(each, each.wrong_edges) for each in readings),
        sum(gold(each.due_edges) for each in readings),
        sum(gold(each.missing_edges) for each in readings),
    )


def percent(part: int, whole: int) -> float | None:
    return 100 * part / whole if whole else None
