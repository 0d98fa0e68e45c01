"""An original whose source exists: update its details, append a part, or replace its content.

Details given with each ingest are merged: earlier values are extended or replaced, never removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from commonplace.engine.sources.originals import (
    IngestAction,
    IngestRecord,
    IngestRequest,
    ParsedOriginal,
    PartRun,
    build_provenance,
    caller_metadata_in,
    ingest_record_in,
    parsed_metadata_in,
    with_ingest_record,
)
from commonplace.engine.sources.process import parse_parts
from commonplace.errors import InvalidInput
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import ChangeSource
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.memory.memory import Sensitivity
from commonplace.model.sources.source import (
    MAX_PARTS,
    SOURCE_CATEGORY,
    ProcessingStatus,
    Source,
    original_digest,
)

SourceChange = tuple[tuple[ChangeSource, ...], Source, IngestAction]


def update_details(principal: Principal, arriving: ParsedOriginal, known: Source) -> SourceChange:
    """Merge the given details into a source whose content is unchanged."""
    record = ingest_record_in(known.provenance)
    after = known.evolve(**_merged_details(principal, arriving.original, known, record))
    _refuse_expired(after, arriving)
    if known.parts == 1 and arriving.original.date is not None:
        after = after.evolve(started_at=arriving.original.date)
    if after == known:
        return (), known, IngestAction.UNCHANGED
    after = after.evolve(updated_at=arriving.at, version=known.version + 1)
    anew = (after.title, after.started_at) != (known.title, known.started_at)
    if anew:  # passages are indexed with the title and dated from the start
        after = after.evolve(passages=0, **_unprocessed_fields())
    return (
        (ChangeSource(known, after, _update_entry(known, after), anew=anew),),
        after,
        IngestAction.UPDATED,
    )


def append_part(principal: Principal, arriving: ParsedOriginal, known: Source) -> SourceChange:
    """Append a part. The digest covers all parts; processing decides which turns are new."""
    original, reading = arriving.original, arriving.reading
    undated = replace(original, date=None)  # the part's date is not the source's
    earlier, known, outcome = update_details(principal, replace(arriving, original=undated), known)
    digest, record, part = (
        original_digest(original.raw),
        ingest_record_in(known.provenance),
        known.parts + 1,
    )
    if digest == (record.last or known.digest):  # a retry
        return earlier, known, outcome
    if reading.content_type is not known.content_type:
        raise InvalidInput(
            f"{known.alias} is of type {known.content_type}; this is {reading.content_type}.",
            field="external_id",
        )
    if part > MAX_PARTS:
        raise InvalidInput(
            f"The source has too many parts: the limit is {MAX_PARTS:,}.",
            remedy="Start a new source.",
            field="append",
        )
    untimed = any(turn.at is None for turn in reading.turns)
    date = original.date or arriving.day
    run = PartRun(
        first=part,
        format=arriving.format,
        date=date,
        received=arriving.at if untimed and date is None else None,
    )
    after = known.evolve(
        provenance=with_ingest_record(known.provenance, record.with_part(run, digest)),
        parts=part,
        digest=original_digest(original.raw, known.digest),
        updated_at=arriving.at,
        version=known.version + 1,
        **_unprocessed_fields(),
    )
    step = ChangeSource(known, after, _update_entry(known, after), original.raw)
    return (*earlier, step), after, IngestAction.APPENDED


def replace_content(principal: Principal, arriving: ParsedOriginal, known: Source) -> SourceChange:
    """Replace the content under the same alias. A source with several parts is not replaced."""
    original, reading = arriving.original, arriving.reading
    if known.parts > 1:
        raise InvalidInput(
            f"{known.alias} has {known.parts:,} parts, and this content is not one of them.",
            remedy="Use append, another external_id, or erase the source first.",
            field="external_id",
        )
    before = ingest_record_in(known.provenance)
    record = replace(
        before,
        runs=(PartRun(first=1, format=arriving.format),),
        name=original.name or before.name,
        last=original_digest(original.raw),
    )
    details = _merged_details(principal, original, known, record)
    people = (principal.user_id, *original.participants, *reading.participants)
    metadata = {**caller_metadata_in(known.provenance), **original.metadata}
    after = known.evolve(
        **{
            **details,
            "title": original.title or reading.title or known.title,
            "context_type": original.context_type or reading.context_type or known.context_type,
            "participants": tuple(dict.fromkeys(people)),
            "provenance": build_provenance(
                reading.provenance, metadata, _with_tags(record, original)
            ),
        },
        started_at=original.date or reading.started_at,
        ended_at=reading.ended_at,
        content_type=reading.content_type,
        digest=original_digest(original.raw),
        parts=1,
        passages=0,
        updated_at=arriving.at,
        version=known.version + 1,
        **_unprocessed_fields(),
    )
    _refuse_expired(after, arriving)
    step = ChangeSource(known, after, _update_entry(known, after), original.raw, anew=True)
    return (step,), after, IngestAction.REPLACED


def _refuse_expired(after: Source, arriving: ParsedOriginal) -> None:
    if after.has_ended(arriving.at):
        raise InvalidInput(
            f"{after.alias} is so old that it would be expired already.",
            remedy="Forget it instead.",
            field="ttl_policy",
        )


def is_already_stored(arriving: ParsedOriginal, known: Source, parts: Sequence[bytes]) -> bool:
    """Compare bytes or, if the alias comes from the content, turns: the headers of two copies of a
    mail differ."""
    if arriving.original.raw in parts:
        return True
    if not arriving.is_named_by_itself or not parts:
        return False
    stored = {(turn.speaker, turn.text) for turn in parse_parts(known, parts).turns}
    return all((turn.speaker, turn.text) in stored for turn in arriving.reading.turns)


def redacted_source(source: Source) -> Source:
    """The source without its content: only its existence may be shown."""
    return source.evolve(
        title="",
        summary="",
        keywords=(),
        tags=(),
        participants=(),
        provenance={},
        thread_id=None,
        context_type=None,
        started_at=None,
        ended_at=None,
        digest="",
    )


# ——— details ———


def _merged_details(
    principal: Principal, original: IngestRequest, known: Source, record: IngestRecord
) -> dict[str, Any]:
    """The source's fields, updated with the given details."""
    metadata = {**caller_metadata_in(known.provenance), **original.metadata}
    record = _with_tags(record, original)
    return {
        "title": original.title or known.title,
        "tags": tuple(dict.fromkeys((*record.tags, *known.tags))),
        "participants": tuple(dict.fromkeys((*known.participants, *original.participants))),
        "provenance": build_provenance(parsed_metadata_in(known.provenance), metadata, record),
        "thread_id": original.thread_id or known.thread_id,
        "source_type": original.source_type or known.source_type,
        "context_type": original.context_type or known.context_type,
        "sensitivity": _merged_sensitivity(principal, original, known),
        "ttl_policy": original.ttl_policy or known.ttl_policy,
    }


def _with_tags(record: IngestRecord, original: IngestRequest) -> IngestRecord:
    return replace(record, tags=tuple(dict.fromkeys((*record.tags, *original.tags))))


_SENSITIVITY_ORDER = (Sensitivity.LOW, Sensitivity.NORMAL, Sensitivity.HIGH)


def _merged_sensitivity(
    principal: Principal, original: IngestRequest, known: Source
) -> Sensitivity:
    """Any caller may raise the sensitivity; only the owner may lower it."""
    sensitivity = original.sensitivity or known.sensitivity
    return (
        sensitivity
        if principal.is_owner
        else max(sensitivity, known.sensitivity, key=_SENSITIVITY_ORDER.index)
    )


def _unprocessed_fields() -> dict[str, Any]:
    return {
        "status": ProcessingStatus.RAW,
        "processing_started_at": None,
        "processing_completed_at": None,
    }


def _update_entry(before: Source, after: Source) -> Entry:
    return Entry(
        op=Op.UPDATE,
        event=Event.UPDATE,
        subject=after.id,
        category=SOURCE_CATEGORY,
        old_ref=before.ref,
        new_ref=after.ref,
    )
