"""A thread's conversation: one source that grows turn by turn.

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

from commonplace.desk import Desk
from commonplace.ingest.again import appended
from commonplace.ingest.detect import Format
from commonplace.ingest.original import Arriving, Original, Outcome
from commonplace.ingest.process import cut_into_passages, milestone
from commonplace.ingest.receive import beside, new_source
from commonplace.ingest.records import span, speakers
from commonplace.model.changes import AddSource, ChangeSource, Enqueue, Indexing, Step
from commonplace.model.heard import Heard
from commonplace.model.journal import Entry
from commonplace.model.memory import State
from commonplace.model.owed import describing, processing
from commonplace.model.scope import Principal
from commonplace.model.source import (
    MAX_PARTS,
    THREAD,
    ContentType,
    Passage,
    Reading,
    Source,
    SourceType,
    Status,
    Turn,
    checked_alias,
)

LOOKED_BACK = 50  # passages: who sends a turn again does so soon


@dataclass(frozen=True, slots=True)
class Talk:
    """What is said now in one thread: its part of the original, and its passages, which get their
    places when the source is known."""

    thread: str
    arriving: Arriving
    passages: tuple[tuple[Source, Passage], ...]  # of the source that it would be alone
    heard: tuple[Heard, ...]  # its turns, each once
    turns: tuple[int, ...]  # for each that was handed in which of them it is, from 1

    def of_turn(self, place: int) -> list[int]:
        """Which of its passages are from one that was handed in, counted from 1."""
        turn = self.turns[place - 1]
        return [n for n, (_, passage) in enumerate(self.passages) if passage.turn == turn]


@dataclass(frozen=True, slots=True)
class Grown:
    """The thread's source after this, and the steps that make it so."""

    source: Source
    steps: tuple[Step, ...]
    passages: tuple[str, ...]  # ids, one for each of the talk's; none while the rest waits


def talks_in(desk: Desk, principal: Principal, turns: Sequence[Heard]) -> list[Talk]:
    threads = dict.fromkeys(turn.thread for turn in turns)
    return [_talk(desk, principal, t, [u for u in turns if u.thread == t]) for t in threads]


def _each_once(heard: Sequence[Heard]) -> tuple[tuple[Heard, ...], tuple[int, ...]]:
    """The turns without those that are sent twice, and where each is among them, from 1."""
    once: list[Heard] = []
    places = []
    for turn in heard:
        if not (turn.is_dated and turn in once):
            once.append(turn)
            places.append(len(once))
        else:
            places.append(once.index(turn) + 1)
    return tuple(once), tuple(places)


def _talk(desk: Desk, principal: Principal, thread: str, handed_in: Sequence[Heard]) -> Talk:
    heard, places = _each_once(handed_in)
    turns = tuple(
        Turn(
            text=each.text,
            speaker=each.speaker,
            role=str(each.role),
            at=each.at,
            session=each.session,
        )
        for each in heard
    )
    first, last = span(turns)
    original = Original(
        raw=_lines(turns),
        append=True,
        source_type=SourceType.CHAT,
        thread_id=thread,
    )
    reading = Reading(
        source_type=SourceType.CHAT,
        content_type=ContentType.CONVERSATION,
        turns=turns,
        participants=speakers(turns),
        started_at=first,
        ended_at=last,
    )
    arriving = Arriving(original, reading, Format.CONVERSATION, desk.clock())
    _, alone, _ = new_source(desk, principal, arriving, checked_alias(THREAD, thread))
    passages = cut_into_passages(alone, turns)
    return Talk(thread, arriving, tuple((alone, passage) for passage in passages), heard, places)


def _lines(turns: Iterable[Turn]) -> bytes:
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


def grow(desk: Desk, principal: Principal, talk: Talk, indexes: Sequence[Indexing]) -> Grown:
    """To be decided again when another writer was faster."""
    known, alias = _home(desk, principal, talk.thread)
    if known is None:
        (step,), source, _ = new_source(desk, principal, talk.arriving, alias)
        assert isinstance(step, AddSource)
        return _begun(desk, step, source, talk, indexes)
    if known.status is not Status.RAW and (there := _sent_before(desk, talk, known)):
        return _with_the_rest(desk, principal, talk, indexes, known, there)
    steps, source, outcome = appended(principal, talk.arriving, known)
    if outcome is not Outcome.APPENDED:  # sent again by whoever did not hear the answer
        return Grown(known, (), _ids(known, known.passages - len(talk.passages), talk))
    *told, step = steps
    if known.status is Status.RAW:  # somebody brought a beginning that is not processed yet
        at = talk.arriving.at
        owed = Enqueue(processing(source, desk.new_id(), at, awaited=False))
        turns = len(talk.arriving.reading.turns)
        return Grown(source, (*told, _quietly(step, turns), owed), ())
    return _continued(desk, (*told, step), known, source, talk, indexes)


