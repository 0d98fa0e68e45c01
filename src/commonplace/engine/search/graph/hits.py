"""Graph hits: nodes, edges and artifacts of the caller's graph that answer a query.

A node is found by its name, or by its words or meaning; an edge by its relationship and one of its
ends ("where does Noa work?"), or by its own words. Only the visible graph is searched, and filters
apply before scoring.

Scores are on the scale of the other hits: the evidence of a graph hit (the share of the query's
terms that it holds, its similarity) is compared with the evidence of the best other hit. Memories
and passages come first where they say the same, and keep most places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from math import ceil

from commonplace.engine.access import visibility_in
from commonplace.engine.graph_search.graph_texts import (
    GraphItem,
    SearchableGraph,
    Terms,
    TextRequest,
    category_of,
    item_text,
    mentioning_sources,
)
from commonplace.engine.prompt_injection import is_suspicious_again
from commonplace.engine.search.candidates import RecallRequest
from commonplace.engine.search.graph.graph_match import (
    MEANING_WEIGHT,
    WORDS_WEIGHT,
    GraphMatch,
    evidence_of,
)
from commonplace.engine.search.graph.matches import GraphSearch, load_searchable_graph
from commonplace.engine.search.graph.story_places import StorySubject, place_stories
from commonplace.engine.search.hits import explain_hit
from commonplace.engine.search.pack import Citation, Hit
from commonplace.engine.search.rank import Ranked
from commonplace.engine.search.supersession import (
    EDGE_KIND,
    mark_older_values,
    put_current_first,
)
from commonplace.language.query.relations import relation_words
from commonplace.language.text.terms import analyse
from commonplace.model.access.principal import ReadableScope
from commonplace.model.graph.assertion import EdgeAssertion
from commonplace.model.graph.elements import Artifact, Edge, Node
from commonplace.model.graph.snapshot import GraphSnapshot
from commonplace.model.graph.storylines import Macro, Storyline
from commonplace.model.memory.memory import State
from commonplace.model.sources.source import is_source_id
from commonplace.store.queries import AssertionQuery

NODE_KIND, ARTIFACT_KIND = "node", "artifact"
STORYLINE_KIND, MACRO_KIND = "storyline", "macro"
GRAPH_KINDS = frozenset({NODE_KIND, EDGE_KIND, ARTIFACT_KIND, STORYLINE_KIND, MACRO_KIND})

_LESS = 1e-6  # scores are rounded to this
MAX_LIFT = 1.25  # over the best other hit
MAX_CITED = 50  # mentions of a node; the latest one that the caller may read is its citation
_OWNER_TERMS = frozenset(analyse("the user's"))  # "I" in the owner's own words
SHARE, SHARE_IF_ASKED = 3, 2  # of k hits, at most one in this many is of the graph


def add_graph_hits(request: RecallRequest, hits: Sequence[Hit]) -> list[Hit]:
    """The hits, with those of the graph in their places; at most k."""
    graph = (
        load_searchable_graph(request.engine, request.principal) if _is_searched(request) else None
    )
    if graph is None:
        return list(hits)
    search = GraphSearch(request, graph)
    matches = search.matches()
    if not matches:
        return list(hits)[: request.plan.k]
    now = request.engine.clock()
    said = [frozenset(analyse(hit.text)) for hit in hits]
    found = [each for each in matches if not _is_said_by(said, each.item, graph, now)]
    chosen = _limit(found, len(hits), request.plan.k)
    builder = _GraphHitBuilder(request, graph, search.terms)
    stated = builder.assertions(chosen)
    of_graph = builder.hits(chosen, hits, stated)
    stories = {match.item.id for match in chosen if match.is_asked_story}
    merged = _merge(hits, [hit for hit in of_graph if hit.id not in stories])
    if asked := [hit for hit in of_graph if hit.id in stories]:
        merged = place_stories(merged, asked, _subject_of(asked, search, graph))
    merged = merged[: request.plan.k]
    if not of_graph:
        return merged
    times = {hit.id: hit.date for hit in hits}
    for edge, told in stated.items():  # a relation may have begun long before it was told
        times[edge] = max(each.said_at for each in told)
    return put_current_first(mark_older_values(merged, times, request.asked_terms))


def _is_searched(request: RecallRequest) -> bool:
    """Graph items have no kind, author, thread or tags: a filter on those excludes them."""
    plan, own = request.plan, any(reading.is_own for reading in request.readings)
    allowed = replace(
        plan.filters,
        categories=(),
        created_after=None,
        created_before=None,
        updated_after=None,
        updated_before=None,
    )
    return plan.within.graph and own and allowed.is_empty and request.principal.is_in_own_scope


# ——— with the other hits ———


def _is_said_by(
    said: Sequence[Terms], item: GraphItem, graph: SearchableGraph, now: datetime
) -> bool:
    """Whether another hit says the same: of a node, all that is known of it. A storyline tells
    how things came about, which no single hit does."""
    if isinstance(item, Artifact | Storyline | Macro) or not said:
        return False
    if isinstance(item, Edge):
        return any(_says(each, item, graph) for each in said)
    known = graph.terms[item.id] - _OWNER_TERMS
    return known <= frozenset[str]().union(*said) and all(
        any(_says(each, edge, graph) for each in said) for edge in graph.edges_at(item.id, now)
    )


def _says(said: Terms, item: Edge, graph: SearchableGraph) -> bool:
    ends = [id for id in item.ends if id != graph.owner]
    names = [graph.snapshot.nodes[id].names for id in ends]
    has_names = all(any(said.issuperset(_name_terms(name)) for name in each) for each in names)
    return has_names and (
        len(ends) == len(item.ends) or not relation_words(item.type).all_words.isdisjoint(said)
    )


@lru_cache(maxsize=16_384)
def _name_terms(name: str) -> Terms:
    return frozenset(analyse(name))


def _limit(found: Sequence[GraphMatch], others: int, k: int) -> list[GraphMatch]:
    """The matches that get a place: a share of all places, and those that other hits leave free.
    ``found``: sure ones first."""
    sure = [match for match in found if match.is_sure]
    is_asked = any(match.is_named or match.is_answer for match in sure)
    share = ceil(k / (SHARE_IF_ASKED if is_asked else SHARE))
    free = max(0, k - others)
    chosen = sure[: max(share, free)]
    return [*chosen, *(m for m in found if not m.is_sure)][: max(len(chosen), free)]


def _merge(hits: Sequence[Hit], of_graph: Sequence[Hit]) -> list[Hit]:
    """By score; of equal ones, memories and passages first."""
    merged = [*hits]
    for hit in of_graph:
        place = next((n for n, each in enumerate(merged) if each.score < hit.score), len(merged))
        merged.insert(place, hit)
    return merged


def _subject_of(told: Sequence[Hit], search: GraphSearch, graph: SearchableGraph) -> StorySubject:
    """``told``: stories that the question asks for."""
    stories = [story for hit in told if (story := graph.snapshot.story(hit.id))]
    subject = StorySubject(
        told_at=max(story.told_at for story in stories),
        said_at={mention.source: mention.said_at for mention in graph.snapshot.mentions},
    )
    if search.asked_story is None or search.asked_story.is_of_all:
        return subject
    anchors = {story.anchor for story in stories}
    mentioned = mentioning_sources(graph.snapshot, anchors)
    return replace(
        subject,
        names=[_name_terms(name) for id in anchors for name in graph.snapshot.nodes[id].names],
        sources={source for sources in mentioned.values() for source in sources},
    )


@dataclass(frozen=True)
class _GraphHitBuilder:
    request: RecallRequest
    graph: SearchableGraph
    terms: Terms

    def hits(
        self,
        chosen: Sequence[GraphMatch],
        others: Sequence[Hit],
        stated: Mapping[str, Sequence[EdgeAssertion]],
    ) -> list[Hit]:
        """Without items that only unreadable sources support: expired ones, or another team's."""
        cited = self._cited(chosen, stated)
        noted = self._note_sources(chosen)
        sources = {each.source for found in cited.values() for each in found} | noted
        readable = self._readable(set(filter(is_source_id, sources)))
        hidden = frozenset(filter(is_source_id, sources)) - readable
        supported = [match for match in chosen if self._is_supported(match, cited, stated, hidden)]
        return [
            self._hit(match, score, stated.get(match.item.id, ()), cited[match.item.id], hidden)
            for match, score in zip(supported, self._scores(supported, others), strict=True)
        ]

    def _is_supported(
        self,
        match: GraphMatch,
        cited: Mapping[str, Sequence[Citation]],
        stated: Mapping[str, Sequence[EdgeAssertion]],
        hidden: frozenset[str],
    ) -> bool:
        item = match.item
        sources = [each.source for each in cited[item.id]]
        if isinstance(item, Storyline | Macro):
            return hidden.isdisjoint(sources)  # its text may repeat the words of each
        if item.id == self.graph.owner or hidden.isdisjoint(sources):
            return True
        if isinstance(item, Node):
            query = AssertionQuery(nodes=[item.id])
            scope = self.request.principal.own_scope
            assertions = self.request.engine.store.assertions(scope, query).nodes
            standing = [each for each in assertions if each.stands]
            naming = {t.source.id for t in standing if t.source and t.is_mention}
            return any(t.source is None for t in standing) or not (hidden | naming >= {*sources})
        if not hidden.issuperset(sources):
            return True
        return any(each.source is None for each in stated.get(item.id, ()))

    def _scores(self, chosen: Sequence[GraphMatch], others: Sequence[Hit]) -> Iterator[float]:
        """On the scale of the other hits. What is not sure comes after all that is; a storyline
        that is not asked for comes after what answers."""
        scale = self._scale(others)
        answering = min((hit.score for hit in others if not hit.weak), default=None)
        most = MAX_LIFT * (others[0].score if others else 1.0)
        lowest = min((hit.score for hit in others), default=most)
        for match in chosen:
            score = min(match.evidence * scale, most if match.is_sure else lowest)
            if match.is_along and answering is not None:
                score = min(score, answering - _LESS)
            lowest = min(lowest, score)
            yield score

    def _scale(self, others: Sequence[Hit]) -> float:
        """The score of one unit of evidence: the best other hit has both."""
        if not others:
            return 1.0
        best = others[0]
        said = frozenset(analyse(best.text))
        held = len(self.terms & said) / len(self.terms) if self.terms else 1.0
        return best.score / max(evidence_of(held, best.similarity), 0.1)

    def _hit(
        self,
        match: GraphMatch,
        score: float,
        stated: Sequence[EdgeAssertion],
        cited: Sequence[Citation],
        hidden: frozenset[str],
    ) -> Hit:
        item = match.item
        text = self._text(item, stated, hidden)
        citation = next((each for each in cited if each.source not in hidden), None)
        hit = Hit(
            id=item.id,
            text=text,
            kind=_kind_of(item),
            category=category_of(self.graph, item),
            date=_date_of(item),
            similarity=match.similarity,
            score=round(score, 6),
            citation=citation,
            suspicious=is_suspicious_again(self.request.engine, text),
            quoted=any(is_source_id(each.source) for each in cited),
            weak=not match.is_sure,
            forgettable=not match.is_story,
        )
        if not self.request.plan.explain:
            return hit
        ranked = self._ranked(match, hit.score)
        return replace(hit, why=explain_hit(ranked), parts=dict(ranked.parts))

    def _ranked(self, match: GraphMatch, score: float) -> Ranked:
        """The summands of a score: words, meaning, and what the relation or the name adds."""
        by_words = WORDS_WEIGHT * match.held
        by_meaning = MEANING_WEIGHT * (match.similarity or 0.0)
        factor = min(1.0, score / (by_words + by_meaning)) if by_words + by_meaning else 0.0
        parts = {"words": round(by_words * factor, 6), "meaning": round(by_meaning * factor, 6)}
        parts["named"] = round(score - sum(parts.values()), 6)
        shown = {name: part for name, part in parts.items() if part}
        reading = ReadableScope(self.request.principal.own_scope)
        return Ranked(match.item.id, 0, reading, False, match.similarity, match.held, score, shown)

    def _text(
        self, item: GraphItem, stated: Sequence[EdgeAssertion], hidden: frozenset[str]
    ) -> str:
        since = _stated_start(item, stated) if isinstance(item, Edge) else None
        request = TextRequest(self.request.engine.clock(), self.terms, hidden)
        return item_text(self.graph, item, request, since)

    # ——— citations ———

    def assertions(self, chosen: Iterable[GraphMatch]) -> dict[str, list[EdgeAssertion]]:
        """What was stated about each edge."""
        edges = [match.item for match in chosen if isinstance(match.item, Edge)]
        if not edges:
            return {}
        ends = {edge.b if edge.a == self.graph.owner else edge.a for edge in edges}
        query = AssertionQuery(ends=sorted(ends), types={edge.type for edge in edges})
        principal = self.request.principal
        found = self.request.engine.store.assertions(principal.own_scope, query).edges
        by_edge: dict[str, list[EdgeAssertion]] = {}
        for assertion in found:
            by_edge.setdefault(assertion.edge, []).append(assertion)
        return by_edge

    def _cited(
        self, chosen: Iterable[GraphMatch], stated: Mapping[str, Sequence[EdgeAssertion]]
    ) -> dict[str, list[Citation]]:
        """The sources and memories that mention or state each item, the latest first."""
        items = [match.item for match in chosen]
        mentioned = mentioning_sources(self.graph.snapshot, {item.id for item in items})
        return {
            item.id: [
                *_stated_by(item, stated),
                *map(Citation, mentioned.get(item.id, ())[:MAX_CITED]),
                *map(Citation, told_in(self.graph.snapshot, item)),
            ]
            for item in items
        }

    def _note_sources(self, chosen: Iterable[GraphMatch]) -> set[str]:
        notes = self.graph.snapshot.notes
        noted = (note for match in chosen for note in notes.get(match.item.id, ()))
        return {note.source.id for note in noted if note.source}

    def _readable(self, ids: set[str]) -> set[str]:
        """Those that the caller may read now."""
        engine, principal = self.request.engine, self.request.principal
        found = set[str]()
        for reading in self.request.readings if ids else ():
            wanted = sorted(id for id in ids - found if reading.covers(id))
            sight = visibility_in(principal, reading)
            found |= {
                source.id
                for source in engine.live_sources(reading.scope, wanted)
                if source.state is State.ACTIVE and sight.admits_source(source)
            }
        return found


