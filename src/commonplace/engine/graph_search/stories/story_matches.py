"""Storylines and macros that match a request, and the sources that stand for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from commonplace.engine.graph_search.explore_candidates import (
    MAX_PREVIEWS,
    MIN_PREVIEWS,
    RESULT_COUNTS,
    ExploreCandidates,
    ScoredItem,
    select_best,
)
from commonplace.engine.graph_search.explore_request import ExploreRequest
from commonplace.engine.graph_search.explore_result import ExploreMatch, MatchedBy
from commonplace.engine.graph_search.graph_view import GraphView
from commonplace.language.query.relations import idle_forms
from commonplace.language.query.story_questions import parse_story_question
from commonplace.language.text.terms import analyse
from commonplace.model.graph.storylines import Story, distinct_macros
from commonplace.model.parameters import ALL_WORDS, MACRO, MESO


def asks_for_news(request: ExploreRequest) -> bool:
    """Whether a query asks for what is new, of everything."""
    asked = (parse_story_question(query.query) for query in request.queries)
    return any(each is not None and each.is_of_all for each in asked)


NamedMatches = Mapping[str, ExploreMatch]


def match_stories(view: GraphView, query: str, named: NamedMatches) -> dict[str, ExploreMatch]:
    """By the words of the query, or by its anchor if the query names that. A question for what is
    new matches all. ``named``: the nodes that the query names."""
    asked = parse_story_question(query)
    if asked is not None and asked.is_of_all:
        match = ExploreMatch(by=MatchedBy.OPEN, asked=query, similarity=0.0)
        return {story.id: match for story in view.snapshot.stories()}
    return {**_match_terms(view, query), **_match_anchors(view, named)}


def _match_anchors(view: GraphView, named: NamedMatches) -> dict[str, ExploreMatch]:
    return {
        story.id: ExploreMatch(by=MatchedBy.NODE, asked=node, similarity=match.similarity)
        for node, match in named.items()
        for story in view.stories_at.get(node, ())
    }


def _match_terms(view: GraphView, query: str) -> dict[str, ExploreMatch]:
    terms = frozenset(analyse(query)) - idle_forms()
    match = ExploreMatch(by=MatchedBy.EXACT, asked=query, similarity=ALL_WORDS)
    stories = view.snapshot.stories() if terms else ()
    return {story.id: match for story in stories if terms <= view.terms_of_story(story.id)}


def anchors_of(view: GraphView, hits: Iterable[ScoredItem]) -> dict[str, ExploreMatch]:
    """The anchors of story hits, as matches through these."""
    found: dict[str, ExploreMatch] = {}
    for hit in hits:
        story = view.snapshot.story(hit.id)
        if story is not None:
            match = ExploreMatch(by=MatchedBy.NODE, asked=hit.id, similarity=0.0)
            found.setdefault(story.anchor, match)
    return found


class StorySelection:
    """``nodes``: those that match the request; the stories about them match indirectly."""

    def __init__(
        self,
        view: GraphView,
        request: ExploreRequest,
        candidates: ExploreCandidates,
        nodes: Iterable[str],
    ):
        self._view, self._request, self._candidates = view, request, candidates
        self._nodes = list(nodes)

    def macros(self) -> list[ScoredItem]:
        """A question for what is new shows one for each set of storylines."""
        limit, known = RESULT_COUNTS[self._request.granularity].macros, self._view.snapshot.macros
        if not asks_for_news(self._request):
            return self._best(known, limit)
        ranked = [known[hit.id] for hit in self._best(known, len(known))]
        return self._best({macro.id: macro for macro in distinct_macros(ranked)}, limit)

    def storylines(self, macros: Sequence[ScoredItem]) -> list[ScoredItem]:
        """Of granularity 3, those of its macros; without any, the newest."""
        known = self._view.snapshot.storylines
        if self._request.granularity != MACRO:
            return self._best(known, RESULT_COUNTS[self._request.granularity].storylines)
        if not macros:
            found = self._best(known, len(known))
            found.sort(key=lambda hit: known[hit.id].told_at, reverse=True)
            return found[: RESULT_COUNTS[MACRO].macros]
        children = {
            child: ExploreMatch(by=MatchedBy.NODE, asked=macro.id, similarity=0.0)
            for macro in macros
            for child in self._view.snapshot.macros[macro.id].storylines
        }
        scored = self._candidates.scored([known[id] for id in children], children, archived=True)
        places = {id: place for place, id in enumerate(children)}
        return sorted(scored, key=lambda hit: places[hit.id])

    def _best(self, known: Mapping[str, Story], limit: int) -> list[ScoredItem]:
        direct = self._candidates.matched(known)
        indirect = {
            story.id: ExploreMatch(by=MatchedBy.NODE, asked=node, similarity=0.0)
            for node in self._nodes
            for story in self._view.stories_at.get(node, ())
            if story.id in known and story.id not in direct
        }
        ids = (*direct, *indirect)
        hits = self._candidates.scored([known[id] for id in ids], indirect)
        return select_best(hits, limit, direct)

    # ——— sources of granularity 2 ———

    def previews(self, storylines: Sequence[ScoredItem]) -> dict[str, list[str]]:
        """The newest sources of each storyline, newest first: more of each, the fewer there are."""
        if self._request.granularity != MESO or not storylines:
            return {}
        share = RESULT_COUNTS[MESO].sources // len(storylines)
        count = max(MIN_PREVIEWS, min(MAX_PREVIEWS, share))
        known = self._view.snapshot.storylines
        return {
            hit.id: [each.id for each in known[hit.id].sources[: -count - 1 : -1]]
            for hit in storylines
        }

    def sources(self, previews: Mapping[str, Sequence[str]]) -> list[ScoredItem]:
        """Exactly those that the storylines show, best first."""
        through = {
            source: ExploreMatch(by=MatchedBy.NODE, asked=storyline, similarity=0.0)
            for storyline, shown in previews.items()
            for source in shown
        }
        known = self._view.snapshot.sources
        scored = self._candidates.scored([known[id] for id in through], through, archived=True)
        return select_best(scored, len(through), through)
