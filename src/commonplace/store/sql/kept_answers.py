"""Answers kept for a day, on any SQL database."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from datetime import datetime

from commonplace.errors import StoreBusy
from commonplace.model.kept_answer import KEPT_FOR, UNDER_WAY, AnswerState, Claim, KeptAnswer
from commonplace.model.scope import Scope
from commonplace.store.sql.rows import instant, micros
from commonplace.store.sql.session import Session


class SqlKeptAnswers(ABC):
    @abstractmethod
    def _writing(self, scope: Scope) -> AbstractContextManager[Session]: ...

    def claim_answer(self, claim: Claim, request: str, now: datetime) -> KeptAnswer | None:
        with self._writing(claim.scope) as session:
            forget_old_answers(session, now)
            given_up = micros(now - UNDER_WAY)
            named = {"name": claim.name, "holder": claim.holder, "request": request}
            if session.one("claim_answer", **named, at=micros(now), given_up=given_up):
                return None
            row = session.one("kept_answer", name=claim.name)
        assert row is not None  # nothing else deletes it while this transaction looks at it
        asked, at, state, answer = row
        return KeptAnswer(asked, instant(at), AnswerState(state), answer)

    def keep_answer(self, claim: Claim, answer: str | None) -> None:
        with self._writing(claim.scope) as session:
            session.run("keep_answer", name=claim.name, holder=claim.holder, answer=answer)

    def keep_harmless_answer(self, claim: Claim, request: str, now: datetime, answer: str) -> None:
        with self._writing(claim.scope) as session:
            values = {"name": claim.name, "request": request, "at": micros(now), "answer": answer}
            session.run("keep_harmless_answer", **values)

    def release_answer(self, claim: Claim) -> None:
        with self._writing(claim.scope) as session:
            session.run("release_answer", name=claim.name, holder=claim.holder)


def hold_to_claim(session: Session, claim: Claim) -> None:
    """In the transaction of a change: whoever was taken over from changes nothing. What is silenced
    names nobody any more, and hinders nobody."""
    held_by = session.one("holder_of_answer", name=claim.name)
    if held_by is not None and held_by[0] != claim.holder:
        raise StoreBusy("A request with this Idempotency-Key is in progress; retry shortly.")
    session.run("mark_applied", name=claim.name, holder=claim.holder)


def forget_old_answers(session: Session, now: datetime) -> None:
    session.run("delete_old_answers", before=micros(now - KEPT_FOR))
