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
    """How long an answer is stored, by its content."""

    WORDS = "words"  # contains memory text: stored until something is erased
    NUMBERS = "numbers"  # receipts and similar: always stored
    SECRET = "secret"  # never stored


@dataclass(frozen=True, slots=True)
class IdempotentRequest:
    """A request with the Idempotency-Key that its caller gave."""

    key: str
    request: str  # a digest of the whole request
    holds: AnswerRetention = AnswerRetention.WORDS


def run_once(
    engine: EngineContext,
    principal: Principal,
    request: IdempotentRequest,
    run: Callable[[IdempotencyClaim], str],
) -> str:
    """The first answer to a key, for a day. Each change and the record of it share one transaction:
    after a crash, nothing is done twice, and a request that was not done can be retried."""
    rights = f"{principal.actor}\n{principal.cleared}\n{principal.read_only}\n{principal.team}"
    name = sha256(f"{rights}\n{request.key}".encode()).hexdigest()
    claim = IdempotencyClaim(principal.scope, name, engine.new_id())
    now = engine.clock()
    stored = engine.store.claim_answer(claim, request.request, now)
    if stored is not None:
        return _replay_answer(stored, request, engine)
    try:
        answer = run(claim)
    except OutcomeUnknown:  # if the change was made, its record exists
        raise
    except CommonplaceError:
        _record(engine, now, ReleaseAnswer(claim))
        raise
    if request.holds is AnswerRetention.NUMBERS:
        _record(engine, now, KeepHarmlessAnswer(claim, request.request, answer))
    else:
        is_secret = request.holds is AnswerRetention.SECRET
        _record(engine, now, KeepAnswer(claim, None if is_secret else answer))
    return answer


def _record(engine: EngineContext, now: datetime, outcome: AnswerOutcome) -> None:
    engine.store.record(Bookkeeping(outcome.claim.scope, now, answers=(outcome,)))


_DONE = (
    "Do not send it again, also not with another key: it would be done twice. Look up what it "
    "changed (`changes`, `list`, `recall`)."
)


def _replay_answer(stored: StoredAnswer, request: IdempotentRequest, engine: EngineContext) -> str:
    if stored.state is AnswerState.SILENCED:
        raise IdempotencyConflict(
            "The request was completed, but its answer was erased since.", remedy=_DONE
        )
    if stored.request != request.request:
        raise IdempotencyConflict("This Idempotency-Key was used for a different request.")
    is_late = engine.clock() - stored.at >= CLAIM_TIMEOUT
    if stored.state is AnswerState.APPLIED and is_late:
        raise IdempotencyConflict(
            "The request was completed, but its answer was lost.", remedy=_DONE
        )
    if stored.state is not AnswerState.DONE:
        raise StoreBusy("A request with this Idempotency-Key is in progress; retry shortly.")
    if stored.answer is None:
        raise IdempotencyConflict(
            "The request was completed; its answer holds a secret and is not stored.",
            remedy="Do not send it again. If the secret was lost, revoke its key and make another.",
        )
    return stored.answer
