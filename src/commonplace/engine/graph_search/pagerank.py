"""Personalised PageRank over the visible graph: transition matrix, scores, paths.

Vertices are nodes, sources and artifacts. Links are edges, mentions, and the sources of artifacts;
a random walk follows them in both directions, with probabilities by salience and confidence. It
starts at a seed, follows a link with probability ``damping``, and else returns to a seed. The share
of time at a vertex is its score: near and well-connected vertices score high, whatever their text.

Building the matrix takes longer than ranking, so callers cache it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonplace.errors import BadSettings, NotFound
from commonplace.model import validation
from commonplace.model.graph.elements import EDGE_PREFIX as EDGE
from commonplace.model.graph.salience import salience_at
from commonplace.model.graph.snapshot import GraphSnapshot
from commonplace.model.memory.lifecycle import NOW, PointInTime
from commonplace.model.parameters import (
    DAMPING_LIMIT,
    DEPTH_LIMIT,
    TOP_K_LIMIT,
    WALK_DAMPING,
    WALK_MAX_DEPTH,
    WALK_TOP_K,
)

MENTION_WEIGHT = 0.4  # as much as an edge that was never accessed

Slots = NDArray[np.int32]
LinkWeights = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TransitionMatrix:
    ids: Sequence[str]  # nodes, sources, artifacts, each sorted: equal graphs give equal matrices
    nodes: int  # how many of them
    slots: dict[str, int]
    links: Sequence[str]  # edge ids, then "" for each mention and each artifact's source
    ends: tuple[Slots, Slots]  # of each link
    weights: LinkWeights  # of each link
    steps: Any  # sparse matrix: column = from, row = to, value = probability

    def edge_between(self, one: int, other: int) -> str:
        """The id of the strongest edge between two slots; "" for a mention."""
        a, b = self.ends
        found = np.nonzero(((a == one) & (b == other)) | ((a == other) & (b == one)))[0]
        return self.links[int(found[np.argmax(self.weights[found])])]


def build_transition_matrix(
    snapshot: GraphSnapshot,
    now: datetime,
    then: PointInTime = NOW,
    sources: Collection[str] | None = None,
) -> TransitionMatrix:
    """Of the valid edges. ``sources``: the only vertices in addition to nodes; by default the
    snapshot's sources and artifacts."""
    if sources is None:
        others = [*sorted(snapshot.sources), *sorted(snapshot.artifacts)]
    else:
        others = sorted(sources)
    ids = [*sorted(snapshot.nodes), *others]
    slots = {id: slot for slot, id in enumerate(ids)}
    links, starts, stops, weights = [], [], [], []
    for edge in snapshot.edges.values():
        if edge.a == edge.b or edge.a not in slots or edge.b not in slots:
            continue
        if edge.holds(then, now):
            marks = snapshot.marks_of(edge.id)
            salience = salience_at(marks, edge.created_at, now, confidence=edge.confidence)
            links.append(edge.id)
            starts.append(slots[edge.a])
            stops.append(slots[edge.b])
            weights.append(salience * edge.confidence)
    for source, target in _source_links(snapshot):
        if source in slots and target in slots:
            links.append("")
            starts.append(slots[source])
            stops.append(slots[target])
            weights.append(MENTION_WEIGHT)
    ends = np.array(starts, dtype=np.int32), np.array(stops, dtype=np.int32)
    strengths = np.array(weights, dtype=np.float32)
    steps = _step_matrix(len(ids), *ends, strengths)
    return TransitionMatrix(ids, len(snapshot.nodes), slots, links, ends, strengths, steps)


def _source_links(snapshot: GraphSnapshot) -> Iterator[tuple[str, str]]:
    """From each source to the nodes that it mentions, and to the artifacts that it produced."""
    yield from sorted({(mention.source, mention.node) for mention in snapshot.mentions})
    yield from sorted(
        (made.source.id, id) for id, made in snapshot.artifacts.items() if made.source
    )


def _step_matrix(size: int, a: Slots, b: Slots, weights: LinkWeights) -> Any:
    """Links in both directions; the probabilities of leaving a vertex add up to 1."""
    sparse = import_scipy_sparse()
    values = np.concatenate([weights, weights])
    coordinates = np.concatenate([a, b]), np.concatenate([b, a])
    matrix = sparse.coo_array((values, coordinates), shape=(size, size)).tocsr()
    totals = np.asarray(matrix.sum(axis=0), dtype=np.float32).ravel()
    shares = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0)
    matrix.data *= shares[matrix.indices]
    return matrix.astype(np.float32)


def has_scipy() -> bool:
    """Whether the extra is installed: recall works without it, only less well."""
    try:
        import_scipy_sparse()
    except BadSettings:
        return False
    return True


def import_scipy_sparse() -> Any:
    """Imported on first use, because the extra is optional."""
    try:
        return import_module("scipy.sparse")
    except ModuleNotFoundError as error:
        raise BadSettings(
            f"PageRank needs {error.name}, which is not installed.",
            remedy="pip install 'commonplace[graph]'",
            field="mode",
        ) from error


TOLERANCE = 1e-6  # total change of all scores in a round
MAX_ROUNDS = 200

Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRankRequest:
    seeds: tuple[str, ...]  # node:, source:, artifact: or edge:
    damping: float = WALK_DAMPING
    max_depth: int = WALK_MAX_DEPTH
    top_k: int = WALK_TOP_K


@dataclass(frozen=True, slots=True)
class PathStep:
    """One step of a path: along an edge, or between a source and an item that it mentions or
    produced (``edge`` is None)."""

    edge: str | None
    to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedEntity:
    entity_key: str  # of a node, a source or an artifact
    score: float  # all scores add up to 1
    depth: int  # steps from the nearest seed
    seed: str
    path: tuple[PathStep, ...]  # from that seed, along the strongest links


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRankResult:
    seeds: tuple[str, ...]
    reached: tuple[ReachedEntity, ...]  # best first