def _kind_of(item: GraphItem) -> str:
    if isinstance(item, Node):
        return NODE_KIND
    if isinstance(item, Storyline | Macro):
        return STORYLINE_KIND if isinstance(item, Storyline) else MACRO_KIND
    return EDGE_KIND if isinstance(item, Edge) else ARTIFACT_KIND


def _date_of(item: GraphItem) -> datetime:
    if isinstance(item, Storyline | Macro):
        return item.told_at
    return item.valid_from if isinstance(item, Edge) else item.updated_at


def told_in(snapshot: GraphSnapshot, item: GraphItem) -> list[str]:
    """The sources of a storyline, or of the storylines of a macro, the latest first."""
    if isinstance(item, Storyline):
        storylines = [item]
    elif isinstance(item, Macro):
        storylines = [snapshot.storylines[id] for id in item.storylines]
    else:
        return []
    sources = sorted((each for told in storylines for each in told.sources), reverse=True)
    return list(dict.fromkeys(source.id for source in sources))


def _stated_by(item: GraphItem, stated: Mapping[str, Sequence[EdgeAssertion]]) -> list[Citation]:
    """What states it, the latest first."""
    sources = [each.source for each in stated.get(item.id, ()) if each.source]
    if isinstance(item, Artifact) and item.source:
        sources = [item.source]
    latest = sorted(sources, key=lambda source: source.said_at, reverse=True)
    return [Citation(source.id, position=source.passage) for source in latest]


def _stated_start(edge: Edge, stated: Sequence[EdgeAssertion]) -> datetime | None:
    """When the relation began, if somebody said so; not the day on which it was told."""
    told = {edge.recorded_at, *(each.said_at for each in stated)}
    return None if edge.valid_from in told else edge.valid_from
