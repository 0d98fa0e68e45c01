"""extract: a source that was processed becomes knowledge in one reader's graph. A job's work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.desk import Desk, can_see_source, reach_of, visibility_in
from commonplace.errors import NotFound
from commonplace.graph.account import account_of
from commonplace.graph.called import called_by_owner
from commonplace.graph.canvas import Canvas
from commonplace.graph.first_reading import place_to_learn
from commonplace.graph.heard import Heard, digests_of, heard_before
from commonplace.graph.owner import as_reader
from commonplace.graph.take_in import take_in
from commonplace.graph.weave import weave
from commonplace.language.extracting import found
from commonplace.language.extracting.extract import extract
from commonplace.model.changes import Changeset, ChangeSource, Step
from commonplace.model.filters import WHOLE
from commonplace.model.graph.steps import Extraction, PutEdge, PutNode, PutNote, SetExtracted
from commonplace.model.graph.tellers import EXTRACTION
from commonplace.model.job import Job
from commonplace.model.journal import Entry, Event, Node, Op
from commonplace.model.memory import State
from commonplace.model.scope import Principal, Scope
from commonplace.model.source import CATEGORY, THREAD, Passage, Source, SourceType, Status
from commonplace.remember.batch import Batch
from commonplace.remember.keep_candidates import Kept, composed, keep
from commonplace.store.port import EVERYTHING, SourceListing

ACTOR = EXTRACTION


@dataclass(frozen=True, slots=True)
class Read:
    """A source that was read, before anything is decided."""

    source: Source
    passages: tuple[Passage, ...]
    found: found.Extracted
    batch: Batch
    started_at: datetime
    by_hand: bool = False  # then all of it counts anew

    @property
    def said_at(self) -> dict[int, datetime]:
        return {passage.number: passage.at for passage in self.passages}


def extract_source(desk: Desk, job: Job) -> Callable[[], Changeset]:
    """The slow part is done at once; again when the source was changed meanwhile."""
    reader = Principal(job.scope.name)
    ready: list[Read | None] = [read_source(desk, reader, str(job.payload["source"]))]

    return lambda: _decided(desk, reader, ready)[0]


def _decided(
    desk: Desk, reader: Principal, ready: list[Read | None]
) -> tuple[Changeset, Kept | None]:
    """From what is ``ready``, which is made anew where the source was changed since. The revisions
    are read before the source is looked at: whoever takes it away later makes this stale."""
    read = ready[0]
    scopes = [reader.home, read.source.scope] if read else []
    revisions = {scope: desk.store.counters(scope).revision for scope in scopes}
    ready[0] = read = _as_it_is_now(desk, reader, read)
    if read is None:
        return Changeset(reader.home, desk.clock(), ACTOR, ()), None
    return extracted(desk, reader, read, revisions)


def _as_it_is_now(desk: Desk, reader: Principal, read: Read | None) -> Read | None:
    """Read anew where the source was changed meanwhile; None: there is nothing to read any more."""
    if read is None or _source_now(desk, reader, read.source.id) == read.source:
        return read
    again = read_source(desk, reader, read.source.id)
    return replace(again, by_hand=read.by_hand) if again else None


def read_source(desk: Desk, reader: Principal, id: str) -> Read | None:
    """None: it is gone, not processed yet, or not theirs to read any more."""
    source = _source_now(desk, reader, id)
    if source is None or source.status is Status.RAW or source.state is not State.ACTIVE:
        return None
    started = desk.clock()
    passages = tuple(passage for _, passage in desk.store.passages_of(source.scope, id))
    everybody = desk.pictures.of(reader.home).picture.nodes.values()
    owner = as_reader(desk, reader.home, everybody)
    called = called_by_owner(desk, reader.home, everybody, passages)
    account = replace(account_of(source, passages, owner, reader.user_id), called=called)
    found = extract(account)
    # What was said to an agent was looked at turn by turn, as it came.
    candidates = () if source.origin == THREAD else found.candidates
    said_at = {passage.number: passage.at for passage in passages}
    batch = composed(desk, reader, source, candidates, said_at)
    return Read(source, passages, found, batch, started)


def _source_now(desk: Desk, reader: Principal, id: str) -> Source | None:
    place = place_to_learn(desk, reader, id)
    if place is None:
        return None
    found = desk.sources(place.scope, [id])
    return found[0] if found and can_see_source(place, found[0]) else None


def extracted(
    desk: Desk, reader: Principal, read: Read, revisions: Mapping[Scope, int]
) -> tuple[Changeset, Kept]:
    """The changeset that a source comes to in a reader's memory. It rests on the team's, too, where
    the source is a team's: the member learns nothing of what the team takes away meanwhile."""
    scope, at = reader.home, desk.clock()
    canvas = Canvas(desk, scope, ACTOR, at)
    heard = _heard(desk, scope, read)
    told = take_in(canvas, canvas.known, read.source, read.found, read.said_at, heard)
    kept = keep(desk, reader, read.source, read.batch)
    steps = (*weave(canvas, place=Node.WORKER), *kept.steps, *_done(read, scope, at, told))
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


