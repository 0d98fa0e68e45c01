"""Storylines and macros in lists, and one in full."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.engine.context import EngineContext
from commonplace.engine.graph.as_of import graph_as_of
from commonplace.engine.graph.names import build_name_index
from commonplace.engine.graph.visible_graph import VisibleGraph, find_node, visible_graph
from commonplace.engine.graph_search.explore_result import MacroRef, NodeSummary
from commonplace.engine.graph_search.listing import Mentioning, present_sources
from commonplace.engine.graph_search.stories.story_hits import summarise_node
from commonplace.errors import NotFound
from commonplace.model.access.principal import Principal
from commonplace.model.graph.salience import SalienceState, current_salience
from commonplace.model.graph.snapshot import GraphSnapshot
from commonplace.model.graph.storylines import Macro, Storyline
from commonplace.model.memory.kinds import TtlPolicy
from commonplace.model.memory.lifecycle import NOW, PointInTime
from commonplace.model.paging import take_page

FIND_STORIES_REMEDY = (
    "`storylines` and `macros` list those of today. They come and go with their sources, and there "
    "are none of past moments."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StorylineShown:
    id: str
    entity_key: str  # same as id: the name used in graph results
    name: str
    description: str
    anchor: NodeSummary | None  # None: another member of the team has it
    is_open: bool
    source_count: int
    started_at: datetime
    last_source_at: datetime
    closed_at: datetime | None
    team_id: str | None  # the team that all its sources belong to
    salience: float
    state: SalienceState
    ttl_policy: TtlPolicy
    written_by: str  # rules, or the name of a model
    is_dirty: bool  # its text is written again
    created_at: datetime
    updated_at: datetime
    last_accessed_at: datetime | None
    access_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MacroShown:
    id: str
    entity_key: str  # same as id: the name used in graph results
    name: str
    description: str
    anchor: NodeSummary | None  # None: another member of the team has it
    storyline_count: int
    total_source_count: int
    started_at: datetime
    last_event_at: datetime
    team_id: str | None  # the team that all its sources belong to
    salience: float
    state: SalienceState
    ttl_policy: TtlPolicy
    written_by: str  # rules, or the name of a model
    is_dirty: bool  # its text is written again
    created_at: datetime
    updated_at: datetime
    last_accessed_at: datetime | None
    access_count: int


@dataclass(frozen=True, slots=True)
class StorylinePage:
    storylines: tuple[StorylineShown, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class MacroPage:
    macros: tuple[MacroShown, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class WholeStoryline:
    storyline: StorylineShown
    macros: tuple[MacroRef, ...]  # that it belongs to
    sources: tuple[Mentioning, ...]  # newest first


@dataclass(frozen=True, slots=True)
class WholeMacro:
    macro: MacroShown
    storylines: tuple[StorylineShown, ...]  # newest first
    sources: tuple[Mentioning, ...]  # of its storylines, newest first


def list_storylines(
    engine: EngineContext,
    principal: Principal,
    *,
    is_open: bool | None,
    anchor: str | None,
    limit: int,
    after: str | None,
    include_archived: bool,
) -> StorylinePage:
    """Newest first: by their last sources."""
    snapshot, now = _with_members(visible_graph(engine, principal, members=True)), engine.clock()
    node = _anchor_id(snapshot, anchor)
    shown = [
        present_storyline(snapshot, storyline, now)
        for storyline in snapshot.storylines.values()
        if (is_open is None or storyline.goes_on(now) is is_open)
        and (node is None or storyline.anchor == node)
    ]
    kept = [each for each in shown if include_archived or not _is_archived(each)]
    kept.sort(key=lambda each: (-each.last_source_at.timestamp(), each.id))
    page = take_page(kept, after, limit + 1)
    return StorylinePage(tuple(page[:limit]), page[limit - 1].id if len(page) > limit else None)


def list_macros(
    engine: EngineContext,
    principal: Principal,
    *,
    anchor: str | None,
    limit: int,
    after: str | None,
    include_archived: bool,
) -> MacroPage:
    """Newest first: by their last sources."""
    snapshot, now = _with_members(visible_graph(engine, principal, members=True)), engine.clock()
    node = _anchor_id(snapshot, anchor)
    shown = [
        present_macro(snapshot, macro, now)
        for macro in snapshot.macros.values()
        if node is None or macro.anchor == node
    ]
    kept = [each for each in shown if include_archived or not _is_archived(each)]
    kept.sort(key=lambda each: (-each.last_event_at.timestamp(), each.id))
    page = take_page(kept, after, limit + 1)
    return MacroPage(tuple(page[:limit]), page[limit - 1].id if len(page) > limit else None)


def _with_members(visible: VisibleGraph) -> GraphSnapshot:
    """With the storylines and macros that other members have of their team's sources."""
    snapshot, others = visible.snapshot, visible.of_members
    return replace(
        snapshot,
        storylines={**others.storylines, **snapshot.storylines},
        macros={**others.macros, **snapshot.macros},
    )


