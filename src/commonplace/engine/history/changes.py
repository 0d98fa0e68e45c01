"""Changes since an agent's last read (delta), item history, change log, event log."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from commonplace.engine.access import can_see_source, visibility_of
from commonplace.engine.context import EngineContext
from commonplace.errors import NotFound
from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.language.text.tokens import count_tokens
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import Bookkeeping
from commonplace.model.delta import MAX_BULLETS, ChangeSummary, Delta, net_changes
from commonplace.model.filters import Visibility
from commonplace.model.graph.elements import ARTIFACT_PREFIX as ARTIFACT
from commonplace.model.graph.elements import EDGE_PREFIX as EDGE
from commonplace.model.graph.elements import NODE_PREFIX as NODE
from commonplace.model.graph.elements import Artifact, Edge, Node
from commonplace.model.journal import ChangeRow, Event, EventRow, HistoryRow, JournalRow, Op
from commonplace.model.memory.memory import Memory
from commonplace.model.paging import items_after, take_page
from commonplace.model.sources.source import Source, is_source_id
from commonplace.store.queries import NO_LIMIT, GraphQuery, HeldQuery, JournalQuery

with lazy_imports(__name__):
    from commonplace.engine.graph.visible_graph import sees_artifact
    from commonplace.engine.memories.inbox import hide_unseen_disputes
    from commonplace.engine.prompt_injection import is_prompt_injection, is_quoted

OWNER_CURSOR = ""  # the owner also has a cursor per thread
_OF_KEY = "\x1f"  # before the id of a key; in no agent's name
PAGE_GROWTH = 4  # factor for reading more rows until a page is full
SHORT_DELTA_LINES = 300  # journal rows that are read at first for three bullets
_DELTA_GROWTH = 8

JournalItem = Memory | Source | Node | Edge | Artifact


def read_changes(
    engine: EngineContext, principal: Principal, thread: str, since: int | None
) -> Delta:
    """All changes since the cursor, by any actor in any thread; moves the cursor."""
    with engine.store.read_session():
        delta = load_delta(engine, principal, thread, since)
    move_cursor(engine, principal, thread, delta)
    return delta


def load_delta(
    engine: EngineContext,
    principal: Principal,
    thread: str,
    since: int | None = None,
    *,
    in_short: bool = False,
) -> Delta:
    """``in_short``: load at least what a header shows; the rest may be incomplete."""
    scope = principal.scope
    cursor = since
    if since is None:
        cursor = engine.store.cursor(scope, _cursor_owner(principal), thread)
    start, is_first = cursor or 0, cursor is None
    revision = engine.store.counters(scope).revision
    if revision <= start:
        return Delta(start, revision, (), is_first=is_first)
    if not in_short:
        query = JournalQuery(after_revision=start, events_only=True)
        changes = _visible_changes(engine, principal, engine.store.journal(scope, query), revision)
        return Delta(start, revision, changes, is_first=is_first)
    visibility, lines = visibility_of(principal), SHORT_DELTA_LINES
    while True:  # most important first; rows may cancel each other
        query = JournalQuery(after_revision=start, news_for=visibility, newest=lines)
        found = engine.store.journal(scope, query)
        is_whole = len(found) < lines
        if not is_whole:  # the last item's rows may be incomplete
            found = [row for row in found if row.entry.subject != found[-1].entry.subject]
        changes = _visible_changes(engine, principal, found, revision)
        if is_whole or sum(not change.derived for change in changes) > MAX_BULLETS:
            return Delta(start, revision, changes, is_whole=is_whole, is_first=is_first)
        lines *= _DELTA_GROWTH


def _visible_changes(
    engine: EngineContext, principal: Principal, journal: Sequence[JournalRow], revision: int
) -> tuple[ChangeSummary, ...]:
    rows = sorted((row for row in journal if row.revision <= revision), key=lambda row: row.seq)
    known = _load_items(engine, principal, _subjects(rows))
    visible = _visible_rows(visibility_of(principal), rows, known)
    changes = net_changes(visible, known.get, engine.clock())
    return tuple(_without_injected_text(change, known.get(change.id)) for change in changes)


def _without_injected_text(change: ChangeSummary, item: JournalItem | None) -> ChangeSummary:
    """Headers become part of a prompt: a suspected prompt injection is listed without its text,
    other words of sources are fenced."""
    if item is None:
        return change
    if not is_prompt_injection(item):
        return replace(change, quoted=is_quoted(item))
    category = None if is_suspicious(change.category or "") else change.category
    return replace(change, text="", category=category)


def move_cursor(engine: EngineContext, principal: Principal, thread: str, delta: Delta) -> None:
    """Mark the delta as read. The first look is marked, too, if nothing is there yet."""
    if delta.revision > delta.since or delta.is_first:
        cursor = (_cursor_owner(principal), thread, delta.revision)
        engine.store.record(Bookkeeping(principal.scope, engine.clock(), cursor=cursor))


def fit_header(delta: Delta, budget: int) -> str:
    """As many of the most important changes as fit; empty if none fits."""
    for bullets in range(MAX_BULLETS, 0, -1):
        header = delta.header_of(bullets)
        if count_tokens(header) <= budget:
            return header
    return ""


def _cursor_owner(principal: Principal) -> str:
    """A read-only key that names an agent has a cursor of its own: it does not move the agent's."""
    agent = principal.agent or OWNER_CURSOR
    return f"{agent}{_OF_KEY}{principal.key}" if principal.borrows_agent else agent