def _heard(desk: Desk, reader: Scope, read: Read) -> Heard:
    """What this reader has taken in before; nothing of it where they ask for all anew."""
    known = [] if read.by_hand else desk.store.extractions(reader, [read.source.id])
    return heard_before(read.source, read.passages, known[0].heard) if known else Heard()


def _done(read: Read, reader: Scope, at: datetime, told: Sequence[str]) -> tuple[Step, ...]:
    """``told``: digests of it."""
    source = read.source
    note = SetExtracted(
        Extraction(
            scope=source.scope.key,
            source=source.id,
            started_at=read.started_at,
            completed_at=at,
            passages=len(read.passages),
            digest=source.digest,
            heard=(*digests_of(source, read.passages), *told),
        ),
        Entry(op=Op.CLASSIFY, node=Node.WORKER, subject=source.id),
    )
    if source.scope != reader:
        return (note,)  # a team's source is extracted by each member for themself
    after = source.evolve(
        status=Status.EXTRACTED,
        extraction_started_at=read.started_at,
        extraction_completed_at=at,
        version=source.version + 1,
    )
    entry = Entry(
        op=Op.UPDATE,
        event=Event.UPDATE,
        node=Node.WORKER,
        subject=source.id,
        category=CATEGORY,
        old_ref=source.ref,
        new_ref=after.ref,
        meta={"extracted": True},
    )
    return note, ChangeSource(source, after, entry)


# ——— by hand ———

MAIL_THREADS = 500  # a run
FILE_PASSAGES = 200


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


def extract_these(desk: Desk, reader: Principal, ids: Sequence[str]) -> Extracted:
    """Whether they were extracted before or not."""
    total = Counter[str]()
    for id in ids:
        read = read_source(desk, reader, id)
        if read is None:
            raise NotFound(
                f"No processed source {id!r}.",
                remedy="Wait until it is processed; see jobs.",
                field="ids",
            )
        total += _extract(desk, reader, replace(read, by_hand=True))
    return _told(desk, reader, total, 0)


def extract_all_of(desk: Desk, reader: Principal, limit: int) -> Extracted:
    """The newest first, as far as a run goes."""
    waiting = list(unextracted(desk, reader))
    total = Counter[str]()
    mails = passages = done = 0
    for source in waiting:
        is_mail = source.source_type is SourceType.EMAIL
        is_file = source.source_type is SourceType.FILE
        too_many = (is_mail and mails >= MAIL_THREADS) or (is_file and passages >= FILE_PASSAGES)
        if done >= limit or too_many:
            continue
        read = read_source(desk, reader, source.id)
        if read is not None:
            total += _extract(desk, reader, read)
            mails += is_mail
            passages += source.passages if is_file else 0
            done += 1
    return _told(desk, reader, total, len(waiting) - done)


def unextracted(desk: Desk, reader: Principal) -> Iterator[Source]:
    """What this reader may read, was processed, and has changed since they last extracted it."""
    read = {each.source: each for each in desk.store.extractions(reader.home)}
    for reading in reach_of(desk, reader, searching=False):
        if reading.is_guests:
            continue
        listing = SourceListing(
            visibility=visibility_in(reader, reading) if not reading.is_own else WHOLE,
            statuses=(Status.PROCESSED, Status.EXTRACTED),
            limit=EVERYTHING,
        )
        for source in desk.source_page(reading.scope, listing):
            known = read.get(source.id)
            if known is None or not known.is_all_of(source):
                yield source


def _extract(desk: Desk, reader: Principal, read: Read) -> Counter[str]:
    ready: list[Read | None] = [read]

    def decision() -> tuple[Changeset, Counter[str]]:
        changeset, kept = _decided(desk, reader, ready)
        return changeset, _counted(changeset, kept) if kept else Counter()

    return desk.decide(decision)[1]


def _counted(changeset: Changeset, kept: Kept) -> Counter[str]:
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


def _told(desk: Desk, reader: Principal, total: Counter[str], left: int) -> Extracted:
    return Extracted(
        sources=total["sources"],
        nodes=total["nodes"],
        edges=total["edges"],
        notes=total["notes"],
        memories=total["memories"],
        left=left,
        revision=desk.store.counters(reader.home).revision,
    )
