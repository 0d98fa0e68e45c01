"""Storylines and macros follow their sources: which there are, whose they are, what they may say.

A text that told something that is gone is written again at once, by rules, from what is left; the
night writes it again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from commonplace.engine.context import EngineContext
from commonplace.engine.graph.stories.embedded_stories import (
    build_flag_step,
    embed_stories,
    has_other_flags,
    story_entry,
)
from commonplace.engine.graph.stories.story_summaries import (
    find_unlike_sources,
    macro_text_of,
    read_summaries,
)
from commonplace.engine.graph.stories.story_texts import storyline_text
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import ChangesetStep
from commonplace.model.delta import DERIVED
from commonplace.model.graph.elements import Node
from commonplace.model.graph.snapshot import GraphSnapshot
from commonplace.model.graph.steps import PutStory, RemoveStories
from commonplace.model.graph.storylines import (
    MACRO_NAME,
    MACRO_PREFIX,
    MIN_STORYLINES,
    STORYLINE_NAME,
    STORYLINE_PREFIX,
    TIED_SOURCES,
    Macro,
    Story,
    Storyline,
    StorySource,
    build_macro_fields,
    closing_time,
    common_team,
    fold_storylines,
    highest_sensitivity,
    may_make_macro,
    split_bursts,
)
from commonplace.model.journal import Event, Op
from commonplace.store.queries import GraphItems, GraphQuery

BY_RULES = "rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchors:
    """Nodes as a decision leaves them, by merge root, with the sources that mention them."""

    nodes: Mapping[str, Node | None]  # None: the node is gone, or hidden with its sources
    sources: Mapping[str, Sequence[StorySource]]
    restorable: Mapping[str, Sequence[StorySource]] = field(default_factory=dict)  # and forgotten
    root_of: Callable[[str], str] = lambda id: id
    reworded: Collection[str] = ()  # sources that lose words, whoever they mention
    tied: Mapping[str, Collection[str]] = field(default_factory=dict)  # to other anchors, by node


@dataclass(frozen=True, slots=True)
class FoldedStories:
    """Steps without vectors, and the nodes that begin or cease to have storylines or macros."""

    removed: tuple[RemoveStories, ...] = ()
    put: tuple[PutStory, ...] = ()
    flags: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)  # by node


def fold_anchor(
    engine: EngineContext,
    scope: Scope,
    anchors: Iterable[str],
    at: datetime,
    *,
    promotes: bool,
    macros: bool = True,
) -> tuple[ChangesetStep, ...]:
    """The steps that make storylines and macros of these nodes what their mentions say. Without
    ``promotes``, no new ones; without ``macros``, no new macros. Two folds may change one macro, so
    anchors that are folded separately belong in separate changesets."""
    snapshot = engine.graph_cache.of(scope).snapshot
    wanted = {id: snapshot.nodes.get(id) for id in anchors}
    sources = snapshot.story_sources
    folded = fold_stories(
        engine,
        scope,
        Anchors(
            nodes=wanted,
            sources={id: sources.get(id, ()) for id in wanted},
            tied=_ties(snapshot, wanted, sources) if promotes and macros else {},
        ),
        at,
        promotes=promotes,
        macros=macros,
    )
    nodes = [
        build_flag_step(node, flags, at)
        for id, flags in folded.flags.items()
        if (node := snapshot.nodes.get(id)) and has_other_flags(node, flags)
    ]
    return (*folded.removed, *nodes, *embed_stories(engine, folded.put))


def _ties(
    snapshot: GraphSnapshot,
    nodes: Iterable[str],
    sources: Mapping[str, Sequence[StorySource]],
) -> dict[str, set[str]]:
    """The anchors of storylines that have an edge to a node, or enough sources in common."""
    anchors = {each.anchor for each in snapshot.storylines.values()}
    ids = {id: {source.id for source in sources.get(id, ())} for id in anchors}
    tied: dict[str, set[str]] = {}
    for node in nodes:
        own = {source.id for source in sources.get(node, ())}
        tied[node] = {
            anchor
            for anchor in anchors
            if anchor != node and len(own & ids[anchor]) >= TIED_SOURCES
        }
    for edge in snapshot.edges.values():
        for node, other in (edge.ends, edge.ends[::-1]):
            if node in tied and other in anchors:
                tied[node].add(other)
    return tied


def fold_stories(
    engine: EngineContext,
    scope: Scope,
    anchors: Anchors,
    at: datetime,
    *,
    promotes: bool = False,
    macros: bool = False,
    ended: Event = Event.DELETE,
) -> FoldedStories:
    """``ended``: the journal event of storylines and macros that are gone."""
    found = engine.store.graph_items(scope, GraphQuery(storylines=None, macros=None))
    if not (promotes or found.storylines or found.macros):
        return FoldedStories()
    fold = _StoryFold(engine, scope, anchors, found, at, promotes, macros)
    fold.storylines()
    fold.macros()
    return fold.result(ended)


class _StoryFold:
    def __init__(
        self,
        engine: EngineContext,
        scope: Scope,
        anchors: Anchors,
        found: GraphItems,
        at: datetime,
        promotes: bool,
        makes_macros: bool,
    ):
        self.engine, self.scope, self.anchors, self.at = engine, scope, anchors, at
        self.promotes, self.makes_macros = promotes, promotes and makes_macros
        self.lines = {each.id: each for each in found.storylines}  # as they are afterwards
        self.wholes = {each.id: each for each in found.macros}
        self.before: dict[str, Story] = {**self.lines, **self.wholes}
        self.rewritten: set[str] = set()  # stories whose text tells nothing any more that is gone

    # ——— storylines ———

    def storylines(self) -> None:
        by_anchor: dict[str, list[Storyline]] = {}
        for each in self.before.values():
            if isinstance(each, Storyline):
                by_anchor.setdefault(self.anchors.root_of(each.anchor), []).append(each)
        for anchor in sorted(self.anchors.nodes):
            self._fold_anchor(anchor, by_anchor.get(anchor, []))
        for storyline in list(self.lines.values()):
            is_told = storyline.id not in self.rewritten and not storyline.is_hidden
            if is_told and self._tells_lost_words(storyline):
                name = storyline.name.removesuffix(STORYLINE_NAME.format(""))
                self._rewrite(storyline, name, ())

    def _tells_lost_words(self, storyline: Storyline) -> bool:
        return any(source.id in self.anchors.reworded for source in storyline.sources)

    def _fold_anchor(self, anchor: str, existing: Sequence[Storyline]) -> None:
        if not existing and not self.promotes:
            return
        node = self.anchors.nodes[anchor]
        sources = self.anchors.sources.get(anchor, ()) if may_be_anchor(node) else ()
        unlike = find_unlike_sources(self.engine, existing, sources)
        counted = [source for source in sources if source.id not in unlike]
        fold = fold_storylines(existing, counted)
        last = max((burst[-1] for burst in split_bursts(counted)), default=None)
        restorable = self.anchors.restorable.get(anchor)
        for storyline in existing:
            if storyline.id in fold.gone:
                self._end(storyline, existing, counted, restorable)
            if storyline.id in fold.kept and node is not None:
                self._follow(storyline, node, fold.kept[storyline.id], last)
        if self.promotes and node is not None:
            for burst in fold.new:
                self._promote(node, burst, last)

    def _end(
        self,
        storyline: Storyline,
        existing: Sequence[Storyline],
        counted: Sequence[StorySource],
        restorable: Sequence[StorySource] | None,
    ) -> None:
        """Deleted; hidden, without a text, if its sources are forgotten and may be restored."""
        if restorable is None and storyline.is_hidden:
            return
        kept = fold_storylines(existing, restorable or ()).kept.get(storyline.id)
        if kept is None:
            del self.lines[storyline.id]
            return
        left = tuple(source for source in kept if source in counted) or storyline.sources[:1]
        self.lines[storyline.id] = storyline.evolve(
            sources=left,
            description="",
            written_by=BY_RULES,
            is_dirty=True,
            sensitivity=highest_sensitivity(left),
            team_id=common_team(left),
        )

    def _follow(
        self,
        before: Storyline,
        node: Node,
        sources: Sequence[StorySource],
        last: StorySource | None,
    ) -> None:
        """The storyline with these sources now."""
        after = before.evolve(anchor=node.id, **self._storyline_fields(node, sources, last))
        now, then = ({source.id for source in each} for each in (sources, before.sources))
        after = after.evolve(is_dirty=before.is_dirty or now != then)
        self.lines[before.id] = after
        if (
            then - now
            or before.is_hidden
            or after.name != before.name
            or self._tells_lost_words(after)
        ):
            self._rewrite(after, node.name, node.aliases)

    def _promote(self, node: Node, burst: Sequence[StorySource], last: StorySource | None) -> None:
        storyline = Storyline(
            id=STORYLINE_PREFIX + self.engine.new_id(),
            user_id=self.scope.name,
            anchor=node.id,
            created_at=self.at,
            updated_at=self.at,
            **self._storyline_fields(node, burst, last),
        )
        self._rewrite(storyline, node.name, node.aliases)

    def _storyline_fields(
        self, node: Node, sources: Sequence[StorySource], last: StorySource | None
    ) -> dict[str, Any]:
        return {
            "name": STORYLINE_NAME.format(node.name),
            "sources": tuple(sources),
            "closed_at": closing_time(sources, self.at, is_last=sources[-1] == last),
            "sensitivity": highest_sensitivity(sources),
            "team_id": common_team(sources),
        }

    def _rewrite(self, storyline: Storyline, name: str, aliases: Sequence[str]) -> None:
        summaries = read_summaries(self.engine, storyline.sources, self.anchors.reworded)
        text = storyline_text(name, aliases, summaries)
        self.lines[storyline.id] = storyline.evolve(
            description=text, written_by=BY_RULES, is_dirty=True
        )
        self.rewritten.add(storyline.id)

    # ——— macros ———

    def macros(self) -> None:
        by_anchor: dict[str, list[Macro]] = {}
        for each in self.before.values():
            if isinstance(each, Macro):
                by_anchor.setdefault(self.anchors.root_of(each.anchor), []).append(each)
        anchors = by_anchor.keys() | (self.anchors.nodes.keys() if self.makes_macros else set())
        for anchor in sorted(anchors):
            self._fold_macro(anchor, sorted(by_anchor.get(anchor, ()), key=_oldest_first))

    def _fold_macro(self, anchor: str, existing: Sequence[Macro]) -> None:
        """An anchor has one. Where two nodes were merged, the older macro has the other's
        storylines, too."""
        members = {id for macro in existing for id in macro.storylines}
        if self.makes_macros and anchor in self.anchors.nodes:
            near = {anchor, *self.anchors.tied.get(anchor, ())}
            members = {line.id for line in self.lines.values() if line.anchor in near}
        known = [self.lines[id] for id in members if id in self.lines]
        left = [line for line in known if not line.is_hidden]
        is_gone = anchor in self.anchors.nodes and not may_be_anchor(self.anchors.nodes[anchor])
        if is_gone or not may_make_macro(left):
            self._end_macros(existing, may_return=len(left) < len(known) >= MIN_STORYLINES)
            return
        for extra in existing[1:]:
            del self.wholes[extra.id]
        node = self.anchors.nodes.get(anchor)
        if existing:
            self._follow_macro(existing[0], anchor, node, left)
        elif node is not None:
            self._make_macro(node, left)

    def _end_macros(self, existing: Sequence[Macro], *, may_return: bool) -> None:
        """Deleted; the first one is hidden with those of its storylines that are hidden."""
        for macro in existing:
            del self.wholes[macro.id]
        if existing and may_return:
            lines = tuple(id for id in existing[0].storylines if id in self.lines)
            self.wholes[existing[0].id] = existing[0].evolve(
                storylines=lines, description="", written_by=BY_RULES, is_dirty=True
            )

    def _follow_macro(
        self, before: Macro, anchor: str, node: Node | None, left: Sequence[Storyline]
    ) -> None:
        name = MACRO_NAME.format(node.name) if node else before.name
        after = before.evolve(anchor=anchor, name=name, **build_macro_fields(left))
        same = (after.storylines, after.total_source_count) == (
            before.storylines,
            before.total_source_count,
        )
        self.wholes[before.id] = after.evolve(is_dirty=before.is_dirty or not same)
        lost = set(before.storylines) - set(after.storylines)
        if lost or name != before.name or self.rewritten & set(after.storylines):
            self._rewrite_macro(after, left)

    def _make_macro(self, node: Node, left: Sequence[Storyline]) -> None:
        macro = Macro(
            id=MACRO_PREFIX + self.engine.new_id(),
            user_id=self.scope.name,
            anchor=node.id,
            name=MACRO_NAME.format(node.name),
            created_at=self.at,
            updated_at=self.at,
            **build_macro_fields(left),
        )
        self._rewrite_macro(macro, left)

    def _rewrite_macro(self, macro: Macro, left: Sequence[Storyline]) -> None:
        name = macro.name.removesuffix(MACRO_NAME.format(""))
        text = macro_text_of(macro.anchor, name, left)
        self.wholes[macro.id] = macro.evolve(description=text, written_by=BY_RULES, is_dirty=True)

    # ——— what changed ———

    def result(self, ended: Event) -> FoldedStories:
        after: dict[str, Story] = {**self.lines, **self.wholes}
        gone = [each for each in self.before.values() if each.id not in after]
        changed = [each for each in after.values() if self.before.get(each.id) != each]
        removed = [
            RemoveStories((each.id,), story_entry(Op.DELETE, ended, each, DERIVED)) for each in gone
        ]
        put = [self._put(each) for each in changed]
        return FoldedStories(tuple(removed), tuple(put), self._flags(gone, changed))

    def _put(self, story: Story) -> PutStory:
        before = self.before.get(story.id)
        if before is None:
            return PutStory(None, story, story_entry(Op.CREATE, Event.ADD, story))
        after = story.evolve(version=before.version + 1, updated_at=self.at)
        meta = {} if self.promotes else DERIVED
        return PutStory(before, after, story_entry(Op.UPDATE, Event.UPDATE, after, meta))

    def _flags(self, gone: Iterable[Story], changed: Iterable[Story]) -> dict[str, dict[str, bool]]:
        touched = {self.anchors.root_of(each.anchor) for each in (*gone, *changed)}
        touched |= {id for id, node in self.anchors.nodes.items() if node is not None}
        have_lines = {each.anchor for each in self.lines.values()}
        have_macros = {each.anchor for each in self.wholes.values()}
        return {
            id: {"has_meso": id in have_lines, "has_macro": id in have_macros}
            for id in sorted(touched)
            if self.anchors.nodes.get(id, _ELSEWHERE) is not None
        }


_ELSEWHERE = object()  # an anchor that this decision does not name: it is as it was


def may_be_anchor(node: Node | None) -> bool:
    """Never the owner: all sources mention them."""
    return node is not None and node.stands and not node.is_owner


def _oldest_first(macro: Macro) -> tuple[datetime, str]:
    return macro.created_at, macro.id
