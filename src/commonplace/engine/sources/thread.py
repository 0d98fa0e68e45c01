"""Thread sources: one conversation source that grows turn by turn.

The cost of a turn does not depend on the length of the thread: stored passages are not parsed,
split, checked or embedded again. A worker refreshes the description of the whole whenever the
conversation has grown by a quarter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

from commonplace.engine.context import EngineContext
from commonplace.engine.follow_up_jobs import build_describe_job, build_process_job
from commonplace.engine.sources.blot import blot
from commonplace.engine.sources.formats.conversation import write_json_lines
from commonplace.engine.sources.formats.input import speakers_in, time_span_of
from commonplace.engine.sources.originals import IngestAction, IngestRequest, ParsedOriginal
from commonplace.engine.sources.process import cut_into_passages, growth_milestone
from commonplace.engine.sources.receive import derived_alias, new_source
from commonplace.engine.sources.reingest import append_part
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import (
    AddSource,
    ChangesetStep,
    ChangeSource,
    EnqueueJob,
    IndexEntry,
)
from commonplace.model.journal import Entry
from commonplace.model.memory.memory import State
from commonplace.model.parameters import SourceFormat
from commonplace.model.sources.source import (
    MAX_PARTS,
    THREAD_ORIGIN,
    UTC_OFFSET,
    ContentType,
    ConversationTurn,
    ParsedSource,
    Passage,
    ProcessingStatus,
    Source,
    SourceTurn,
    SourceType,
    check_alias,
)
from commonplace.store.queries import PassagesOf

DUPLICATE_WINDOW = 50  # last passages that are checked for turns sent again


@dataclass(frozen=True, slots=True)
class ThreadUpdate:
    """The new turns of one thread, as a part of the original and as passages. The passages are
    numbered when the source is known."""

    thread: str
    parsed: ParsedOriginal
    passages: tuple[tuple[Source, Passage], ...]  # with a draft source of these turns only
    conversation_turns: tuple[ConversationTurn, ...]  # distinct
    turns: tuple[int, ...]  # submitted turn -> number of its distinct turn, from 1

    def of_turn(self, place: int) -> list[int]:
        """Indexes of the passages of a submitted turn; ``place`` counts from 1."""
        turn = self.turns[place - 1]
        return [n for n, (_, passage) in enumerate(self.passages) if passage.turn == turn]


@dataclass(frozen=True, slots=True)
class GrownThread:
    """The thread's source with the new turns, and the steps to apply."""

    source: Source
    steps: tuple[ChangesetStep, ...]
    passages: tuple[str, ...]  # ids of the update's passages; empty until processed


def thread_updates(
    engine: EngineContext, principal: Principal, turns: Sequence[ConversationTurn]
) -> list[ThreadUpdate]:
    threads = dict.fromkeys(turn.thread for turn in turns)
    return [
        _thread_update(engine, principal, t, [u for u in turns if u.thread == t]) for t in threads
    ]


def last_passage(engine: EngineContext, principal: Principal, thread: str) -> Passage | None:
    """What was said last in a thread; None if nothing is stored."""
    last = last_passages(engine, principal, thread, 1)
    return last[0][1] if last else None


def last_passages(
    engine: EngineContext, principal: Principal, thread: str, count: int
) -> list[tuple[Source, Passage]]:
    """What was said last in a thread, oldest first, without what is forgotten."""
    source, _ = _current_source(engine, principal, thread)
    if source is None or not source.passages:
        return []
    last = PassagesOf(source.id, max(1, source.passages - count + 1), source.passages)
    return [(source, each) for each in engine.store.passages(source.scope, last).values()]


def _distinct_turns(
    turns: Sequence[ConversationTurn],
) -> tuple[tuple[ConversationTurn, ...], tuple[int, ...]]:
    """The distinct turns, and for each given turn its number among them, from 1."""
    distinct: list[ConversationTurn] = []
    places = []
    for turn in turns:
        if not (turn.is_dated and turn in distinct):
            distinct.append(turn)
            places.append(len(distinct))
        else:
            places.append(distinct.index(turn) + 1)
    return tuple(distinct), tuple(places)


