"""Visible graph: a snapshot limited to what a principal may see; find a node in it.

Explore, PageRank and Cypher work on this snapshot and do not filter again: items that the principal
may not see are not in it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from commonplace.engine.access import can_see_source, readable_scopes, visibility_in, visibility_of
from commonplace.engine.context import EngineContext
from commonplace.engine.graph.stories.team_stories import (
    NO_TEAM_STORIES,
    TeamStories,
    load_team_stories,
)
from commonplace.errors import InvalidInput, NotFound
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Principal, ReadableScope, Scope
from commonplace.model.access.team import Team
from commonplace.model.filters import Visibility
from commonplace.model.graph.assertion import EdgeAssertion, NodeAssertion, Note, is_sensitive
from commonplace.model.graph.elements import ARTIFACT_CATEGORY as OF_ARTIFACTS
from commonplace.model.graph.elements import NODE_PREFIX, Artifact, Edge, Node
from commonplace.model.graph.snapshot import GraphSnapshot
from commonplace.model.graph.storylines import STORY_CATEGORY, Macro, Story, Storyline
from commonplace.model.graph.types import NodeType
from commonplace.model.memory.memory import Sensitivity, State
from commonplace.model.sleep import SLEEP_ACTOR
from commonplace.model.sources.source import Source
from commonplace.store.queries import NO_LIMIT, AssertionQuery, GraphQuery, SourceListing

with lazy_imports(__name__):
    from commonplace.engine.graph.as_of import merge_roots_of
    from commonplace.engine.graph.names import (
        Ambiguous,
        NameIndex,
        build_name_index,
        name_key,
        resolve_node,
    )

GraphKey = tuple[str, ...]
Citing = TypeVar("Citing", Note, Artifact)


@dataclass(frozen=True, slots=True)
class VisibleGraph:
    snapshot: GraphSnapshot
    key: GraphKey  # cache key: owner, revision and visibility
    of_members: TeamStories = NO_TEAM_STORIES


def visible_graph(
    engine: EngineContext,
    principal: Principal,
    *,
    whole: bool = False,
    sources: bool = False,
    silent: bool = False,
    members: bool = False,
) -> VisibleGraph:
    """``whole``: include items of high sensitivity, if the owner asks. ``sources``: include the
    sources that mention nodes; these are read each time, because team membership may change
    without a new revision. ``silent``: also include sources that mention no node or are not
    extracted yet. ``members``: also read the storylines of other members of the principal's
    teams, one read for each."""
    sight = visibility_of(principal)
    if whole and principal.is_owner:
        sight = replace(sight, cleared=True)
    sources = sources or silent or members
    with engine.store.read_session():
        others = load_team_stories(engine, principal, sight) if members else NO_TEAM_STORIES
        snapshot = _load_visible(engine, principal, sight, whole, sources, silent, others)
    key = _graph_key(principal, sight, snapshot)
    return VisibleGraph(snapshot, key, others.limited_to(sight, snapshot.sources))


def _load_visible(
    engine: EngineContext,
    principal: Principal,
    sight: Visibility,
    whole: bool,
    sources: bool,
    silent: bool,
    others: TeamStories,
) -> GraphSnapshot:
    snapshot = limit_to_visibility(engine.graph_cache.of(principal.own_scope).snapshot, sight)
    if principal.team is not None:
        snapshot = _limit_to_team(
            engine, principal.own_scope, Scope.of_team(principal.team), snapshot
        )
    nodes, edges = snapshot.nodes, snapshot.edges
    about = nodes.keys() | edges.keys()
    cited = (*_cited_sources(snapshot), *others.source_ids) if sources else ()
    readable, teams = (
        _readable_sources(engine, principal, sight, cited, whole, silent) if sources else ({}, {})
    )
    if sources:
        snapshot = limit_stories_to_sources(snapshot, readable)
    return replace(
        snapshot,
        notes=_visible_notes(sight, snapshot.notes, about, readable if sources else None),
        mentions=tuple(m for m in snapshot.mentions if m.node in nodes and m.source in readable),
        sources=readable,
        artifacts=_visible_artifacts(
            sight, snapshot.artifacts, readable if sources else None, engine.clock()
        ),
        teams=teams,
        marks=engine.store.graph_items(principal.own_scope, GraphQuery(marks=None)).marks,
    )


def limit_to_visibility(snapshot: GraphSnapshot, sight: Visibility) -> GraphSnapshot:
    """Limit nodes, edges, storylines and macros. The caller limits mentions, notes and artifacts,
    and storylines to the sources that may be read now."""
    nodes = {id: node for id, node in snapshot.nodes.items() if sees_node(sight, node)}
    nodes = _without_names_of_hidden(snapshot, nodes)
    edges = {id: edge for id, edge in snapshot.edges.items() if sees_edge(sight, nodes, edge)}
    shown = {id: s for id, s in snapshot.storylines.items() if sees_story(sight, nodes, s)}
    return replace(
        snapshot,
        nodes=nodes,
        edges=edges,
        storylines=shown,
        macros={
            id: macro
            for id, macro in _whole_macros(snapshot.macros, shown).items()
            if sees_story(sight, nodes, macro)
        },
    )


def _without_names_of_hidden(snapshot: GraphSnapshot, shown: dict[str, Node]) -> dict[str, Node]:
    """Without descriptions that name a hidden node: a night writes them from relations."""
    if len(shown) == len(snapshot.nodes):
        return shown
    nodes = dict(shown)
    hidden = {id: node for id, node in snapshot.nodes.items() if id not in shown}
    for edge in snapshot.edges.values():
        for id, other in (edge.ends, edge.ends[::-1]):
            if id in nodes and other in hidden and _names(nodes[id].description, hidden[other]):
                nodes[id] = nodes[id].evolve(description="")
    return nodes


def _names(description: str, node: Node) -> bool:
    said = description.casefold()
    names = (*node.names, "the user") if node.is_owner else node.names
    return any(name.casefold() in said for name in names)


def limit_stories_to_sources(snapshot: GraphSnapshot, readable: Collection[str]) -> GraphSnapshot:
    """Without storylines that tell of a source which may not be read now, and the macros that tell
    of such a storyline: their texts may repeat its words."""
    shown = {
        id: storyline
        for id, storyline in snapshot.storylines.items()
        if all(source.id in readable for source in storyline.sources)
    }
    return replace(snapshot, storylines=shown, macros=_whole_macros(snapshot.macros, shown))


def _whole_macros(
    macros: Mapping[str, Macro], storylines: Mapping[str, Storyline]
) -> dict[str, Macro]:
    """The macros whose storylines are all among these."""
    return {
        id: macro
        for id, macro in macros.items()
        if all(child in storylines for child in macro.storylines)
    }


def _limit_to_team(
    engine: EngineContext, own_scope: Scope, team: Scope, snapshot: GraphSnapshot
) -> GraphSnapshot:
    """For an API key of one team: without items that only sources of other teams assert."""

    def counts(item: NodeAssertion | EdgeAssertion | Note) -> bool:
        in_reach = item.source is None or item.source.scope in (own_scope.key, team.key)
        return item.stands and in_reach

    roots = merge_roots_of(engine, own_scope, snapshot)
    found = engine.store.assertions(own_scope, AssertionQuery(nodes=[*roots], ends=[*roots]))
    present = {roots[t.node] for t in found.nodes if counts(t) and not t.is_mention}
    nodes = {id: n for id, n in snapshot.nodes.items() if n.is_owner or id in present}
    edge_ids = {assertion.edge for assertion in found.edges if counts(assertion)}
    in_reach = {own_scope.key, team.key}
    storylines = {
        id: storyline
        for id, storyline in snapshot.storylines.items()
        if storyline.anchor in nodes and all(each.scope in in_reach for each in storyline.sources)
    }
    return replace(
        snapshot,
        nodes=nodes,
        edges={
            id: edge
            for id, edge in snapshot.edges.items()
            if id in edge_ids and nodes.keys() >= set(edge.ends)
        },
        notes={about: tuple(filter(counts, notes)) for about, notes in snapshot.notes.items()},
        storylines=storylines,
        macros=_whole_macros(snapshot.macros, storylines),
    )


def sees_node(sight: Visibility, node: Node) -> bool:
    return _admits_sensitivity(sight, node.sensitivity) and sight.admits_category(node.category)


def sees_artifact(sight: Visibility, artifact: Artifact) -> bool:
    return _admits_sensitivity(sight, artifact.sensitivity) and sight.admits_category(OF_ARTIFACTS)


def sees_note(sight: Visibility, note: Note) -> bool:
    """What a night noted is the summary of a source: shown to those who may read sources."""
    admits = sight.sees_sources or note.added_by != SLEEP_ACTOR
    return admits and (sight.cleared or not is_sensitive(note))


def _admits_sensitivity(sight: Visibility, sensitivity: Sensitivity) -> bool:
    return sight.cleared or sensitivity is not Sensitivity.HIGH


def sees_edge(sight: Visibility, nodes: Mapping[str, Node], edge: Edge) -> bool:
    return _admits_sensitivity(sight, edge.sensitivity) and edge.a in nodes and edge.b in nodes


def sees_story(sight: Visibility, nodes: Mapping[str, Node], story: Story) -> bool:
    """A story names its anchor: who may not see that one does not see the story."""
    may_see = sight.admits_category(STORY_CATEGORY) and story.anchor in nodes
    return may_see and _admits_sensitivity(sight, story.sensitivity)


def _visible_notes(
    sight: Visibility,
    notes: Mapping[str, tuple[Note, ...]],
    about: Iterable[str],
    readable: Collection[str] | None,
) -> dict[str, tuple[Note, ...]]:
    return {
        id: tuple(
            _hide_unreadable_source(note, readable) for note in notes[id] if sees_note(sight, note)
        )
        for id in about
        if id in notes
    }


def _visible_artifacts(
    sight: Visibility,
    artifacts: Mapping[str, Artifact],
    readable: Collection[str] | None,
    now: datetime,
) -> dict[str, Artifact]:
    live = {id: each for id, each in artifacts.items() if not each.has_ended(now)}
    shown = {id: each for id, each in live.items() if sees_artifact(sight, each)}
    return {id: _hide_unreadable_source(each, readable) for id, each in shown.items()}


def _hide_unreadable_source(item: Citing, readable: Collection[str] | None) -> Citing:
    """Drop the source if it may not be read. ``readable`` None: sources were not asked for."""
    if readable is None or item.source is None or item.source.id in readable:
        return item
    return replace(item, source=None)


def _cited_sources(snapshot: GraphSnapshot) -> Iterator[str]:
    """The sources of all items in a snapshot."""
    yield from (mention.source for mention in snapshot.mentions)
    noted = (note for notes in snapshot.notes.values() for note in notes)
    yield from (note.source.id for note in noted if note.source)
    yield from (made.source.id for made in snapshot.artifacts.values() if made.source)
    for storyline in snapshot.storylines.values():
        yield from (source.id for source in storyline.sources)


def _readable_sources(
    engine: EngineContext,
    principal: Principal,
    sight: Visibility,
    cited: Iterable[str],
    whole: bool,
    silent: bool,
) -> tuple[dict[str, Source], dict[str, Team]]:
    """The sources that may be read now, and the teams that the principal is a member of."""
    if not sight.sees_sources:
        return {}, {}
    wanted = list(dict.fromkeys(cited))
    found: dict[str, Source] = {}
    teams: dict[str, Team] = {}
    for reading in readable_scopes(engine, principal, searching=False) if wanted or silent else ():
        visibility = sight if reading.is_own else visibility_in(principal, reading)
        member = principal.at(reading.scope) if whole else None
        if silent:
            found |= _list_sources(engine, reading, visibility)
        rest = [id for id in wanted if id not in found and reading.covers(id)]
        for source in engine.live_sources(reading.scope, rest) if rest else ():
            shown = visibility.admits_source(source) or (member and can_see_source(member, source))
            if source.state is State.ACTIVE and shown:
                found[source.id] = source
        is_in_it = reading.scope.is_team and not reading.is_guest
        if is_in_it and (team := engine.store.access(reading.scope).team):
            teams[team.id] = team
    return found, teams


def _list_sources(
    engine: EngineContext, reading: ReadableScope, sight: Visibility
) -> dict[str, Source]:
    listing = SourceListing(visibility=sight, among=reading.sources, limit=NO_LIMIT)
    return {source.id: source for source in engine.live_source_page(reading.scope, listing)}


def _graph_key(principal: Principal, sight: Visibility, snapshot: GraphSnapshot) -> GraphKey:
    sources = sorted(f"{source.id}@{source.version}" for source in snapshot.sources.values())
    return (
        principal.own_scope.key,
        str(snapshot.revision),
        str(sight.cleared),
        principal.team or "",
        *sorted(sight.categories if sight.categories is not None else ["*"]),
        str(hash(tuple(sources))),
        str(len(snapshot.artifacts)),  # some expire between two revisions
        *sorted(snapshot.teams),
    )


ME = "me"
EDGE_IDS_REMEDY = "`edges` lists relationships with their ids; `node` shows those of one node."
FIND_NODES_REMEDY = (
    "`explore` finds nodes; `people`, `concepts` and `entities` list them. To add a node: "
    "`nodes add`, or over MCP `relate` with `name`."
)

OWNER_NODE_REMEDY = (
    "The owner's node is created with the first item in the graph: ingest a text, or use "
    "`nodes add`, `relate` or `note`."
)


def find_node(
    known: NameIndex, named: str, field: str = "id", type: NodeType | None = None
) -> Node:
    """``known``: the names that the caller may see."""
    if named.startswith(NODE_PREFIX):
        node = known.nodes.get(named)
    elif named.casefold() == ME:
        node = known.owner
    else:
        node = _find_by_name(known, named, field, type)
    if node is None or (type is not None and node.type is not type):
        remedy = OWNER_NODE_REMEDY if named.casefold() == ME else FIND_NODES_REMEDY
        raise NotFound(f"There is no {named!r} in the graph.", remedy=remedy, field=field)
    return node


def find_unambiguous_node(engine: EngineContext, principal: Principal, named: str) -> Node | None:
    """The node of this name, if exactly one matches; the text may also be no name at all."""
    if ":" in named:
        return None
    try:
        return find_node(
            build_name_index(visible_graph(engine, principal).snapshot.nodes.values()), named
        )
    except (NotFound, InvalidInput):
        return None


def _find_by_name(known: NameIndex, name: str, field: str, type: NodeType | None) -> Node | None:
    """By primary name, else by alias, else by a similar name."""
    types, key = [type] if type else list(NodeType), name_key(name)
    exact = [id for each in types for id in known.by_key.get((each, key), ())]
    primary = [id for id in exact if known.nodes[id].key == key]
    guessed = [] if exact else [resolve_node(known, each, [name]) for each in types]
    found = [*(primary or exact), *guessed]
    ids = [id for id in found if id is not None and id is not Ambiguous.SEVERAL]
    if Ambiguous.SEVERAL in found or len(set(ids)) > 1:
        raise InvalidInput(
            f"Several nodes have the name {name!r}.",
            remedy="Give the id of the one you mean; people, concepts and entities list them.",
            field=field,
        )
    return known.nodes[ids[0]] if ids else None
