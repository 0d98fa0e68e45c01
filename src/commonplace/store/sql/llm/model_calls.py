"""Answers, usage and readings of language models on SQL."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import astuple
from typing import Any

from commonplace.errors import StaleDecision
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import (
    Bookkeeping,
    Changeset,
    ChangesetStep,
    ChangeSource,
    ClearScope,
    CloseProposals,
    ImportScope,
    ReleaseHeld,
    RemoveMemory,
    RemoveSource,
    RewriteMemory,
)
from commonplace.model.journal import Event
from commonplace.model.model_calls import (
    AskedToForget,
    KeepModelAnswer,
    KeptModelAnswer,
    ModelReading,
    ModelUsageRow,
    SetReading,
    SkippedWindow,
)
from commonplace.store.sql.graph import REMOVAL_STEPS
from commonplace.store.sql.rows import (
    Row,
    RowCodec,
    Session,
    WriteNumbers,
    instant,
    micros,
    to_json,
)

_ANSWER = RowCodec(KeptModelAnswer)
_USAGE = RowCodec(ModelUsageRow)
_READING = RowCodec(ModelReading, ("skipped", "requests"))
MODEL_ANSWER_COLUMNS = _ANSWER.columns("a")
MODEL_USAGE_COLUMNS = _USAGE.columns("u")
MODEL_READING_COLUMNS = f"d.skipped, d.requests, {_READING.columns('d')}"


class SqlModelCalls(ABC):
    @abstractmethod
    def _reading(self, scope: Scope) -> AbstractContextManager[Session]:
        """A read transaction on one scope."""

    def model_answer(self, scope: Scope, digest: str) -> KeptModelAnswer | None:
        with self._reading(scope) as session:
            row = session.one("model_answer", digest=digest)
        return KeptModelAnswer(**_ANSWER.decode(row)) if row else None

    def model_usage(self, scope: Scope, day: str | None = None) -> list[ModelUsageRow]:
        with self._reading(scope) as session:
            rows = session.rows("model_usage", day=day)
        return [ModelUsageRow(**_USAGE.decode(row)) for row in rows]

    def model_readings(
        self, scope: Scope, sources: Sequence[str] | None = None, *, unsettled: bool = False
    ) -> list[ModelReading]:
        wanted = {"any": int(sources is None), "sources": list(sources or ())}
        with self._reading(scope) as session:
            rows = session.rows("model_readings", all=int(not unsettled), **wanted)
        return [_reading_from(row) for row in rows]


def _reading_from(row: Row) -> ModelReading:
    skipped = tuple(SkippedWindow(*each) for each in json.loads(row[0]))
    requests = tuple(
        AskedToForget(id, query, passage, instant(ends_at))
        for id, query, passage, ends_at in json.loads(row[1])
    )
    return ModelReading(skipped=skipped, requests=requests, **_READING.decode(row[2:]))


def _reading_values(reading: ModelReading) -> dict[str, Any]:
    skipped = to_json([astuple(each) for each in reading.skipped])
    requests = to_json(
        [(each.id, each.query, each.passage, micros(each.ends_at)) for each in reading.requests]
    )
    return {**_READING.values(reading), "skipped": skipped, "requests": requests}


def record_model_calls(session: Session, bookkeeping: Bookkeeping, erasures: int) -> None:
    """``erasures``: the scope's, whose counters the caller has locked."""
    if bookkeeping.model_answers_before is not None:
        session.run("delete_old_model_answers", before=micros(bookkeeping.model_answers_before))
    _keep_answers(session, [e for e in bookkeeping.model_answers if e.erasures == erasures])
    session.run_many("add_model_usage", [_USAGE.values(each) for each in bookkeeping.model_usage])


def _keep_answers(session: Session, answers: Iterable[KeepModelAnswer]) -> None:
    session.run_many("keep_model_answer", [_ANSWER.values(each.answer) for each in answers])


def set_readings(session: Session, batch: Sequence[SetReading], numbers: WriteNumbers) -> None:
    for step in batch:
        values = _reading_values(step.reading)
        if step.gone:
            of = {name: values[name] for name in ("source", "source_scope")}
            session.run("delete_model_reading", **of)
        elif not _was_as_expected(session, step):
            raise StaleDecision("A model has read this source further meanwhile.")


def import_readings(session: Session, readings: Sequence[ModelReading]) -> None:
    for each in readings:
        session.one("add_model_reading", **_reading_values(each))


def _was_as_expected(session: Session, step: SetReading) -> bool:
    values = _reading_values(step.reading)
    if step.before is None:
        return session.one("add_model_reading", **values) is not None
    before = _READING.values(step.before)
    expected = {f"old_{name}": before[name] for name in ("passages", "digest", "at")}
    return session.one("move_model_reading", **values, **expected) is not None


def remove_model_answers(session: Session, changeset: Changeset) -> None:
    """Deletes answers about sources that are gone or lost words. An answer about memories goes with
    whatever is taken away: it does not say which memories it rests on."""
    steps = changeset.steps
    ended = [*changeset.ended_sources, *(id for step in steps for id in _sources_ended(step))]
    takes = changeset.receipt or changeset.invalidates_answers or any(map(_takes_words, steps))
    if not ended and not takes:
        return
    session.run("count_erasure")
    session.run("delete_model_answers_about_memories")
    session.run("delete_model_answers_about", sources=sorted(set(ended)))


def _sources_ended(step: ChangesetStep) -> Sequence[str]:
    match step:
        case RemoveSource():
            return (step.id,)
        case ChangeSource() if _loses_words(step):
            return (step.after.id,)
        case _:
            return ()


def _loses_words(step: ChangeSource) -> bool:
    """Not a forgotten passage, which can be restored."""
    is_replaced = step.anew and step.original is not None
    return is_replaced or any(passage.is_erased for passage in step.revised)


def _takes_words(step: ChangesetStep) -> bool:
    if isinstance(step, ReleaseHeld | CloseProposals):
        return step.entry.event is Event.ERASE
    return isinstance(step, (RemoveMemory, RewriteMemory, ClearScope, ImportScope, *REMOVAL_STEPS))
