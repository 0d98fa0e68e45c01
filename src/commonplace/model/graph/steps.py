"""Graph steps of a changeset, and how far each source was extracted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from commonplace.model.graph.assertion import EdgeAssertion, NodeAssertion, Note
from commonplace.model.graph.elements import Artifact, Edge, Node
from commonplace.model.journal import Entry
from commonplace.model.sources.source import Source


@dataclass(frozen=True, slots=True)
class Extraction:
    """How far one reader has come with a source, their own or a team's."""

    scope: str  # the key of the source's owner
    source: str
    started_at: datetime
    completed_at: datetime
    passages: int  # so many have been read
    digest: str  # of the original when it was read: another one is read anew
    heard: tuple[str, ...] = ()  # digests of its sentences, of who took part and of what it told
    stands: bool = True  # False: the source is forgotten, and may come back

    def is_all_of(self, source: Source) -> bool:
        """Nothing was added to it or replaced since."""
        return (self.digest, self.passages) == (source.digest, source.passages)


@dataclass(frozen=True, slots=True)
class PutNode:
    """A new node, or a new version of one, with the tellings that it is folded from now: those in
    ``told`` are new or other than before, those in ``untold`` are gone."""

    before: Node | None
    after: Node
    entry: Entry
    text: str | None = None  # what it is found by, where that is new
    vector: bytes | None = None  # little-endian float32; None: it comes later
    told: tuple[NodeAssertion, ...] = ()
    removed_assertions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PutEdge:
    before: Edge | None
    after: Edge
    entry: Entry
    text: str | None = None
    vector: bytes | None = None
    told: tuple[EdgeAssertion, ...] = ()
    removed_assertions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RemoveNode:
    """Gone, with what was told of it and its notes. Its edges go by steps of their own, before."""

    id: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class RemoveEdge:
    id: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class PutNote:
    """A new note, or one that stands again or no longer."""

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
class SetExtraction:
    """``gone``: nothing is known any more of having read it."""

    extraction: Extraction
    entry: Entry
    gone: bool = False


GraphStep = (
    PutNode
    | PutEdge
    | RemoveNode
    | RemoveEdge
    | PutNote
    | RemoveNotes
    | PutArtifact
    | RemoveArtifact
    | SetExtraction
)
