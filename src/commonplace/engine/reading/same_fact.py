"""The same-fact job: a language model says whether two near memories are one.

The journal knows which memories came near to each other, and how far that was asked is noted like
how far a source was read. The later memory takes the earlier one's place where the words allow it;
what a person decided stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from commonplace.engine.context import EngineContext
from commonplace.engine.follow_up_jobs import NEAR, build_same_fact_job
from commonplace.engine.llm.model_calls import (
    ModelOutcome,
    ModelReply,
    ask_model,
    count_findings,
)
from commonplace.engine.memories.decided import is_decided
from commonplace.engine.memories.neighbours import Comparer
from commonplace.engine.memories.write_plan import WritePlan
from commonplace.engine.prompt_injection import is_injected_memory
from commonplace.engine.reading.pair_checks import (
    ComparedPair,
    PairVerdict,
    read_verdicts,
    replaceable,
)
from commonplace.errors import ModelUnavailable
from commonplace.language.llm.prompts import Prompt, as_data, load_prompt
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.changeset import Changeset, ChangesetStep, EnqueueJob
from commonplace.model.graph.snapshot import MODEL_ACTOR
from commonplace.model.jobs import Job
from commonplace.model.journal import Entry, Event, JournalNode, JournalRow, Op
from commonplace.model.memory.kinds import POLICIES
from commonplace.model.memory.memory import HEARSAY_FACET, Memory, Sensitivity
from commonplace.model.model_calls import ModelReading, SetReading
from commonplace.store.queries import JournalQuery

MAX_PAIRS = 8  # of a prompt
_FIRST_ROWS = 500  # of the journal, where nothing was asked before
MEMORIES = "memories"  # in place of a source, in how far was read


@dataclass(frozen=True, slots=True)
class NearPair:
    earlier: Memory
    later: Memory


@dataclass(frozen=True, slots=True)
class _NearPairs:
    """What is asked next: the pairs of the journal's rows up to ``seq``."""

    pairs: tuple[NearPair, ...]
    seq: int
    before: ModelReading | None
    has_more: bool


def run_same_fact_job(engine: EngineContext, job: Job) -> Callable[[], Changeset]:
    scope = job.scope
    prompt = load_prompt("same_fact")
    with engine.store.read_session():
        may_ask = engine.model is not None and engine.model.sees_memories
        near = _next_pairs(engine, scope) if may_ask else None
        if near is None:
            return lambda: Changeset(scope, engine.clock(), MODEL_ACTOR, ())
        if not near.pairs:
            return lambda: _changeset(engine, scope, prompt, near, (), {})
        values = {"pairs": describe_pairs(near.pairs)}
        reply = ask_model(engine, scope, prompt, values, small=True)
    is_passed_over = reply.outcome in (ModelOutcome.MALFORMED, ModelOutcome.TOO_LONG)
    if not reply.has_answer and not is_passed_over:
        return _without_answer(engine, scope, reply)
    replaced = _replaced(near.pairs, reply.value)
    count_findings(
        engine, scope, prompt, len(replaced), len(near.pairs) - len(replaced), reply.model
    )
    meta = {"outcome": str(reply.outcome), "pairs": len(near.pairs), "replaced": len(replaced)}
    return lambda: _changeset(engine, scope, prompt, near, replaced, meta)


def _without_answer(
    engine: EngineContext, scope: Scope, reply: ModelReply
) -> Callable[[], Changeset]:
    """Near memories stay beside each other; the next near write asks again."""
    if reply.outcome in (ModelOutcome.NO_MODEL, ModelOutcome.OVER_BUDGET):
        return lambda: Changeset(scope, engine.clock(), MODEL_ACTOR, ())
    raise ModelUnavailable(f"The language model gave no answer: {reply.outcome}.")


# ——— which pairs ———


def _next_pairs(engine: EngineContext, scope: Scope) -> _NearPairs | None:
    """None: nothing came near since."""
    known = engine.store.model_readings(scope, [MEMORIES])
    before = known[0] if known else None
    if before is None:
        newest = JournalQuery(events_only=True, newest=_FIRST_ROWS)
        rows = list(reversed(engine.store.journal(scope, newest)))
    else:
        query = JournalQuery(events_only=True, after_seq=before.passages)
        rows = engine.store.journal(scope, query)
    if not rows:
        return None
    chosen: list[NearPair] = []
    for row in filter(_is_near, rows):
        if len(chosen) == MAX_PAIRS:
            return _NearPairs(tuple(chosen), row.seq - 1, before, True)
        pair = _pair_of(engine, scope, row)
        if pair is not None and pair not in chosen:
            chosen.append(pair)
    return _NearPairs(tuple(chosen), rows[-1].seq, before, False)


