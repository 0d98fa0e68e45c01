"""Thread sources: one conversation source that grows turn by turn.

A turn costs the same however long the thread is: what was kept before is not read again, and not
cut, judged or embedded again. Only the description of the whole is made anew by a worker, whenever
the talk has grown by a quarter.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from commonplace.engine.context import EngineContext
from commonplace.engine.follow_up_jobs import build_describe_job, build_process_job
from commonplace.engine.sources.formats.input import speakers_in, time_span_of
from commonplace.engine.sources.formats.parse import SourceFormat
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
from commonplace.model.sources.source import (
    MAX_PARTS,
    THREAD_ORIGIN,
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

LOOKED_BACK = 50  # passages: who sends a turn again does so soon


@dataclass(frozen=True, slots=True)
class ThreadUpdate:
    """What is said now in one thread: its part of the original, and its passages, which get their
    places when the source is known."""

    thread: str
    arriving: ParsedOriginal
    passages: tuple[tuple[Source, Passage], ...]  # of the source that it would be alone
    heard: tuple[ConversationTurn, ...]  # its turns, each once
    turns: tuple[int, ...]  # for each that was handed in which of them it is, from 1

    def of_turn(self, place: int) -> list[int]:
        """Which of its passages are from one that was handed in, counted from 1."""
        turn = self.turns[place - 1]
        return [n for n, (_, passage) in enumerate(self.passages) if passage.turn == turn]


@dataclass(frozen=True, slots=True)
class GrownThread:
    """The thread's source after this, and the steps that make it so."""

    source: Source
    steps: tuple[ChangesetStep, ...]
    passages: tuple[str, ...]  # ids, one for each of the talk's; none while the rest waits


def thread_updates(
    engine: EngineContext, principal: Principal, turns: Sequence[ConversationTurn]
) -> list[ThreadUpdate]:
    threads = dict.fromkeys(turn.thread for turn in turns)
    return [
        _thread_update(engine, principal, t, [u for u in turns if u.thread == t]) for t in threads
    ]


def _distinct_turns(
    heard: Sequence[ConversationTurn],
) -> tuple[tuple[ConversationTurn, ...], tuple[int, ...]]:
    """The turns without those that are sent twice, and where each is among them, from 1."""
    once: list[ConversationTurn] = []
    places = []
    for turn in heard:
        if not (turn.is_dated and turn in once):
            once.append(turn)
            places.append(len(once))
        else:
            places.append(once.index(turn) + 1)
    return tuple(once), tuple(places)


def _thread_update(
    engine: EngineContext, principal: Principal, thread: str, handed_in: Sequence[ConversationTurn]
) -> ThreadUpdate:
    heard, places = _distinct_turns(handed_in)
    turns = tuple(
        SourceTurn(
            text=each.text,
            speaker=each.speaker,
            role=str(each.role),
            at=each.at,
            session=each.session,
        )
        for each in heard
    )
    first, last = time_span_of(turns)
    original = IngestRequest(
        raw=_json_lines(turns),
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
    )
    arriving = ParsedOriginal(original, reading, SourceFormat.CONVERSATION, engine.clock())
    _, alone, _ = new_source(engine, principal, arriving, check_alias(THREAD_ORIGIN, thread))
    passages = cut_into_passages(alone, turns)
    return ThreadUpdate(
        thread, arriving, tuple((alone, passage) for passage in passages), heard, places
    )


def _json_lines(turns: Iterable[SourceTurn]) -> bytes:
    """As a conversation that anybody could bring, so that it is read like one."""
    records = [
        {
            "role": turn.role,
            "speaker": turn.speaker,
            "text": turn.text,
            "time": turn.at.isoformat() if turn.at else None,
            "session": turn.session,
        }
        for turn in turns
    ]
    told = [{name: said for name, said in each.items() if said} for each in records]
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in told).encode()


def grow_thread(
    engine: EngineContext, principal: Principal, talk: ThreadUpdate, indexes: Sequence[IndexEntry]
) -> GrownThread:
    """To be decided again when another writer was faster."""
    known, alias = _current_source(engine, principal, talk.thread)
    if known is None:
        (step,), source, _ = new_source(engine, principal, talk.arriving, alias)
        assert isinstance(step, AddSource)
        return _started_thread(engine, step, source, talk, indexes)
    if known.status is not ProcessingStatus.RAW and (
        there := _already_stored_turns(engine, talk, known)
    ):
        return _grow_with_new_turns(engine, principal, talk, indexes, known, there)
    steps, source, outcome = append_part(principal, talk.arriving, known)
    if outcome is not IngestAction.APPENDED:  # sent again by whoever did not hear the answer
        return GrownThread(known, (), _ids(known, known.passages - len(talk.passages), talk))
    *told, step = steps
    if (
        known.status is ProcessingStatus.RAW
    ):  # somebody brought a beginning that is not processed yet
        at = talk.arriving.at
        owed = EnqueueJob(build_process_job(source, engine.new_id(), at, awaited=False))
        turns = len(talk.arriving.reading.turns)
        return GrownThread(source, (*told, _without_news(step, turns), owed), ())
    return _continued_thread(engine, (*told, step), known, source, talk, indexes)


