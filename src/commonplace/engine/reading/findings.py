"""What a model found in one window, and the changeset that follows from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice

from commonplace.engine.context import EngineContext
from commonplace.engine.follow_up_jobs import build_read_job
from commonplace.engine.graph.extraction.extract import readable_source
from commonplace.engine.graph.extraction.import_extraction import import_extraction
from commonplace.engine.graph.extraction.previous_extraction import (
    DIGEST_LENGTH,
    SeenSentences,
    compute_digests,
    compute_sentence_digests,
    find_seen_sentences,
)
from commonplace.engine.graph.extraction.words_of_others import drop_claims_about_reader
from commonplace.engine.graph.graph_diff import diff_graph
from commonplace.engine.graph.unit_of_work import GraphUnitOfWork
from commonplace.engine.llm.model_calls import ModelReply
from commonplace.engine.memories.candidates import prepare_candidates, store_candidates
from commonplace.engine.memories.questions import without_misleading_questions
from commonplace.engine.memories.remember import MemoryBatch
from commonplace.engine.reading.corrected import confirm_corrections
from commonplace.engine.reading.forget_requests import requests_of
from commonplace.engine.reading.observers import observer_of
from commonplace.engine.reading.prepared import (
    PreparedWindow,
    find_reading,
    passages_are_unchanged,
)
from commonplace.engine.reading.turns import (
    PreparedTurns,
    decide_turns,
    is_of_today,
    prepare_turns,
)
from commonplace.language.extract.values import SourceExtraction
from commonplace.language.grounding.ground import ground
from commonplace.language.grounding.values import GroundedFindings, GroundedMemory
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.changeset import Changeset, ChangesetStep, EnqueueJob
from commonplace.model.graph.assertion import EdgeAssertion, NodeAssertion, Note
from commonplace.model.graph.snapshot import MODEL_ACTOR
from commonplace.model.journal import Entry, JournalNode, JournalStatus, Op
from commonplace.model.model_calls import AskedToForget, ModelReading, SetReading, SkippedWindow

ACTOR = MODEL_ACTOR


@dataclass(frozen=True, slots=True)
class WindowFindings:
    """The grounded findings of a window, ready to be compared with what is stored."""

    prepared: PreparedWindow
    reply: ModelReply
    found: GroundedFindings
    turns: PreparedTurns | None = None  # of a conversation
    batch: MemoryBatch | None = None  # of another source


def ground_findings(prepared: PreparedWindow, reader: Principal, value: object) -> GroundedFindings:
    """What stands the check. Another user's words say nothing about the reader."""
    account, source = prepared.account, prepared.source
    known = prepared.known_texts
    found = ground(value, prepared.given, account.owner, source.source_type, known)
    if source.user_id == reader.user_id:
        return found
    numbered = tuple((each.passage, each.candidate) for each in found.memories)
    kept = drop_claims_about_reader(replace(found.graph, candidates=numbered), account)
    memories = tuple(GroundedMemory(number, candidate) for number, candidate in kept.candidates)
    return replace(found, graph=replace(kept, candidates=()), memories=memories, forget=())


def prepare_findings(
    engine: EngineContext,
    reader: Principal,
    prepared: PreparedWindow,
    reply: ModelReply,
    found: GroundedFindings,
) -> WindowFindings:
    """The slow part, outside the transaction."""
    if not found.memories:
        return WindowFindings(prepared, reply, found)
    candidates = without_misleading_questions(
        engine, reader, [each.candidate for each in found.memories]
    )
    memories = zip(found.memories, candidates, strict=True)
    found = replace(found, memories=tuple(replace(m, candidate=c) for m, c in memories))
    if prepared.read_from.is_conversation:
        turn = prepared.window.new[-1].turn
        observer = observer_of(engine, reader, prepared.source, turn)
        turns = confirm_corrections(
            engine, prepare_turns(engine, observer, prepared, found.memories)
        )
        return WindowFindings(prepared, reply, found, turns=turns)
    said_at = {number: each.at for number, each in prepared.by_number.items()}
    placed = [(each.passage, each.candidate) for each in found.memories]
    batch = prepare_candidates(engine, reader, prepared.source, placed, said_at)
    return WindowFindings(prepared, reply, found, batch=batch)


@dataclass(slots=True)
class _Stored:
    """What the findings become in the store."""

    steps: tuple[ChangesetStep, ...] = ()
    decided_on: int | None = None
    observed: int = 0
    counts: dict[str, int] = field(default_factory=dict)  # for the journal


