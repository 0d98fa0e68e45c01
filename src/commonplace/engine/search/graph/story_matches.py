"""Storylines and macros that a question asks for, or that have its words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime
from typing import TypeVar

from commonplace.engine.graph_search.graph_texts import SearchableGraph, Terms
from commonplace.engine.search.graph.graph_match import GraphMatch
from commonplace.language.query.story_questions import StoryQuestion
from commonplace.language.text.terms import analyse
from commonplace.model.graph.storylines import Macro, Story, Storyline, distinct_macros

Told = TypeVar("Told", Storyline, Macro)

MAX_ASKED = 3  # stories that answer one question
MIN_SIMILARITY = 0.5  # enough by itself, with one word of the query


class StorySearch:
    """``named``: the nodes that the query names; ``asked_for``: the ends of edges that it asks for,
    such as the place of "work"."""

    def __init__(
        self,
        asked: StoryQuestion | None,
        graph: SearchableGraph,
        terms: Terms,
        named: Collection[str],
        asked_for: Collection[str],
        now: datetime,
        similarity: Callable[[str], float | None],
        *,
        is_overview: bool = False,
        include_archived: bool = False,
    ):
        self._asked, self._graph, self._terms, self._now = asked, graph, terms, now
        self._named, self._asked_for = named, asked_for
        self._similarity, self._include_archived = similarity, include_archived
        self._is_overview = is_overview

    def matches(self) -> Iterator[GraphMatch]:
        asked = [] if self._asked is None else self._find_asked(self._asked)
        for place, story in enumerate(asked[:MAX_ASKED]):
            similarity = self._similarity(story.id)
            yield GraphMatch(story, 1.0, similarity, is_answer=True, place=place)
        if asked:
            return
        for story in self._along():
            held, similarity = self._held(story), self._similarity(story.id)
            if held == 1 or (held and (similarity or 0.0) >= MIN_SIMILARITY):
                yield GraphMatch(story, held, similarity)

    def _along(self) -> Iterable[Story]:
        """An overview has only a storyline of its subject."""
        if not self._is_overview:
            return self._graph.snapshot.stories()
        return self._current(self._about(self._named))[:1]

    def _find_asked(self, asked: StoryQuestion) -> list[Story]:
        """Of everything: the macros, or else the storylines, the newest first. Of one thing: its
        current storyline; its macro, too, if the question is how it came about."""
        if asked.is_of_all:
            macros = distinct_macros(self._shown(self._graph.snapshot.macros.values()))
            return [*macros] or [*self._shown(self._graph.snapshot.storylines.values())]
        about = self._about(self._named) or self._about(self._asked_for)
        told = [] if about else self._told_of(frozenset(analyse(asked.subject)))
        lines = self._current(about) or self._current(told)[:1]
        if not asked.is_history:
            return [*lines]
        anchors = {line.anchor for line in lines}
        macros = self._shown(self._graph.snapshot.macros.values())
        return [*(macro for macro in macros if macro.anchor in anchors), *lines]

    def _about(self, anchors: Collection[str]) -> list[Storyline]:
        lines = self._shown(self._graph.snapshot.storylines.values())
        return [line for line in lines if line.anchor in anchors]

    def _told_of(self, words: Terms) -> list[Storyline]:
        lines = self._shown(self._graph.snapshot.storylines.values())
        known = self._graph.view.terms_of_story
        return [line for line in lines if words and words <= known(line.id)]

    def _current(self, lines: Iterable[Storyline]) -> list[Storyline]:
        """Of each anchor the open one, or else the newest."""
        found: dict[str, Storyline] = {}
        for line in sorted(lines, key=lambda each: not each.is_open):
            found.setdefault(line.anchor, line)
        return list(found.values())

    def _shown(self, stories: Iterable[Told]) -> list[Told]:
        """The newest first."""
        shown = [
            story
            for story in stories
            if self._include_archived or not self._graph.is_archived(story, self._now)
        ]
        return sorted(shown, key=lambda story: (-story.told_at.timestamp(), story.id))

    def _held(self, story: Story) -> float:
        known = self._graph.view.terms_of_story(story.id)
        return len(self._terms & known) / len(self._terms) if self._terms else 0.0
