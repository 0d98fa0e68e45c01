"""The read job: a language model reads what is new of a source, one window at a time.

A model is asked outside any transaction. What it found is checked against the words, and reaches
memories and graph in one changeset, with how far it has read. Rules have read the same before:
without an answer, what they found stays.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from functools import partial

from commonplace.engine.context import EngineContext
from commonplace.engine.llm.model_calls import (
    ModelOutcome,
    ModelReply,
    ask_model,
    count_findings,
)
from commonplace.engine.reading.findings import (
    ACTOR,
    ground_findings,
    prepare_findings,
    read_again,
    skipped_changeset,
    window_changeset,
    window_entry,
)
from commonplace.engine.reading.prepared import (
    PreparedWindow,
    load_source_to_read,
    prepare_window,
)
from commonplace.engine.reading.windows import WindowLimit, window_limit
from commonplace.errors import ModelUnavailable
from commonplace.language.llm.language_model import CONNECTED
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import Bookkeeping, Changeset, ChangesetStep
from commonplace.model.jobs import FIRST_WAIT, Job
from commonplace.model.journal import JournalStatus

# The same request would fail again: it is made with less text, or another model is asked.
UNREADABLE = (ModelOutcome.TOO_LONG, ModelOutcome.MALFORMED)
NOTHING_NEW = "nothing_new"  # only machines speak in the window, or what is said is suspicious


def run_read_job(engine: EngineContext, closes: bool, job: Job) -> Callable[[], Changeset]:
    """``closes``: somebody waits: an open window is read, too."""
    limit: WindowLimit | None = window_limit(job.tries)
    while limit is not None:
        decision, limit = _read_within(engine, closes, job, limit)
    return decision


def _read_within(
    engine: EngineContext, closes: bool, job: Job, limit: WindowLimit
) -> tuple[Callable[[], Changeset], WindowLimit | None]:
    """What follows; with a limit, if less of the window is to be read first. Every prompt is made
    in a session of its own: what is erased while a model is asked is not sent again."""
    reader, id = Principal(job.scope.name), str(job.payload["source"])
    with engine.store.read_session():
        prepared = _prepare(engine, reader, id, limit)
        if prepared is None:
            return lambda: _changeset(engine, reader), None
        if not closes and not prepared.window.is_ready(engine.clock()):
            again = read_again(engine, job.scope, id, prepared.window.closes_at)
            return lambda: _changeset(engine, reader, again), None
        if not prepared.says_anything:
            return lambda: skipped_changeset(engine, reader, prepared, NOTHING_NEW), None
        # With stored memories in the prompt, the answer may hold words of any of them: it is kept
        # as one about memories, and goes with any erasure.
        about = None if prepared.known else id
        reply = ask_model(engine, job.scope, prepared.prompt, prepared.values, source=about)
    if reply.has_answer:
        return _decision(engine, reader, prepared, reply), None
    if reply.outcome in UNREADABLE:
        skipped = partial(
            skipped_changeset, engine, reader, prepared, str(reply.outcome), reply.model
        )
        return skipped, _smaller(limit, prepared, reply.outcome)
    return _without_answer(engine, reader, prepared, reply), None


def _smaller(
    limit: WindowLimit, prepared: PreparedWindow, outcome: ModelOutcome
) -> WindowLimit | None:
    new = len(prepared.window.new)
    if outcome is ModelOutcome.TOO_LONG:
        return limit.with_less_text(new, bool(prepared.window.context or prepared.known))
    return limit.split(new)


def _prepare(
    engine: EngineContext, reader: Principal, id: str, limit: WindowLimit
) -> PreparedWindow | None:
    if engine.model is None:
        return None
    to_read = load_source_to_read(engine, reader, id)
    return prepare_window(engine, reader, to_read, limit) if to_read else None


def _changeset(engine: EngineContext, reader: Principal, *steps: ChangesetStep) -> Changeset:
    return Changeset(reader.own_scope, engine.clock(), ACTOR, steps)


def _decision(
    engine: EngineContext, reader: Principal, prepared: PreparedWindow, reply: ModelReply
) -> Callable[[], Changeset]:
    found = ground_findings(prepared, reader, reply.value)
    kept = len(found.memories) + len(found.graph.edges) + len(found.graph.notes)
    dropped = sum(found.dropped.values())
    count_findings(engine, reader.own_scope, prepared.prompt, kept, dropped, reply.model)
    done = prepare_findings(engine, reader, prepared, reply, found)
    return lambda: window_changeset(engine, reader, done)


def _without_answer(
    engine: EngineContext, reader: Principal, prepared: PreparedWindow, reply: ModelReply
) -> Callable[[], Changeset]:
    """Rules stay the way. What may be answered later is asked later."""
    _log_outcome(engine, reader, prepared, reply)
    match reply.outcome:
        case ModelOutcome.OVER_BUDGET:
            tomorrow = _next_day(engine.clock())
            again = read_again(engine, reader.own_scope, prepared.source.id, tomorrow)
            return lambda: _changeset(engine, reader, again)
        case ModelOutcome.NO_MODEL if _is_of_a_client(engine):  # its client has just gone
            soon = engine.clock() + FIRST_WAIT
            again = read_again(engine, reader.own_scope, prepared.source.id, soon)
            return lambda: _changeset(engine, reader, again)
        case ModelOutcome.NO_MODEL:
            return lambda: _changeset(engine, reader)
        case _:
            raise ModelUnavailable(f"The language model gave no answer: {reply.outcome}.")


def _log_outcome(
    engine: EngineContext, reader: Principal, prepared: PreparedWindow, reply: ModelReply
) -> None:
    meta = {"read_by": "rules", "outcome": str(reply.outcome), "prompt": prepared.prompt.id}
    entry = window_entry(prepared, JournalStatus.SKIPPED, meta)
    engine.access_log.record_later(
        Bookkeeping(
            reader.own_scope,
            engine.clock(),
            entries=(entry,),
            thread_id=prepared.source.thread_id,
            actor=ACTOR,
        )
    )


def _is_of_a_client(engine: EngineContext) -> bool:
    """Whether the models are those of connected clients: a job waits for one."""
    return engine.model is not None and engine.model.provider.name == CONNECTED


def _next_day(now: datetime) -> datetime:
    """The budget is counted by the UTC day."""
    return datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), time.min, UTC)
