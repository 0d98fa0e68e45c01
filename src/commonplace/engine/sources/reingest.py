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


def update_details(principal: Principal, parsed: ParsedOriginal, existing: Source) -> SourceChange:
    """Merge the given details into a source whose content is unchanged."""
    record = ingest_record_in(existing.provenance)
    after = existing.evolve(**_merged_details(principal, parsed.original, existing, record))
    _refuse_expired(after, parsed)
    if existing.parts == 1 and parsed.original.date is not None:
        after = after.evolve(started_at=parsed.original.date)
    if after == existing:
        return (), existing, IngestAction.UNCHANGED
    after = after.evolve(updated_at=parsed.at, version=existing.version + 1)
    needs_reprocessing = (after.title, after.started_at) != (existing.title, existing.started_at)
    if needs_reprocessing:  # passages are indexed with the title and dated from the start
        after = after.evolve(passages=0, **_unprocessed_fields())
    return (
        (ChangeSource(existing, after, _update_entry(existing, after), anew=needs_reprocessing),),
        after,
        IngestAction.UPDATED,
    )


def append_part(principal: Principal, parsed: ParsedOriginal, existing: Source) -> SourceChange:
    """Append a part. The digest covers all parts; processing decides which turns are new."""
    original, reading = parsed.original, parsed.reading
    undated = replace(original, date=None)  # the part's date is not the source's
    earlier, existing, outcome = update_details(
        principal, replace(parsed, original=undated), existing
    )
    digest, record, part = (
        original_digest(original.raw),
        ingest_record_in(existing.provenance),
        existing.parts + 1,
    )
    if digest == (record.last or existing.digest):  # a retry
        return earlier, existing, outcome
    if reading.content_type is not existing.content_type:
        raise InvalidInput(
            f"{existing.alias} is of type {existing.content_type}; this is {reading.content_type}.",
            field="external_id",
        )
    if part > MAX_PARTS:
        raise InvalidInput(
            f"The source has too many parts: the limit is {MAX_PARTS:,}.",
            remedy="Start a new source.",
            field="append",
        )
    untimed = any(turn.at is None for turn in reading.turns)
    date = original.date or parsed.day
    run = PartRun(
        first=part,
        format=parsed.format,
        date=date,
        received=parsed.at if untimed and date is None else None,
    )
    after = existing.evolve(
        provenance=with_ingest_record(existing.provenance, record.with_part(run, digest)),
        parts=part,
        digest=original_digest(original.raw, existing.digest),
        updated_at=parsed.at,
        version=existing.version + 1,
        **_unprocessed_fields(),
    )
    step = ChangeSource(existing, after, _update_entry(existing, after), original.raw)
    return (*earlier, step), after, IngestAction.APPENDED


def replace_content(principal: Principal, parsed: ParsedOriginal, existing: Source) -> SourceChange:
    """Replace the content under the same alias. A source with several parts is not replaced."""
    original, reading = parsed.original, parsed.reading
    if existing.parts > 1:
        raise InvalidInput(
            f"{existing.alias} has {existing.parts:,} parts, and this content is not one of them.",
            remedy="Use append, another external_id, or erase the source first.",
            field="external_id",
        )
    before = ingest_record_in(existing.provenance)
    record = replace(
        before,
        runs=(PartRun(first=1, format=parsed.format),),
        name=original.name or before.name,
        last=original_digest(original.raw),
    )
    details = _merged_details(principal, original, existing, record)
    people = (principal.user_id, *original.participants, *reading.participants)
    metadata = {**caller_metadata_in(existing.provenance), **original.metadata}
    after = existing.evolve(
        **{
            **details,
            "title": original.title or reading.title or existing.title,
            "context_type": original.context_type or reading.context_type or existing.context_type,
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
        updated_at=parsed.at,
        version=existing.version + 1,
        **_unprocessed_fields(),
    )
    _refuse_expired(after, parsed)
    step = ChangeSource(existing, after, _update_entry(existing, after), original.raw, anew=True)
    return (step,), after, IngestAction.REPLACED


def _refuse_expired(after: Source, parsed: ParsedOriginal) -> None:
    if after.has_ended(parsed.at):
        raise InvalidInput(
            f"{after.alias} is so old that it would be expired already.",
            remedy="Forget it instead.",
            field="ttl_policy",
        )


def is_already_stored(parsed: ParsedOriginal, existing: Source, parts: Sequence[bytes]) -> bool:
    """Compare bytes or, if the alias comes from the content, turns: the headers of two copies of a
    mail differ."""
    if parsed.original.raw in parts:
        return True
    if not parsed.is_named_by_itself or not parts:
        return False
    stored = {(turn.speaker, turn.text) for turn in parse_parts(existing, parts).turns}
    return all((turn.speaker, turn.text) in stored for turn in parsed.reading.turns)


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
    principal: Principal, original: IngestRequest, existing: Source, record: IngestRecord
) -> dict[str, Any]:
    """The source's fields, updated with the given details."""
    metadata = {**caller_metadata_in(existing.provenance), **original.metadata}
    record = _with_tags(record, original)
    return {
        "title": original.title or existing.title,
        "tags": tuple(dict.fromkeys((*record.tags, *existing.tags))),
        "participants": tuple(dict.fromkeys((*existing.participants, *original.participants))),
        "provenance": build_provenance(parsed_metadata_in(existing.provenance), metadata, record),
        "thread_id": original.thread_id or existing.thread_id,
        "source_type": original.source_type or existing.source_type,
        "context_type": original.context_type or existing.context_type,
        "sensitivity": _merged_sensitivity(principal, original, existing),
        "ttl_policy": original.ttl_policy or existing.ttl_policy,
    }


def _with_tags(record: IngestRecord, original: IngestRequest) -> IngestRecord:
    return replace(record, tags=tuple(dict.fromkeys((*record.tags, *original.tags))))


_SENSITIVITY_ORDER = (Sensitivity.LOW, Sensitivity.NORMAL, Sensitivity.HIGH)


def _merged_sensitivity(
    principal: Principal, original: IngestRequest, existing: Source
) -> Sensitivity:
    """Any caller may raise the sensitivity; only the owner may lower it."""
    sensitivity = original.sensitivity or existing.sensitivity
    return (
        sensitivity
        if principal.is_owner
        else max(sensitivity, existing.sensitivity, key=_SENSITIVITY_ORDER.index)
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