def read_pagerank_request(
    *,
    seed_nodes: object,
    damping: object = WALK_DAMPING,
    max_depth: object = WALK_MAX_DEPTH,
    top_k: object = WALK_TOP_K,
) -> PageRankRequest:
    return PageRankRequest(
        seeds=validation.ids(seed_nodes, "seed_nodes"),
        damping=validation.number(damping, "damping", 0, DAMPING_LIMIT),
        max_depth=validation.integer(max_depth, "max_depth", 1, DEPTH_LIMIT),
        top_k=validation.integer(top_k, "top_k", 1, TOP_K_LIMIT),
    )


def rank_from_seeds(
    matrix: TransitionMatrix,
    snapshot: GraphSnapshot,
    request: PageRankRequest,
    is_shown: Callable[[str], bool] = lambda id: True,
) -> PageRankResult:
    """Seeds are not in the result. ``is_shown``: False for items to leave out, such as archived
    ones; they are still walked through."""
    seeds = seed_weights(matrix, snapshot, request.seeds)
    scores = pagerank(matrix, seeds, request.damping)
    depths = depths_from(matrix, seeds, request.max_depth)
    seed_ids = set(request.seeds)
    reached = np.nonzero((depths >= 0) & (scores > 0))[0]
    # Slots are in the order of ids, so a stable sort breaks ties by id.
    ranked = reached[np.argsort(-scores[reached], kind="stable")].tolist()
    candidates = (
        slot for slot in ranked if matrix.ids[slot] not in seed_ids and is_shown(matrix.ids[slot])
    )
    chosen = [slot for slot, _ in zip(candidates, range(request.top_k), strict=False)]
    edge_seeds = _edge_seeds(snapshot, request.seeds)
    return PageRankResult(
        seeds=request.seeds,
        reached=tuple(_trace_path(matrix, slot, scores, depths, edge_seeds) for slot in chosen),
    )


def seed_weights(
    matrix: TransitionMatrix, snapshot: GraphSnapshot, seeds: Sequence[str]
) -> dict[int, float]:
    """All seeds have equal weight; an edge divides its weight between its ends."""
    weights: dict[int, float] = {}
    for seed in seeds:
        edge = snapshot.edges.get(seed) if seed.startswith(EDGE) else None
        vertices = edge.ends if edge else (seed,)
        for vertex in vertices:
            if vertex not in matrix.slots:
                raise NotFound(
                    f"Unknown seed node {seed!r}.",
                    remedy="Take ids of nodes, relationships, sources or artifacts from explore.",
                    field="seed_nodes",
                )
            slot = matrix.slots[vertex]
            weights[slot] = weights.get(slot, 0.0) + 1 / len(vertices)
    return weights


def pagerank(
    matrix: TransitionMatrix,
    seeds: Mapping[int, float],
    damping: float = WALK_DAMPING,
    tolerance: float = TOLERANCE,
) -> Scores:
    """The share of time at each vertex; the sum is 1. From a vertex without links the walk returns
    to a seed."""
    restart = np.zeros(len(matrix.ids), dtype=np.float32)
    for slot, weight in seeds.items():
        restart[slot] = weight
    restart /= restart.sum()
    scores = restart
    for _ in range(MAX_ROUNDS):
        moved = np.float32(damping) * (matrix.steps @ scores)
        after: Scores = moved + (np.float32(1.0) - moved.sum()) * restart
        change = float(np.abs(after - scores).sum())
        scores = after
        if change < tolerance:
            break
    return scores


def depths_from(
    matrix: TransitionMatrix, seeds: Mapping[int, float], deepest: int
) -> NDArray[np.int32]:
    """Steps from the nearest seed; -1 if more than ``deepest``."""
    depths = np.full(len(matrix.ids), -1, dtype=np.int32)
    front = np.zeros(len(matrix.ids), dtype=np.float32)
    front[list(seeds)] = 1.0
    depths[list(seeds)] = 0
    for depth in range(1, deepest + 1):
        new = (matrix.steps @ front > 0) & (depths < 0)
        if not new.any():
            break
        depths[new] = depth
        front = new.astype(np.float32)
    return depths


def _edge_seeds(snapshot: GraphSnapshot, seeds: Sequence[str]) -> dict[str, str]:
    """The ends of edges that are seeds, with the edge id."""
    edges = (snapshot.edges[seed] for seed in seeds if seed.startswith(EDGE))
    return {end: edge.id for edge in edges for end in edge.ends if end not in seeds}


def _trace_path(
    matrix: TransitionMatrix,
    slot: int,
    scores: Scores,
    depths: NDArray[np.int32],
    edge_seeds: Mapping[str, str],
) -> ReachedEntity:
    """Walk back to a seed, at each step to the predecessor that contributes most."""
    steps, at = [], slot
    while depths[at]:
        row = slice(matrix.steps.indptr[at], matrix.steps.indptr[at + 1])
        predecessors, probabilities = matrix.steps.indices[row], matrix.steps.data[row]
        contributions = np.where(
            depths[predecessors] == depths[at] - 1, probabilities * scores[predecessors], -1.0
        )
        predecessor = int(predecessors[np.argmax(contributions)])
        steps.append(PathStep(matrix.edge_between(predecessor, at) or None, matrix.ids[at]))
        at = predecessor
    start = matrix.ids[at]
    return ReachedEntity(
        entity_key=matrix.ids[slot],
        score=float(scores[slot]),
        depth=int(depths[slot]),
        seed=edge_seeds.get(start, start),
        path=tuple(reversed(steps)),
    )
