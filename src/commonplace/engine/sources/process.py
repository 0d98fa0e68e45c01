"""Processing jobs: an original becomes passages with a description.

Every turn is split separately. So a passage never mixes two speakers, and appended parts do not
change earlier passages.
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
from commonplace.engine.sources.formats.parse import parse_source
from commonplace.engine.sources.originals import (
    IngestRecord,
    ParsedOriginal,
    PartRun,
    ingest_record_in,
)
from commonplace.errors import NotFound
from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.language.safety.secrets import redact_secrets
from commonplace.language.text.sentences import split_sentences
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import Changeset, ChangeSource
from commonplace.model.jobs import Job
from commonplace.model.journal import Entry, Event, JournalNode, Op
from commonplace.model.memory.memory import State
from commonplace.model.parameters import SourceFormat
from commonplace.model.sources.source import (
    BLOT,
    SOURCE_CATEGORY,
    TITLE_BY,
    ContentType,
    ParsedSource,
    Passage,
    ProcessingStatus,
    Source,
    SourceTurn,
    is_blotted,
)
from commonplace.store.queries import HiddenPassages, PassagesOf

MAX_PASSAGE = 1000  # characters

_BLOTTED = re.compile(f"({BLOT}+)")
_BETWEEN_PARAGRAPHS = re.compile(r"\n[^\S\n]*\n\s*")
_SPACE_AT_END = re.compile(r"\s\S*\Z")

TextSpan = tuple[int, int]


def split_turns(turns: Iterable[SourceTurn], limit: int = MAX_PASSAGE) -> tuple[SourceTurn, ...]:
    """Split each turn; the pieces keep its speaker, time, session and label."""
    if limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}")
    return tuple(
        replace(turn, text=piece) for turn in turns for piece in split_text(turn.text, limit)
    )


def split_text(text: str, limit: int = MAX_PASSAGE) -> list[str]:
    """Pieces of at most `limit` characters: whole paragraphs, else sentences, else words. Erased
    words stay a piece of their own."""
    if BLOT not in text:
        return _split_words(text, limit)
    return [
        piece
        for part in _BLOTTED.split(text)
        for piece in (
            [part[at : at + limit] for at in range(0, len(part), limit)]
            if is_blotted(part)
            else _split_words(part, limit)
        )
    ]


def _split_words(text: str, limit: int) -> list[str]:
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
    """The spans that are not split further, in order, without surrounding whitespace."""
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
    for sentence in split_sentences(text[start:end], longest=end - start):
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
    """Compute the changeset now, outside the transaction; again only on a concurrent change."""
    scope, id = job.scope, str(job.payload["source"])
    ready = [processing_changeset(engine, scope, id)]
    return lambda: ready.pop() if ready else processing_changeset(engine, scope, id)


def processing_changeset(engine: EngineContext, scope: Scope, id: str) -> Changeset:
    """The changeset of processing; empty if the source is removed or already processed."""
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
        stored = list(engine.store.passages(scope, PassagesOf(id, hidden=True)).values())
    reading = parse_parts(source, parts, engine.caches.parsed_originals.get(id))
    passages = cut_into_passages(source, reading.turns, stored)
    changed = passages[: len(stored)] != stored
    new = passages if changed else passages[len(stored) :]
    indexed = index_passages(engine, [(source, passage) for passage in new])
    described = _with_refreshed_description(
        source,
        reading,
        without_hidden(reading, passages),
        stored[-1].turn if stored and not changed else 0,
    )
    after = described.evolve(
        passages=len(passages),
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
        source, after, entry, anew=changed, passages=tuple(zip(new, indexed, strict=True))
    )
    return Changeset(scope, engine.clock(), ACTOR, (step,), thread_id=source.thread_id)


def parse_parts(
    source: Source, parts: Sequence[bytes], arrived: ParsedOriginal | None = None
) -> ParsedSource:
    """Parse all parts as one source. Labelled turns of a part that was sent again count once.
    ``arrived``: a parsed original that is reused if it is one of the parts."""
    record = ingest_record_in(source.provenance)
    runs = [record.run_of(number) for number in range(1, len(parts) + 1)]
    readings = [
        arrived.reading
        if arrived and _is_parsed_alike(arrived, source, run, part)
        else parse_part(source, record, run, part)
        for run, part in zip(runs, parts, strict=True)
    ]
    if not readings:
        raise NotFound(f"The original of {source.id} is missing.")
    return replace(
        readings[0],
        content_type=source.content_type,  # a part with erased words is stored in another format
        turns=tuple(
            _turns_in_order(source, _distinct_turns(source, list(zip(runs, readings, strict=True))))
        ),
        participants=tuple(dict.fromkeys(p for each in readings for p in each.participants)),
        ended_at=max((r.ended_at for r in readings if r.ended_at), default=None),
    )


def parse_part(source: Source, record: IngestRecord, run: PartRun, part: bytes) -> ParsedSource:
    return parse_source(
        part,
        name=record.name,
        format=run.format,
        title=source.title or None,
        started_at=default_start(source, run),
    )


def _is_parsed_alike(arrived: ParsedOriginal, source: Source, run: PartRun, part: bytes) -> bool:
    """True if parsing with the source's title and start would give the same result: both were
    given to the parser or found by it."""
    original, reading = arrived.original, arrived.reading
    return (
        part == original.raw
        and run.format == arrived.format
        and ingest_record_in(source.provenance).name == original.name
        and source.title == (reading.title or "")
        and default_start(source, run) in (original.date or arrived.day, reading.started_at)
    )


def default_start(source: Source, run: PartRun) -> datetime | None:
    """The start of a part without its own times. A continued recording counts from the source's
    start; other appended parts have the time at which they were received."""
    if run.first == 1 or (run.date is None and run.format is SourceFormat.TRANSCRIPT):
        return run.date or source.started_at
    return run.date or run.received


def _distinct_turns(
    source: Source, readings: Sequence[tuple[PartRun, ParsedSource]]
) -> Iterator[SourceTurn]:
    """Drop labelled turns that occurred before. The whole turn is compared: chapters may share a
    title, and people may speak at the same time. A default time is not compared."""
    known: set[SourceTurn] = set()
    for run, reading in readings:
        start = default_start(source, run)
        comparable = [
            (turn, replace(turn, at=None) if turn.at == start else turn) for turn in reading.turns
        ]
        for turn, key in comparable:
            if turn.label is None or key not in known:
                yield replace(turn, at=turn.at or start or run.received)
        known.update(key for _, key in comparable)


def _turns_in_order(source: Source, turns: Iterator[SourceTurn]) -> Iterable[SourceTurn]:
    """Sort a Slack thread by time: messages may be delivered late."""
    if source.content_type is not ContentType.SLACK_THREAD:
        return turns
    began = source.started_at or source.created_at
    return sorted(turns, key=lambda turn: turn.at or began)


def cut_into_passages(
    source: Source, turns: Sequence[SourceTurn], stored: Sequence[Passage] = ()
) -> list[Passage]:
    """``stored``: earlier passages. An unchanged text is not checked for prompt injection again and
    keeps its arrival time, even if its number changes; a forgotten one stays forgotten."""
    known_suspicion = {passage.text: passage.suspicious for passage in stored}
    arrived = {
        (passage.text, passage.speaker, passage.at): passage.arrived_at for passage in stored
    }
    hidden = _hidden_words(stored)
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
            suspicious=known_suspicion[piece.text]
            if piece.text in known_suspicion
            else is_suspicious(piece.text),
            arrived_at=arrived.get((piece.text, piece.speaker, piece.at or began)),
            purge_at=_purge_date(source, piece, hidden),
        )
        for number, (place, piece) in enumerate(pieces, 1)
    ]


HiddenWords = dict[tuple[str, str | None, datetime | None], datetime]


def _hidden_words(stored: Sequence[Passage]) -> HiddenWords:
    """The purge dates of forgotten passages, by words and time. Without a time where all passages
    with these words are forgotten."""
    if not any(passage.is_hidden for passage in stored):
        return {}
    # Passages of before secrets were redacted in all formats have them still.
    stored = [replace(passage, text=redact_secrets(passage.text)) for passage in stored]
    visible = {(passage.text, passage.speaker) for passage in stored if not passage.is_hidden}
    hidden: HiddenWords = {}
    for passage in stored:
        if passage.purge_at is not None:
            hidden[passage.text, passage.speaker, passage.at] = passage.purge_at
            if (passage.text, passage.speaker) not in visible:
                hidden[passage.text, passage.speaker, None] = passage.purge_at
    return hidden


def _purge_date(source: Source, piece: SourceTurn, hidden: HiddenWords) -> datetime | None:
    at = piece.at or source.started_at or source.created_at
    for key in ((piece.text, piece.speaker, at), (piece.text, piece.speaker, None)):
        if key in hidden:
            return hidden[key]
    return source.updated_at if is_blotted(piece.text) else None


def without_hidden(reading: ParsedSource, passages: Sequence[Passage]) -> ParsedSource:
    """The reading without forgotten and erased passages: nothing of them is described."""
    if not any(passage.is_hidden for passage in passages):
        return reading
    return replace(reading, turns=visible_turns(passages))


def visible_turns(passages: Iterable[Passage]) -> tuple[SourceTurn, ...]:
    return tuple(
        SourceTurn(
            text=passage.text,
            speaker=passage.speaker,
            role=passage.role,
            at=passage.at,
            session=passage.session,
            label=passage.label,
        )
        for passage in passages
        if not passage.is_hidden
    )


def _with_refreshed_description(
    source: Source, reading: ParsedSource, visible: ParsedSource, turns_before: int
) -> Source:
    """Describe a growing conversation again whenever it has grown by a quarter."""
    source = source.evolve(
        status=ProcessingStatus.PROCESSED,
        participants=tuple(dict.fromkeys((*source.participants, *reading.participants))),
        started_at=source.started_at or reading.started_at,
        ended_at=reading.ended_at or source.ended_at,
    )
    if source.parts > 1 and growth_milestone(turns_before) == growth_milestone(len(reading.turns)):
        return source
    return with_description(source, visible)


def with_description(source: Source, reading: ParsedSource) -> Source:
    if TITLE_BY in source.provenance:
        source, reading = without_written_title(source), replace(reading, title=None)
    given = ingest_record_in(source.provenance).tags
    if not reading.turns:  # all of it is forgotten
        return source.evolve(summary="", keywords=(), tags=given)
    description = describe(reading)
    return source.evolve(
        summary=description.summary,
        keywords=description.keywords,
        tags=tuple(dict.fromkeys((*given, *description.tags))),
        context_type=source.context_type or description.context_type,
    )


def without_written_title(source: Source) -> Source:
    """Without a title that a model wrote: it may rest on words that are gone."""
    if TITLE_BY not in source.provenance:
        return source
    left = {name: each for name, each in source.provenance.items() if name != TITLE_BY}
    return source.evolve(title="", provenance=left)


def growth_milestone(turns: int) -> int:
    """The number of times that a conversation has grown by a quarter."""
    return int(log(turns, 1.25)) if turns > 0 else -1


DESCRIBE_ACTOR = "worker:describe"


def describe_thread(engine: EngineContext, job: Job) -> Callable[[], Changeset]:
    """The changeset is computed in the transaction, again on a concurrent change."""
    return lambda: _description_changeset(engine, job)


def _description_changeset(engine: EngineContext, job: Job) -> Changeset:
    scope, id = job.scope, str(job.payload["source"])
    now = engine.clock()
    found = engine.live_sources(scope, [id])
    if not found or found[0].state is not State.ACTIVE:
        return Changeset(scope, now, DESCRIBE_ACTOR, ())
    source = found[0]
    reading = parse_parts(source, engine.store.original(scope, id))
    if engine.store.passages(scope, HiddenPassages([id])):
        passages = engine.store.passages(scope, PassagesOf(id)).values()
        reading = replace(reading, turns=visible_turns(passages))
    after = with_description(source, reading)
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
