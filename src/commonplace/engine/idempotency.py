"""Idempotency: run a request once per key and replay its first answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import sha256

from commonplace.engine.context import EngineContext
from commonplace.errors import CommonplaceError, IdempotencyConflict, OutcomeUnknown, StoreBusy
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import Bookkeeping
from commonplace.model.jobs import (
    CLAIM_TIMEOUT,
    AnswerOutcome,
    AnswerState,
    IdempotencyClaim,
    KeepAnswer,
    KeepHarmlessAnswer,
    ReleaseAnswer,
    StoredAnswer,
)


class AnswerRetention(StrEnum):
    """What an answer is like, and so how it is kept."""

    WORDS = "words"  # of the memory: kept until something is erased
    NUMBERS = "numbers"  # receipts and the like: kept in any case
    SECRET = "secret"  # never kept


@dataclass(frozen=True, slots=True)
class IdempotentRequest:
    """A request with the key that its caller gave it."""

    key: str
    request: str  # a digest of all that was asked
    holds: AnswerRetention = AnswerRetention.WORDS


def run_once(
    engine: EngineContext,
    who: Principal,
    asked: IdempotentRequest,
    do: Callable[[IdempotencyClaim], str],
) -> str:
    """The first answer to a key, for a day. Each change is made in one transaction with the note
    that it was made, so that whatever breaks off in the middle, nothing is done twice, and what
    was not done can be tried again."""
    rights = f"{who.actor}\n{who.cleared}\n{who.read_only}\n{who.team}"
    name = sha256(f"{rights}\n{asked.key}".encode()).hexdigest()
    claim = IdempotencyClaim(who.scope, name, engine.new_id())
    now = engine.clock()
    kept = engine.store.claim_answer(claim, asked.request, now)
    if kept is not None:
        return _replay_answer(kept, asked, engine)
    try:
        answer = do(claim)
    except OutcomeUnknown:  # the note is there, if anything is
        raise
    except CommonplaceError:
        _record(engine, now, ReleaseAnswer(claim))
        raise
    if asked.holds is AnswerRetention.NUMBERS:
        _record(engine, now, KeepHarmlessAnswer(claim, asked.request, answer))
    else:
        is_secret = asked.holds is AnswerRetention.SECRET
        _record(engine, now, KeepAnswer(claim, None if is_secret else answer))
    return answer


def _record(engine: EngineContext, now: datetime, outcome: AnswerOutcome) -> None:
    engine.store.record(Bookkeeping(outcome.claim.scope, now, answers=(outcome,)))


def _replay_answer(kept: StoredAnswer, asked: IdempotentRequest, engine: EngineContext) -> str:
    if kept.state is AnswerState.SILENCED:
        raise IdempotencyConflict("The request was completed, but its answer was erased since.")
    if kept.request != asked.request:
        raise IdempotencyConflict("This Idempotency-Key was used for a different request.")
    is_late = engine.clock() - kept.at >= CLAIM_TIMEOUT
    if kept.state is AnswerState.APPLIED and is_late:
        raise IdempotencyConflict("The request was completed, but its answer was lost.")
    if kept.state is not AnswerState.DONE:
        raise StoreBusy("A request with this Idempotency-Key is in progress; retry shortly.")
    if kept.answer is None:
        raise IdempotencyConflict(
            "The request was completed; its answer holds a secret and is not stored."
        )
    return kept.answer
