"""What calls of language models used: of a user by day, prompt and model; of all users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta

from commonplace.engine.context import EngineContext
from commonplace.language.llm.language_model import ModelLimits
from commonplace.model.access.principal import Scope
from commonplace.model.model_calls import ModelUsageRow

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class UsageOfModel:
    """``read`` and ``written`` are tokens, also those of failed calls."""

    day: str  # UTC
    prompt: str
    model: str | None  # None: findings that a caller handed over
    calls: int
    cached: int  # answered again without a call
    failed: int
    read: int
    written: int
    kept: int  # findings
    dropped: int  # findings that did not stand the check
    cost: float | None = None  # None: no prices are set


@dataclass(frozen=True, slots=True)
class ModelUsage:
    model: str | None  # as configured; None: none
    tokens_today: int
    daily_tokens: int | None  # the limit; None: no model is configured
    cost: float | None
    usage: Sequence[UsageOfModel]  # newest day first


def report_usage(engine: EngineContext, scope: Scope, days: int) -> ModelUsage:
    """Of the last ``days`` days, today included."""
    today = engine.clock().astimezone(UTC).date()
    first = (today - timedelta(days=days - 1)).isoformat()
    stored = engine.store.model_usage(scope)
    limits = engine.model.limits if engine.model else None
    shown = [_shown(row, limits) for row in stored if row.day >= first]
    shown.sort(key=lambda row: row.day, reverse=True)
    costs = [row.cost for row in shown if row.cost is not None]
    return ModelUsage(
        engine.model.provider.name if engine.model else None,
        sum(row.tokens for row in stored if row.day == today.isoformat()),
        limits.daily_tokens if limits else None,
        round(sum(costs), 6) if costs else None,
        shown,
    )


@dataclass(frozen=True, slots=True)
class ModelUsageOfUser:
    """What all models and prompts used for one user."""

    user_id: str
    calls: int
    cached: int
    failed: int
    read: int
    written: int
    tokens_today: int
    cost: float | None  # None: no prices are set


def report_usage_by_user(
    engine: EngineContext, scopes: Sequence[Scope], days: int
) -> Sequence[ModelUsageOfUser]:
    """Of the last ``days`` days; those who used most first. Users without any are left out."""
    reports = {scope.name: report_usage(engine, scope, days) for scope in scopes if scope.is_user}
    users = [_total(user_id, report) for user_id, report in reports.items() if report.usage]
    return sorted(users, key=lambda each: (-each.read - each.written, each.user_id))


def _total(user_id: str, report: ModelUsage) -> ModelUsageOfUser:
    return ModelUsageOfUser(
        user_id,
        sum(row.calls for row in report.usage),
        sum(row.cached for row in report.usage),
        sum(row.failed for row in report.usage),
        sum(row.read for row in report.usage),
        sum(row.written for row in report.usage),
        report.tokens_today,
        report.cost,
    )


def _shown(row: ModelUsageRow, limits: ModelLimits | None) -> UsageOfModel:
    return UsageOfModel(
        row.day,
        row.prompt,
        row.model or None,
        row.calls,
        row.cached,
        row.failed,
        row.read,
        row.written,
        row.kept,
        row.dropped,
        _cost(row, limits),
    )


def _cost(row: ModelUsageRow, limits: ModelLimits | None) -> float | None:
    if limits is None or not (limits.read_price or limits.written_price):
        return None
    cost = row.read * limits.read_price + row.written * limits.written_price
    return round(cost / _MILLION, 6)