def _thread_update(
    engine: EngineContext, principal: Principal, thread: str, submitted: Sequence[ConversationTurn]
) -> ThreadUpdate:
    distinct, places = _distinct_turns(submitted)
    turns = tuple(
        SourceTurn(
            text=each.text,
            speaker=each.speaker,
            role=str(each.role),
            at=each.at.astimezone(UTC),
            session=each.session,
        )
        for each in distinct
    )
    first, last = time_span_of(turns)
    original = IngestRequest(
        raw=write_json_lines(turns),
        append=True,
        source_type=SourceType.CHAT,
        thread_id=thread,
    )
    reading = ParsedSource(
        source_type=SourceType.CHAT,
        content_type=ContentType.CONVERSATION,
        turns=turns,
        participants=speakers_in(turns),
        started_at=first,
        ended_at=last,
        provenance=_time_zone(distinct[0].at),
    )
    parsed = ParsedOriginal(original, reading, SourceFormat.CONVERSATION, engine.clock())
    _, draft, _ = new_source(engine, principal, parsed, check_alias(THREAD_ORIGIN, thread))
    passages = cut_into_passages(draft, turns)
    return ThreadUpdate(
        thread, parsed, tuple((draft, passage) for passage in passages), distinct, places
    )


def _time_zone(at: datetime) -> dict[str, Any]:
    offset = (at.utcoffset() or timedelta()) // timedelta(minutes=1)
    return {UTC_OFFSET: offset} if offset else {}


def grow_thread(
    engine: EngineContext, principal: Principal, update: ThreadUpdate, indexes: Sequence[IndexEntry]
) -> GrownThread:
    """Called again if a concurrent write wins."""
    existing, alias = _current_source(engine, principal, update.thread)
    if existing is None:
        (step,), source, _ = new_source(engine, principal, update.parsed, alias)
        assert isinstance(step, AddSource)
        return _started_thread(engine, step, source, update, indexes)
    if existing.status is not ProcessingStatus.RAW and (
        stored := _already_stored_turns(engine, update, existing)
    ):
        return _grow_with_new_turns(engine, principal, update, indexes, existing, stored)
    steps, source, outcome = append_part(principal, update.parsed, existing)
    if outcome is not IngestAction.APPENDED:  # a retry
        return GrownThread(
            existing, (), _ids(existing, existing.passages - len(update.passages), update)
        )
    *earlier, step = steps
    if existing.status is ProcessingStatus.RAW:  # an ingested beginning is not processed yet
        at = update.parsed.at
        process_job = EnqueueJob(build_process_job(source, engine.new_id(), at, awaited=False))
        turns = len(update.parsed.reading.turns)
        return GrownThread(source, (*earlier, _with_turn_count(step, turns), process_job), ())
    return _continued_thread(engine, (*earlier, step), existing, source, update, indexes)


def _already_stored_turns(
    engine: EngineContext, update: ThreadUpdate, existing: Source
) -> dict[int, list[str]]:
    """Turn number -> passage ids, for turns that are among the source's last passages already."""
    if not any(turn.is_dated for turn in update.conversation_turns):
        return {}
    first = max(1, existing.passages - DUPLICATE_WINDOW + 1)
    stored = list(
        engine.store.passages(
            existing.scope, PassagesOf(existing.id, first, existing.passages, hidden=True)
        ).values()
    )
    by_words: dict[object, list[str]] = {}
    for _, own in groupby(stored, key=lambda passage: passage.turn):
        pieces = list(own)
        by_words[_turn_key(pieces)] = [piece.id for piece in pieces]
    own_pieces = {
        turn: [p for _, p in update.passages if p.turn == turn]
        for turn, each in enumerate(update.conversation_turns, 1)
        if each.is_dated
    }
    return {
        turn: by_words[key]
        for turn, pieces in own_pieces.items()
        for key in (_turn_key(pieces), _turn_key(pieces, erased=True))
        if pieces and key in by_words
    }


def _turn_key(pieces: Sequence[Passage], *, erased: bool = False) -> object:
    """``erased``: as it would be stored if it had been erased."""
    first = pieces[0] if pieces else None
    texts = (blot(piece.text) if erased else piece.text for piece in pieces)
    return first and (first.role, first.speaker, first.at, *texts)