def _sent_before(desk: Desk, talk: Talk, known: Source) -> dict[int, list[str]]:
    """The passages of those turns that stand among the last of the source already, by turn."""
    if not any(turn.is_dated for turn in talk.heard):
        return {}
    first = max(1, known.passages - LOOKED_BACK + 1)
    kept = [p for _, p in desk.store.passages_of(known.scope, known.id, first, known.passages)]
    by_words: dict[object, list[str]] = {}
    for _, own in groupby(kept, key=lambda passage: passage.turn):
        pieces = list(own)
        by_words[_words(pieces)] = [piece.id for piece in pieces]
    own_pieces = {
        turn: [p for _, p in talk.passages if p.turn == turn]
        for turn, heard in enumerate(talk.heard, 1)
        if heard.is_dated
    }
    return {
        turn: by_words[_words(pieces)]
        for turn, pieces in own_pieces.items()
        if pieces and _words(pieces) in by_words
    }


def _words(pieces: Sequence[Passage]) -> object:
    first = pieces[0]
    return first.role, first.speaker, first.at, tuple(piece.text for piece in pieces)


def _with_the_rest(
    desk: Desk,
    principal: Principal,
    talk: Talk,
    indexes: Sequence[Indexing],
    known: Source,
    there: dict[int, list[str]],
) -> Grown:
    """Only the turns that are new are added; the others are answered with what is there."""
    new = [heard for turn, heard in enumerate(talk.heard, 1) if turn not in there]
    grown = Grown(known, (), ())
    if new:
        wanted = [n for n, (_, p) in enumerate(talk.passages) if p.turn not in there]
        rest = _talk(desk, principal, talk.thread, new)
        grown = grow(desk, principal, rest, [indexes[n] for n in wanted])
    added = iter(grown.passages)
    kept = {turn: iter(ids) for turn, ids in there.items()}
    ids = tuple(next(kept.get(p.turn, added)) for _, p in talk.passages)
    return replace(grown, passages=ids)


def _home(desk: Desk, principal: Principal, thread: str) -> tuple[Source | None, tuple[str, str]]:
    """The thread's source, or the name that a new one gets. One that was forgotten, is full or is
    no conversation stays as it is: the talk goes on beside it, and stays there when the earlier
    one is restored."""
    alias, newest = checked_alias(THREAD, thread), None
    while known := desk.source_called(principal.scope, *alias):
        is_talk = known.content_type is ContentType.CONVERSATION
        if known.state is State.ACTIVE and is_talk and known.parts < MAX_PARTS:
            newest = known
        alias = beside((THREAD, thread), known.id)
    return newest, alias


def _begun(
    desk: Desk, step: AddSource, source: Source, talk: Talk, indexes: Sequence[Indexing]
) -> Grown:
    now = talk.arriving.at
    source = _processed(source, len(talk.passages), now)
    placed = _placed(talk, source, 0, 0)
    grown = replace(
        step,
        source=source,
        entry=_quiet(step.entry, len(talk.arriving.reading.turns)),
        passages=tuple(zip(placed, indexes, strict=True)),
    )
    return Grown(source, (grown, _to_describe(desk, source, now)), _ids(source, 0, talk))


def _continued(
    desk: Desk,
    steps: tuple[ChangeSource, ...],
    known: Source,
    source: Source,
    talk: Talk,
    indexes: Sequence[Indexing],
) -> Grown:
    *told, step = steps
    before = known.passages
    last = desk.store.passages_of(source.scope, source.id, before, before)
    turns = last[0][1].turn if last else 0
    now, reading = talk.arriving.at, talk.arriving.reading
    source = _processed(source, before + len(talk.passages), now).evolve(
        participants=tuple(dict.fromkeys((*source.participants, *reading.participants))),
        ended_at=max(at for at in (source.ended_at, reading.ended_at, source.started_at) if at),
    )
    placed = _placed(talk, source, before, turns)
    step = replace(
        _quietly(step, len(reading.turns)),
        after=source,
        passages=tuple(zip(placed, indexes, strict=True)),
    )
    has_grown = milestone(turns) != milestone(turns + len(reading.turns))
    owed = (_to_describe(desk, source, now),) if has_grown else ()
    return Grown(source, (*told, step, *owed), _ids(source, before, talk))


def _processed(source: Source, passages: int, now: datetime) -> Source:
    return source.evolve(
        status=Status.PROCESSED,
        passages=passages,
        processing_started_at=now,
        processing_completed_at=now,
    )


def _placed(talk: Talk, source: Source, before: int, turns: int) -> list[Passage]:
    return [
        replace(
            passage,
            source_id=source.id,
            number=before + passage.number,
            turn=turns + passage.turn,
        )
        for _, passage in talk.passages
    ]


def _ids(source: Source, before: int, talk: Talk) -> tuple[str, ...]:
    return tuple(f"{source.id}#{before + n}" for n in range(1, len(talk.passages) + 1))


def _to_describe(desk: Desk, source: Source, now: datetime) -> Enqueue:
    return Enqueue(describing(source, desk.new_id(), now))


def _quietly(step: ChangeSource, turns: int) -> ChangeSource:
    return replace(step, entry=_quiet(step.entry, turns))


def _quiet(entry: Entry, turns: int) -> Entry:
    """A turn is no news to those who talk: the journal has it, the delta header does not tell of
    it."""
    return replace(entry, meta={**entry.meta, "turns": turns})
