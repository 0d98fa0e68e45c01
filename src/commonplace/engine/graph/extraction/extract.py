"""extract: turn a processed source into graph assertions and memories, per reader."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.engine.access import can_see_source, readable_scopes, visibility_in
from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.graph.extraction.extraction_input import (
    build_extraction_input,
    load_owner_nicknames,
    principal_for_extraction,
)
from commonplace.engine.graph.extraction.import_extraction import import_extraction
from commonplace.engine.graph.extraction.previous_extraction import (
    SeenSentences,
    compute_digests,
    find_seen_sentences,
)
from commonplace.engine.graph.graph_diff import diff_graph
from commonplace.engine.graph.unit_of_work import GraphUnitOfWork, describe_owner
from commonplace.engine.memories.candidates import (
    StoredCandidates,
    prepare_candidates,
    store_candidates,
)
from commonplace.engine.memories.remember import MemoryBatch
from commonplace.engine.transaction import run_transaction
from commonplace.errors import CommonplaceError, NotFound
from commonplace.language.extract import values
from commonplace.language.extract.extract import extract
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.changeset import Changeset, ChangesetStep, ChangeSource
from commonplace.model.filters import OWNER_VISIBILITY
from commonplace.model.graph.snapshot import EXTRACTION_ACTOR
from commonplace.model.graph.steps import Extraction, PutEdge, PutNode, PutNote, SetExtraction
from commonplace.model.jobs import Job
from commonplace.model.journal import Entry, Event, JournalNode, Op
from commonplace.model.memory.memory import State
from commonplace.model.sources.source import (
    SOURCE_CATEGORY,
    THREAD_ORIGIN,
    Passage,
    ProcessingStatus,
    Source,
    SourceType,
)
from commonplace.store.queries import NO_LIMIT, PassagesOf, SourceListing

ACTOR = EXTRACTION_ACTOR


@dataclass(frozen=True, slots=True)
class PreparedExtraction:
    """A source that was read, before anything is decided."""

    source: Source
    passages: tuple[Passage, ...]
    found: values.SourceExtraction
    batch: MemoryBatch
    started_at: datetime
    is_manual: bool = False  # then all of it counts anew

    @property
    def said_at(self) -> dict[int, datetime]:
        return {passage.number: passage.at for passage in self.passages}


def run_extraction_job(engine: EngineContext, job: Job) -> Callable[[], Changeset]:
    """The slow part is done at once; again when the source was changed meanwhile."""
    reader = Principal(job.scope.name)
    ready: list[PreparedExtraction | None] = [
        prepare_extraction(engine, reader, str(job.payload["source"]))
    ]

    return lambda: _decide_prepared(engine, reader, ready)[0]


def _decide_prepared(
    engine: EngineContext, reader: Principal, ready: list[PreparedExtraction | None]
) -> tuple[Changeset, StoredCandidates | None]:
    """From what is ``ready``, which is made anew where the source was changed since. The revisions
    are read before the source is looked at: whoever takes it away later makes this stale."""
    read = ready[0]
    scopes = [reader.own_scope, read.source.scope] if read else []
    with engine.store.read_session():
        revisions = {scope: engine.store.counters(scope).revision for scope in scopes}
        is_unchanged = read and _readable_source(engine, reader, read.source.id) == read.source
    if read and not is_unchanged:
        ready[0] = read = _prepare_again(engine, reader, read)
    if read is None:
        return Changeset(reader.own_scope, engine.clock(), ACTOR, ()), None
    return build_extraction_changeset(engine, reader, read, revisions)


def _prepare_again(
    engine: EngineContext, reader: Principal, read: PreparedExtraction
) -> PreparedExtraction | None:
    """The source was changed meanwhile; None: there is nothing to read any more."""
    again = prepare_extraction(engine, reader, read.source.id)
    return replace(again, is_manual=read.is_manual) if again else None


def prepare_extraction(
    engine: EngineContext, reader: Principal, id: str
) -> PreparedExtraction | None:
    """None: it is gone, not processed yet, or not theirs to read any more."""
    with engine.store.read_session():
        source = _readable_source(engine, reader, id)
        if source is None or source.status is ProcessingStatus.RAW:
            return None
        if source.state is not State.ACTIVE:
            return None
        started = engine.clock()
        passages = tuple(engine.store.passages(source.scope, PassagesOf(id)).values())
        everybody = engine.graph_cache.of(reader.own_scope).snapshot.nodes.values()
        owner = describe_owner(engine, reader.own_scope, everybody)
        called = load_owner_nicknames(engine, reader.own_scope, everybody, passages)
    account = replace(
        build_extraction_input(source, passages, owner, reader.user_id), names_by_address=called
    )
    found = extract(account)
    # What was said to an agent was looked at turn by turn, as it came.
    candidates = () if source.origin == THREAD_ORIGIN else found.candidates
    said_at = {passage.number: passage.at for passage in passages}
    batch = prepare_candidates(engine, reader, source, candidates, said_at)
    return PreparedExtraction(source, passages, found, batch, started)


def _readable_source(engine: EngineContext, reader: Principal, id: str) -> Source | None:
    place = principal_for_extraction(engine, reader, id)
    if place is None:
        return None
    found = engine.live_sources(place.scope, [id])
    return found[0] if found and can_see_source(place, found[0]) else None


def build_extraction_changeset(
    engine: EngineContext,
    reader: Principal,
    read: PreparedExtraction,
    revisions: Mapping[Scope, int],
) -> tuple[Changeset, StoredCandidates]:
    """The changeset that a source comes to in a reader's memory. It rests on the team's, too, where
    the source is a team's: the member learns nothing of what the team takes away meanwhile."""
    scope, at = reader.own_scope, engine.clock()
    work = GraphUnitOfWork(engine, scope, ACTOR, at)
    with engine.store.read_session():
        heard = _seen_before(engine, scope, read)
        told = import_extraction(work, work.known, read.source, read.found, read.said_at, heard)
        changes = diff_graph(work, place=JournalNode.WORKER)
        kept = store_candidates(engine, reader, read.source, read.batch)
    steps = (*changes, *kept.steps, *_mark_extracted(read, scope, at, told))
    changeset = Changeset(
        scope,
        at,
        ACTOR,
        steps,
        revisions[scope],
        read.source.thread_id,
        rests_on=tuple(each for each in revisions.items() if each[0] != scope),
    )
    return changeset, kept


