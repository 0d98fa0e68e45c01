"""Forgetting, restoring and erasing whole sources: the steps, for the verbs that name ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from commonplace.desk import Desk, can_see_source
from commonplace.errors import InvalidInput, NotFound
from commonplace.model.changes import ChangeSource, Enqueue, Step, Withdraw
from commonplace.model.filters import WHOLE, Filters
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.memory import Memory, State
from commonplace.model.owed import is_to_be_processed, processing
from commonplace.model.scope import Principal
from commonplace.model.source import (
    CATEGORY,
    Source,
    Status,
    is_source_id,
    split_alias,
    split_passage_id,
)
from commonplace.remember.supports import source_of, turns_behind
from commonplace.store.port import EVERYTHING, Listing


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
        elif named := _by_alias(desk, principal, id):
            found[id] = named
    return found


def _by_alias(desk: Desk, principal: Principal, id: str) -> str | None:
    alias = split_alias(id)
    source = desk.source_called(principal.scope, *alias) if alias else None
    return source.id if source and can_see_source(principal, source) else None


def find_sources(
    desk: Desk,
    principal: Principal,
    ids: Sequence[str],
    acceptable: Callable[[Source], bool] = lambda source: True,
) -> list[Source]:
    """All of them, or NotFound naming the first that is not there for this caller."""
    found = {source.id: source for source in desk.sources(principal.scope, ids)}
    for id in ids:
        source = found.get(id)
        if source is None or not can_see_source(principal, source) or not acceptable(source):
            raise NotFound(f"There is no {id!r} here.", field="ids")
    return [found[id] for id in dict.fromkeys(ids)]


def still_told(desk: Desk, principal: Principal, memories: Sequence[Memory]) -> tuple[str, ...]:
    """Where the words of memories that go still stand in conversations, as far as the caller may
    know of these."""
    turns = list(dict.fromkeys(turn for memory in memories for turn in turns_behind(memory)))
    sources = desk.sources(principal.scope, list({source_of(turn) for turn in turns}))
    live = {s.id for s in sources if s.state is State.ACTIVE and can_see_source(principal, s)}
    return tuple(turn for turn in turns if source_of(turn) in live)


def told_by(desk: Desk, principal: Principal, sources: Iterable[str]) -> list[Memory]:
    """What came out of these sources, whatever its state."""
    return [
        memory
        for source in sources
        for memory in desk.store.page(
            principal.scope,
            Listing(
                filters=Filters(source_id=source),
                states=tuple(State),
                visibility=WHOLE,
                limit=EVERYTHING,
            ),
        )
    ]


def is_there(source: Source, now: datetime) -> bool:
    """Not past its purge: the night has only not come yet."""
    return source.purge_at is None or source.purge_at > now


def forget_source(source: Source, now: datetime, until: datetime) -> tuple[Step, ...]:
    after = source.evolve(state=State.SOFT_DELETED, purge_at=until, **_next(source, now))
    told = _told(source, after, Op.DELETE, Event.DELETE)
    return ChangeSource(source, after, told), Withdraw((source.id,))


def revive_source(source: Source, now: datetime, job_id: str) -> tuple[Step, ...]:
    """One that was forgotten before it was processed is owed that again."""
    after = source.evolve(state=State.ACTIVE, purge_at=None, **_next(source, now))
    change = ChangeSource(source, after, _told(source, after, Op.RESTORE, Event.RESTORE))
    if source.status is not Status.RAW:
        return (change,)
    return change, Enqueue(processing(after, job_id, now, awaited=False))


def to_be_processed(desk: Desk, sources: Sequence[Source], now: datetime) -> list[Enqueue]:
    """Of sources that come in, or come back: the work that they still need."""
    return [
        Enqueue(processing(source, desk.new_id(), now, awaited=False))
        for source in sources
        if is_to_be_processed(source)
    ]


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
