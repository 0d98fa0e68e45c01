"""Questions of several hops, with the graph's arms and without, in one run.

The graph is that of the triples which are published with a corpus, so that what is measured is the
arms and not what made the graph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from commonplace.bench.graph_data import NOW, of_triples, triples_file
from commonplace.bench.quality import multihop
from commonplace.bench.quality.metrics import METRICS, Outcome, summarise
from commonplace.bench.quality.play import NO_FLOOR, Seat, Step, TimedEmbedder, a_store, seat
from commonplace.bench.quality.values import Question
from commonplace.bench.report import Table
from commonplace.language.models.embedder import Embedder, Vectors
from commonplace.model.source import split_passage_id
from commonplace.recall.explore.named import surely_named
from commonplace.recall.explore.view import View
from commonplace.recall.graph_arms import WEIGHT, lifts, scores_from, specificity
from commonplace.recall.web import Web, web_of

ASKED_FOR = 200  # hits, which the arms may put into another order
CLOSE_EDGES = 5  # of those closest to the question, whose ends are seeds
BEST = 20  # of them, whose sources a walk starts from, too
WEIGHTS = (0.1, 0.2, 0.3, 0.5, 1.0, 2.0)
WITHOUT, NAMES, EDGES = "without", "names", "names and closest edges"


@dataclass(frozen=True, slots=True)
class Graph:
    view: View
    web: Web
    edges: Sequence[str]
    vectors: Vectors  # of the edges


def measure(data: Path, model: Embedder, step: Step) -> list[Table]:
    """A table for each corpus that has triples."""
    tables, timed = [], TimedEmbedder(model)
    with a_store(timed, None) as book:
        for loaded in multihop.load(data):
            outcomes: dict[str, list[Outcome]] = {}
            for owner in loaded.owners:
                file = triples_file(data, owner.name)
                if file is not None:
                    here = seat(book, owner, step)
                    _ask_all(here, _graph(file, here, timed), timed, outcomes, step)
            if outcomes:
                tables.append(_table(loaded.name, model.name, outcomes))
            timed.forget()
    return tables


def _graph(file: Path, here: Seat, model: Embedder) -> Graph:
    picture = of_triples(file, here.originals)
    texts = [edge.description for edge in picture.edges.values()]
    return Graph(View(picture), web_of(picture, NOW), list(picture.edges), model.embed(texts))


def _ask_all(
    here: Seat, graph: Graph, model: Embedder, outcomes: dict[str, list[Outcome]], step: Step
) -> None:
    for question in here.owner.questions:
        told = here.me.recall(question.text, k=ASKED_FOR, threshold=NO_FLOOR)
        units = {hit.id: here.unit_of(hit) for hit in told.hits}
        ranked = [(hit.id, hit.score) for hit in told.hits]
        for method, weight, sources in _methods(graph, model, question, ranked):
            order = tuple(units[id] for id, _ in fused(ranked, sources, weight))
            named = method if method == WITHOUT else f"{method}, weight {weight:g}"
            found = Outcome(question.category, question.gold, order)
            outcomes.setdefault(named, []).append(found)
        step()


def _methods(
    graph: Graph, model: Embedder, question: Question, ranked: Sequence[tuple[str, float]]
) -> list[tuple[str, float, Mapping[str, float]]]:
    names = surely_named(question.text, graph.view)
    top: dict[str, float] = {}
    for id, score in ranked[:BEST]:
        top.setdefault(split_passage_id(id)[0], score)
    found: list[tuple[str, float, Mapping[str, float]]] = [(WITHOUT, 0.0, {})]
    for method, close in ((NAMES, {}), (EDGES, _closest(graph, model, question.text))):
        scores = scores_from(graph.web, seeds_of(graph.view, names, close), top)
        found += [(method, weight, scores) for weight in sorted({*WEIGHTS, WEIGHT})]
    return found


def _closest(graph: Graph, model: Embedder, query: str) -> dict[str, float]:
    cosines = graph.vectors @ model.embed([query])[0]
    best = np.argsort(-cosines, kind="stable")[:CLOSE_EDGES].tolist()
    return {graph.edges[place]: max(0.0, float(cosines[place])) for place in best}


def seeds_of(
    view: View, names: Iterable[str], close_edges: Mapping[str, float]
) -> dict[str, float]:
    """The nodes that a question names, as recall takes them, and the ends of the edges that are
    closest to it, with their similarity: a way in that recall does without."""
    weights = {id: specificity(view, id) for id in names}
    closest = sorted(close_edges, key=lambda id: (-close_edges[id], id))[:CLOSE_EDGES]
    for edge in (view.picture.edges[id] for id in closest if id in view.picture.edges):
        for end in edge.ends:
            weight = close_edges[edge.id] * specificity(view, end)
            weights[end] = weights.get(end, 0.0) + weight
    return weights


def fused(
    ranked: Sequence[tuple[str, float]], graph: Mapping[str, float], weight: float = WEIGHT
) -> list[tuple[str, float]]:
    """Ids of passages or sources with scores, best first, with what the graph adds to each."""
    highest = max((score for _, score in ranked), default=0.0)
    passages = Counter(id.partition("#")[0] for id, _ in ranked)
    lift = lifts(graph, passages, highest, weight)
    told = [(id, score + lift.get(id.partition("#")[0], 0.0)) for id, score in ranked]
    return sorted(told, key=lambda each: (-each[1], each[0]))


def _table(name: str, embedder: str, outcomes: Mapping[str, Sequence[Outcome]]) -> Table:
    table = Table(
        f"graph-arms-{name}",
        f"{name} with {embedder}: the graph's arms over published triples",
        ("arms", *METRICS),
    )
    for method, mine in outcomes.items():
        numbers = summarise(mine)["all"]
        table.add(method, *(numbers[metric] for metric in METRICS))
    table.notes.append(f"Recall takes the weight {WEIGHT:g}: of the best hit's score.")
    return table
