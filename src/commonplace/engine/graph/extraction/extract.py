"""extract: turn a processed source into graph assertions and memories, per reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.engine.access import can_see_source, readable_scopes, visibility_in
from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.follow_up_jobs import build_read_job
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
from commonplace.engine.graph.extraction.words_of_others import drop_claims_about_reader
from commonplace.engine.graph.graph_diff import diff_graph
from commonplace.engine.graph.unit_of_work import GraphUnitOfWork, describe_owner
from commonplace.engine.llm.shown_prompt import ShownPrompt
from commonplace.engine.memories.candidates import (
    StoredCandidates,
    prepare_candidates,
    store_candidates,
)
from commonplace.engine.memories.remember import MemoryBatch
from commonplace.engine.transaction import run_transaction
from commonplace.errors import NotFound
from commonplace.language.extract import values
from commonplace.language.extract.extract import extract
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.changeset import Changeset, ChangesetStep, ChangeSource, EnqueueJob
from commonplace.model.filters import OWNER_VISIBILITY
from commonplace.model.graph.snapshot import EXTRACTION_ACTOR
from commonplace.model.graph.steps import Extraction, PutEdge, PutNode, PutNote, SetExtraction
from commonplace.model.jobs import Job
from commonplace.model.journal import Entry, Event, JournalNode, Op
from commonplace.model.memory.memory import State
from commonplace.model.model_calls import SetReading
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
    """The result of reading a source, before assertions are compared with the graph."""

    source: Source
    passages: tuple[Passage, ...]
    found: values.SourceExtraction
    batch: MemoryBatch
    started_at: datetime
    is_manual: bool = False  # requested by a caller: all sentences count as new

    @property
    def said_at(self) -> dict[int, datetime]:
        return {passage.number: passage.at for passage in self.passages}


def run_extraction_job(engine: EngineContext, job: Job) -> Callable[[], Changeset]:
    """Does the slow part now; the returned decision repeats it only if the source has changed."""
    reader = Principal(job.scope.name)
    ready: list[PreparedExtraction | None] = [
        prepare_extraction(engine, reader, str(job.payload["source"]))
    ]

    return lambda: _decide_prepared(engine, reader, ready)[0]


def _decide_prepared(
    engine: EngineContext, reader: Principal, ready: list[PreparedExtraction | None]
) -> tuple[Changeset, StoredCandidates | None]:
    """Decide from ``ready``, prepared again if the source has changed. The revisions are read
    before the source, so that a later removal of the source makes this decision stale."""
    prepared = ready[0]
    scopes = [reader.own_scope, prepared.source.scope] if prepared else []
    with engine.store.read_session():
        revisions = {scope: engine.store.counters(scope).revision for scope in scopes}
        is_unchanged = (
            prepared and readable_source(engine, reader, prepared.source.id) == prepared.source
        )
    if prepared and not is_unchanged:
        ready[0] = prepared = _prepare_again(engine, reader, prepared)
    if prepared is None:
        return Changeset(reader.own_scope, engine.clock(), ACTOR, ()), None
    return build_extraction_changeset(engine, reader, prepared, revisions)


def _prepare_again(
    engine: EngineContext, reader: Principal, prepared: PreparedExtraction
) -> PreparedExtraction | None:
    """None: the source cannot be read any more."""
    again = prepare_extraction(engine, reader, prepared.source.id)
    return replace(again, is_manual=prepared.is_manual) if again else None


def prepare_extraction(
    engine: EngineContext, reader: Principal, id: str
) -> PreparedExtraction | None:
    """None: the source is removed, not processed yet, or not readable for this user any more."""
    with engine.store.read_session():
        source = readable_source(engine, reader, id)
        if source is None or source.status is ProcessingStatus.RAW:
            return None
        if source.state is not State.ACTIVE:
            return None
        started_at = engine.clock()
        passages = tuple(engine.store.passages(source.scope, PassagesOf(id)).values())
        nodes = engine.graph_cache.of(reader.own_scope).snapshot.nodes.values()
        owner = describe_owner(engine, reader.own_scope, nodes)
        called = load_owner_nicknames(engine, reader.own_scope, nodes, passages)
    account = replace(
        build_extraction_input(source, passages, owner, reader.user_id), names_by_address=called
    )
    found = extract(account)
    if source.user_id != reader.user_id:
        found = drop_claims_about_reader(found, account)
    # Conversation turns were observed one by one when they arrived.
    candidates = () if source.origin == THREAD_ORIGIN else found.candidates
    said_at = {passage.number: passage.at for passage in passages}
    batch = prepare_candidates(engine, reader, source, candidates, said_at)
    return PreparedExtraction(source, passages, found, batch, started_at)


def readable_source(engine: EngineContext, reader: Principal, id: str) -> Source | None:
    principal = principal_for_extraction(engine, reader, id)
    if principal is None:
        return None
    sources = engine.live_sources(principal.scope, [id])
    return sources[0] if sources and can_see_source(principal, sources[0]) else None


def build_extraction_changeset(
    engine: EngineContext,
    reader: Principal,
    prepared: PreparedExtraction,
    revisions: Mapping[Scope, int],
) -> tuple[Changeset, StoredCandidates]:
    """The changeset of a source in a reader's memory. For a team's source it also depends on the
    team's revision, so that a source that the team removes meanwhile is not extracted."""
    scope, at = reader.own_scope, engine.clock()
    work = GraphUnitOfWork(engine, scope, ACTOR, at)
    with engine.store.read_session():
        seen = _seen_before(engine, scope, prepared)
        digests = import_extraction(
            work, work.known, prepared.source, prepared.found, prepared.said_at, seen
        )
        changes = diff_graph(work, place=JournalNode.WORKER)
        stored = store_candidates(engine, reader, prepared.source, prepared.batch)
    steps: tuple[ChangesetStep, ...] = (
        *changes,
        *stored.steps,
        *_mark_extracted(prepared, scope, at, digests),
    )
    changeset = Changeset(
        scope,
        at,
        ACTOR,
        steps,
        revisions[scope],
        prepared.source.thread_id,
        rests_on=tuple(each for each in revisions.items() if each[0] != scope),
    )
    return changeset, stored


