"""A user's whole graph at one revision, as the readings of it (explore, traverse) take it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from commonplace.model.graph.artifact import Artifact
from commonplace.model.graph.edge import Edge
from commonplace.model.graph.node import Node
from commonplace.model.graph.note import Note
from commonplace.model.salience import UNREAD, Marks
from commonplace.model.source import Source
from commonplace.model.team import Team


@dataclass(frozen=True, slots=True)
class Mention:
    """A source speaks of a node."""

    source: str
    node: str
    said_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Only what stands; a node that was merged is not among the nodes, and no edge or mention names
    it. ``edges`` holds the past ones, too: who reads asks each whether it holds."""

    revision: int = 0  # of the graph
    nodes: Mapping[str, Node] = field(default_factory=dict)
    edges: Mapping[str, Edge] = field(default_factory=dict)
    notes: Mapping[str, tuple[Note, ...]] = field(default_factory=dict)  # by what they are about
    mentions: tuple[Mention, ...] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)  # those that may be read
    artifacts: Mapping[str, Artifact] = field(default_factory=dict)
    teams: Mapping[str, Team] = field(default_factory=dict)
    marks: Mapping[str, Marks] = field(default_factory=dict)

    def marks_of(self, id: str) -> Marks:
        return self.marks.get(id, UNREAD)