def _anchor(snapshot: GraphSnapshot, story: Storyline | Macro) -> NodeSummary | None:
    node = snapshot.nodes.get(story.anchor)
    return None if node is None else summarise_node(node)


def _anchor_id(snapshot: GraphSnapshot, named: str | None) -> str | None:
    if named is None:
        return None
    return find_node(build_name_index(snapshot.nodes.values()), named, "anchor").id


def _is_archived(shown: StorylineShown | MacroShown) -> bool:
    return shown.state is SalienceState.ARCHIVED


def show_story(
    engine: EngineContext, principal: Principal, id: str, then: PointInTime = NOW
) -> WholeStoryline | WholeMacro:
    """By id, so that sensitive ones are shown to the owner, too."""
    whole = _with_members(visible_graph(engine, principal, whole=True, members=True))
    snapshot, now = graph_as_of(engine, principal.own_scope, whole, then), engine.clock()
    if storyline := snapshot.storylines.get(id):
        parents = (macro for macro in snapshot.macros.values() if id in macro.storylines)
        return WholeStoryline(
            present_storyline(snapshot, storyline, now),
            tuple(MacroRef(macro_id=macro.id, name=macro.name) for macro in parents),
            _sources_of(snapshot, [storyline]),
        )
    macro = snapshot.macros.get(id)
    if macro is None:
        raise NotFound(f"There is no {id!r} here.", remedy=FIND_STORIES_REMEDY, field="id")
    children = [snapshot.storylines[child] for child in macro.storylines]
    shown = [present_storyline(snapshot, child, now) for child in children]
    return WholeMacro(
        present_macro(snapshot, macro, now),
        tuple(sorted(shown, key=lambda each: each.last_source_at, reverse=True)),
        _sources_of(snapshot, children),
    )


def _sources_of(snapshot: GraphSnapshot, storylines: Iterable[Storyline]) -> tuple[Mentioning, ...]:
    told = ((source.id, source.said_at) for each in storylines for source in each.sources)
    return present_sources(snapshot, told)


def present_storyline(
    snapshot: GraphSnapshot, storyline: Storyline, now: datetime
) -> StorylineShown:
    marks = snapshot.marks_of(storyline.id)
    current = current_salience(storyline, marks, now)
    return StorylineShown(
        id=storyline.id,
        entity_key=storyline.id,
        name=storyline.name,
        description=storyline.description,
        anchor=_anchor(snapshot, storyline),
        is_open=storyline.goes_on(now),
        source_count=storyline.source_count,
        started_at=storyline.started_at,
        last_source_at=storyline.last_source_at,
        closed_at=storyline.closed_at,
        team_id=storyline.team_id,
        salience=current.salience,
        state=current.state,
        ttl_policy=storyline.ttl_policy,
        written_by=storyline.written_by,
        is_dirty=storyline.is_dirty,
        created_at=storyline.created_at,
        updated_at=storyline.updated_at,
        last_accessed_at=marks.touched_at if marks.access_count else None,
        access_count=marks.access_count,
    )


def present_macro(snapshot: GraphSnapshot, macro: Macro, now: datetime) -> MacroShown:
    marks = snapshot.marks_of(macro.id)
    current = current_salience(macro, marks, now)
    return MacroShown(
        id=macro.id,
        entity_key=macro.id,
        name=macro.name,
        description=macro.description,
        anchor=_anchor(snapshot, macro),
        storyline_count=macro.storyline_count,
        total_source_count=macro.total_source_count,
        started_at=macro.started_at,
        last_event_at=macro.last_event_at,
        team_id=macro.team_id,
        salience=current.salience,
        state=current.state,
        ttl_policy=macro.ttl_policy,
        written_by=macro.written_by,
        is_dirty=macro.is_dirty,
        created_at=macro.created_at,
        updated_at=macro.updated_at,
        last_accessed_at=marks.touched_at if marks.access_count else None,
        access_count=marks.access_count,
    )
