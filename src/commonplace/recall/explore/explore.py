"""explore: gather, filter, score, cut, expand. Pure: the same values give the same answer."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from commonplace.recall.explore.asked import Asked
from commonplace.recall.explore.candidates import Candidates
from commonplace.recall.explore.cut import COUNTS, best
from commonplace.recall.explore.expand import Found, told
from commonplace.recall.explore.explanation import Match, MetBy
from commonplace.recall.explore.gather import Given, gathered
from commonplace.recall.explore.named import named
from commonplace.recall.explore.result import ExploreResult
from commonplace.recall.explore.score import Scored
from commonplace.recall.explore.spelled import met
from commonplace.recall.explore.view import View


def explore(view: View, asked: Asked, given: Given, now: datetime) -> ExploreResult:
    """``view``: of a picture that holds only what the caller may see; ``given.queries``: those of
    `queries.executed`."""
    known_at = asked.then.known_at or now
    by_words = met(view.spelled, asked.text_matches, known_at) if asked.text_matches else []
    by_name = [named(view, query.query) for query in asked.queries]
    candidates = Candidates(view, asked, gathered(given, [*by_words, *by_name]), now)
    nodes = _nodes(view, asked, candidates, {id for each in by_name for id in each})
    ids = {hit.id for hit in nodes}
    found = Found(
        nodes=nodes,
        edges=_edges(view, asked, candidates, ids),
        sources=_sources(view, asked, candidates, ids),
        artifacts=_artifacts(view, asked, candidates),
    )
    looked_for = dict.fromkeys([query.query for query in given.queries])
    return told(view, asked, found, (*looked_for, *asked.text_matches), now)


def _nodes(
    view: View, asked: Asked, candidates: Candidates, called: Collection[str]
) -> list[Scored]:
    """Those that were met themselves; then the ends of relationships that were met. Where nothing
    but relationships is asked for, these alone. ``called``: whom a query names. They come first,
    whoever else is close to it and was read more of late."""
    known = view.picture.nodes
    if not asked.is_open:
        own, through = candidates.met(known), _ends_met(view, candidates)
    elif asked.relationship_filters.is_empty:
        own, through = dict.fromkeys(known), {}
    else:
        own, through = {}, _ends_met(view, candidates)
    ids = dict.fromkeys([*own, *through])
    hits = candidates.scored([known[id] for id in ids], through)
    most = COUNTS[asked.granularity].nodes
    first = best([hit for hit in hits if hit.id in called], most, own)
    return [*first, *best([hit for hit in hits if hit.id not in called], most - len(first), own)]


def _ends_met(view: View, candidates: Candidates) -> dict[str, Match]:
    edges = view.picture.edges
    return {
        end: Match(by=MetBy.RELATIONSHIP, asked=edge.id, similarity=0.0)
        for edge in candidates.admitted(edges[id] for id in candidates.met(edges))
        for end in edge.ends
    }


def _edges(
    view: View, asked: Asked, candidates: Candidates, nodes: Collection[str]
) -> list[Scored]:
    """Those that touch the nodes; first those that were met, and those that join two nodes."""
    touching = {edge.id: edge for node in nodes for edge in view.edges_at.get(node, ())}
    joining = {id for id, edge in touching.items() if edge.a in nodes and edge.b in nodes}
    through = {
        id: Match(by=MetBy.NODE, asked=edge.a if edge.a in nodes else edge.b, similarity=0.0)
        for id, edge in touching.items()
    }
    hits = candidates.scored(candidates.admitted(touching.values()), through)
    first = joining if asked.is_open else joining | candidates.met(touching).keys()
    return best(hits, COUNTS[asked.granularity].relationships, first)


def _sources(
    view: View, asked: Asked, candidates: Candidates, nodes: Collection[str]
) -> list[Scored]:
    """Those that were met themselves; then those that speak of the nodes. Only the finest
    granularity shows them for themselves: the second shows those of its storylines."""
    if asked.granularity != 1:
        return []
    known = view.picture.sources
    own = candidates.met(known)
    through = {
        source: Match(by=MetBy.NODE, asked=node, similarity=0.0)
        for node in sorted(nodes)
        for source in view.sources_of.get(node, ())
        if source in known and source not in own
    }
    hits = candidates.scored([known[id] for id in (*own, *through)], through)
    return best(hits, COUNTS[asked.granularity].sources, own)


def _artifacts(view: View, asked: Asked, candidates: Candidates) -> list[Scored]:
    known = view.picture.artifacts
    own = candidates.met(known)
    hits = candidates.scored([known[id] for id in own], {})
    return best(hits, COUNTS[asked.granularity].artifacts, own)
