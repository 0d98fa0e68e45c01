"""Process: an original becomes passages, with a summary, keywords and tags. A job's work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from math import log

from commonplace.desk import Desk, index_passages
from commonplace.errors import NotFound
from commonplace.ingest.describe import describe
from commonplace.ingest.detect import Format
from commonplace.ingest.noted import Run, noted_in
from commonplace.ingest.passages import passages
from commonplace.ingest.read import read
from commonplace.language.suspicious import is_suspicious
from commonplace.model.changes import Changeset, ChangeSource
from commonplace.model.job import Job
from commonplace.model.journal import Entry, Event, Node, Op
from commonplace.model.memory import State
from commonplace.model.scope import Scope
from commonplace.model.source import (
    CATEGORY,
    ContentType,
    Passage,
    Reading,
    Source,
    Status,
    Turn,
)

ACTOR = "worker:process"


def process(desk: Desk, job: Job) -> Callable[[], Changeset]:
    """The slow part is done at once; again only when somebody changed the source meanwhile."""
    scope, id = job.scope, str(job.payload["source"])
    ready = [processed(desk, scope, id)]
    return lambda: ready.pop() if ready else processed(desk, scope, id)


def processed(desk: Desk, scope: Scope, id: str) -> Changeset:
    """The changeset that processing a source comes to; none for one that is gone or done."""
    started = desk.clock()
    found = desk.sources(scope, [id])
    if not found or found[0].state is not State.ACTIVE or found[0].status is not Status.RAW:
        return Changeset(scope, started, ACTOR, ())
    source = found[0]
    reading = read_parts(source, desk.store.original(scope, id))
    kept = [passage for _, passage in desk.store.passages_of(scope, id)]
    made = cut_into_passages(source, reading.turns, kept)
    anew = made[: len(kept)] != kept
    new = made if anew else made[len(kept) :]
    indexed = index_passages(desk, [(source, passage) for passage in new])
    described = _described(source, reading, kept[-1].turn if kept and not anew else 0)
    after = described.evolve(
        passages=len(made),
        version=source.version + 1,
        processing_started_at=started,
        processing_completed_at=desk.clock(),
    )
    entry = Entry(
        op=Op.UPDATE,
        event=Event.UPDATE,
        node=Node.WORKER,
        subject=id,
        category=CATEGORY,
        old_ref=source.ref,
        new_ref=after.ref,
        meta={"passages": len(new)},
    )
    step = ChangeSource(
        source, after, entry, anew=anew, passages=tuple(zip(new, indexed, strict=True))
    )
    return Changeset(scope, desk.clock(), ACTOR, (step,), thread_id=source.thread_id)


def read_parts(source: Source, parts: Sequence[bytes]) -> Reading:
    """All parts as one. Of a part that was sent again, the turns with a label count once."""
    noted = noted_in(source.provenance)
    runs = [noted.run_of(number) for number in range(1, len(parts) + 1)]
    readings = [
        read(
            part,
            name=noted.name,
            format=run.format,
            title=source.title or None,
            started_at=_hinted(source, run),
        )
        for run, part in zip(runs, parts, strict=True)
    ]
    if not readings:
        raise NotFound(f"The original of {source.id} is missing.")
    return replace(
        readings[0],
        turns=tuple(_in_order(source, _once(source, list(zip(runs, readings, strict=True))))),
        participants=tuple(dict.fromkeys(p for each in readings for p in each.participants)),
        ended_at=max((r.ended_at for r in readings if r.ended_at), default=None),
    )


def _hinted(source: Source, run: Run) -> datetime | None:
    """When a part begins that does not say so. A recording that goes on counts its time from the
    source's beginning; anything else that is appended is of the day it came."""
    if run.first == 1 or (run.date is None and run.format is Format.TRANSCRIPT):
        return run.date or source.started_at
    return run.date or run.received


def _once(source: Source, readings: Sequence[tuple[Run, Reading]]) -> Iterator[Turn]:
    """A label alone proves nothing: two chapters may have one title, two people speak at once.
    The time proves nothing either where it is only that of the part."""
    known: set[Turn] = set()
    for run, reading in readings:
        hinted = _hinted(source, run)
        said = [
            (turn, replace(turn, at=None) if turn.at == hinted else turn) for turn in reading.turns
        ]
        for turn, itself in said:
            if turn.label is None or itself not in known:
                yield replace(turn, at=turn.at or hinted or run.received)
        known.update(itself for _, itself in said)


def _in_order(source: Source, turns: Iterator[Turn]) -> Iterable[Turn]:
    """Messages of a thread may be delivered late; they stand where they were written."""
    if source.content_type is not ContentType.SLACK_THREAD:
        return turns
    began = source.started_at or source.created_at
    return sorted(turns, key=lambda turn: turn.at or began)


def cut_into_passages(
    source: Source, turns: Sequence[Turn], kept: Sequence[Passage] = ()
) -> list[Passage]:
    """What was looked at before (``kept``) and reads as it did is not looked at again, and is here
    since it was, though others may have come before it."""
    judged = {passage.text: passage.suspicious for passage in kept}
    arrived = {(passage.text, passage.speaker, passage.at): passage.arrived_at for passage in kept}
    began = source.started_at or source.created_at
    pieces = ((place, piece) for place, turn in enumerate(turns, 1) for piece in passages([turn]))
    return [
        Passage(
            source_id=source.id,
            number=number,
            turn=place,
            text=piece.text,
            speaker=piece.speaker,
            role=piece.role,
            at=piece.at or began,
            session=piece.session,
            label=piece.label,
            suspicious=judged[piece.text] if piece.text in judged else is_suspicious(piece.text),
            arrived_at=arrived.get((piece.text, piece.speaker, piece.at or began)),
        )
        for number, (place, piece) in enumerate(pieces, 1)
    ]


def _described(source: Source, reading: Reading, turns_before: int) -> Source:
    """A talk that grows turn by turn is described anew when it has grown by a quarter."""
    source = source.evolve(
        status=Status.PROCESSED,
        participants=tuple(dict.fromkeys((*source.participants, *reading.participants))),
        started_at=source.started_at or reading.started_at,
        ended_at=reading.ended_at or source.ended_at,
    )
    if source.parts > 1 and milestone(turns_before) == milestone(len(reading.turns)):
        return source
    return described(source, reading)


def described(source: Source, reading: Reading) -> Source:
    told = describe(reading)
    given = noted_in(source.provenance).tags
    return source.evolve(
        summary=told.summary,
        keywords=told.keywords,
        tags=tuple(dict.fromkeys((*given, *told.tags))),
        context_type=source.context_type or told.context_type,
    )


def milestone(turns: int) -> int:
    """How many times a talk has grown by a quarter."""
    return int(log(turns, 1.25)) if turns > 0 else -1