def _visible_rows(
    visibility: Visibility, rows: Sequence[JournalRow], known: Mapping[str, JournalItem]
) -> list[JournalRow]:
    """The rows of visible items. For removed items, the row of the removal records who could not
    see them."""
    hidden = {item.id for item in known.values() if not _admits(visibility, item, known)}
    hidden |= {
        row.entry.subject
        for row in rows
        if row.entry.subject and _is_hidden_from(visibility, row, row.entry.subject in known)
    }
    return [row for row in rows if not hidden & {row.entry.subject, _other_end(row)}]


def _other_end(row: JournalRow) -> str | None:
    return row.entry.new_ref if row.entry.event is Event.LINK else None


def _load_items(
    engine: EngineContext, principal: Principal, subjects: Sequence[str]
) -> dict[str, JournalItem]:
    """Edges are loaded with both nodes, which decide their visibility."""
    store, scope = engine.store, principal.scope
    graph_ids = [id for id in subjects if id.startswith((NODE, EDGE))]
    sources = [id for id in subjects if is_source_id(id)]
    artifacts = [id for id in subjects if id.startswith(ARTIFACT)]
    memories = sorted({*subjects} - {*graph_ids, *sources, *artifacts})
    found: list[JournalItem] = [
        *hide_unseen_disputes(engine, principal, store.fetch(scope, memories))
    ]
    found += engine.live_sources(scope, sources)
    found += (
        store.graph_items(scope, GraphQuery(artifacts=artifacts)).artifacts if artifacts else ()
    )
    edges = store.graph_items(
        scope, GraphQuery(edges=[id for id in graph_ids if id.startswith(EDGE)])
    ).edges
    ends = [end for edge in edges for end in edge.ends]
    found += [*edges, *store.graph_items(scope, GraphQuery(nodes=[*ends, *graph_ids])).nodes]
    return {item.id: item for item in found}


def _admits(visibility: Visibility, item: JournalItem, known: Mapping[str, JournalItem]) -> bool:
    match item:
        case Source():
            return visibility.admits_source(item)
        case Node():
            return visibility.admits_node(item)
        case Edge():
            ends = [end for id in item.ends if isinstance(end := known.get(id), Node)]
            return visibility.admits_edge(item, ends)
        case Artifact():
            return sees_artifact(visibility, item)
        case _:
            return visibility.admits(item)


def _is_hidden_from(visibility: Visibility, row: JournalRow, exists: bool) -> bool:
    """True if the row's item is hidden. An existing item is judged by its current fields, a removed
    one by its last row."""
    meta = row.entry.meta
    if not exists and not visibility.admits_category(row.entry.category):
        return True
    too_sensitive = meta.get("sensitivity") == "high" and not visibility.cleared
    someone_elses_soul = (
        visibility.agent is not None and meta.get("soul_of", visibility.agent) != visibility.agent
    )
    return too_sensitive or someone_elses_soul


def read_history(engine: EngineContext, principal: Principal, id: str) -> list[HistoryRow]:
    """The history of an item, newest first. An erased item has a row without text."""
    rows = engine.store.journal(
        principal.scope, JournalQuery(subject=id, events_only=True, newest=NO_LIMIT)
    )
    known = _load_items(engine, principal, [id])
    item = known.get(id)
    if not principal.is_in_own_scope:
        visible = isinstance(item, Source) and can_see_source(principal, item)
    else:
        visible = (
            item is None or principal.is_owner or _admits(visibility_of(principal), item, known)
        )
    visible_rows = _visible_to(engine, principal, rows)
    if not visible_rows or not visible:
        raise NotFound(f"There is no {id!r} here.", field="id")
    return [row.as_history() for row in _hide_unseen_names(engine, principal, visible_rows)]


