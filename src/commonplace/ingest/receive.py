"""Receive: the original is kept whole, and the work on it is queued, in one transaction."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from commonplace.desk import Desk, can_see_source, visibility_of
from commonplace.errors import MissingField
from commonplace.ingest.again import (
    appended,
    replaced,
    said_again,
    says_nothing_new,
    without_words,
)
from commonplace.ingest.decode import text_of
from commonplace.ingest.noted import Noted, Run, noted_in, provenance_of
from commonplace.ingest.original import Arriving, Original, Outcome
from commonplace.ingest.own_day import is_of_a_day, own_day
from commonplace.ingest.read import chosen_format, read
from commonplace.model.changes import AddSource, Changeset, Enqueue, Step
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.memory import Sensitivity, State
from commonplace.model.owed import is_to_be_processed, processing
from commonplace.model.scope import Principal
from commonplace.model.source import (
    CATEGORY,
    MAX_PARTS,
    PREFIX,
    THREAD,
    ContentType,
    Reading,
    Source,
    SourceType,
    Status,
    checked_alias,
    digest_of,
)
from commonplace.model.ttl_policy import TtlPolicy

TEXT, FILE = "text", "file"  # origins
DIGITS = 12  # of a digest, where two sources would have one name

Alias = tuple[str, str]
Decided = tuple[tuple[Step, ...], Source, Outcome]


@dataclass(frozen=True, slots=True)
class Received:
    source: Source
    outcome: Outcome
    revision: int
    told: Source | None = None  # in its place, to one who sees no sources


def receive(
    desk: Desk, principal: Principal, original: Original, *, awaited: bool = False
) -> Received:
    """Refused at once when it cannot be read: nothing is kept of it then."""
    now = desk.clock()
    arriving = _read(original, now)
    alias = _identity(original, arriving.reading)

    def decide() -> tuple[Changeset, tuple[Source, Outcome]]:
        steps, source, outcome = _decided(desk, principal, arriving, alias)
        if is_to_be_processed(source):  # also when nobody was at it any more, and it comes again
            steps += (Enqueue(processing(source, desk.new_id(), now, awaited=awaited)),)
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
        _, as_if_new, _ = new_source(desk, principal, arriving, alias)
    revision, (source, outcome) = desk.decide(decide)
    if as_if_new is None:
        return Received(source, outcome, revision)
    id = source.id if outcome is Outcome.RECEIVED else as_if_new.id
    return Received(source, outcome, revision, without_words(as_if_new).evolve(id=id))


def _read(original: Original, now: datetime) -> Arriving:
    format = chosen_format(original.raw, original.name, original.format)
    day = None
    if original.date is None and is_of_a_day(format):
        day = own_day(text_of(original.raw), original.name, now)
    reading = read(
        original.raw,
        name=original.name,
        format=format,
        title=original.title,
        started_at=original.date or day,
    )
    return Arriving(original, reading, format, now, day)


def _identity(original: Original, reading: Reading) -> Alias:
    """The original's own name where it has one: the same letter out of two files is one source."""
    if original.external_id is not None:
        return original.origin or reading.source_type, original.external_id
    if original.append:
        raise MissingField("append needs an external_id.", field="external_id")
    if reading.external_id is not None:
        return original.origin or reading.source_type, reading.external_id
    if original.name is not None:
        return original.origin or FILE, original.name
    return original.origin or TEXT, digest_of(original.raw)


def _decided(desk: Desk, principal: Principal, arriving: Arriving, alias: Alias) -> Decided:
    known = desk.source_called(principal.scope, *checked_alias(*alias))
    if known is None:
        return new_source(desk, principal, arriving, alias)
    if not can_see_source(principal, known) and not _may_go_on_with(principal, arriving, known):
        return _hidden(desk, principal, arriving, known)
    if _is_anothers(principal, known):
        return _beside_anothers(desk, principal, arriving, known)
    if known.state is not State.ACTIVE:
        return (), without_words(known), Outcome.FORGOTTEN
    if arriving.original.append:
        return appended(principal, arriving, known)
    if known.digest == digest_of(arriving.original.raw):
        return _same_bytes(principal, arriving, known)
    if known.parts > 1 or arriving.is_named_by_itself:
        parts = desk.store.original(principal.scope, known.id)
        if says_nothing_new(arriving, known, parts):
            return said_again(principal, arriving, known)
    if not arriving.is_named_by_itself:
        return replaced(principal, arriving, known)
    if known.content_type is ContentType.SLACK_THREAD:
        return appended(principal, arriving, known)  # it went on: what was said stays
    return _decided(desk, principal, arriving, beside(alias, _own_words(arriving.reading)))