def _seen_before(engine: EngineContext, reader: Scope, read: PreparedExtraction) -> SeenSentences:
    """What this reader has taken in before; nothing of it where they ask for all anew."""
    known = [] if read.is_manual else engine.store.extractions(reader, [read.source.id])
    return (
        find_seen_sentences(read.source, read.passages, known[0].heard)
        if known
        else SeenSentences()
    )


def _mark_extracted(
    read: PreparedExtraction, reader: Scope, at: datetime, told: Sequence[str]
) -> tuple[ChangesetStep, ...]:
    """``told``: digests of it."""
    source = read.source
    note = SetExtraction(
        Extraction(
            scope=source.scope.key,
            source=source.id,
            started_at=read.started_at,
            completed_at=at,
            passages=len(read.passages),
            digest=source.digest,
            heard=(*compute_digests(source, read.passages), *told),
        ),
        Entry(op=Op.CLASSIFY, node=JournalNode.WORKER, subject=source.id),
    )
    if source.scope != reader:
        return (note,)  # a team's source is extracted by each member for themself
    after = source.evolve(
        status=ProcessingStatus.EXTRACTED,
        extraction_started_at=read.started_at,
        extraction_completed_at=at,
        version=source.version + 1,
    )
    entry = Entry(
        op=Op.UPDATE,
        event=Event.UPDATE,
        node=JournalNode.WORKER,
        subject=source.id,
        category=SOURCE_CATEGORY,
        old_ref=source.ref,
        new_ref=after.ref,
        meta={"extracted": True},
    )
    return note, ChangeSource(source, after, entry)


# ——— by hand ———

