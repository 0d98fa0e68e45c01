"""The graph as a walk takes it: nodes, sources and artifacts are places; edges, mentions and what a
source produced lead between them.

A walk goes along an edge both ways, the more willingly the more salient and the surer it is. The
matrix takes longer to make than to walk, and is kept: see `Webs`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonplace.errors import BadSettings
from commonplace.model.graph.picture import Picture
from commonplace.model.salience import salience_at
from commonplace.model.time_travel import NOW, Then
from commonplace.recall.latest import Latest

MENTION = 0.4  # as willingly as along an edge that nobody has read yet

Slots = NDArray[np.int32]
Weights = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Web:
    ids: Sequence[str]  # nodes, sources, artifacts, each in order: the same graph is the same web
    nodes: int  # how many of them
    slots: dict[str, int]
    ways: Sequence[str]  # ids of the edges, then "" for each mention and each artifact's source
    ends: tuple[Slots, Slots]  # of each way
    weights: Weights  # of each way
    steps: Any  # a sparse matrix: column by column, where one step leads, with what chance

    def way_between(self, one: int, other: int) -> str:
        """The id of the strongest edge between two places; "" for a mention."""
        a, b = self.ends
        found = np.nonzero(((a == one) & (b == other)) | ((a == other) & (b == one)))[0]
        return self.ways[int(found[np.argmax(self.weights[found])])]


def web_of(
    picture: Picture, now: datetime, then: Then = NOW, sources: Collection[str] | None = None
) -> Web:
    """Of the edges that hold. Ways of no weight lead nowhere. ``sources``: the only places beside
    nodes; else the picture's sources and artifacts are."""
    if sources is None:
        beside = [*sorted(picture.sources), *sorted(picture.artifacts)]
    else:
        beside = sorted(sources)
    ids = [*sorted(picture.nodes), *beside]
    slots = {id: slot for slot, id in enumerate(ids)}
    ways, starts, stops, weights = [], [], [], []
    for edge in picture.edges.values():
        if edge.a == edge.b or edge.a not in slots or edge.b not in slots:
            continue
        if edge.holds(then, now):
            marks = picture.marks_of(edge.id)
            salience = salience_at(marks, edge.created_at, now, confidence=edge.confidence)
            ways.append(edge.id)
            starts.append(slots[edge.a])
            stops.append(slots[edge.b])
            weights.append(salience * edge.confidence)
    for source, told in _from_sources(picture):
        if source in slots and told in slots:
            ways.append("")
            starts.append(slots[source])
            stops.append(slots[told])
            weights.append(MENTION)
    ends = np.array(starts, dtype=np.int32), np.array(stops, dtype=np.int32)
    strengths = np.array(weights, dtype=np.float32)
    steps = _steps(len(ids), *ends, strengths)
    return Web(ids, len(picture.nodes), slots, ways, ends, strengths, steps)


def _from_sources(picture: Picture) -> Iterator[tuple[str, str]]:
    """From each source to the nodes that it mentions, and to the artifacts that it produced."""
    yield from sorted({(mention.source, mention.node) for mention in picture.mentions})
    yield from sorted((made.source.id, id) for id, made in picture.artifacts.items() if made.source)


def _steps(size: int, a: Slots, b: Slots, weights: Weights) -> Any:
    """Both ways along each; the chances that lead away from a place add up to 1."""
    sparse = scipy_sparse()
    values = np.concatenate([weights, weights])
    places = np.concatenate([a, b]), np.concatenate([b, a])
    matrix = sparse.coo_array((values, places), shape=(size, size)).tocsr()
    away = np.asarray(matrix.sum(axis=0), dtype=np.float32).ravel()
    shares = np.divide(1.0, away, out=np.zeros_like(away), where=away > 0)
    matrix.data *= shares[matrix.indices]
    return matrix.astype(np.float32)


def can_walk() -> bool:
    """Whether the extra is installed: who walks only to do better goes on without it."""
    try:
        scipy_sparse()
    except BadSettings:
        return False
    return True


def scipy_sparse() -> Any:
    """Imported when wanted: whoever does not walk need not have it."""
    try:
        return import_module("scipy.sparse")
    except ModuleNotFoundError as error:
        raise BadSettings(
            f"PageRank needs {error.name}, which is not installed.",
            remedy="pip install 'commonplace[graph]'",
            field="mode",
        ) from error


class Webs(Latest[Web]):
    """The webs that were walked last. A key names the graph's revision and what the caller may see
    of it; with the day in it, too, salience is never older than a day."""
