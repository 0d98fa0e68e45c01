"""Processing jobs: an original becomes passages with a description.

Every turn is cut by itself. So a passage never mixes two speakers, and what is appended later
leaves the passages before it as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from math import log

from commonplace.engine.context import EngineContext
from commonplace.engine.indexing import index_passages
from commonplace.engine.sources.describe import describe
from commonplace.engine.sources.formats.parse import SourceFormat, parse_source
from commonplace.engine.sources.originals import (
    ParsedOriginal,
    PartRun,
    ingest_record_in,
)
from commonplace.errors import NotFound
from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.language.text.sentences import split_sentences
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import Changeset, ChangeSource
from commonplace.model.jobs import Job
from commonplace.model.journal import Entry, Event, JournalNode, Op
from commonplace.model.memory.memory import State
from commonplace.model.sources.source import (
    SOURCE_CATEGORY,
    ContentType,
    ParsedSource,
    Passage,
    ProcessingStatus,
    Source,
    SourceTurn,
)
from commonplace.store.queries import PassagesOf

MAX_PASSAGE = 1000  # characters

_BETWEEN_PARAGRAPHS = re.compile(r"\n[^\S\n]*\n\s*")
_SPACE_AT_END = re.compile(r"\s\S*\Z")

TextSpan = tuple[int, int]


def split_turns(turns: Iterable[SourceTurn], limit: int = MAX_PASSAGE) -> tuple[SourceTurn, ...]:
    """The pieces of all turns in their order, each with speaker, time, session and label."""
    if limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}")
    return tuple(
        replace(turn, text=piece) for turn in turns for piece in split_text(turn.text, limit)
    )


def split_text(text: str, limit: int = MAX_PASSAGE) -> list[str]:
    """Pieces of at most `limit` characters: whole paragraphs, else sentences, else words."""
    pieces: list[str] = []
    start = end = 0
    for unit_start, unit_end in _units(text, limit):
        if end > start and unit_end - start > limit:
            pieces.append(text[start:end])
            start = unit_start
        elif end == start:
            start = unit_start
        end = unit_end
    pieces.append(text[start:end])
    return [piece for piece in pieces if piece]


def _units(text: str, limit: int) -> Iterator[TextSpan]:
    """What is not cut further, in order, without the space around it."""
    for start, end in _paragraphs(text):
        if end - start <= limit:
            yield start, end
            continue
        for first, last in _sentences(text, start, end):
            yield from _words(text, first, last, limit)


def _paragraphs(text: str) -> Iterator[TextSpan]:
    start = 0
    for gap in _BETWEEN_PARAGRAPHS.finditer(text):
        yield from _trimmed(text, start, gap.start())
        start = gap.end()
    yield from _trimmed(text, start, len(text))


def _sentences(text: str, start: int, end: int) -> Iterator[TextSpan]:
    position = start
    for sentence in split_sentences(text[start:end]):
        first = text.index(sentence, position, end)
        position = first + len(sentence)
        yield first, position


def _words(text: str, start: int, end: int, limit: int) -> Iterator[TextSpan]:
    """A sentence that is too long is cut at the last space, or through a word that is too long."""
    while end - start > limit:
        space = _SPACE_AT_END.search(text, start + 1, start + limit + 1)
        stop = space.start() if space else start + limit
        yield from _trimmed(text, start, stop)
        start = stop
        while start < end and text[start].isspace():
            start += 1
    yield from _trimmed(text, start, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[TextSpan]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield start, end


ACTOR = "worker:process"


def process(engine: EngineContext, job: Job) -> Callable[[], Changeset]:
    """The slow part is done at once; again only when somebody changed the source meanwhile."""
    scope, id = job.scope, str(job.payload["source"])
    ready = [processing_changeset(engine, scope, id)]
    return lambda: ready.pop() if ready else processing_changeset(engine, scope, id)


def processing_changeset(engine: EngineContext, scope: Scope, id: str) -> Changeset:
    """The changeset that processing a source comes to; none for one that is gone or done."""
    started = engine.clock()
    with engine.store.read_session():
        found = engine.live_sources(scope, [id])
        if (
            not found
            or found[0].state is not State.ACTIVE
            or found[0].status is not ProcessingStatus.RAW
        ):
            return Changeset(scope, started, ACTOR, ())
        source, parts = found[0], engine.store.original(scope, id)
        kept = list(engine.store.passages(scope, PassagesOf(id)).values())
    reading = parse_parts(source, parts, engine.caches.parsed_originals.get(id))
    made = cut_into_passages(source, reading.turns, kept)
    anew = made[: len(kept)] != kept
    new = made if anew else made[len(kept) :]
    indexed = index_passages(engine, [(source, passage) for passage in new])
    described = _with_refreshed_description(
        source, reading, kept[-1].turn if kept and not anew else 0
    )
    after = described.evolve(
        passages=len(made),
        version=source.version + 1,
        processing_started_at=started,
        processing_completed_at=engine.clock(),
    )
    entry = Entry(
        op=Op.UPDATE,
        event=Event.UPDATE,
        node=JournalNode.WORKER,
        subject=id,
        category=SOURCE_CATEGORY,
        old_ref=source.ref,
        new_ref=after.ref,
        meta={"passages": len(new)},
    )
    step = ChangeSource(
        source, after, entry, anew=anew, passages=tuple(zip(new, indexed, strict=True))
    )
    return Changeset(scope, engine.clock(), ACTOR, (step,), thread_id=source.thread_id)


def parse_parts(
    source: Source, parts: Sequence[bytes], arrived: ParsedOriginal | None = None
) -> ParsedSource:
    """All parts as one. Of a part that was sent again, the turns with a label count once.
    ``arrived`` was parsed just now, and is not parsed again where it is one of them."""
    noted = ingest_record_in(source.provenance)
    runs = [noted.run_of(number) for number in range(1, len(parts) + 1)]
    readings = [
        arrived.reading
        if arrived and _is_parsed_alike(arrived, source, run, part)
        else parse_source(
            part,
            name=noted.name,
            format=run.format,
            title=source.title or None,
            started_at=_default_start(source, run),
        )
        for run, part in zip(runs, parts, strict=True)
    ]
    if not readings:
        raise NotFound(f"The original of {source.id} is missing.")
    return replace(
        readings[0],
        turns=tuple(
            _turns_in_order(source, _distinct_turns(source, list(zip(runs, readings, strict=True))))
        ),
        participants=tuple(dict.fromkeys(p for each in readings for p in each.participants)),
        ended_at=max((r.ended_at for r in readings if r.ended_at), default=None),
    )


def _is_parsed_alike(arrived: ParsedOriginal, source: Source, run: PartRun, part: bytes) -> bool:
    """The title is one that the parser was given or has found itself, and so is the start: given
    to it once more, they change nothing."""
    original, reading = arrived.original, arrived.reading
    return (
        part == original.raw
        and run.format == arrived.format
        and ingest_record_in(source.provenance).name == original.name
        and source.title == (reading.title or "")
        and _default_start(source, run) in (original.date or arrived.day, reading.started_at)
    )


def _default_start(source: Source, run: PartRun) -> datetime | None:
    """When a part begins that does not say so. A recording that goes on counts its time from the
    source's beginning; anything else that is appended is of the day it came."""
    if run.first == 1 or (run.date is None and run.format is SourceFormat.TRANSCRIPT):
        return run.date or source.started_at
    return run.date or run.received


