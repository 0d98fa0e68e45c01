"""The ingest verb: store an original, queue its processing, and answer what became of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time

from commonplace.engine.access import can_see_source, visibility_of
from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.follow_up_jobs import PROCESS_JOB, build_process_job, needs_processing
from commonplace.engine.sources.originals import IngestAction
from commonplace.errors import MissingField, TooLong
from commonplace.language.text.dates import parse_whole_date
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.changeset import AddSource, Changeset, ChangesetStep, EnqueueJob
from commonplace.model.jobs import Failure, Job
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.memory.kinds import TtlPolicy
from commonplace.model.memory.memory import Sensitivity, State
from commonplace.model.parameters import SourceFormat
from commonplace.model.sources.source import (
    MAX_PARTS,
    SOURCE_CATEGORY,
    SOURCE_PREFIX,
    THREAD_ORIGIN,
    ContentType,
    ParsedSource,
    ProcessingStatus,
    Source,
    SourceType,
    check_alias,
    original_digest,
)
from commonplace.store.queries import HiddenPassages

with lazy_imports(__name__):
    from commonplace.engine.sources.blot import blot_again
    from commonplace.engine.sources.formats import input as formats
    from commonplace.engine.sources.formats.input import decode_text
    from commonplace.engine.sources.formats.parse import choose_format, parse_source
    from commonplace.engine.sources.formats.transcript import speaker_line
    from commonplace.engine.sources.originals import (
        IngestRecord,
        IngestRequest,
        ParsedOriginal,
        PartRun,
        build_provenance,
        ingest_record_in,
        offer_parsed,
    )
    from commonplace.engine.sources.reingest import (
        append_part,
        is_already_stored,
        redacted_source,
        replace_content,
        update_details,
    )
    from commonplace.engine.transaction import run_transaction
    from commonplace.language.safety.secrets import redact_secrets

# Other formats have their own times, or no date.
_DATED_FORMATS = (SourceFormat.TEXT, SourceFormat.MARKDOWN, SourceFormat.TRANSCRIPT)
_MAX_TITLE_WORDS = 12
_HEAD_LENGTH = 2_000  # characters that are searched for a first line
_MARKDOWN_SIGNS = re.compile(r"[#>*_\s]+")
_DATE_LABEL = re.compile(r"(?:date|תאריך)\s*:\s*", re.IGNORECASE)
# Between a title and its date: "Orion weekly, 18 February 2026", "Haifa – 2026-03-01".
_BETWEEN_TITLE_AND_DATE = re.compile(r",\s+|\s+[-–—|·]\s+|\s+(?=\()")
_ENDS_A_SENTENCE = re.compile(r"[.?!…:;]$")
_NAME_OF_FILE = re.compile(r"(?:.*[/\\])?(\d{4}-\d\d-\d\d)(?!\d)[^/\\]*")


def may_have_document_date(format: SourceFormat) -> bool:
    return format in _DATED_FORMATS


def document_date(text: str, name: str | None, now: datetime) -> datetime | None:
    """The date in the first line or the file name, unless it is in the future."""
    day = _date_in_first_line(text) or _date_in_file_name(name or "")
    if day is None or day > now.date():
        return None
    return datetime.combine(day, time.min, UTC)


def _date_in_first_line(text: str) -> date | None:
    first, _, rest = text.lstrip()[:_HEAD_LENGTH].partition("\n")
    if not rest.strip() or speaker_line(first):  # a single line is not a heading
        return None
    return _date_in_line(_DATE_LABEL.sub("", _MARKDOWN_SIGNS.sub(" ", first).strip(), count=1))


def _date_in_line(line: str) -> date | None:
    """The date of a line that is a date, or a title with a date at its beginning or end."""
    if day := parse_whole_date(line):
        return day
    if len(line.split()) > _MAX_TITLE_WORDS or _ENDS_A_SENTENCE.search(line):
        return None
    places = [(gap.start(), gap.end()) for gap in _BETWEEN_TITLE_AND_DATE.finditer(line)]
    parts = (part for start, end in places for part in (line[end:], line[:start]))
    return next((day for part in parts if (day := parse_whole_date(part.strip("()[] ")))), None)


def _date_in_file_name(name: str) -> date | None:
    found = _NAME_OF_FILE.fullmatch(name)
    return parse_whole_date(found[1]) if found else None


TEXT, FILE = "text", "file"  # origins
ALIAS_DIGEST_DIGITS = 12  # digits appended to an alias that is taken

SourceAlias = tuple[str, str]
SourceDecision = tuple[tuple[ChangesetStep, ...], Source, IngestAction]


@dataclass(frozen=True, slots=True)
class Received:
    source: Source
    outcome: IngestAction
    revision: int
    parsed: ParsedOriginal
    redacted: Source | None = None  # shown instead to callers who see no sources


def receive(
    engine: EngineContext,
    request: RequestContext,
    original: IngestRequest,
    *,
    awaited: bool = False,
) -> Received:
    """Parse and store an original. One that cannot be parsed is rejected; nothing is stored."""
    principal = request.principal
    now = engine.clock()
    parsed = _parse_original(original, now)
    alias = _alias_of(original, parsed.reading)

    def decide() -> tuple[Changeset, tuple[Source, IngestAction]]:
        steps, source, outcome = _decide(engine, principal, parsed, alias)
        if needs_processing(source):  # also if an earlier job was lost
            steps += (EnqueueJob(build_process_job(source, engine.new_id(), now, awaited=awaited)),)
        changeset = Changeset(
            principal.scope,
            now,
            principal.actor,
            steps,
            thread_id=original.thread_id,
            member=principal.member,
        )
        return changeset, (source, outcome)

    as_if_new = None
    if not visibility_of(principal).sees_sources:
        _, as_if_new, _ = new_source(engine, principal, parsed, alias)
    revision, (source, outcome) = run_transaction(engine, request, decide)
    if as_if_new is None:
        return Received(source, outcome, revision, parsed)
    id = source.id if outcome is IngestAction.RECEIVED else as_if_new.id
    return Received(source, outcome, revision, parsed, redacted_source(as_if_new).evolve(id=id))


def _parse_original(original: IngestRequest, now: datetime) -> ParsedOriginal:
    format = choose_format(original.raw, original.name, original.format)
    day = None
    if original.date is None and may_have_document_date(format):
        day = document_date(decode_text(original.raw), original.name, now)
    if original.title:
        original = replace(original, title=redact_secrets(original.title))
    reading = parse_source(
        original.raw,
        name=original.name,
        format=format,
        title=original.title,
        started_at=original.date or day,
    )
    messages, limit = len(reading.turns), formats.MAX_MESSAGES
    if messages > limit:
        raise TooLong(
            f"The original has {messages:,} messages; the limit is {limit:,}.",
            remedy=formats.SPLIT_REMEDY,
            field="original",
        )
    return ParsedOriginal(original, reading, format, now, day)


def _alias_of(original: IngestRequest, reading: ParsedSource) -> SourceAlias:
    """Prefer the id in the content: one mail in two files is one source."""
    if original.external_id is not None:
        return original.origin or reading.source_type, original.external_id
    if original.append:
        raise MissingField("append needs an external_id.", field="external_id")
    if reading.external_id is not None:
        return original.origin or reading.source_type, reading.external_id
    if original.name is not None:
        return original.origin or FILE, original.name
    return original.origin or TEXT, original_digest(original.raw)


def _decide(
    engine: EngineContext, principal: Principal, parsed: ParsedOriginal, alias: SourceAlias
) -> SourceDecision:
    existing = engine.live_source_by_alias(principal.scope, *check_alias(*alias))
    if existing is None:
        return new_source(engine, principal, parsed, alias)
    if not can_see_source(principal, existing) and not _may_extend_hidden(
        principal, parsed, existing
    ):
        return _decide_hidden(engine, principal, parsed, existing)
    if _belongs_to_other_member(principal, existing):
        return _keep_apart_from_other_member(engine, principal, parsed, existing)
    if existing.state is not State.ACTIVE:
        return (), redacted_source(existing), IngestAction.FORGOTTEN
    parsed = _without_erased(engine, parsed, existing)
    if parsed.original.append:
        return append_part(principal, parsed, existing)
    if existing.digest == original_digest(parsed.original.raw):
        return _decide_same_bytes(principal, parsed, existing)
    if existing.parts > 1 or parsed.is_named_by_itself:
        parts = engine.store.original(principal.scope, existing.id)
        if is_already_stored(parsed, existing, parts):
            return update_details(principal, parsed, existing)
    if not parsed.is_named_by_itself:
        return replace_content(principal, parsed, existing)
    if existing.content_type is ContentType.SLACK_THREAD:
        return append_part(
            principal, parsed, existing
        )  # the thread continued: keep the earlier messages
    return _decide(engine, principal, parsed, derived_alias(alias, _text_of_turns(parsed.reading)))


def _without_erased(
    engine: EngineContext, parsed: ParsedOriginal, existing: Source
) -> ParsedOriginal:
    """What was erased from the source does not come back with its original."""
    hidden = engine.store.passages(existing.scope, HiddenPassages([existing.id])).values()
    if not any(passage.is_erased for passage in hidden):
        return parsed
    return blot_again(parsed, existing, engine.store.original(existing.scope, existing.id))


def _may_extend_hidden(principal: Principal, parsed: ParsedOriginal, existing: Source) -> bool:
    """A caller may extend a source that is hidden from it as a participant of a conversation, or as
    the agent that ingested it. If the extension would be rejected, a separate source is stored
    instead: a rejection would reveal the hidden one."""
    guarded = existing.sensitivity is Sensitivity.HIGH and not principal.cleared
    if guarded or existing.state is not State.ACTIVE:
        return False
    is_own = ingest_record_in(existing.provenance).agent == principal.agent
    if not parsed.original.append:
        return is_own and existing.parts == 1
    is_same_type = parsed.reading.content_type is existing.content_type
    return (
        (is_own or existing.origin == THREAD_ORIGIN) and is_same_type and existing.parts < MAX_PARTS
    )


def _belongs_to_other_member(principal: Principal, existing: Source) -> bool:
    """In a team, only admins may overwrite another member's source."""
    return existing.user_id != principal.user_id and not principal.manages


