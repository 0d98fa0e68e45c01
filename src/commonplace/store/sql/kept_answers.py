"""Answers kept for a day, on any SQL database."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from datetime import datetime

from commonplace.model.kept_answer import KEPT_FOR, AnswerState, KeptAnswer
from commonplace.model.scope import Scope
from commonplace.store.sql.rows import instant, micros
from commonplace.store.sql.session import Session


class SqlKeptAnswers(ABC):
    @abstractmethod
    def _writing(self, scope: Scope) -> AbstractContextManager[Session]: ...

    def claim_answer(
        self, scope: Scope, name: str, request: str, now: datetime
    ) -> KeptAnswer | None:
        with self._writing(scope) as session:
            forget_old_answers(session, now)
            if session.one("claim_answer", name=name, request=request, at=micros(now)):
                return None
            row = session.one("kept_answer", name=name)
        assert row is not None  # nothing else deletes it while this transaction looks at it
        asked, at, state, answer = row
        return KeptAnswer(asked, instant(at), AnswerState(state), answer)

    def keep_answer(
        self, scope: Scope, name: str, request: str, now: datetime, answer: str | None
    ) -> None:
        with self._writing(scope) as session:
            session.run("keep_answer", name=name, answer=answer)

    def keep_harmless_answer(
        self, scope: Scope, name: str, request: str, now: datetime, answer: str | None
    ) -> None:
        with self._writing(scope) as session:
            values = {"name": name, "request": request, "at": micros(now), "answer": answer}
            session.run("keep_harmless_answer", **values)

    def release_answer(self, scope: Scope, name: str) -> None:
        with self._writing(scope) as session:
            session.run("release_answer", name=name)


def forget_old_answers(session: Session, now: datetime) -> None:
    session.run("delete_old_answers", before=micros(now - KEPT_FOR))