def _seen_before(
    engine: EngineContext, reader: Scope, prepared: PreparedExtraction
) -> SeenSentences:
    """The sentences this reader extracted before; none if they asked for a new extraction."""
    previous = [] if prepared.is_manual else engine.store.extractions(reader, [prepared.source.id])
    return (
        find_seen_sentences(prepared.source, prepared.passages, previous[0].heard)
        if previous
        else SeenSentences()
    )


def _mark_extracted(
    prepared: PreparedExtraction, reader: Scope, at: datetime, digests: Sequence[str]
) -> tuple[ChangesetStep, ...]:
    """``digests``: of the extracted items."""
    source = prepared.source
    mark = SetExtraction(
        Extraction(
            scope=source.scope.key,
            source=source.id,
            started_at=prepared.started_at,
            completed_at=at,
            passages=source.passages,
            digest=source.digest,
            heard=(*compute_digests(source, prepared.passages), *digests),
        ),
        Entry(op=Op.CLASSIFY, node=JournalNode.WORKER, subject=source.id),
    )
    if source.scope != reader:
        return (mark,)  # each member extracts a team's source separately
    after = source.evolve(
        status=ProcessingStatus.EXTRACTED,
        extraction_started_at=prepared.started_at,
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
    return mark, ChangeSource(source, after, entry)


# ——— on request ———

MAX_MAIL_THREADS = 500  # a run
MAX_FILE_PASSAGES = 200


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a run extracted."""

    sources: int
    nodes: int  # new ones
    edges: int
    notes: int
    memories: int
    left: int  # sources left for another run
    revision: int
    prompts: tuple[ShownPrompt, ...] = ()  # of a dry run, which extracts nothing
    to_read: int = 0  # sources that a language model reads from now on


def extract_sources(
    engine: EngineContext, request: RequestContext, ids: Sequence[str]
) -> Extracted:
    """Extract these sources, even if they were extracted before."""
    reader = request.principal
    total = Counter[str]()
    for id in ids:
        prepared = prepare_extraction(engine, reader, id)
        if prepared is None:
            raise NotFound(
                f"No processed source {id!r}.",
                remedy="Wait until it is processed; see jobs.",
                field="ids",
            )
        total += _extract_one(engine, request, replace(prepared, is_manual=True))
    return _extraction_answer(engine, reader, total, 0)


def extract_pending(engine: EngineContext, request: RequestContext, limit: int) -> Extracted:
    """Extract the newest pending sources, within the limits of a run."""
    reader = request.principal
    pending = list(pending_sources(engine, reader))
    total = Counter[str]()
    mails = passages = done = 0
    for source in pending:
        is_mail = source.source_type is SourceType.EMAIL
        is_file = source.source_type is SourceType.FILE
        too_many = (is_mail and mails >= MAX_MAIL_THREADS) or (
            is_file and passages >= MAX_FILE_PASSAGES
        )
        if done >= limit or too_many:
            continue
        prepared = prepare_extraction(engine, reader, source.id)
        if prepared is not None:
            total += _extract_one(engine, request, prepared)
            mails += is_mail
            passages += source.passages if is_file else 0
            done += 1
    return _extraction_answer(engine, reader, total, len(pending) - done)


def pending_sources(engine: EngineContext, reader: Principal) -> Iterator[Source]:
    """Processed sources the reader may read that are not extracted yet or have changed since."""
    extractions = {each.source: each for each in engine.store.extractions(reader.own_scope)}
    for source in processed_sources(engine, reader):
        extraction = extractions.get(source.id)
        if extraction is None or not extraction.is_all_of(source):
            yield source


def processed_sources(engine: EngineContext, reader: Principal) -> Iterator[Source]:
    """The reader's own ones, and those of their teams."""
    for readable in readable_scopes(engine, reader, searching=False):
        if readable.is_guest:
            continue
        listing = SourceListing(
            visibility=visibility_in(reader, readable) if not readable.is_own else OWNER_VISIBILITY,
            statuses=(ProcessingStatus.PROCESSED, ProcessingStatus.EXTRACTED),
            limit=NO_LIMIT,
        )
        yield from engine.live_source_page(readable.scope, listing)


def _extract_one(
    engine: EngineContext, request: RequestContext, prepared: PreparedExtraction
) -> Counter[str]:
    reader = request.principal
    ready: list[PreparedExtraction | None] = [prepared]

    def decision() -> tuple[Changeset, Counter[str]]:
        changeset, stored = _decide_prepared(engine, reader, ready)
        if stored is None:
            return changeset, Counter()
        reading = _read_by_model(engine, reader, ready[0])
        with_reading = replace(changeset, steps=(*changeset.steps, *reading))
        counted = _count_steps(changeset, stored)
        counted["to_read"] = sum(isinstance(step, EnqueueJob) for step in reading)
        return with_reading, counted

    return run_transaction(engine, request, decision)[1]


def _read_by_model(
    engine: EngineContext, reader: Principal, prepared: PreparedExtraction | None
) -> list[ChangesetStep]:
    """A model reads the source later; anew, if its extraction was requested."""
    if engine.model is None or prepared is None:
        return []
    scope, id, now = reader.own_scope, prepared.source.id, engine.clock()
    known = engine.store.model_readings(scope, [id]) if prepared.is_manual else []
    entry = Entry(op=Op.CLASSIFY, node=JournalNode.WORKER, subject=id)
    unread = [SetReading(reading, entry, gone=True) for reading in known]
    return [*unread, EnqueueJob(build_read_job(id, scope, engine.new_id(), now, now))]


def _count_steps(changeset: Changeset, stored: StoredCandidates) -> Counter[str]:
    counted = Counter({"sources": 1, "memories": len(stored.memories)})
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
        to_read=total["to_read"],
    )
