"""traverse(mode="ppr"): what hangs on some seeds, by personalised PageRank. Pure.

A walker starts at a seed, goes on along an edge or a mention with the chance ``damping``, else
returns to a seed. How often it is at a place is that place's score: near and well-connected places
score high, whatever words they are written in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from commonplace.errors import NotFound
from commonplace.model import check
from commonplace.model.graph.edge import PREFIX as EDGE
from commonplace.model.graph.picture import Picture
from commonplace.recall.web import Web

DAMPING = 0.85
MAX_DEPTH = 3
TOP_K = 20
ENOUGH = 1e-6  # what all places together still change by
MOST_ROUNDS = 200
DEEPEST = 20  # steps
WIDEST = 0.99  # of damping
MOST_PLACES = 1000

Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    seeds: tuple[str, ...]  # node:, source:, artifact: or edge:
    damping: float = DAMPING
    max_depth: int = MAX_DEPTH
    top_k: int = TOP_K


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path, to a place: along an edge, or between a source and what it mentions or
    has produced (``edge`` is None)."""

    edge: str | None
    to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    entity_key: str  # of a node, a source or an artifact
    score: float  # of all places: 1
    depth: int  # steps from the nearest seed
    seed: str
    path: tuple[Step, ...]  # from that seed, along what carries most


@dataclass(frozen=True, slots=True, kw_only=True)
class Walked:
    seeds: tuple[str, ...]
    reached: tuple[Reached, ...]  # best first


def walk_asked(
    *,
    seed_nodes: object,
    damping: object = DAMPING,
    max_depth: object = MAX_DEPTH,
    top_k: object = TOP_K,
) -> Walk:
    return Walk(
        seeds=check.ids(seed_nodes, "seed_nodes"),
        damping=check.number(damping, "damping", 0, WIDEST),
        max_depth=check.integer(max_depth, "max_depth", 1, DEEPEST),
        top_k=check.integer(top_k, "top_k", 1, MOST_PLACES),
    )


def walked(
    web: Web, picture: Picture, walk: Walk, is_shown: Callable[[str], bool] = lambda id: True
) -> Walked:
    """The seeds themselves are not answered: the caller has them. ``is_shown``: not archived, say;
    what is not shown is still walked through."""
    seeds = seed_weights(web, picture, walk.seeds)
    scores = pagerank(web, seeds, walk.damping)
    depths = depths_from(web, seeds, walk.max_depth)
    asked = set(walk.seeds)
    near = np.nonzero((depths >= 0) & (scores > 0))[0]
    ranked = near[np.argsort(-scores[near], kind="stable")].tolist()  # slots are in order of ids
    shown = (slot for slot in ranked if web.ids[slot] not in asked and is_shown(web.ids[slot]))
    chosen = [slot for slot, _ in zip(shown, range(walk.top_k), strict=False)]
    through = _edge_seeds(picture, walk.seeds)
    return Walked(
        seeds=walk.seeds,
        reached=tuple(_reached(web, slot, scores, depths, through) for slot in chosen),
    )


def seed_weights(web: Web, picture: Picture, seeds: Sequence[str]) -> dict[int, float]:
    """Each seed counts alike; an edge is both its ends."""
    weights: dict[int, float] = {}
    for seed in seeds:
        edge = picture.edges.get(seed) if seed.startswith(EDGE) else None
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
    web: Web, seeds: Mapping[int, float], damping: float = DAMPING, enough: float = ENOUGH
) -> Scores:
    """How often the walker is at each place; all together 1. From where no way leads on it
    returns to a seed."""
    home = np.zeros(len(web.ids), dtype=np.float32)
    for slot, weight in seeds.items():
        home[slot] = weight
    home /= home.sum()
    scores = home
    for _ in range(MOST_ROUNDS):
        moved = np.float32(damping) * (web.steps @ scores)
        after: Scores = moved + (np.float32(1.0) - moved.sum()) * home
        change = float(np.abs(after - scores).sum())
        scores = after
        if change < enough:
            break
    return scores


def depths_from(web: Web, seeds: Mapping[int, float], deepest: int) -> NDArray[np.int32]:
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


def _edge_seeds(picture: Picture, seeds: Sequence[str]) -> dict[str, str]:
    """The ends of edges that are seeds, and which edge."""
    edges = (picture.edges[seed] for seed in seeds if seed.startswith(EDGE))
    return {end: edge.id for edge in edges for end in edge.ends if end not in seeds}


def _reached(
    web: Web, slot: int, scores: Scores, depths: NDArray[np.int32], through: Mapping[str, str]
) -> Reached:
    """Back to a seed, at each place to the one before that carries most to it."""
    steps, at = [], slot
    while depths[at]:
        row = slice(web.steps.indptr[at], web.steps.indptr[at + 1])
        before, chances = web.steps.indices[row], web.steps.data[row]
        carried = np.where(depths[before] == depths[at] - 1, chances * scores[before], -1.0)
        nearer = int(before[np.argmax(carried)])
        steps.append(Step(web.way_between(nearer, at) or None, web.ids[at]))
        at = nearer
    start = web.ids[at]
    return Reached(
        entity_key=web.ids[slot],
        score=float(scores[slot]),
        depth=int(depths[slot]),
        seed=through.get(start, start),
        path=tuple(reversed(steps)),
    )
