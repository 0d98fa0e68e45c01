"""Ids as people type them: a unique prefix is completed, and an item is described by its id.

The candidates come from the verbs' own lookups, so a prefix matches only items that are visible to
the caller, on any database.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from commonplace.api.account import KeyVerbs
from commonplace.api.commonplace import Commonplace
from commonplace.api.handle import MAX_K
from commonplace.api.user import User
from commonplace.errors import InvalidInput, NotAllowed, NotFound
from commonplace.lazy import lazy_imports
from commonplace.model.filters import OWNER_VISIBILITY
from commonplace.model.memory.memory import State
from commonplace.store.queries import NO_LIMIT, EndedQuery, GraphQuery, MemoryListing

with lazy_imports(__name__):
    from commonplace.engine.access import can_see
    from commonplace.engine.graph.artifacts import ShownArtifact
    from commonplace.engine.graph.remove import is_graph_id
    from commonplace.engine.graph.visible_graph import find_unambiguous_node, visible_graph
    from commonplace.engine.graph_search.listing import WholeEdge, WholeNode
    from commonplace.engine.graph_search.stories.story_listing import WholeStoryline
    from commonplace.engine.memories.listing import ShownMemory
    from commonplace.engine.sources.listing import ShownSource

SHORTEST = 6  # characters
_SHOWN = 10  # matches that an error lists
_PREFIX = re.compile(rf"(?:[a-z]+:)?[0-9a-f][0-9a-f-]{{{SHORTEST - 1},34}}(?:#\d+)?")
_TOO_SHORT = re.compile(rf"(?:[a-z]+:)?[0-9a-f]{{1,{SHORTEST - 1}}}(?:#\d+)?")


class IdKind(StrEnum):
    """The kind of item that an id identifies."""

    MEMORY = "memory"
    SOURCE = "source"
    GRAPH = "graph"  # nodes, edges, notes, artifacts, storylines and macros
    CONFLICT = "conflict"
    HELD = "held"
    PROPOSAL = "proposal"
    INVITATION = "invitation"
    JOB = "job"
    RUN = "run"
    KEY = "key"
    ADMIN_KEY = "admin key"
    SERVICE_KEY = "service key"
    TEAM = "team"


ITEMS = (IdKind.MEMORY, IdKind.SOURCE, IdKind.GRAPH)


def complete_id(
    handle: User | KeyVerbs | Commonplace, given: str, kinds: Sequence[IdKind], field: str
) -> str:
    """The only id with this prefix. A text that is no prefix, or matches nothing, is returned
    unchanged for the verb to check; an ambiguous prefix is an error."""
    if not _PREFIX.fullmatch(given) or _is_a_name(handle, given, kinds):
        return given
    start, mark, passage = given.partition("#")
    found = sorted({id for kind in kinds for id in _ids(handle, kind) if _begins(id, start)})
    if not found or start in found:
        return given
    if len(found) > 1:
        shown = ", ".join(found[:_SHOWN]) + (", …" if len(found) > _SHOWN else "")
        raise InvalidInput(
            f"{start!r} is ambiguous: {len(found)} ids begin with it.",
            remedy=f"Give more characters: {shown}",
            field=field,
        )
    return f"{found[0]}{mark}{passage}"


def is_too_short(given: str) -> bool:
    """Whether it looks like a prefix of an id, with too few characters to be completed."""
    return _TOO_SHORT.fullmatch(given) is not None


def describe_item(me: User, id: str) -> str:
    """The text of an item that can be erased; an error if there is none with this id."""
    try:
        shown = me._show_by_id(id)
    except NotFound:
        if not any(id == each for kind in _ERASABLE for each in _ids(me, kind)):
            raise
        return ""
    if isinstance(shown, ShownMemory):
        disputed = "disputed, with its held values: " if shown.memory.conflict else ""
        return disputed + shown.memory.headline
    if isinstance(shown, ShownSource):
        if "#" in id:
            return next(each.text for each in shown.passages if each.id == id)
        return shown.source.title or shown.source.summary
    if isinstance(shown, WholeNode):
        if is_graph_id(id):
            return shown.node.name
        remedy = f"Give its id: {shown.node.id} is called {shown.node.name!r}."
        raise NotFound(f"There is no {id!r} here.", remedy=remedy, field="ids")
    if isinstance(shown, ShownArtifact):
        return shown.artifact.name
    if isinstance(shown, WholeEdge):
        edge = shown.edge
        return f"{edge.from_name} {edge.relationship_type} {edge.to_name}"
    return shown.storyline.name if isinstance(shown, WholeStoryline) else shown.macro.name


_ERASABLE = (*ITEMS, IdKind.HELD, IdKind.PROPOSAL)


def _begins(id: str, start: str) -> bool:
    return id.startswith(start) or id.partition(":")[2].startswith(start)


def _is_a_name(handle: User | KeyVerbs | Commonplace, given: str, kinds: Sequence[IdKind]) -> bool:
    return (
        IdKind.GRAPH in kinds
        and isinstance(handle, User)
        and find_unambiguous_node(handle._engine, handle.principal, given) is not None
    )


def _ids(handle: User | KeyVerbs | Commonplace, kind: IdKind) -> Iterable[str]:
    try:
        if kind is IdKind.ADMIN_KEY and isinstance(handle, Commonplace):
            return [key.id for key in handle.admin_keys()]
        if kind is IdKind.SERVICE_KEY and isinstance(handle, Commonplace):
            return [key.id for key in handle.service_keys()]
        if kind is IdKind.KEY and isinstance(handle, User | KeyVerbs):
            listed = handle.keys()
            return [key.id for key in listed]
        return _OF_USERS[kind](handle) if isinstance(handle, User) and kind in _OF_USERS else ()
    except NotAllowed:  # the verb raises it, too
        return ()


def _memories(me: User) -> Iterable[str]:
    """Includes forgotten memories and old versions: they can be restored and shown."""
    listing = MemoryListing(visibility=OWNER_VISIBILITY, states=tuple(State), limit=NO_LIMIT)
    found = me._engine.store.page(me.principal.scope, listing)
    return [memory.id for memory in found if can_see(me.principal, memory)]


def _sources(me: User) -> Iterator[str]:
    for forgotten in (False, True):
        after = None
        while True:
            page = me.sources(limit=MAX_K, after=after, forgotten=forgotten)
            yield from (source.id for source in page.sources)
            after = page.next
            if after is None:
                break


def _of_the_graph(me: User) -> Iterator[str]:
    scope, snapshot = me.principal.scope, visible_graph(me._engine, me.principal).snapshot
    yield from snapshot.nodes
    yield from snapshot.edges
    yield from snapshot.artifacts
    yield from (story.id for story in snapshot.stories())
    yield from (note.id for notes in snapshot.notes.values() for note in notes)
    if me.principal.is_owner:
        yield from me._engine.store.ended_graph_items(scope, EndedQuery()).forgotten
        yield from (
            node.id
            for node in me._engine.store.graph_items(
                scope, GraphQuery(merged_into=list(snapshot.nodes))
            ).nodes
        )


def _conflicts(me: User) -> Iterable[str]:
    """Whatever resolve decides."""
    questions = me.conflicts(limit=MAX_K, alternatives=True)
    return [
        *(each.id for each in questions),
        *(each.id for each in me.forget_requests(limit=MAX_K)),
    ]


def _held(me: User) -> Iterable[str]:
    questions = me.conflicts(limit=MAX_K, alternatives=True)
    return [side.id for question in questions for side in question.held]


_OF_USERS: Mapping[IdKind, Callable[[User], Iterable[str]]] = {
    IdKind.MEMORY: _memories,
    IdKind.SOURCE: _sources,
    IdKind.GRAPH: _of_the_graph,
    IdKind.CONFLICT: _conflicts,
    IdKind.HELD: _held,
    IdKind.PROPOSAL: lambda me: [each.id for each in me.proposals(limit=MAX_K)],
    IdKind.INVITATION: lambda me: [each.id for each in me.sources_invitations(limit=MAX_K)],
    IdKind.JOB: lambda me: [each.id for each in me.jobs(limit=MAX_K)],
    IdKind.RUN: lambda me: [each.id for each in me.sleep_log(limit=MAX_K) if each.id],
    IdKind.TEAM: lambda me: [each.id for each in me.teams()],
}
