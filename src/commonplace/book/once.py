"""Doing something once, however often it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from commonplace.desk import Desk
from commonplace.errors import (
    CommonplaceError,
    IdempotencyConflict,
    OutcomeUnknown,
    StoreBusy,
)
from commonplace.model.kept_answer import UNDER_WAY, AnswerState, KeptAnswer
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


def once(desk: Desk, who: Principal, asked: Asked, do: Callable[[], str]) -> str:
    """The first answer to a key, for a day. What failed changed nothing, and can be tried again;
    of what broke off in the middle nobody can say so."""
    name = sha256(f"{who.actor}\n{who.cleared}\n{asked.key}".encode()).hexdigest()
    now = desk.clock()
    kept = desk.store.claim_answer(who.scope, name, asked.request, now)
    if kept is not None:
        return _again(kept, asked, desk)
    try:
        answer = do()
    except OutcomeUnknown:
        raise
    except CommonplaceError:
        desk.store.release_answer(who.scope, name)
        raise
    store = desk.store
    keep = store.keep_harmless_answer if asked.holds is Holds.NUMBERS else store.keep_answer
    keep(who.scope, name, asked.request, now, None if asked.holds is Holds.SECRET else answer)
    return answer


def _again(kept: KeptAnswer, asked: Asked, desk: Desk) -> str:
    if kept.state is AnswerState.SILENCED:
        raise IdempotencyConflict("It was done; its answer went with what was erased since.")
    if kept.request != asked.request:
        raise IdempotencyConflict("This key stands for another request.")
    if kept.state is AnswerState.OPEN and desk.clock() - kept.at < UNDER_WAY:
        raise StoreBusy("The same request is under way.")
    if kept.state is AnswerState.OPEN:
        raise OutcomeUnknown("The same request was broken off in the middle.")
    if kept.answer is None:
        raise IdempotencyConflict("It was done; its answer holds a secret, and is not kept.")
    return kept.answer