def _is_near(row: JournalRow) -> bool:
    return row.entry.event is Event.LINK and (row.entry.similarity or 0.0) >= NEAR


def _pair_of(engine: EngineContext, scope: Scope, row: JournalRow) -> NearPair | None:
    ids = [id for id in (row.entry.subject, row.entry.new_ref) if id]
    found = engine.store.fetch(scope, ids)
    if len(found) != 2 or not all(is_comparable(engine, each) for each in found):
        return None
    earlier, later = sorted(found, key=_said)
    same_owner = earlier.agent_id == later.agent_id
    if earlier.kind is not later.kind or not same_owner:
        return None
    if HEARSAY_FACET in (earlier.facet, later.facet) and earlier.facet != later.facet:
        return None
    return None if is_decided(engine, scope, earlier) else NearPair(earlier, later)


def _said(memory: Memory) -> tuple[object, str]:
    return memory.created_at, memory.id


def is_comparable(engine: EngineContext, memory: Memory) -> bool:
    """Statements, whose pairs a model may be asked about. It has no clearance, and is given nothing
    that looks like instructions."""
    policy = POLICIES[memory.kind]
    return (
        memory.is_live(engine.clock())
        and policy.is_extracted
        and not (policy.has_fields or policy.recurs)
        and memory.sensitivity is not Sensitivity.HIGH
        and not is_injected_memory(engine, memory)
    )


def describe_pairs(pairs: Iterable[NearPair]) -> str:
    return "\n".join(
        as_data(
            {
                "pair": number,
                "earlier": pair.earlier.content,
                "said_earlier": f"{pair.earlier.created_at:%Y-%m-%d}",
                "later": pair.later.content,
                "said_later": f"{pair.later.created_at:%Y-%m-%d}",
            }
        )
        for number, pair in enumerate(pairs, 1)
    )


# ——— what follows ———


def _replaced(pairs: Sequence[NearPair], value: object) -> tuple[NearPair, ...]:
    verdicts = dict(read_verdicts(value))
    compared = [
        ComparedPair(
            pair.earlier.content,
            pair.later.content,
            verdicts.get(number, PairVerdict.UNRELATED),
            pair.earlier.category,
        )
        for number, pair in enumerate(pairs, 1)
    ]
    allowed = replaceable(compared)
    return tuple(pair for pair, may in zip(pairs, allowed, strict=True) if may)


def _changeset(
    engine: EngineContext,
    scope: Scope,
    prompt: Prompt,
    near: _NearPairs,
    replaced: Sequence[NearPair],
    meta: dict[str, object],
) -> Changeset:
    """A memory that has changed meanwhile stays as it is."""
    now, principal = engine.clock(), Principal(scope.name)
    with engine.store.read_session():
        revision = engine.store.counters(scope).revision
        ids = sorted({m.id for pair in replaced for m in (pair.earlier, pair.later)})
        memories = {memory.id: memory for memory in engine.store.fetch(scope, ids)}
        plan = WritePlan(engine, principal, now, memories, [], Comparer(engine))
        for pair in replaced:
            if _is_unchanged(plan, pair) and not is_decided(engine, scope, pair.earlier):
                plan.retire(pair.earlier, pair.later)
        steps = plan.all_steps()
    reading = ModelReading(scope.key, MEMORIES, near.seq, "", prompt.id, now)
    entry = Entry(op=Op.CLASSIFY, node=JournalNode.WORKER, meta={"read_by": "model", **meta})
    more: tuple[ChangesetStep, ...] = ()
    if near.has_more:
        more = (EnqueueJob(build_same_fact_job(scope, engine.new_id(), now)),)
    mark = SetReading(reading, entry, before=near.before)
    return Changeset(scope, now, MODEL_ACTOR, (*steps, mark, *more), revision)


def _is_unchanged(plan: WritePlan, pair: NearPair) -> bool:
    return all(
        (known := plan.memories.get(each.id)) is not None
        and known.ref == each.ref
        and known.is_live(plan.now)
        for each in (pair.earlier, pair.later)
    )
