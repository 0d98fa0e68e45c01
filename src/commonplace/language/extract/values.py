"""Values of extraction: its input (attributed passages, owner) and output (nodes, edges, notes)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from commonplace.model.graph.assertion import NoteLifetime
from commonplace.model.graph.types import NodeType
from commonplace.model.memory.candidate import MemoryCandidate
from commonplace.model.sources.source import SourceType

MIN_CONFIDENCE = 0.7  # nodes and edges below it are dropped

# Subtypes of entities.
ORGANIZATION, LOCATION, PROJECT, PRODUCT, EVENT, GROUP = ENTITY_TYPES = (
    "organization",
    "location",
    "project",
    "product",
    "event",
    "group",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerIdentity:
    """The owner of the graph: "I" in their passages."""

    name: str
    names: frozenset[str] = frozenset()  # all spellings that may appear as a speaker
    addresses: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()  # bare names like the owner's that belong to other people


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributedPassage:
    """A passage with its speaker."""

    number: int
    text: str
    at: datetime
    speaker: str | None = None
    by_owner: bool = False
    by_machine: bool = False  # written by an assistant or a tool: not evidence
    suspicious: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionInput:
    """A source: its passages, owner and known participants."""

    passages: tuple[AttributedPassage, ...]
    owner: OwnerIdentity
    source_type: SourceType
    date: datetime  # of the source; base of relative dates if a passage has no date
    participants: tuple[str, ...] = ()  # "Name" or "Name <address>"
    title: str = ""
    names_by_address: Mapping[str, str] = field(
        default_factory=dict
    )  # the owner's name for an address


@dataclass(frozen=True, slots=True, order=True)
class TextLocation:
    """A span of a passage's text."""

    passage: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundNode:
    type: NodeType
    name: str
    subtype: str = ""
    aliases: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    description: str = ""
    confidence: float = 0.8
    passages: tuple[int, ...] = ()
    places: tuple[TextLocation, ...] = ()  # empty: only a participant
    is_owner: bool = False


@dataclass(frozen=True, slots=True)
class NodeSpan:
    """A mention of a node, by name or by a phrase."""

    passage: int
    start: int
    end: int
    node: int  # index in the list of nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognisedNodes:
    """Named nodes and their mentions. The first node is the owner, even if not mentioned."""

    nodes: tuple[FoundNode, ...]
    spans: tuple[NodeSpan, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundEdge:
    """An edge between two found nodes, given by index."""

    a: int
    b: int
    type: str
    attitude: int | None = None
    proximity: int | None = None
    description: str = ""
    confidence: float = 0.8
    valid_from: datetime | None = None  # None: the passage's date
    valid_to: datetime | None = None
    ends: bool = False  # the relation ended, at valid_from
    is_state: bool = True  # stated as a state, not as an event
    place: TextLocation  # of the sentence that states it
    repeated: tuple[TextLocation, ...] = ()  # of the sentences that repeat it

    @property
    def passage(self) -> int:
        return self.place.passage

    def with_repetitions(self, *places: TextLocation) -> FoundEdge:
        return replace(self, repeated=(*self.repeated, *places))


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundNote:
    """A note about a node, or about the relation of two."""

    about: tuple[int, ...]  # one or two indices in the list of nodes
    content: str
    lifetime: NoteLifetime = NoteLifetime.MONTH
    place: TextLocation

    @property
    def passage(self) -> int:
        return self.place.passage


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceExtraction:
    nodes: tuple[FoundNode, ...] = ()
    edges: tuple[FoundEdge, ...] = ()
    notes: tuple[FoundNote, ...] = ()
    candidates: tuple[tuple[int, MemoryCandidate], ...] = ()  # with their passage's number
    in_passing: tuple[FoundNode, ...] = ()  # credible names of which nothing is said
