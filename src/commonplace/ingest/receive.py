"""Receive: the original is kept whole, and the work on it is queued, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from commonplace.desk import Desk
from commonplace.errors import InvalidInput, MissingField, NotFound
from commonplace.ingest.read import format_of, read
from commonplace.model.changes import AddSource, Changeset, ChangeSource, Enqueue, Step
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.memory import Sensitivity, State
from commonplace.model.owed import is_to_be_processed, processing
from commonplace.model.scope import Principal
from commonplace.model.source import (
    CATEGORY,
    MAX_PARTS,
    PREFIX,
    ContextType,
    Reading,
    Source,
    SourceType,
    Status,
    checked_alias,
    digest_of,
)

TEXT, FILE = "text", "file"  # origins


class Outcome(StrEnum):
    """What became of an original that came in."""

    RECEIVED = "received"
    APPENDED = "appended"
    REPLACED = "replaced"  # the same name, another content
    UNCHANGED = "unchanged"  # it was there already
    FORGOTTEN = "forgotten"  # it was forgotten, and stays so until it is restored


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """What comes in, and what is said about it."""

    raw: bytes
    name: str | None = None  # of the file
    format: str | None = None
    origin: str | None = None
    external_id: str | None = None
    append: bool = False
    title: str | None = None
    date: datetime | None = None
    source_type: SourceType | None = None
    context_type: ContextType | None = None
    participants: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sensitivity: Sensitivity | None = None
    thread_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Received:
    source: Source
    outcome: Outcome
    revision: int


def receive(
    desk: Desk, principal: Principal, original: Original, *, awaited: bool = False
) -> Received:
    """Refused at once when it cannot be read: nothing is kept of it then."""
    format = original.format or format_of(original.raw, original.name)
    reading = read(
        original.raw,
        name=original.name,
        format=format,
        title=original.title,
        started_at=original.date,
    )
    origin, external_id = checked_alias(*_identity(original, reading))
    now = desk.clock()

    def decide() -> tuple[Changeset, tuple[Source, Outcome]]:
        known = desk.store.source_called(principal.scope, origin, external_id)
        if known is None:
            source = _new(desk, principal, original, reading, format, (origin, external_id), now)
            step: Step | None = AddSource(source, original.raw, _told(source, Op.CREATE, Event.ADD))
            outcome = Outcome.RECEIVED
        else:
            step, source, outcome = _again(principal, original, reading, known, now)
        job = processing(source, desk.new_id(), now, awaited=awaited)
        steps: tuple[Step, ...] = () if step is None else (step,)
        if is_to_be_processed(source):  # also when nobody was at it any more, and it comes again
            steps += (Enqueue(job),)
        changeset = Changeset(
            principal.scope, now, principal.actor, steps, thread_id=original.thread_id
        )
        return changeset, (source, outcome)

    revision, (source, outcome) = desk.decide(decide)
    return Received(source, outcome, revision)


def _identity(original: Original, reading: Reading) -> tuple[str, str]:
    """The original's own name where it has one: the same letter out of two files is one source."""
    if original.external_id is not None:
        return original.origin or reading.source_type, original.external_id
    if original.append:
        raise MissingField("To append, say to what.", field="external_id")
    if reading.external_id is not None:
        return original.origin or reading.source_type, reading.external_id
    if original.name is not None:
        return original.origin or FILE, original.name
    return original.origin or TEXT, digest_of(original.raw)


def _new(
    desk: Desk,
    principal: Principal,
    original: Original,
    reading: Reading,
    format: str,
    called: tuple[str, str],
    now: datetime,
) -> Source:
    origin, external_id = called
    source_type = original.source_type or reading.source_type
    if original.name is not None and source_type is SourceType.TEXT_IMPORT:
        source_type = SourceType.FILE
    said: dict[str, Any] = {"format": str(format)}
    said |= {"name": original.name} if original.name else {}
    said |= {"tags": list(original.tags)} if original.tags else {}
    return Source(
        id=PREFIX + desk.new_id(),
        user_id=principal.user_id,
        origin=origin,
        external_id=external_id,
        source_type=source_type,
        content_type=reading.content_type,
        context_type=original.context_type or reading.context_type,
        title=original.title or reading.title or "",
        tags=original.tags,
        participants=_people(principal.user_id, original.participants, reading.participants),
        provenance={**reading.provenance, **original.metadata, **said},
        thread_id=original.thread_id,
        sensitivity=original.sensitivity or Sensitivity.NORMAL,
        started_at=original.date or reading.started_at,
        ended_at=reading.ended_at,
        digest=digest_of(original.raw),
        created_at=now,
        updated_at=now,
    )


def _people(*names: str | tuple[str, ...]) -> tuple[str, ...]:
    flat = [name for each in names for name in ((each,) if isinstance(each, str) else each)]
    return tuple(dict.fromkeys(flat))


def _again(
    principal: Principal, original: Original, reading: Reading, known: Source, now: datetime
) -> tuple[ChangeSource | None, Source, Outcome]:
    """A source by this name is there."""
    if known.sensitivity is Sensitivity.HIGH and not (principal.cleared or principal.is_owner):
        raise NotFound(f"There is no {known.alias!r} to add to.", field="external_id")
    if known.state is not State.ACTIVE:
        return None, known, Outcome.FORGOTTEN
    if original.append:
        return _appended(original, reading, known, now)
    if known.digest == digest_of(original.raw) and known.sensitivity is _guarded(original, known):
        return None, known, Outcome.UNCHANGED
    after = known.evolve(
        title=original.title or reading.title or known.title,
        started_at=original.date or reading.started_at,
        ended_at=reading.ended_at,
        content_type=reading.content_type,
        digest=digest_of(original.raw),
        parts=1,
        passages=0,
        **_raw_again(original, known, now),
    )
    entry = _told(after, Op.UPDATE, Event.UPDATE, known)
    return ChangeSource(known, after, entry, original.raw, anew=True), after, Outcome.REPLACED


def _appended(
    original: Original, reading: Reading, known: Source, now: datetime
) -> tuple[ChangeSource | None, Source, Outcome]:
    """The digest runs over all parts; whether a part adds a turn is for processing to see."""
    if reading.content_type is not known.content_type:
        raise InvalidInput(
            f"{known.alias} is of type {known.content_type}; this is {reading.content_type}.",
            field="external_id",
        )
    if known.parts >= MAX_PARTS:
        raise InvalidInput(
            f"A source has at most {MAX_PARTS:,} parts.", remedy="Begin a new one.", field="append"
        )
    after = known.evolve(
        parts=known.parts + 1,
        digest=digest_of(original.raw, known.digest),
        **_raw_again(original, known, now),
    )
    entry = _told(after, Op.UPDATE, Event.UPDATE, known)
    return ChangeSource(known, after, entry, original.raw), after, Outcome.APPENDED


def _guarded(original: Original, known: Source) -> Sensitivity:
    """As was said last: whoever brings something again may say only now that it is sensitive."""
    return original.sensitivity or known.sensitivity


def _raw_again(original: Original, known: Source, now: datetime) -> dict[str, Any]:
    return {
        "sensitivity": _guarded(original, known),
        "status": Status.RAW,
        "updated_at": now,
        "processing_started_at": None,
        "processing_completed_at": None,
        "version": known.version + 1,
    }


def _told(source: Source, op: Op, event: Event, before: Source | None = None) -> Entry:
    return Entry(
        op=op,
        event=event,
        subject=source.id,
        category=CATEGORY,
        old_ref=before.ref if before else None,
        new_ref=source.ref,
    )