def read_change_log(
    engine: EngineContext, principal: Principal, thread: str, limit: int, after: str | None = None
) -> list[ChangeRow]:
    query = JournalQuery(thread_id=thread, events_only=True)
    rows = _newest_visible_to(engine, principal, query, limit, after)
    return [row.as_change() for row in _hide_unseen_names(engine, principal, rows)]


def read_events(
    engine: EngineContext, principal: Principal, limit: int, after: str | None = None
) -> list[EventRow]:
    rows = _newest_visible_to(engine, principal, JournalQuery(), limit, after)
    return [row.as_event() for row in rows]


def _newest_visible_to(
    engine: EngineContext, principal: Principal, query: JournalQuery, limit: int, after: str | None
) -> list[JournalRow]:
    """A full page if there are enough visible rows: a shorter one would reveal the number of hidden
    rows. Always loaded from the newest row on: the last row of a removed item decides the
    visibility of its earlier rows."""
    newest = limit
    while True:
        rows = engine.store.journal(principal.scope, replace(query, newest=newest))
        visible = _visible_to(engine, principal, rows)
        if len(items_after(visible, after) or ()) >= limit or len(rows) < newest:
            return take_page(visible, after, limit)
        newest *= PAGE_GROWTH


def _visible_to(
    engine: EngineContext, principal: Principal, rows: Sequence[JournalRow]
) -> list[JournalRow]:
    """An agent gets only rows of visible items: an id alone reveals that an item exists. Rows
    without an item, such as searches, are shown to their actor only."""
    if principal.is_owner:
        return list(rows)
    visible = _visible_rows(
        visibility_of(principal), rows, _load_items(engine, principal, _subjects(rows))
    )
    seen = [row for row in visible if row.entry.subject or row.actor == principal.actor]
    return _without_proposals_of_others(principal, seen)


def _without_proposals_of_others(
    principal: Principal, rows: Sequence[JournalRow]
) -> list[JournalRow]:
    """Proposals are visible to their proposer and the owner. An agent sees the results of its own
    proposals, and that a field was written."""
    own = {
        row.entry.meta.get("proposal")
        for row in rows
        if row.entry.op is Op.PROPOSE and row.actor == principal.actor
    }
    return [
        row
        for row in rows
        if not (row.entry.event is Event.CONSENT or row.entry.op is Op.PROPOSE)
        or row.entry.new_ref
        or row.actor == principal.actor
        or (row.entry.op is Op.RESOLVE and row.entry.meta.get("proposal") in own)
    ]


_NAMING_FIELDS = (
    "superseded_by",
    "held",
    "alternative",
    "alternatives",
)  # ids of other items in a row's meta


def _hide_unseen_names(
    engine: EngineContext, principal: Principal, rows: Sequence[JournalRow]
) -> list[JournalRow]:
    """Remove ids of hidden items from the rows of visible ones."""
    if principal.is_owner:
        return list(rows)
    ids = sorted({id for row in rows for name in _NAMING_FIELDS for id in _named_ids(row, name)})
    visibility = visibility_of(principal)
    known: list[Memory] = engine.store.fetch(principal.scope, ids)
    known += [held.memory for held in engine.store.held(principal.scope, HeldQuery(ids=ids))]
    seen = {memory.id for memory in known if visibility.admits(memory)}
    return [_without_unseen(row, seen) for row in rows]


def _named_ids(row: JournalRow, name: str) -> Sequence[str]:
    value = row.entry.meta.get(name, ())
    return [value] if isinstance(value, str) else value


def _without_unseen(row: JournalRow, seen: Collection[str]) -> JournalRow:
    hidden = {
        name for name in _NAMING_FIELDS if any(id not in seen for id in _named_ids(row, name))
    }
    if not hidden:
        return row
    meta = {name: value for name, value in row.entry.meta.items() if name not in hidden}
    return replace(row, entry=replace(row.entry, meta=meta))


def _subjects(rows: Sequence[JournalRow]) -> list[str]:
    named = {id for row in rows for id in (row.entry.subject, _other_end(row)) if id}
    return sorted(named)
