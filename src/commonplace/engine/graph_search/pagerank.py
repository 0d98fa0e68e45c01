"""Personalised PageRank over the visible graph: transition matrix, scores, paths.

A walk goes along an edge both ways, the more willingly the more salient and the surer it is. The
matrix takes longer to make than to walk, and is kept: see `Webs`.

A walker starts at a seed, goes on along an edge or a mention with the chance ``damping``, else
returns to a seed. How often it is at a place is that place's score: near and well-connected places
score high, whatever words they are written in.
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

MENTION_WEIGHT = 0.4  # as willingly as along an edge that nobody has read yet

Slots = NDArray[np.int32]
LinkWeights = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TransitionMatrix:
    ids: Sequence[str]  # nodes, sources, artifacts, each in order: the same graph is the same web
    nodes: int  # how many of them
    slots: dict[str, int]
    ways: Sequence[str]  # ids of the edges, then "" for each mention and each artifact's source
    ends: tuple[Slots, Slots]  # of each way
    weights: LinkWeights  # of each way
    steps: Any  # a sparse matrix: column by column, where one step leads, with what chance

    def edge_between(self, one: int, other: int) -> str:
        """The id of the strongest edge between two places; "" for a mention."""
        a, b = self.ends
        found = np.nonzero(((a == one) & (b == other)) | ((a == other) & (b == one)))[0]
        return self.ways[int(found[np.argmax(self.weights[found])])]


def build_transition_matrix(
    snapshot: GraphSnapshot,
    now: datetime,
    then: PointInTime = NOW,
    sources: Collection[str] | None = None,
) -> TransitionMatrix:
    """Of the edges that hold. Ways of no weight lead nowhere. ``sources``: the only places beside
    nodes; else the picture's sources and artifacts are."""
    if sources is None:
        beside = [*sorted(snapshot.sources), *sorted(snapshot.artifacts)]
    else:
        beside = sorted(sources)
    ids = [*sorted(snapshot.nodes), *beside]
    slots = {id: slot for slot, id in enumerate(ids)}
    ways, starts, stops, weights = [], [], [], []
    for edge in snapshot.edges.values():
        if edge.a == edge.b or edge.a not in slots or edge.b not in slots:
            continue
        if edge.holds(then, now):
            marks = snapshot.marks_of(edge.id)
            salience = salience_at(marks, edge.created_at, now, confidence=edge.confidence)
            ways.append(edge.id)
            starts.append(slots[edge.a])
            stops.append(slots[edge.b])
            weights.append(salience * edge.confidence)
    for source, told in _source_links(snapshot):
        if source in slots and told in slots:
            ways.append("")
            starts.append(slots[source])
            stops.append(slots[told])
            weights.append(MENTION_WEIGHT)
    ends = np.array(starts, dtype=np.int32), np.array(stops, dtype=np.int32)
    strengths = np.array(weights, dtype=np.float32)
    steps = _step_matrix(len(ids), *ends, strengths)
    return TransitionMatrix(ids, len(snapshot.nodes), slots, ways, ends, strengths, steps)


def _source_links(snapshot: GraphSnapshot) -> Iterator[tuple[str, str]]:
    """From each source to the nodes that it mentions, and to the artifacts that it produced."""
    yield from sorted({(mention.source, mention.node) for mention in snapshot.mentions})
    yield from sorted(
        (made.source.id, id) for id, made in snapshot.artifacts.items() if made.source
    )


def _step_matrix(size: int, a: Slots, b: Slots, weights: LinkWeights) -> Any:
    """Both ways along each; the chances that lead away from a place add up to 1."""
    sparse = import_scipy_sparse()
    values = np.concatenate([weights, weights])
    places = np.concatenate([a, b]), np.concatenate([b, a])
    matrix = sparse.coo_array((values, places), shape=(size, size)).tocsr()
    away = np.asarray(matrix.sum(axis=0), dtype=np.float32).ravel()
    shares = np.divide(1.0, away, out=np.zeros_like(away), where=away > 0)
    matrix.data *= shares[matrix.indices]
    return matrix.astype(np.float32)


def has_scipy() -> bool:
    """Whether the extra is installed: who walks only to do better goes on without it."""
    try:
        import_scipy_sparse()
    except BadSettings:
        return False
    return True


def import_scipy_sparse() -> Any:
    """Imported when wanted: whoever does not walk need not have it."""
    try:
        return import_module("scipy.sparse")
    except ModuleNotFoundError as error:
        raise BadSettings(
            f"PageRank needs {error.name}, which is not installed.",
            remedy="pip install 'commonplace[graph]'",
            field="mode",
        ) from error


DAMPING = 0.85
MAX_DEPTH = 3
TOP_K = 20
TOLERANCE = 1e-6  # what all places together still change by
MAX_ROUNDS = 200
DEPTH_LIMIT = 20  # steps
DAMPING_LIMIT = 0.99  # of damping
TOP_K_LIMIT = 1000

Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRankRequest:
    seeds: tuple[str, ...]  # node:, source:, artifact: or edge:
    damping: float = DAMPING
    max_depth: int = MAX_DEPTH
    top_k: int = TOP_K


