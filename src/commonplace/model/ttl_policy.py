"""How long a thing of the graph is kept: for ever, until its day, or for as long as it is read."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

EPISODIC_DAYS = 30  # of what is ephemeral: sources, artifacts
SEMANTIC_DAYS = 90  # nodes


class TtlPolicy(StrEnum):
    KEEP_FOREVER = "keep_forever"  # stays as salient as it can be
    EPHEMERAL = "ephemeral"  # ends after 30 days (episodic) or 90 (semantic)
    DECAY = "decay"


def episodic_end(policy: TtlPolicy, made_at: datetime) -> datetime | None:
    """None: it has none."""
    return made_at + timedelta(days=EPISODIC_DAYS) if policy is TtlPolicy.EPHEMERAL else None


def last_made(now: datetime) -> datetime:
    """What is ephemeral, episodic and was made by then has ended."""
    return now - timedelta(days=EPISODIC_DAYS)