def _distinct_turns(
    source: Source, readings: Sequence[tuple[PartRun, ParsedSource]]
) -> Iterator[SourceTurn]:
    """A label alone proves nothing: two chapters may have one title, two people speak at once.
    The time proves nothing either where it is only that of the part."""
    known: set[SourceTurn] = set()
    for run, reading in readings:
        hinted = _default_start(source, run)
        said = [
            (turn, replace(turn, at=None) if turn.at == hinted else turn) for turn in reading.turns
        ]
        for turn, itself in said:
            if turn.label is None or itself not in known:
                yield replace(turn, at=turn.at or hinted or run.received)
        known.update(itself for _, itself in said)


def _turns_in_order(source: Source, turns: Iterator[SourceTurn]) -> Iterable[SourceTurn]:
    """Messages of a thread may be delivered late; they stand where they were written."""
    if source.content_type is not ContentType.SLACK_THREAD:
        return turns
    began = source.started_at or source.created_at
    return sorted(turns, key=lambda turn: turn.at or began)


def cut_into_passages(
    source: Source, turns: Sequence[SourceTurn], kept: Sequence[Passage] = ()
) -> list[Passage]:
    """What was looked at before (``kept``) and reads as it did is not looked at again, and is here
    since it was, though others may have come before it."""
    judged = {passage.text: passage.suspicious for passage in kept}
    arrived = {(passage.text, passage.speaker, passage.at): passage.arrived_at for passage in kept}
    began = source.started_at or source.created_at
    pieces = (
        (place, piece) for place, turn in enumerate(turns, 1) for piece in split_turns([turn])
    )
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


def _with_refreshed_description(source: Source, reading: ParsedSource, turns_before: int) -> Source:
    """A talk that grows turn by turn is described anew when it has grown by a quarter."""
    source = source.evolve(
        status=ProcessingStatus.PROCESSED,
        participants=tuple(dict.fromkeys((*source.participants, *reading.participants))),
        started_at=source.started_at or reading.started_at,
        ended_at=reading.ended_at or source.ended_at,
    )
    if source.parts > 1 and growth_milestone(turns_before) == growth_milestone(len(reading.turns)):
        return source
    return with_description(source, reading)


def with_description(source: Source, reading: ParsedSource) -> Source:
    told = describe(reading)
    given = ingest_record_in(source.provenance).tags
    return source.evolve(
        summary=told.summary,
        keywords=told.keywords,
        tags=tuple(dict.fromkeys((*given, *told.tags))),
        context_type=source.context_type or told.context_type,
    )


def growth_milestone(turns: int) -> int:
    """How many times a talk has grown by a quarter."""
    return int(log(turns, 1.25)) if turns > 0 else -1


DESCRIBE_ACTOR = "worker:describe"


def describe_thread(engine: EngineContext, job: Job) -> Callable[[], Changeset]:
    """Decided again when a further turn came meanwhile."""
    return lambda: _description_changeset(engine, job)


def _description_changeset(engine: EngineContext, job: Job) -> Changeset:
    scope, id = job.scope, str(job.payload["source"])
    now = engine.clock()
    found = engine.live_sources(scope, [id])
    if not found or found[0].state is not State.ACTIVE:
        return Changeset(scope, now, DESCRIBE_ACTOR, ())
    source = found[0]
    after = with_description(source, parse_parts(source, engine.store.original(scope, id)))
    if after == source:
        return Changeset(scope, now, DESCRIBE_ACTOR, ())
    after = after.evolve(version=source.version + 1)
    entry = Entry(
        op=Op.UPDATE,
        event=Event.UPDATE,
        node=JournalNode.WORKER,
        subject=id,
        category=SOURCE_CATEGORY,
        old_ref=source.ref,
        new_ref=after.ref,
        meta={"described": True},
    )
    step = ChangeSource(source, after, entry)
    return Changeset(scope, now, DESCRIBE_ACTOR, (step,), thread_id=source.thread_id)