@dataclass(frozen=True, slots=True)
class PathStep:
    """One step of a path, to a place: along an edge, or between a source and what it mentions or
    has produced (``edge`` is None)."""

    edge: str | None
    to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedEntity:
    entity_key: str  # of a node, a source or an artifact
    score: float  # of all places: 1
    depth: int  # steps from the nearest seed
    seed: str
    path: tuple[PathStep, ...]  # from that seed, along what carries most


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRankResult:
    seeds: tuple[str, ...]
    reached: tuple[ReachedEntity, ...]  # best first


def read_pagerank_request(
    *,
    seed_nodes: object,
    damping: object = DAMPING,
    max_depth: object = MAX_DEPTH,
    top_k: object = TOP_K,
) -> PageRankRequest:
    return PageRankRequest(
        seeds=validation.ids(seed_nodes, "seed_nodes"),
        damping=validation.number(damping, "damping", 0, DAMPING_LIMIT),
        max_depth=validation.integer(max_depth, "max_depth", 1, DEPTH_LIMIT),
        top_k=validation.integer(top_k, "top_k", 1, TOP_K_LIMIT),
    )


def rank_from_seeds(
    web: TransitionMatrix,
    snapshot: GraphSnapshot,
    walk: PageRankRequest,
    is_shown: Callable[[str], bool] = lambda id: True,
) -> PageRankResult:
    """The seeds themselves are not answered: the caller has them. ``is_shown``: not archived, say;
    what is not shown is still walked through."""
    seeds = seed_weights(web, snapshot, walk.seeds)
    scores = pagerank(web, seeds, walk.damping)
    depths = depths_from(web, seeds, walk.max_depth)
    asked = set(walk.seeds)
    near = np.nonzero((depths >= 0) & (scores > 0))[0]
    ranked = near[np.argsort(-scores[near], kind="stable")].tolist()  # slots are in order of ids
    shown = (slot for slot in ranked if web.ids[slot] not in asked and is_shown(web.ids[slot]))
    chosen = [slot for slot, _ in zip(shown, range(walk.top_k), strict=False)]
    through = _edge_seeds(snapshot, walk.seeds)
    return PageRankResult(
        seeds=walk.seeds,
        reached=tuple(_trace_path(web, slot, scores, depths, through) for slot in chosen),
    )


def seed_weights(
    web: TransitionMatrix, snapshot: GraphSnapshot, seeds: Sequence[str]
) -> dict[int, float]:
    """Each seed counts alike; an edge is both its ends."""
    weights: dict[int, float] = {}
    for seed in seeds:
        edge = snapshot.edges.get(seed) if seed.startswith(EDGE) else None
        places = edge.ends if edge else (seed,)
        for place in places:
            if place not in web.slots:
                raise NotFound(
                    f"Unknown seed node {seed!r}.",
                    remedy="Take ids of nodes, relationships, sources or artifacts from explore.",
                    field="seed_nodes",
                )
            slot = web.slots[place]
            weights[slot] = weights.get(slot, 0.0) + 1 / len(places)
    return weights


def pagerank(
    web: TransitionMatrix,
    seeds: Mapping[int, float],
    damping: float = DAMPING,
    enough: float = TOLERANCE,
) -> Scores:
    """How often the walker is at each place; all together 1. From where no way leads on it
    returns to a seed."""
    home = np.zeros(len(web.ids), dtype=np.float32)
    for slot, weight in seeds.items():
        home[slot] = weight
    home /= home.sum()
    scores = home
    for _ in range(MAX_ROUNDS):
        moved = np.float32(damping) * (web.steps @ scores)
        after: Scores = moved + (np.float32(1.0) - moved.sum()) * home
        change = float(np.abs(after - scores).sum())
        scores = after
        if change < enough:
            break
    return scores


def depths_from(
    web: TransitionMatrix, seeds: Mapping[int, float], deepest: int
) -> NDArray[np.int32]:
    """Steps from the nearest seed; -1 for what is farther than ``deepest``."""
    depths = np.full(len(web.ids), -1, dtype=np.int32)
    front = np.zeros(len(web.ids), dtype=np.float32)
    front[list(seeds)] = 1.0
    depths[list(seeds)] = 0
    for depth in range(1, deepest + 1):
        new = (web.steps @ front > 0) & (depths < 0)
        if not new.any():
            break
        depths[new] = depth
        front = new.astype(np.float32)
    return depths


def _edge_seeds(snapshot: GraphSnapshot, seeds: Sequence[str]) -> dict[str, str]:
    """The ends of edges that are seeds, and which edge."""
    edges = (snapshot.edges[seed] for seed in seeds if seed.startswith(EDGE))
    return {end: edge.id for edge in edges for end in edge.ends if end not in seeds}


def _trace_path(
    web: TransitionMatrix,
    slot: int,
    scores: Scores,
    depths: NDArray[np.int32],
    through: Mapping[str, str],
) -> ReachedEntity:
    """Back to a seed, at each place to the one before that carries most to it."""
    steps, at = [], slot
    while depths[at]:
        row = slice(web.steps.indptr[at], web.steps.indptr[at + 1])
        before, chances = web.steps.indices[row], web.steps.data[row]
        carried = np.where(depths[before] == depths[at] - 1, chances * scores[before], -1.0)
        nearer = int(before[np.argmax(carried)])
        steps.append(PathStep(web.edge_between(nearer, at) or None, web.ids[at]))
        at = nearer
    start = web.ids[at]
    return ReachedEntity(
        entity_key=web.ids[slot],
        score=float(scores[slot]),
        depth=int(depths[slot]),
        seed=through.get(start, start),
        path=tuple(reversed(steps)),
    )
