"""Doing something once, however often it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256

from commonplace.desk import Desk
from commonplace.errors import (
    CommonplaceError,
    IdempotencyConflict,
    OutcomeUnknown,
    StoreBusy,
)
from commonplace.model.kept_answer import UNDER_WAY, AnswerState, Claim, KeptAnswer
from commonplace.model.scope import Principal


class Holds(StrEnum):
    """What an answer is like, and so how it is kept."""

    WORDS = "words"  # of the memory: kept until something is erased
    NUMBERS = "numbers"  # receipts and the like: kept in any case
    SECRET = "secret"  # never kept


@dataclass(frozen=True, slots=True)
class Asked:
    """A request with the key that its caller gave it."""

    key: str
    request: str  # a digest of all that was asked
    holds: Holds = Holds.WORDS


def once(desk: Desk, who: Principal, asked: Asked, do: Callable[[Desk], str]) -> str:
    """The first answer to a key, for a day. Each change is made in one transaction with the note
    that it was made, so that whatever breaks off in the middle, nothing is done twice, and what
    was not done can be tried again."""
    rights = f"{who.actor}\n{who.cleared}\n{who.read_only}\n{who.team}"
    name = sha256(f"{rights}\n{asked.key}".encode()).hexdigest()
    claim = Claim(who.scope, name, desk.new_id())
    now = desk.clock()
    kept = desk.store.claim_answer(claim, asked.request, now)
    if kept is not None:
        return _again(kept, asked, desk)
    try:
        answer = do(replace(desk, claim=claim))
    except OutcomeUnknown:  # the note is there, if anything is
        raise
    except CommonplaceError:
        desk.store.release_answer(claim)
        raise
    if asked.holds is Holds.NUMBERS:
        desk.store.keep_harmless_answer(claim, asked.request, now, answer)
    else:
        desk.store.keep_answer(claim, None if asked.holds is Holds.SECRET else answer)
    return answer


def _again(kept: KeptAnswer, asked: Asked, desk: Desk) -> str:
    if kept.state is AnswerState.SILENCED:
        raise IdempotencyConflict("The request was completed, but its answer was erased since.")
    if kept.request != asked.request:
        raise IdempotencyConflict("This Idempotency-Key was used for a different request.")
    is_late = desk.clock() - kept.at >= UNDER_WAY
    if kept.state is AnswerState.APPLIED and is_late:
        raise IdempotencyConflict("The request was completed, but its answer was lost.")
    if kept.state is not AnswerState.DONE:
        raise StoreBusy("A request with this Idempotency-Key is in progress; retry shortly.")
    if kept.answer is None:
        raise IdempotencyConflict(
            "The request was completed; its answer holds a secret and is not stored."
        )
    return kept.answer
