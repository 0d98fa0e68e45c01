"""Graphs to measure with, and what the graph adds to recall.

The graph is that of the triples which are published with a corpus, so that what is measured is the
arms and not what made the graph.

Passages alone are asked for, so that memories which extraction makes take no place of theirs. Hits
tell what the graph adds to their score, so that one answer shows every weight.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fixtures import SentenceGenerator
from benchmarks.quality import locomo, multihop
from benchmarks.quality.dataset import (
    METRICS,
    DatasetQuestion,
    DatasetSource,
    QuestionOutcome,
    read_json,
    summarise,
)
from benchmarks.quality.methods import (
    NO_FLOOR,
    K,
    LoadedUser,
    ProgressStep,
    TimedEmbedder,
    load_user,
    quality_store,
)
from benchmarks.report import Table
from commonplace.engine.graph_search.graph_view import GraphView, find_certain_nodes, fold_text
from commonplace.engine.graph_search.pagerank import TransitionMatrix, build_transition_matrix
from commonplace.engine.search.graph.expansion import (
    GRAPH_WEIGHT,
    lift_per_passage,
    score_sources_from,
    specificity,
)
from commonplace.engine.search.pack import Hit
from commonplace.language.embedders.embedder import Embedder, Vectors
from commonplace.model.graph.elements import Edge, Node
from commonplace.model.graph.snapshot import GraphSnapshot, SourceMention
from commonplace.model.graph.types import NodeType, edge_kind_between
from commonplace.model.sources.source import ContentType, Source, SourceType, split_passage_id

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
_SEED = 7
_TYPES = ("friend", "works-at", "part-of", "uses", "located-in", "colleague")

Triple = tuple[str, str, str]


def invented_graph(nodes: int, edges: int, sources: int, mentions: int) -> GraphSnapshot:
    chance = np.random.default_rng(_SEED)
    kinds = tuple(NodeType)
    known = [
        _node(number, name.title(), kinds[number % 3])
        for number, name in enumerate(SentenceGenerator(_SEED).names(nodes))
    ]
    heads = (nodes * chance.random(edges) ** 2).astype(int).tolist()  # a few have very many
    tails = chance.integers(0, nodes, edges).tolist()
    days = chance.integers(0, 700, edges).tolist()
    ways = [
        _edge(number, known[a], known[b], _TYPES[number % len(_TYPES)], days=day)
        for number, (a, b, day) in enumerate(zip(heads, tails, days, strict=True))
    ]
    told = [_source(f"source:{number:06}") for number in range(sources)]
    pairs = zip(
        chance.integers(0, sources, mentions).tolist(),
        chance.integers(0, nodes, mentions).tolist(),
        strict=True,
    )
    return GraphSnapshot(
        revision=1,
        nodes={node.id: node for node in known},
        edges={edge.id: edge for edge in ways},
        sources={source.id: source for source in told},
        mentions=tuple(SourceMention(told[s].id, known[n].id, NOW) for s, n in pairs),
    )


def triples_file(data: Path, owner: str) -> Path | None:
    """Beside a corpus of several hops, as HippoRAG publishes them."""
    return next(iter(sorted((data / "multihop").glob(f"openie_{owner}_*.json"))), None)


def graph_of_triples(file: Path, originals: Mapping[str, DatasetSource]) -> GraphSnapshot:
    """Entities are nodes, triples are edges, and a paragraph mentions what it was read to speak
    of. ``originals``: by the ids of the sources that they became."""
    places = {_key(each.title, each.units[0].text): id for id, each in originals.items()}
    nodes: dict[str, Node] = {}
    edges: list[Edge] = []
    mentions: dict[tuple[str, str], None] = {}
    for entry in read_json(file)["docs"]:
        source = places.get(_key(entry["title"], entry["text"]))
        if source is None:
            continue
        for name in (*entry["extracted_entities"], *_ends(entry)):
            mentions[source, _known_node(nodes, name).id] = None
        for a, type, b in _triples(entry):
            one, other = _known_node(nodes, a), _known_node(nodes, b)
            if one is not other:
                edges.append(_edge(len(edges), one, other, type, f"{a} {type} {b}"))
    return GraphSnapshot(
        revision=1,
        nodes={node.id: node for node in nodes.values()},
        edges={edge.id: edge for edge in edges},
        sources={id: _source(id) for id in originals},
        mentions=tuple(SourceMention(source, node, NOW) for source, node in mentions),
    )


def _key(title: str, text: str) -> tuple[str, str]:
    return title, re.sub(r"\s+", "", text)


def _triples(entry: Mapping[str, Any]) -> Iterator[Triple]:
    for triple in entry["extracted_triples"]:
        if len(triple) == 3:
            a, type, b = map(str, triple)
            yield a, type, b


def _ends(entry: Mapping[str, Any]) -> Sequence[str]:
    return [end for a, _, b in _triples(entry) for end in (a, b)]


def _known_node(nodes: dict[str, Node], name: str) -> Node:
    key = fold_text(name)
    if key not in nodes:
        nodes[key] = _node(len(nodes), name, NodeType.ENTITY)
    return nodes[key]


def _node(number: int, name: str, type: NodeType) -> Node:
    return Node(
        id=f"node:{number:06}",
        user_id="bench",
        type=type,
        name=name,
        key=fold_text(name),
        created_by="bench",
        created_at=NOW,
        updated_at=NOW,
    )


def _edge(number: int, a: Node, b: Node, type: str, description: str = "", days: int = 0) -> Edge:
    since = NOW - timedelta(days=days)
    return Edge(
        id=f"edge:{number:06}",
        user_id="bench",
        a=a.id,
        b=b.id,
        kind=edge_kind_between(a.type, b.type),
        type=type,
        description=description or f"{a.name} and {b.name} since {since:%B %Y}.",
        valid_from=since,
        recorded_at=since,
        recorded_by="bench",
        created_at=since,
        updated_at=since,
    )


def _source(id: str) -> Source:
    return Source(
        id=id,
        user_id="bench",
        origin="file",
        external_id=id,
        source_type=SourceType.TEXT_IMPORT,
        content_type=ContentType.TEXT_NOTE,
        created_at=NOW,
        updated_at=NOW,
    )


ASKED_FOR = 200  # hits, which the arms may put into another order
CLOSE_EDGES = 5  # of those closest to the question, whose ends are seeds
BEST = 20  # of them, whose sources a walk starts from, too
WEIGHTS = (0.1, 0.2, 0.3, 0.5, 1.0, 2.0)
WITHOUT_GRAPH, NAMES, EDGES = "without", "names", "names and closest edges"


@dataclass(frozen=True, slots=True)
class BenchmarkGraph:
    view: GraphView
    web: TransitionMatrix
    edges: Sequence[str]
    vectors: Vectors  # of the edges


def measure_published_graphs(data: Path, model: Embedder, step: ProgressStep) -> list[Table]:
    """A table for each corpus that has triples."""
    tables, timed = [], TimedEmbedder(model)
    with quality_store(timed, None) as book:
        for loaded in multihop.load(data):
            outcomes: dict[str, list[QuestionOutcome]] = {}
            for owner in loaded.owners:
                file = triples_file(data, owner.name)
                if file is not None:
                    here = load_user(book, owner, step)
                    _ask_with_arms(here, _load_graph(file, here, timed), timed, outcomes, step)
            if outcomes:
                tables.append(_arms_table(loaded.name, model.name, outcomes))
            timed.forget()
    return tables


def _load_graph(file: Path, here: LoadedUser, model: Embedder) -> BenchmarkGraph:
    snapshot = graph_of_triples(file, here.originals)
    texts = [edge.description for edge in snapshot.edges.values()]
    return BenchmarkGraph(
        GraphView(snapshot),
        build_transition_matrix(snapshot, NOW),
        list(snapshot.edges),
        model.embed_passages(texts),
    )


def _ask_with_arms(
    here: LoadedUser,
    graph: BenchmarkGraph,
    model: Embedder,
    outcomes: dict[str, list[QuestionOutcome]],
    step: ProgressStep,
) -> None:
    for question in here.owner.questions:
        told = here.me.recall(question.text, k=ASKED_FOR, threshold=NO_FLOOR)
        units = {hit.id: here.unit_of(hit) for hit in told.hits}
        ranked = [(hit.id, hit.score) for hit in told.hits]
        for method, weight, sources in _arm_scores(graph, model, question, ranked):
            order = tuple(units[id] for id, _ in fuse_scores(ranked, sources, weight))
            named = method if method == WITHOUT_GRAPH else f"{method}, weight {weight:g}"
            found = QuestionOutcome(question.category, question.gold, order)
            outcomes.setdefault(named, []).append(found)
        step()


def _arm_scores(
    graph: BenchmarkGraph,
    model: Embedder,
    question: DatasetQuestion,
    ranked: Sequence[tuple[str, float]],
) -> list[tuple[str, float, Mapping[str, float]]]:
    names = find_certain_nodes(question.text, graph.view)
    top: dict[str, float] = {}
    for id, score in ranked[:BEST]:
        top.setdefault(split_passage_id(id)[0], score)
    found: list[tuple[str, float, Mapping[str, float]]] = [(WITHOUT_GRAPH, 0.0, {})]
    for method, close in ((NAMES, {}), (EDGES, _closest(graph, model, question.text))):
        scores = score_sources_from(graph.web, seeds_of(graph.view, names, close), top)
        found += [(method, weight, scores) for weight in sorted({*WEIGHTS, GRAPH_WEIGHT})]
    return found


def _closest(graph: BenchmarkGraph, model: Embedder, query: str) -> dict[str, float]:
    cosines = graph.vectors @ model.embed_queries([query])[0]
    best = np.argsort(-cosines, kind="stable")[:CLOSE_EDGES].tolist()
    return {graph.edges[place]: max(0.0, float(cosines[place])) for place in best}


def seeds_of(
    view: GraphView, names: Iterable[str], close_edges: Mapping[str, float]
) -> dict[str, float]:
    """The nodes that a question names, as recall takes them, and the ends of the edges that are
    closest to it, with their similarity: a way in that recall does without."""
    weights = {id: specificity(view, id) for id in names}
    closest = sorted(close_edges, key=lambda id: (-close_edges[id], id))[:CLOSE_EDGES]
    for edge in (view.snapshot.edges[id] for id in closest if id in view.snapshot.edges):
        for end in edge.ends:
            weight = close_edges[edge.id] * specificity(view, end)
            weights[end] = weights.get(end, 0.0) + weight
    return weights


def fuse_scores(
    ranked: Sequence[tuple[str, float]], graph: Mapping[str, float], weight: float = GRAPH_WEIGHT
) -> list[tuple[str, float]]:
    """Ids of passages or sources with scores, best first, with what the graph adds to each."""
    highest = max((score for _, score in ranked), default=0.0)
    passages = Counter(id.partition("#")[0] for id, _ in ranked)
    lift = lift_per_passage(graph, passages, highest, weight)
    told = [(id, score + lift.get(id.partition("#")[0], 0.0)) for id, score in ranked]
    return sorted(told, key=lambda each: (-each[1], each[0]))


def _arms_table(
    name: str, embedder: str, outcomes: Mapping[str, Sequence[QuestionOutcome]]
) -> Table:
    table = Table(
        f"graph-arms-{name}",
        f"{name} with {embedder}: the graph's arms over published triples",
        ("arms", *METRICS),
    )
    for method, mine in outcomes.items():
        numbers = summarise(mine)["all"]
        table.add(method, *(numbers[metric] for metric in METRICS))
    table.notes.append(f"Recall takes the weight {GRAPH_WEIGHT:g}: of the best hit's score.")
    return table


NOT_EXTRACTED, FLOOR_WITHOUT, FLOOR_WITH = (
    "without",
    "with the floor: without",
    "with the floor: with",
)


def measure_own_graph(data: Path, model: Embedder, step: ProgressStep) -> list[Table]:
    """A table for each set of conversations and of questions of several hops."""
    tables, timed = [], TimedEmbedder(model)
    with quality_store(timed, None) as book:
        for loaded in (*locomo.load(data), *multihop.load(data)):
            outcomes: dict[str, list[QuestionOutcome]] = {}
            for owner in loaded.owners:
                here = load_user(book, owner, step)
                _ask_with_weights(here, {NOT_EXTRACTED: 0.0}, FLOOR_WITHOUT, outcomes, step)
                while here.me.extract().left:
                    step()
                weights = {
                    f"weight {weight:g}": weight for weight in sorted({*WEIGHTS, GRAPH_WEIGHT})
                }
                _ask_with_weights(here, weights, FLOOR_WITH, outcomes, step)
            if outcomes:
                tables.append(_own_graph_table(loaded.name, model.name, outcomes))
            timed.forget()
    return tables


def _ask_with_weights(
    here: LoadedUser,
    weights: Mapping[str, float],
    with_floor: str,
    outcomes: dict[str, list[QuestionOutcome]],
    step: ProgressStep,
) -> None:
    for question in here.owner.questions:
        asked = here.me.recall(
            question.text, k=ASKED_FOR, threshold=NO_FLOOR, sources="only", explain=True
        )
        found = {name: at_weight(asked.hits, weight) for name, weight in weights.items()}
        found[with_floor] = here.me.recall(question.text, k=K, sources="only").hits
        for method, hits in found.items():
            ranked = tuple(here.unit_of(hit) for hit in hits)
            outcome = QuestionOutcome(question.category, question.gold, ranked)
            outcomes.setdefault(method, []).append(outcome)
        step()


def at_weight(hits: Sequence[Hit], weight: float) -> Sequence[Hit]:
    """In the order that they would have if the graph counted for so much."""

    def score(hit: Hit) -> float:
        added = (hit.parts or {}).get("graph", 0.0)
        return hit.score + added * (weight / GRAPH_WEIGHT - 1)

    return sorted(hits, key=lambda hit: (-score(hit), hit.id))


def _own_graph_table(
    name: str, embedder: str, outcomes: Mapping[str, Sequence[QuestionOutcome]]
) -> Table:
    table = Table(
        f"own-graph-{name}", f"{name} with {embedder}: recall and its own graph", ("", *METRICS)
    )
    for method, mine in outcomes.items():
        numbers = summarise(mine)["all"]
        table.add(method, *(numbers[metric] for metric in METRICS))
    table.notes.append(f"Recall takes the weight {GRAPH_WEIGHT:g}: of the best hit's score.")
    return table
