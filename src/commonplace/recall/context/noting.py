"""What a context recalled is written down: touched, in the journal, in the recall log."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.desk import Desk
from commonplace.model.scope import Principal
from commonplace.recall.log import log_turn, searched
from commonplace.recall.pack import Hit, nearest_of
from commonplace.recall.plan import Plan
from commonplace.recall.recall import note


def was_read(
    desk: Desk,
    principal: Principal,
    plan: Plan,
    hits: Sequence[Hit],
    verb: str,
    asked: str | None = None,
) -> None:
    """Of what was found, that for which there was room. ``asked``: in the asker's own words, where
    something else was looked for."""
    note(desk, principal, plan, hits, nearest_of(hits))
    log_turn(
        desk, principal, [searched(verb, asked or plan.query, hits)], plan.thread_id, plan.turn
    )