def window_changeset(engine: EngineContext, reader: Principal, done: WindowFindings) -> Changeset:
    """One changeset for all that follows from the window. If it cannot be read any more as it was,
    nothing of it is used, and the source is read again. Runs again if the decision is stale."""
    scope, now = reader.own_scope, engine.clock()
    prepared, source = done.prepared, done.prepared.source
    with engine.store.read_session():
        revisions = {each: engine.store.counters(each).revision for each in (scope, source.scope)}
        if not _is_as_it_was(engine, reader, prepared):
            return Changeset(scope, now, ACTOR, (read_again(engine, scope, source.id, now),))
        graph, heard = _graph_steps(engine, scope, prepared, done.found.graph, now)
        stored = _store_memories(engine, reader, done)
    entry = _entry(done, stored.counts)
    asked = requests_of(engine, prepared, done.found.forget, now)
    steps: tuple[ChangesetStep, ...] = (
        *graph,
        *stored.steps,
        _mark_read(prepared, heard, entry, now, requests=asked),
        *_read_on(engine, scope, prepared, now),
    )
    return Changeset(
        scope,
        now,
        ACTOR,
        steps,
        revisions[scope],
        source.thread_id,
        observed=stored.observed,
        rests_on=tuple(each for each in revisions.items() if each[0] != scope),
    )


def skipped_changeset(
    engine: EngineContext,
    reader: Principal,
    prepared: PreparedWindow,
    outcome: str,
    model: str | None = None,
) -> Changeset:
    """The window counts as read, without findings: rules alone have read it. ``model``: of whom
    there was no usable answer: another one is asked again."""
    scope, now = reader.own_scope, engine.clock()
    if find_reading(engine, reader, prepared.source) != prepared.read_from.reading:
        return Changeset(scope, now, ACTOR, (read_again(engine, scope, prepared.source.id, now),))
    meta = {"read_by": "rules", "outcome": outcome, "prompt": prepared.prompt.id}
    entry = window_entry(prepared, JournalStatus.SKIPPED, meta)
    heard = _heard(prepared, ())
    skipped: tuple[SkippedWindow, ...] = ()
    if model is not None:
        window = prepared.window
        first, last = window.new[0].number, window.last
        skipped = (SkippedWindow(first, last, prepared.prompt.id, model),)
    asked = requests_of(engine, prepared, (), now)
    mark = _mark_read(prepared, heard, entry, now, skipped, asked)
    steps: tuple[ChangesetStep, ...] = (mark, *_read_on(engine, scope, prepared, now))
    return Changeset(scope, now, ACTOR, steps, thread_id=prepared.source.thread_id)


def read_again(engine: EngineContext, scope: Scope, source: str, due_at: datetime) -> EnqueueJob:
    return EnqueueJob(build_read_job(source, scope, engine.new_id(), due_at, engine.clock()))


def _is_as_it_was(engine: EngineContext, reader: Principal, prepared: PreparedWindow) -> bool:
    """Nobody has read it meanwhile, and its passages are still there."""
    source = readable_source(engine, reader, prepared.source.id)
    if source is None or not source.is_live(engine.clock()):
        return False
    if source.sensitivity is not prepared.source.sensitivity:
        return False
    is_same = find_reading(engine, reader, source) == prepared.read_from.reading
    window = prepared.window
    return is_same and passages_are_unchanged(engine, source, (*window.context, *window.new))


def _read_on(
    engine: EngineContext, scope: Scope, prepared: PreparedWindow, now: datetime
) -> tuple[EnqueueJob, ...]:
    """The job goes on with what follows, before what was said later in other conversations, and
    with what a model could not read before."""
    if prepared.is_last and not prepared.skipped_before:
        return ()
    rest = (each for each in prepared.read_from.passages if each.number > prepared.window.last)
    due_at = min([now, *(each.arrived_at or each.at for each in islice(rest, 1))])
    return (read_again(engine, scope, prepared.source.id, due_at),)


# ——— memories ———


def _store_memories(engine: EngineContext, reader: Principal, done: WindowFindings) -> _Stored:
    if done.turns is not None:
        return _store_turns(engine, done.turns)
    if done.batch is None:
        return _Stored()
    stored = store_candidates(engine, reader, done.prepared.source, done.batch)
    return _Stored(stored.steps, counts={"memories": len(stored.memories)})


def _store_turns(engine: EngineContext, turns: PreparedTurns) -> _Stored:
    result = decide_turns(engine, turns)
    skipped = Counter(turns.skipped) + Counter(str(each.reason) for _, each in result.skipped)
    counts = {
        "memories": len(result.kept),
        "proposed": len(result.proposed),
        "corrected": result.corrected,
        **{f"skipped_{reason}": count for reason, count in skipped.items()},
    }
    is_today = bool(turns.passages) and is_of_today(engine, turns.passages[-1])
    return _Stored(result.steps, result.decided_on, result.counted if is_today else 0, counts)


