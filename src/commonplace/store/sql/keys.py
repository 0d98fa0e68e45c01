"""Keys on any SQL database: one row is read for each request that comes with a token."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

from commonplace.errors import StaleDecision
from commonplace.model.company_steps import AddKey, ChangeKey
from commonplace.model.key import Key
from commonplace.model.scope import Scope
from commonplace.store.sql.rows import Row, instant, micros, moment
from commonplace.store.sql.session import Session

_COLUMNS = (
    "id",
    "label",
    "agent",
    "read_only",
    "cleared",
    "may_resolve",
    "team",
    "created_at",
    "expires_at",
    "revoked_at",
    "last_used_at",
)
KEY_COLUMNS = ", ".join(_COLUMNS)
_NEVER = -1  # as the end of a key that has none


class SqlKeys(ABC):
    @abstractmethod
    def _reading(self, scope: Scope) -> AbstractContextManager[Session]:
        """One consistent view of one scope."""

    def key(self, scope: Scope, id: str) -> tuple[Key, bytes] | None:
        with self._reading(scope) as session:
            row = session.one("key", id=id)
        return (_key_from(scope, row[:-1]), bytes(row[-1])) if row else None

    def keys(self, scope: Scope) -> list[Key]:
        with self._reading(scope) as session:
            return [_key_from(scope, row) for row in session.rows("keys")]


def add_key(session: Session, step: AddKey) -> None:
    if step.if_first and session.one("any_key"):
        raise StaleDecision("Another process created the first key.")
    session.run("insert_key", **_values(step.key), digest=step.digest)


def end_key(session: Session, step: ChangeKey) -> None:
    ends = {
        "expires_at": micros(step.after.expires_at),
        "revoked_at": micros(step.after.revoked_at),
    }
    before = _NEVER if step.before.expires_at is None else micros(step.before.expires_at)
    if session.one("end_key", id=step.after.id, ended_before=before, **ends) is None:
        raise StaleDecision("Another process changed this key.")


def mark_keys_used(session: Session, ids: tuple[str, ...], at: datetime) -> None:
    day = micros(at.replace(hour=0, minute=0, second=0, microsecond=0))
    session.run_many("mark_key_used", [{"id": id, "day": day} for id in dict.fromkeys(ids)])


def _values(key: Key) -> dict[str, Any]:
    values = {name: getattr(key, name) for name in _COLUMNS}
    return {name: _stored(value) for name, value in values.items()}


def _stored(value: Any) -> Any:
    if isinstance(value, datetime):
        return micros(value)
    return int(value) if isinstance(value, bool) else value


def _key_from(scope: Scope, row: Row) -> Key:
    values = dict(zip(_COLUMNS, row, strict=True))
    flags = {name: bool(values[name]) for name in ("read_only", "cleared", "may_resolve")}
    ends = {name: moment(values[name]) for name in ("expires_at", "revoked_at", "last_used_at")}
    return Key(
        **{**values, **flags, **ends, "created_at": instant(values["created_at"])},
        user_id=scope.name if scope.is_user else None,
    )
