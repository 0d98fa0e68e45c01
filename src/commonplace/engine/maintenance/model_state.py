"""Doctor's finding about the language model: calls and tokens of today, what is not read yet. The
model itself is not asked: that is `model check`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC

from commonplace.engine.context import EngineContext
from commonplace.engine.maintenance.finding import Finding
from commonplace.model.access.principal import Scope
from commonplace.model.filters import OWNER_VISIBILITY
from commonplace.model.memory.memory import Sensitivity
from commonplace.model.sources.source import ProcessingStatus
from commonplace.store.queries import NO_LIMIT, SourceListing

_FAILING = "Run `commonplace model check`: it says what is wrong."
_SPENT = "Rules alone read until midnight (UTC); or raise model_daily_tokens."


def check_model(engine: EngineContext, scopes: Sequence[Scope]) -> Finding:
    """Fails if no call of today succeeded, or a user's tokens are spent."""
    access = engine.model
    if access is None:
        return Finding("model", True, "none is configured: rules alone read")
    users = [scope for scope in scopes if scope.is_user]
    today = engine.clock().astimezone(UTC).date().isoformat()
    usage = [engine.store.model_usage(scope, today) for scope in users]
    calls = sum(row.calls for rows in usage for row in rows)
    failed = sum(row.failed for rows in usage for row in rows)
    spent = max((sum(row.tokens for row in rows) for rows in usage), default=0)
    unread = sum(_count_unread(engine, scope) for scope in users)
    limit = access.limits.daily_tokens
    whose = " of one user" * (len(users) > 1)
    detail = (
        f"{access.provider.name}; today {calls:,} calls, {failed:,} failed, "
        f"{spent:,} of {limit:,} tokens{whose}; sources to be read: {unread:,}"
    )
    is_failing, is_spent = 0 < calls == failed, spent >= limit
    remedies = [_FAILING] * is_failing + [_SPENT] * is_spent
    return Finding("model", not remedies, detail, " ".join(remedies))


def _count_unread(engine: EngineContext, scope: Scope) -> int:
    """The user's own sources that a model may see and has not read, or not to their end."""
    listing = SourceListing(
        visibility=OWNER_VISIBILITY, statuses=_READABLE_STATUSES, limit=NO_LIMIT
    )
    sources = [
        each
        for each in engine.live_source_page(scope, listing)
        if each.sensitivity is not Sensitivity.HIGH
    ]
    known = engine.store.model_readings(scope, [each.id for each in sources])
    read = {each.source: each.passages for each in known if each.source_scope == scope.key}
    return sum(read.get(each.id, 0) < each.passages for each in sources)


_READABLE_STATUSES = tuple(
    status for status in ProcessingStatus if status is not ProcessingStatus.RAW
)