def _keep_apart_from_other_member(
    engine: EngineContext, principal: Principal, parsed: ParsedOriginal, existing: Source
) -> SourceDecision:
    """The same content changes nothing; other content becomes the caller's own source."""
    is_active = existing.state is State.ACTIVE
    if is_active and is_already_stored(
        parsed, existing, engine.store.original(existing.scope, existing.id)
    ):
        return (), existing.evolve(status=ProcessingStatus.PROCESSED), IngestAction.UNCHANGED
    alias = derived_alias((existing.origin, existing.external_id), principal.user_id)
    return _decide(engine, principal, parsed, alias)


def _decide_same_bytes(
    principal: Principal, parsed: ParsedOriginal, existing: Source
) -> SourceDecision:
    """Parse again only if another format was given explicitly."""
    read_as = ingest_record_in(existing.provenance).run_of(1).format
    if parsed.original.format is None or read_as in (None, parsed.format):
        return update_details(principal, parsed, existing)
    return replace_content(principal, parsed, existing)


def _decide_hidden(
    engine: EngineContext, principal: Principal, parsed: ParsedOriginal, existing: Source
) -> SourceDecision:
    """A rejection would reveal that the alias is taken, so the original is stored under a derived
    alias. The hidden text itself is not stored again: it would become visible."""
    if is_already_stored(parsed, existing, engine.store.original(principal.scope, existing.id)):
        processed = redacted_source(existing).evolve(status=ProcessingStatus.PROCESSED)
        return (), processed, IngestAction.UNCHANGED
    return _decide(
        engine,
        principal,
        parsed,
        derived_alias((existing.origin, existing.external_id), existing.id),
    )