MAX_MAIL_THREADS = 500  # a run
MAX_FILE_PASSAGES = 200


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a run has made of sources."""

    sources: int
    nodes: int  # that are new
    edges: int
    notes: int
    memories: int
    left: int  # sources that wait for another run
    revision: int


def extract_sources(
    engine: EngineContext, request: RequestContext, ids: Sequence[str]
) -> Extracted:
    """Whether they were extracted before or not."""
    reader = request.principal
    total = Counter[str]()
    for id in ids:
        read = prepare_extraction(engine, reader, id)
        if read is None:
            raise NotFound(
                f"No processed source {id!r}.",
                remedy="Wait until it is processed; see jobs.",
                field="ids",
            )
        total += _extract_one(engine, request, replace(read, is_manual=True))
    return _extraction_answer(engine, reader, total, 0)


def extract_pending(engine: EngineContext, request: RequestContext, limit: int) -> Extracted:
    """The newest first, as far as a run goes."""
    reader = request.principal
    waiting = list(pending_sources(engine, reader))
    total = Counter[str]()
    mails = passages = done = 0
    for source in waiting:
        is_mail = source.source_type is SourceType.EMAIL
        is_file = source.source_type is SourceType.FILE
        too_many = (is_mail and mails >= MAX_MAIL_THREADS) or (
            is_file and passages >= MAX_FILE_PASSAGES
        )
        if done >= limit or too_many:
            continue
        read = prepare_extraction(engine, reader, source.id)
        if read is not None:
            total += _extract_one(engine, request, read)
            mails += is_mail
            passages += source.passages if is_file else 0
            done += 1
    return _extraction_answer(engine, reader, total, len(waiting) - done)


def pending_sources(engine: EngineContext, reader: Principal) -> Iterator[Source]:
    """What this reader may read, was processed, and has changed since they last extracted it."""
    read = {each.source: each for each in engine.store.extractions(reader.own_scope)}
    for reading in readable_scopes(engine, reader, searching=False):
        if reading.is_guest:
            continue
        listing = SourceListing(
            visibility=visibility_in(reader, reading) if not reading.is_own else OWNER_VISIBILITY,
            statuses=(ProcessingStatus.PROCESSED, ProcessingStatus.EXTRACTED),
            limit=NO_LIMIT,
        )
        for source in engine.live_source_page(reading.scope, listing):
            known = read.get(source.id)
            if known is None or not known.is_all_of(source):
                yield source


def _extract_one(
    engine: EngineContext, request: RequestContext, read: PreparedExtraction
) -> Counter[str]:
    reader = request.principal
    ready: list[PreparedExtraction | None] = [read]

    def decision() -> tuple[Changeset, Counter[str]]:
        changeset, kept = _decide_prepared(engine, reader, ready)
        return changeset, _count_steps(changeset, kept) if kept else Counter()

    return run_transaction(engine, request, decision)[1]


def _count_steps(changeset: Changeset, kept: StoredCandidates) -> Counter[str]:
    counted = Counter({"sources": 1, "memories": len(kept.memories)})
    for step in changeset.steps:
        match step:
            case PutNode(before=None):
                counted["nodes"] += 1
            case PutEdge(before=None):
                counted["edges"] += 1
            case PutNote():
                counted["notes"] += 1
            case _:
                pass
    return counted


def _extraction_answer(
    engine: EngineContext, reader: Principal, total: Counter[str], left: int
) -> Extracted:
    return Extracted(
        sources=total["sources"],
        nodes=total["nodes"],
        edges=total["edges"],
        notes=total["notes"],
        memories=total["memories"],
        left=left,
        revision=engine.store.counters(reader.own_scope).revision,
    )


log = logging.getLogger("commonplace")


@dataclass(frozen=True, slots=True)
class ExtractedForAll:
    """What a run has made of everybody's sources."""

    users: int
    sources: int
    nodes: int  # that are new
    edges: int
    notes: int
    memories: int
    left: int  # sources that wait for another run
    failed: int  # users whose sources could not be extracted; the log says why


def extract_for_all_users(
    engine: EngineContext, scopes: Iterable[Scope], limit: int
) -> ExtractedForAll:
    """One user's trouble does not keep the others waiting."""
    done, failed = [], 0
    for scope in scopes:
        if not scope.is_user:
            continue
        try:
            done.append(extract_pending(engine, RequestContext(Principal(scope.name)), limit))
        except CommonplaceError as error:
            log.warning("extraction postponed: %s", error.code)
            failed += 1
    return ExtractedForAll(
        users=len(done),
        sources=sum(each.sources for each in done),
        nodes=sum(each.nodes for each in done),
        edges=sum(each.edges for each in done),
        notes=sum(each.notes for each in done),
        memories=sum(each.memories for each in done),
        left=sum(each.left for each in done),
        failed=failed,
    )
