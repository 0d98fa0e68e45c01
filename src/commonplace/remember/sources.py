"""Forgetting, restoring and erasing whole sources: the steps, for the verbs that name ids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from commonplace.desk import Desk
from commonplace.errors import InvalidInput, NotFound
from commonplace.model.changes import ChangeSource, RemoveSource
from commonplace.model.journal import Entry, Event, Node, Op
from commonplace.model.memory import Sensitivity, State
from commonplace.model.scope import Principal
from commonplace.model.source import CATEGORY, Source, is_source_id, split_passage_id


def of_sources(desk: Desk, principal: Principal, ids: Sequence[str]) -> dict[str, str]:
    """Those of the ids that name a source → its id: by the id, or by its name where it came from
    (`file:/path`). A passage cannot be forgotten alone."""
    found: dict[str, str] = {}
    for id in ids:
        if is_source_id(id):
            source, number = split_passage_id(id)
            if number is not None:
                raise _is_a_passage(id, source)
            found[id] = source
        elif alias := _by_alias(desk, principal, id):
            found[id] = alias
    return found


def _by_alias(desk: Desk, principal: Principal, id: str) -> str | None:
    origin, colon, external_id = id.partition(":")
    if not colon or origin in _NO_ORIGINS:
        return None
    origin = _SAME_ORIGIN.get(origin, origin)
    source = desk.store.source_called(principal.scope, origin, external_id)
    return source.id if source else None


_NO_ORIGINS = frozenset({"profile", "node", "edge", "storyline", "macro", "artifact"})
_SAME_ORIGIN = {"bespoke": "file"}


def find_sources(
    desk: Desk,
    principal: Principal,
    ids: Sequence[str],
    acceptable: Callable[[Source], bool] = lambda source: True,
) -> list[Source]:
    """All of them, or NotFound naming the first that is not there for this caller."""
    found = {source.id: source for source in desk.store.sources(principal.scope, ids)}
    for id in ids:
        source = found.get(id)
        if source is None or not may_see(principal, source) or not acceptable(source):
            raise NotFound(f"There is no {id!r} here.", field="ids")
    return [found[id] for id in dict.fromkeys(ids)]


def may_see(principal: Principal, source: Source) -> bool:
    """By id, the owner sees everything of theirs; an agent only what it is cleared for."""
    if principal.is_owner or principal.cleared:
        return True
    return source.sensitivity is not Sensitivity.HIGH


def is_there(source: Source, now: datetime) -> bool:
    """Not past its purge: the night has only not come yet."""
    return source.purge_at is None or source.purge_at > now


def forget_source(source: Source, now: datetime, until: datetime) -> ChangeSource:
    after = source.evolve(state=State.SOFT_DELETED, purge_at=until, **_next(source, now))
    return ChangeSource(source, after, _told(source, after, Op.DELETE, Event.DELETE))


def revive_source(source: Source, now: datetime) -> ChangeSource:
    after = source.evolve(state=State.ACTIVE, purge_at=None, **_next(source, now))
    return ChangeSource(source, after, _told(source, after, Op.RESTORE, Event.RESTORE))


def remove_source(source: Source, event: Event, node: Node = Node.HOTPATH) -> RemoveSource:
    """Gone for good. Who may not know of it is not told of its end either."""
    hidden = source.sensitivity is Sensitivity.HIGH
    entry = Entry(
        op=Op.DELETE,
        event=event,
        node=node,
        subject=source.id,
        category=None if event is Event.ERASE else CATEGORY,
        old_ref=source.ref,
        meta={"sensitivity": str(source.sensitivity)} if hidden else {},
    )
    return RemoveSource(source.id, entry)


def _next(source: Source, now: datetime) -> dict[str, object]:
    return {"updated_at": now, "version": source.version + 1}


def _told(before: Source, after: Source, op: Op, event: Event) -> Entry:
    return Entry(
        op=op,
        event=event,
        subject=after.id,
        category=CATEGORY,
        old_ref=before.ref,
        new_ref=after.ref,
    )


def _is_a_passage(id: str, source: str) -> InvalidInput:
    return InvalidInput(
        f"{id} is a passage: it belongs to a source.",
        remedy=f"Forget the whole source: forget {source}.",
        field="ids",
    )