def _may_go_on_with(principal: Principal, arriving: Arriving, known: Source) -> bool:
    """Of what is hidden: who takes part in a conversation adds to it, and who brought something
    brings it again. Where that would be refused, what comes is kept beside: a refusal tells."""
    guarded = known.sensitivity is Sensitivity.HIGH and not principal.cleared
    if guarded or known.state is not State.ACTIVE:
        return False
    own = noted_in(known.provenance).agent == principal.agent
    if not arriving.original.append:
        return own and known.parts == 1
    alike = arriving.reading.content_type is known.content_type
    return (own or known.origin == THREAD) and alike and known.parts < MAX_PARTS


def _is_anothers(principal: Principal, known: Source) -> bool:
    """In a team nobody writes over what another brought, unless they could take it away."""
    return known.user_id != principal.user_id and not principal.manages


def _beside_anothers(
    desk: Desk, principal: Principal, arriving: Arriving, known: Source
) -> Decided:
    """The same again adds nothing and changes nothing; whatever else comes is the bringer's own."""
    stands = known.state is State.ACTIVE
    if stands and says_nothing_new(arriving, known, desk.store.original(known.scope, known.id)):
        return (), known.evolve(status=Status.PROCESSED), Outcome.UNCHANGED
    alias = beside((known.origin, known.external_id), principal.user_id)
    return _decided(desk, principal, arriving, alias)


def _same_bytes(principal: Principal, arriving: Arriving, known: Source) -> Decided:
    """They are read anew where somebody says that they are of another format."""
    read_as = noted_in(known.provenance).run_of(1).format
    if arriving.original.format is None or read_as in (None, arriving.format):
        return said_again(principal, arriving, known)
    return replaced(principal, arriving, known)


def _hidden(desk: Desk, principal: Principal, arriving: Arriving, known: Source) -> Decided:
    """To refuse would tell that the name is taken: what comes is kept under a name beside it.
    Not so the hidden text itself, which would be there once more for everybody to find."""
    if says_nothing_new(arriving, known, desk.store.original(principal.scope, known.id)):
        nothing_owed = without_words(known).evolve(status=Status.PROCESSED)
        return (), nothing_owed, Outcome.UNCHANGED
    return _decided(desk, principal, arriving, beside((known.origin, known.external_id), known.id))


def beside(alias: Alias, what: str) -> Alias:
    origin, external_id = alias
    return origin, f"{external_id}~{digest_of(what.encode())[:DIGITS]}"


def _own_words(reading: Reading) -> str:
    return "\n".join(turn.text for turn in reading.turns)


def new_source(desk: Desk, principal: Principal, arriving: Arriving, alias: Alias) -> Decided:
    original, reading = arriving.original, arriving.reading
    origin, external_id = alias
    source_type = original.source_type or reading.source_type
    if original.name is not None and source_type is SourceType.TEXT_IMPORT:
        source_type = SourceType.FILE
    people = (principal.user_id, *original.participants, *reading.participants)
    digest = digest_of(original.raw)
    noted = Noted(
        runs=(Run(first=1, format=arriving.format),),
        name=original.name,
        tags=original.tags,
        last=digest,
        agent=principal.agent,
    )
    source = Source(
        id=PREFIX + desk.new_id(),
        user_id=principal.user_id,
        team_id=None if principal.is_at_home else principal.scope.name,
        origin=origin,
        external_id=external_id,
        source_type=source_type,
        content_type=reading.content_type,
        context_type=original.context_type or reading.context_type,
        title=original.title or reading.title or "",
        tags=original.tags,
        participants=tuple(dict.fromkeys(people)),
        provenance=provenance_of(reading.provenance, original.metadata, noted),
        thread_id=original.thread_id,
        sensitivity=original.sensitivity or Sensitivity.NORMAL,
        ttl_policy=original.ttl_policy or TtlPolicy.DECAY,
        started_at=original.date or reading.started_at,
        ended_at=reading.ended_at,
        digest=digest,
        created_at=arriving.at,
        updated_at=arriving.at,
    )
    entry = Entry(
        op=Op.CREATE, event=Event.ADD, subject=source.id, category=CATEGORY, new_ref=source.ref
    )
    return (AddSource(source, original.raw, entry),), source, Outcome.RECEIVED