def derived_alias(alias: SourceAlias, what: str) -> SourceAlias:
    origin, external_id = alias
    return origin, f"{external_id}~{original_digest(what.encode())[:ALIAS_DIGEST_DIGITS]}"


def _text_of_turns(reading: ParsedSource) -> str:
    return "\n".join(turn.text for turn in reading.turns)


def new_source(
    engine: EngineContext, principal: Principal, parsed: ParsedOriginal, alias: SourceAlias
) -> SourceDecision:
    original, reading = parsed.original, parsed.reading
    origin, external_id = alias
    source_type = original.source_type or reading.source_type
    if original.name is not None and source_type is SourceType.TEXT_IMPORT:
        source_type = SourceType.FILE
    people = (principal.user_id, *original.participants, *reading.participants)
    digest = original_digest(original.raw)
    record = IngestRecord(
        runs=(PartRun(first=1, format=parsed.format),),
        name=original.name,
        tags=original.tags,
        last=digest,
        agent=principal.agent,
    )
    source = Source(
        id=SOURCE_PREFIX + engine.new_id(),
        user_id=principal.user_id,
        team_id=None if principal.is_in_own_scope else principal.scope.name,
        origin=origin,
        external_id=external_id,
        source_type=source_type,
        content_type=reading.content_type,
        context_type=original.context_type or reading.context_type,
        title=original.title or reading.title or "",
        tags=original.tags,
        participants=tuple(dict.fromkeys(people)),
        provenance=build_provenance(reading.provenance, original.metadata, record),
        thread_id=original.thread_id,
        sensitivity=original.sensitivity or Sensitivity.NORMAL,
        ttl_policy=original.ttl_policy or TtlPolicy.DECAY,
        started_at=original.date or reading.started_at,
        ended_at=reading.ended_at,
        digest=digest,
        created_at=parsed.at,
        updated_at=parsed.at,
    )
    entry = Entry(
        op=Op.CREATE,
        event=Event.ADD,
        subject=source.id,
        category=SOURCE_CATEGORY,
        new_ref=source.ref,
    )
    return (AddSource(source, original.raw, entry),), source, IngestAction.RECEIVED


