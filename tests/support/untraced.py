"""Reading without leaving a trace, so that a test can read twice and compare."""

from __future__ import annotations

from dataclasses import replace

from commonplace.api import Commonplace, User
from commonplace.engine.access_log import AccessLog
from commonplace.model.changeset import Bookkeeping


class _NoBooks(AccessLog):
    """Bookkeeping may be lost; this one always loses it."""

    def record_later(self, bookkeeping: Bookkeeping) -> None:
        return None


def untraced(book: Commonplace, user_id: str) -> User:
    engine = book._engine
    return Commonplace(replace(engine, access_log=_NoBooks(engine.store))).user(
        user_id, cleared=True
    )
