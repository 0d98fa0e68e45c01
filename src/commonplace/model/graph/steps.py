"""Graph steps of a changeset, and the extraction state of a source."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from commonplace.model.graph.assertion import EdgeAssertion, NodeAssertion, Note
from commonplace.model.graph.elements import Artifact, Edge, Node
from commonplace.model.graph.storylines import Story
from commonplace.model.journal import Entry, Event
from commonplace.model.sources.source import Source


@dataclass(frozen=True, slots=True)
class Extraction:
    """How far one user's extraction of a source has come; the source may be a team's."""

    scope: str  # the key of the source's owner
    source: str
    started_at: datetime
    completed_at: datetime
    passages: int  # how many have been extracted
    digest: str  # of the original when it was extracted: a changed one is extracted again
    heard: tuple[str, ...] = ()  # digests of its sentences, participants and assertions
    stands: bool = True  # False: inactive, the source is forgotten and may be restored

    def is_all_of(self, source: Source) -> bool:
        """Whether the source is fully extracted: nothing was added or replaced since."""
        return (self.digest, self.passages) == (source.digest, source.passages)


@dataclass(frozen=True, slots=True)
class PutNode:
    """A new node or a new version of one, with the changes of its assertions: ``assertions`` are
    new or changed, ``removed_assertions`` are ids."""

    before: Node | None
    after: Node
    entry: Entry
    text: str | None = None  # its search text, where that changed
    vector: bytes | None = None  # little-endian float32; None: embedded later
    assertions: tuple[NodeAssertion, ...] = ()
    removed_assertions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PutEdge:
    before: Edge | None
    after: Edge
    entry: Entry
    text: str | None = None
    vector: bytes | None = None
    assertions: tuple[EdgeAssertion, ...] = ()
    removed_assertions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RemoveNode:
    """Removes a node with its assertions and notes. Its edges need steps of their own, before."""

    id: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class RemoveEdge:
    id: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class PutNote:
    """A new note, or a change of its active flag."""

    note: Note
    entry: Entry


@dataclass(frozen=True, slots=True)
class RemoveNotes:
    ids: tuple[str, ...]
    entry: Entry


@dataclass(frozen=True, slots=True)
class PutArtifact:
    artifact: Artifact
    entry: Entry


@dataclass(frozen=True, slots=True)
class RemoveArtifact:
    id: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class PutStory:
    """A new storyline or macro, or a new version of one."""

    before: Story | None
    after: Story
    entry: Entry
    vector: bytes | None = None  # of its search text; None: embedded later


@dataclass(frozen=True, slots=True)
class RemoveStories:
    ids: tuple[str, ...]
    entry: Entry


@dataclass(frozen=True, slots=True)
class SetArchived:
    """Sources that this user's searches count less; a read makes one active again."""

    ids: tuple[str, ...]
    at: datetime | None  # None: active again
    entry: Entry


@dataclass(frozen=True, slots=True)
class SetExtraction:
    """``gone``: delete the extraction state."""

    extraction: Extraction
    entry: Entry
    gone: bool = False


@dataclass(frozen=True, slots=True)
class NamedGraphItems:
    """Nodes, edges and notes that a decision erases, forgets or restores by their ids. No step yet:
    the cascade computes the graph once for all that a changeset takes."""

    ids: tuple[str, ...]
    event: Event
    until: datetime | None = None  # when forgotten ones are purged


GraphStep = (
    PutNode
    | PutEdge
    | RemoveNode
    | RemoveEdge
    | PutNote
    | RemoveNotes
    | PutArtifact
    | RemoveArtifact
    | PutStory
    | RemoveStories
    | SetArchived
    | SetExtraction
)
