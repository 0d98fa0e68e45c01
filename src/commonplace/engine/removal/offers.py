"""What a request to forget may mean: candidates of every kind, of which a person chooses several.

They are offered generously, since nothing is done before somebody chooses: whatever recall finds,
and beside it all that has a word of the request. A turn is offered for what it says itself, not for
the turns around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from commonplace.engine.context import EngineContext
from commonplace.engine.graph.visible_graph import visible_graph
from commonplace.engine.search.pack import Choice, Hit
from commonplace.engine.search.plan import RecallPlan
from commonplace.engine.search.recall import recall
from commonplace.language.observe.forget_requests import clean_forget_query
from commonplace.language.text.terms import analyse
from commonplace.model.access.principal import Principal, ReadableScope
from commonplace.model.graph.elements import Edge, Node
from commonplace.model.graph.snapshot import GraphSnapshot
from commonplace.model.memory.memory import Sensitivity
from commonplace.model.sources.source import PASSAGE_KIND

MAX_OFFERED = 10
MAX_CONSIDERED = 30  # of which those are offered that are about the request
MAX_GRAPH_ITEMS = 10
SURELY_ABOUT = 0.5  # similarity from which no common word is needed


def offer_to_forget(
    engine: EngineContext, principal: Principal, query: str, *, is_logged: bool = True
) -> Choice:
    """Only the caller's own items: those of others cannot be forgotten. ``is_logged``: somebody
    searches now."""
    wanted = clean_forget_query(query)
    own = ReadableScope(principal.own_scope)
    plans = [
        RecallPlan(query=wanted, k=MAX_CONSIDERED, logged_as="recall" if is_logged else None),
        RecallPlan(query=wanted, k=MAX_CONSIDERED, threshold=0.0, logged_as=None),
    ]
    found, generous = recall(engine, principal, plans, scopes=(own,))
    words = frozenset(analyse(wanted))
    snapshot = visible_graph(engine, principal).snapshot
    offered = (
        *islice(_relevant(found.hits, words), MAX_OFFERED),
        *islice(_about(generous.hits, words), MAX_OFFERED),
        *_graph_hits(snapshot, words),
    )
    hits = {hit.id: hit for hit in reversed(offered)}
    distinct = [hits[id] for id in dict.fromkeys(hit.id for hit in offered)]
    # A memory takes its passage along: it comes first.
    return Choice(wanted, tuple(sorted(distinct, key=lambda hit: hit.kind == PASSAGE_KIND)))


def _relevant(hits: Iterable[Hit], words: frozenset[str]) -> Iterator[Hit]:
    """What recall is sure of, and the weak hits that have the words. A passage may be among the
    former only because of the passages around it."""
    for hit in hits:
        is_sure = not hit.weak and hit.kind != PASSAGE_KIND
        if is_sure or _is_about(hit, words):
            yield hit


def _about(hits: Iterable[Hit], words: frozenset[str]) -> Iterator[Hit]:
    return (hit for hit in hits if _is_about(hit, words))


def _is_about(hit: Hit, words: frozenset[str]) -> bool:
    return (hit.similarity or 0) >= SURELY_ABOUT or bool(words & {*analyse(hit.text)})


def _graph_hits(snapshot: GraphSnapshot, words: frozenset[str]) -> list[Hit]:
    """Nodes by name; notes and relations by their words. A node takes its own along."""
    nodes = [
        node
        for node in snapshot.nodes.values()
        if not node.is_owner and any(words & {*analyse(name)} for name in node.names)
    ]
    hits = [_node_hit(node) for node in nodes]
    named = {node.id for node in nodes}
    for edge in snapshot.edges.values():
        if named.isdisjoint(edge.ends) and words & {*analyse(edge.description)}:
            hits.append(_edge_hit(edge, snapshot))
    for about, notes in snapshot.notes.items():
        if about not in named:
            hits += [
                Hit(
                    id=note.id,
                    text=note.content,
                    kind="note",
                    category="knowledge",
                    date=note.date_added,
                    similarity=None,
                    score=0.0,
                    quoted=note.source is not None,
                )
                for note in notes
                if note.sensitivity is not Sensitivity.HIGH and words & {*analyse(note.content)}
            ]
    return hits[:MAX_GRAPH_ITEMS]


def _node_hit(node: Node) -> Hit:
    text = f"{node.name}: {node.description}" if node.description else node.name
    return Hit(
        id=node.id,
        text=text,
        kind="node",
        category=node.category,
        date=node.updated_at,
        similarity=None,
        score=0.0,
        quoted=True,
    )


def _edge_hit(edge: Edge, snapshot: GraphSnapshot) -> Hit:
    ends = " – ".join(snapshot.nodes[id].name for id in edge.ends if id in snapshot.nodes)
    return Hit(
        id=edge.id,
        text=f"{ends}: {edge.description}",
        kind="edge",
        category="knowledge",
        date=edge.updated_at,
        similarity=None,
        score=0.0,
        quoted=True,
    )