# ——— the graph ———


def _graph_steps(
    engine: EngineContext,
    scope: Scope,
    prepared: PreparedWindow,
    found: SourceExtraction,
    now: datetime,
) -> tuple[tuple[ChangesetStep, ...], tuple[str, ...]]:
    """The steps, and what is noted of the sentences. What a model said of these passages before is
    replaced, and so is what it said of passages that are gone."""
    source, window = prepared.source, prepared.window
    is_last = window.last >= source.passages
    numbers = {each.number for each in window.new}
    work = GraphUnitOfWork(engine, scope, ACTOR, now)

    def replaces(item: NodeAssertion | EdgeAssertion | Note) -> bool:
        by = item.added_by if isinstance(item, Note) else item.by
        passage = item.source.passage if item.source else None
        is_gone = is_last and passage is not None and passage > source.passages
        return by == ACTOR and (passage in numbers or is_gone)

    said_at = {number: each.at for number, each in prepared.by_number.items()}
    seen = _seen_before(prepared)
    entries = import_extraction(work, work.known, source, found, said_at, seen, replaces)
    return diff_graph(work, place=JournalNode.WORKER), _heard(prepared, entries)


def _seen_before(prepared: PreparedWindow) -> SeenSentences:
    reading, to_read = prepared.read_from.reading, prepared.read_from
    if reading is None or not reading.heard:
        return SeenSentences()
    return find_seen_sentences(to_read.source, to_read.passages, reading.heard)


def _heard(prepared: PreparedWindow, entries: Sequence[str]) -> tuple[str, ...]:
    """Of a source that may be ingested again. While it is read, also what was known before."""
    to_read = prepared.read_from
    if to_read.is_conversation:
        return ()
    before = to_read.reading.heard if to_read.reading else ()
    known_entries = [each for each in before if len(each) > DIGEST_LENGTH]
    items = _replaced_entries(known_entries, entries)
    if prepared.is_last:
        return (*compute_digests(to_read.source, to_read.passages), *items)
    sentences = [each for each in before if len(each) <= DIGEST_LENGTH]
    known = Counter(sentences)
    for each in compute_sentence_digests(to_read.source, prepared.window.new):
        if known[each]:
            known[each] -= 1
        else:
            sentences.append(each)
    return (*sentences, *items)


def _replaced_entries(before: Iterable[str], entries: Collection[str]) -> tuple[str, ...]:
    """Those of an item that was found again are replaced by its new ones."""
    found = {each[:DIGEST_LENGTH] for each in entries}
    kept = (each for each in before if each[:DIGEST_LENGTH] not in found)
    return tuple(dict.fromkeys((*kept, *entries)))


# ——— how far, and the journal ———


def _mark_read(
    prepared: PreparedWindow,
    heard: tuple[str, ...],
    entry: Entry,
    now: datetime,
    skipped: tuple[SkippedWindow, ...] = (),
    requests: tuple[AskedToForget, ...] = (),
) -> SetReading:
    source = prepared.source
    reading = ModelReading(
        source_scope=source.scope.key,
        source=source.id,
        passages=prepared.read_to,
        digest=source.digest,
        prompt=prepared.prompt.id,
        at=now,
        heard=heard,
        skipped=(*prepared.skipped_before, *skipped),
        requests=requests,
    )
    return SetReading(reading, entry, before=prepared.read_from.reading)


def _entry(done: WindowFindings, counts: Mapping[str, int]) -> Entry:
    found = done.found
    meta = {
        "read_by": "model",
        "outcome": str(done.reply.outcome),
        "prompt": done.prepared.prompt.id,
        "kept": len(found.memories) + len(found.graph.edges) + len(found.graph.notes),
        "nodes": len(found.graph.nodes),
        "edges": len(found.graph.edges),
        "notes": len(found.graph.notes),
        "forget": len(found.forget),
        **counts,
        **{f"dropped_{reason}": count for reason, count in found.dropped.items()},
    }
    kept = {name: value for name, value in meta.items() if value}
    return window_entry(done.prepared, JournalStatus.OK, kept)


def window_entry(
    prepared: PreparedWindow, status: JournalStatus, meta: Mapping[str, object]
) -> Entry:
    """Numbers and names, no text."""
    passages = len(prepared.window.new)
    return Entry(
        op=Op.CLASSIFY,
        node=JournalNode.WORKER,
        status=status,
        subject=prepared.source.id,
        meta={"passages": passages, **meta},
    )