PATIENCE_SECONDS = 600.0

AwaitJob = Callable[[Scope, str, str, float], Job | None]


@dataclass(frozen=True, slots=True)
class Ingested:
    """The result of an ingest."""

    id: str
    action: IngestAction
    source: Source
    revision: int
    failure: Failure | None = None  # of the last attempt, if it is not processed yet

    @property
    def is_new(self) -> bool:
        return self.action is IngestAction.RECEIVED

    @property
    def is_processed(self) -> bool:
        return self.source.status is not ProcessingStatus.RAW


def ingest(
    engine: EngineContext,
    request: RequestContext,
    original: IngestRequest,
    see_through: AwaitJob | None,
) -> Ingested:
    """``see_through`` waits for the processing; without it, a worker processes it later."""
    principal = request.principal
    received = receive(engine, request, original, awaited=see_through is not None)
    source, scope = received.source, principal.scope
    waits = see_through is not None and needs_processing(source)
    job = None
    if see_through and waits:
        with offer_parsed(engine, source.id, received.parsed):
            job = see_through(scope, PROCESS_JOB, source.id, PATIENCE_SECONDS)
    if received.redacted is not None:
        return _answer_without_visibility(engine, scope, received.redacted, see_through is not None)
    if not waits:
        return Ingested(
            source.id, received.outcome, _visible_source(principal, source), received.revision
        )
    with engine.store.read_session():
        current = next(iter(engine.live_sources(scope, [source.id])), source)
        revision = engine.store.counters(scope).revision
    return Ingested(
        source.id,
        received.outcome,
        _visible_source(principal, current),
        revision,
        job.failure if job else None,
    )


def _answer_without_visibility(
    engine: EngineContext, scope: Scope, redacted: Source, is_processed: bool
) -> Ingested:
    """Always the same answer: any other would reveal to a caller without visibility of sources
    which aliases and texts exist."""
    source = redacted.evolve(status=ProcessingStatus.PROCESSED) if is_processed else redacted
    return Ingested(
        redacted.id, IngestAction.RECEIVED, source, engine.store.counters(scope).revision
    )


def _visible_source(principal: Principal, source: Source) -> Source:
    """Redact a source that was forgotten meanwhile or that the agent may only append to."""
    is_visible = source.state is State.ACTIVE and can_see_source(principal, source)
    return source if is_visible else redacted_source(source)