def _grow_with_new_turns(
    engine: EngineContext,
    principal: Principal,
    update: ThreadUpdate,
    indexes: Sequence[IndexEntry],
    existing: Source,
    stored: dict[int, list[str]],
) -> GrownThread:
    """Add only the new turns; the others return their stored passages."""
    new = [each for turn, each in enumerate(update.conversation_turns, 1) if turn not in stored]
    grown = GrownThread(existing, (), ())
    if new:
        new_passages = [n for n, (_, p) in enumerate(update.passages) if p.turn not in stored]
        rest = _thread_update(engine, principal, update.thread, new)
        grown = grow_thread(engine, principal, rest, [indexes[n] for n in new_passages])
    added = iter(grown.passages)
    stored_ids = {turn: iter(ids) for turn, ids in stored.items()}
    ids = tuple(next(stored_ids.get(p.turn, added)) for _, p in update.passages)
    return replace(grown, passages=ids)


def _current_source(
    engine: EngineContext, principal: Principal, thread: str
) -> tuple[Source | None, tuple[str, str]]:
    """The thread's source and the alias for a new one. If the source was forgotten, is full or is
    not a conversation, the thread continues in another one, also after a restore."""
    alias, newest = check_alias(THREAD_ORIGIN, thread), None
    while existing := engine.live_source_by_alias(principal.scope, *alias):
        is_conversation = existing.content_type is ContentType.CONVERSATION
        if existing.state is State.ACTIVE and is_conversation and existing.parts < MAX_PARTS:
            newest = existing
        alias = derived_alias((THREAD_ORIGIN, thread), existing.id)
    return newest, alias


def _started_thread(
    engine: EngineContext,
    step: AddSource,
    source: Source,
    update: ThreadUpdate,
    indexes: Sequence[IndexEntry],
) -> GrownThread:
    now = update.parsed.at
    source = _processed(source, len(update.passages), now)
    placed = _numbered_passages(update, source, 0, 0)
    grown = replace(
        step,
        source=source,
        entry=_entry_with_turn_count(step.entry, len(update.parsed.reading.turns)),
        passages=tuple(zip(placed, indexes, strict=True)),
    )
    return GrownThread(source, (grown, _describe_job(engine, source, now)), _ids(source, 0, update))


def _continued_thread(
    engine: EngineContext,
    steps: tuple[ChangeSource, ...],
    existing: Source,
    source: Source,
    update: ThreadUpdate,
    indexes: Sequence[IndexEntry],
) -> GrownThread:
    *earlier, step = steps
    before = existing.passages
    last = engine.store.passages(source.scope, PassagesOf(source.id, before, before, hidden=True))
    turns = max((passage.turn for passage in last.values()), default=0)
    now, reading = update.parsed.at, update.parsed.reading
    source = _processed(source, before + len(update.passages), now).evolve(
        participants=tuple(dict.fromkeys((*source.participants, *reading.participants))),
        ended_at=max(at for at in (source.ended_at, reading.ended_at, source.started_at) if at),
    )
    placed = _numbered_passages(update, source, before, turns)
    step = replace(
        _with_turn_count(step, len(reading.turns)),
        after=source,
        passages=tuple(zip(placed, indexes, strict=True)),
    )
    has_grown = growth_milestone(turns) != growth_milestone(turns + len(reading.turns))
    describe_jobs = (_describe_job(engine, source, now),) if has_grown else ()
    return GrownThread(source, (*earlier, step, *describe_jobs), _ids(source, before, update))


def _processed(source: Source, passages: int, now: datetime) -> Source:
    return source.evolve(
        status=ProcessingStatus.PROCESSED,
        passages=passages,
        processing_started_at=now,
        processing_completed_at=now,
    )


def _numbered_passages(
    update: ThreadUpdate, source: Source, before: int, turns: int
) -> list[Passage]:
    return [
        replace(
            passage,
            source_id=source.id,
            number=before + passage.number,
            turn=turns + passage.turn,
        )
        for _, passage in update.passages
    ]


def _ids(source: Source, before: int, update: ThreadUpdate) -> tuple[str, ...]:
    return tuple(f"{source.id}#{before + n}" for n in range(1, len(update.passages) + 1))


def _describe_job(engine: EngineContext, source: Source, now: datetime) -> EnqueueJob:
    return EnqueueJob(build_describe_job(source, engine.new_id(), now))


def _with_turn_count(step: ChangeSource, turns: int) -> ChangeSource:
    return replace(step, entry=_entry_with_turn_count(step.entry, turns))


def _entry_with_turn_count(entry: Entry, turns: int) -> Entry:
    """Entries with a turn count are journaled but left out of the delta header: participants know
    their own turns."""
    return replace(entry, meta={**entry.meta, "turns": turns})