def _already_stored_turns(
    engine: EngineContext, talk: ThreadUpdate, known: Source
) -> dict[int, list[str]]:
    """The passages of those turns that stand among the last of the source already, by turn."""
    if not any(turn.is_dated for turn in talk.heard):
        return {}
    first = max(1, known.passages - LOOKED_BACK + 1)
    kept = list(
        engine.store.passages(known.scope, PassagesOf(known.id, first, known.passages)).values()
    )
    by_words: dict[object, list[str]] = {}
    for _, own in groupby(kept, key=lambda passage: passage.turn):
        pieces = list(own)
        by_words[_turn_key(pieces)] = [piece.id for piece in pieces]
    own_pieces = {
        turn: [p for _, p in talk.passages if p.turn == turn]
        for turn, heard in enumerate(talk.heard, 1)
        if heard.is_dated
    }
    return {
        turn: by_words[_turn_key(pieces)]
        for turn, pieces in own_pieces.items()
        if pieces and _turn_key(pieces) in by_words
    }


def _turn_key(pieces: Sequence[Passage]) -> object:
    first = pieces[0]
    return first.role, first.speaker, first.at, tuple(piece.text for piece in pieces)


def _grow_with_new_turns(
    engine: EngineContext,
    principal: Principal,
    talk: ThreadUpdate,
    indexes: Sequence[IndexEntry],
    known: Source,
    there: dict[int, list[str]],
) -> GrownThread:
    """Only the turns that are new are added; the others are answered with what is there."""
    new = [heard for turn, heard in enumerate(talk.heard, 1) if turn not in there]
    grown = GrownThread(known, (), ())
    if new:
        wanted = [n for n, (_, p) in enumerate(talk.passages) if p.turn not in there]
        rest = _thread_update(engine, principal, talk.thread, new)
        grown = grow_thread(engine, principal, rest, [indexes[n] for n in wanted])
    added = iter(grown.passages)
    kept = {turn: iter(ids) for turn, ids in there.items()}
    ids = tuple(next(kept.get(p.turn, added)) for _, p in talk.passages)
    return replace(grown, passages=ids)


def _current_source(
    engine: EngineContext, principal: Principal, thread: str
) -> tuple[Source | None, tuple[str, str]]:
    """The thread's source, or the name that a new one gets. One that was forgotten, is full or is
    no conversation stays as it is: the talk goes on beside it, and stays there when the earlier
    one is restored."""
    alias, newest = check_alias(THREAD_ORIGIN, thread), None
    while known := engine.live_source_by_alias(principal.scope, *alias):
        is_talk = known.content_type is ContentType.CONVERSATION
        if known.state is State.ACTIVE and is_talk and known.parts < MAX_PARTS:
            newest = known
        alias = derived_alias((THREAD_ORIGIN, thread), known.id)
    return newest, alias


def _started_thread(
    engine: EngineContext,
    step: AddSource,
    source: Source,
    talk: ThreadUpdate,
    indexes: Sequence[IndexEntry],
) -> GrownThread:
    now = talk.arriving.at
    source = _processed(source, len(talk.passages), now)
    placed = _numbered_passages(talk, source, 0, 0)
    grown = replace(
        step,
        source=source,
        entry=_entry_without_news(step.entry, len(talk.arriving.reading.turns)),
        passages=tuple(zip(placed, indexes, strict=True)),
    )
    return GrownThread(source, (grown, _describe_job(engine, source, now)), _ids(source, 0, talk))


def _continued_thread(
    engine: EngineContext,
    steps: tuple[ChangeSource, ...],
    known: Source,
    source: Source,
    talk: ThreadUpdate,
    indexes: Sequence[IndexEntry],
) -> GrownThread:
    *told, step = steps
    before = known.passages
    last = engine.store.passages(source.scope, PassagesOf(source.id, before, before))
    turns = max((passage.turn for passage in last.values()), default=0)
    now, reading = talk.arriving.at, talk.arriving.reading
    source = _processed(source, before + len(talk.passages), now).evolve(
        participants=tuple(dict.fromkeys((*source.participants, *reading.participants))),
        ended_at=max(at for at in (source.ended_at, reading.ended_at, source.started_at) if at),
    )
    placed = _numbered_passages(talk, source, before, turns)
    step = replace(
        _without_news(step, len(reading.turns)),
        after=source,
        passages=tuple(zip(placed, indexes, strict=True)),
    )
    has_grown = growth_milestone(turns) != growth_milestone(turns + len(reading.turns))
    owed = (_describe_job(engine, source, now),) if has_grown else ()
    return GrownThread(source, (*told, step, *owed), _ids(source, before, talk))


def _processed(source: Source, passages: int, now: datetime) -> Source:
    return source.evolve(
        status=ProcessingStatus.PROCESSED,
        passages=passages,
        processing_started_at=now,
        processing_completed_at=now,
    )


def _numbered_passages(
    talk: ThreadUpdate, source: Source, before: int, turns: int
) -> list[Passage]:
    return [
        replace(
            passage,
            source_id=source.id,
            number=before + passage.number,
            turn=turns + passage.turn,
        )
        for _, passage in talk.passages
    ]


def _ids(source: Source, before: int, talk: ThreadUpdate) -> tuple[str, ...]:
    return tuple(f"{source.id}#{before + n}" for n in range(1, len(talk.passages) + 1))


def _describe_job(engine: EngineContext, source: Source, now: datetime) -> EnqueueJob:
    return EnqueueJob(build_describe_job(source, engine.new_id(), now))


def _without_news(step: ChangeSource, turns: int) -> ChangeSource:
    return replace(step, entry=_entry_without_news(step.entry, turns))


def _entry_without_news(entry: Entry, turns: int) -> Entry:
    """A turn is no news to those who talk: the journal has it, the delta header does not tell of
    it."""
    return replace(entry, meta={**entry.meta, "turns": turns})
