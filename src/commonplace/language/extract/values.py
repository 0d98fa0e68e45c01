"""Extraction's input (attributed passages, owner) and output (found nodes, edges, notes)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from commonplace.model.graph.assertion import NoteLifetime
from commonplace.model.graph.types import NodeType
from commonplace.model.memory.candidate import MemoryCandidate
from commonplace.model.sources.source import SourceType

MIN_CONFIDENCE = 0.7  # confidence; what is below is found and not kept

# Of entities.
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
    """The reader whose graph it is for: "I" in what they say."""

    name: str
    names: frozenset[str] = frozenset()  # all spellings, as speakers are called
    addresses: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()  # bare names, like theirs, of who is somebody else


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributedPassage:
    """A passage as it is read."""

    number: int
    text: str
    at: datetime
    speaker: str | None = None
    by_owner: bool = False
    by_machine: bool = False  # an assistant, a tool: it knows nothing of its own
    suspicious: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionInput:
    """A source as it is read: what was said, and who is known to take part."""

    said: tuple[AttributedPassage, ...]
    owner: OwnerIdentity
    source_type: SourceType
    date: datetime  # of the source: relative dates count from the passage's own, or else from this
    participants: tuple[str, ...] = ()  # names, "Name <address>" where it is known
    title: str = ""
    called: Mapping[str, str] = field(default_factory=dict)  # by address: the owner's word for it


@dataclass(frozen=True, slots=True, order=True)
class TextLocation:
    """Where something is said: in which passage, from where to where."""

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
    places: tuple[TextLocation, ...] = ()  # none: it only takes part
    is_owner: bool = False


@dataclass(frozen=True, slots=True)
class NodeSpan:
    """Where a node is spoken of: by a name, or by a word that stands for it."""

    passage: int
    start: int
    end: int
    node: int  # its place in the list


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognisedNodes:
    """Whoever and whatever has a name here. The first one is the owner, named or not."""

    nodes: tuple[FoundNode, ...]
    spans: tuple[NodeSpan, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundEdge:
    """Between two of the found nodes, by their places in the list."""

    a: int
    b: int
    type: str
    attitude: int | None = None
    proximity: int | None = None
    description: str = ""
    confidence: float = 0.8
    valid_from: datetime | None = None  # None: since the passage was said
    valid_to: datetime | None = None
    ends: bool = False  # it is over, since valid_from
    is_state: bool = True  # it is told as something that holds, and not as something that happened
    place: TextLocation  # of the sentence that tells it
    repeated: tuple[TextLocation, ...] = ()  # of those that tell it again

    @property
    def passage(self) -> int:
        return self.place.passage

    def with_repetitions(self, *places: TextLocation) -> FoundEdge:
        return replace(self, repeated=(*self.repeated, *places))


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundNote:
    """On a node, or on the relation of two."""

    about: tuple[int, ...]  # places in the list of nodes: one, or two
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
    candidates: tuple[tuple[int, MemoryCandidate], ...] = ()  # for memories, with their passage
