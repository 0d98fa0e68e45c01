"""Storylines and macros that a question asks for, or that have its words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime

from commonplace.engine.graph_search.graph_texts import SearchableGraph, Terms
from commonplace.engine.search.graph.graph_match import GraphMatch
from commonplace.language.query.story_questions import StoryQuestion, parse_story_question
from commonplace.language.text.terms import analyse
from commonplace.model.graph.storylines import Story

MAX_ASKED = 3  # stories that answer one question
MIN_SIMILARITY = 0.5  # enough by itself, with one word of the query


class StorySearch:
    """``named``: the nodes that the query names; ``is_answered``: whether an edge answers it."""

    def __init__(
        self,
        query: str,
        graph: SearchableGraph,
        terms: Terms,
        named: Collection[str],
        now: datetime,
        similarity: Callable[[str], float | None],
        *,
        is_answered: bool,
    ):
        self._graph, self._terms, self._named, self._now = graph, terms, named, now
        self._similarity = similarity
        self._asked = None if is_answered else parse_story_question(query)

    def matches(self) -> Iterator[GraphMatch]:
        asked = [] if self._asked is None else self._find_asked(self._asked)
        for place, story in enumerate(asked[:MAX_ASKED]):
            similarity = self._similarity(story.id)
            yield GraphMatch(story, 1.0, similarity, is_answer=True, place=place)
        for story in self._graph.snapshot.stories():
            held, similarity = self._held(story), self._similarity(story.id)
            if held == 1 or (held and (similarity or 0.0) >= MIN_SIMILARITY):
                yield GraphMatch(story, held, similarity)

    def _find_asked(self, asked: StoryQuestion) -> list[Story]:
        """Of everything: the macros, or else the storylines. Of one thing: its storylines, and then
        its macro. The newest first."""
        macros = self._newest(self._graph.snapshot.macros.values())
        storylines = self._newest(self._graph.snapshot.storylines.values())
        if asked.is_of_all:
            return macros or storylines
        about = [story for story in (*storylines, *macros) if story.anchor in self._named]
        if not about:
            words = frozenset(analyse(asked.subject))
            known = self._graph.view.terms_of_story
            about = [s for s in (*storylines, *macros) if words and words <= known(s.id)]
        return about

    def _newest(self, stories: Iterable[Story]) -> list[Story]:
        shown: Sequence[Story] = [s for s in stories if not self._graph.is_archived(s, self._now)]
        return sorted(shown, key=lambda story: (-story.told_at.timestamp(), story.id))

    def _held(self, story: Story) -> float:
        known = self._graph.view.terms_of_story(story.id)
        return len(self._terms & known) / len(self._terms) if self._terms else 0.0
