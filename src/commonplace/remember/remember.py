"""remember: check, compose, embed, look around, weigh, decide, carry out, apply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from commonplace.desk import Desk, index_all
from commonplace.model.changes import Changeset
from commonplace.model.scope import Principal
from commonplace.remember.batch import Batch, Remembered, asked, decide_each, repeats_told
from commonplace.remember.decide import hold_to_limits
from commonplace.remember.neighbours import look_around
from commonplace.remember.weigh import Scales

__all__ = ["Remembered", "remember"]


def remember(
    desk: Desk, principal: Principal, given: Sequence[Mapping[str, Any]]
) -> list[Remembered]:
    """All of them in one transaction, or none."""
    now = desk.clock()
    wanted = [asked(desk, principal, each, now) for each in given]
    batch = Batch(wanted, *index_all(desk, [each.memory for each in wanted]))
    scales = Scales(desk)

    def decision() -> tuple[Changeset, list[Remembered]]:
        around = look_around(desk, principal.scope, batch.memories, batch.vectors, batch.indexes)
        hold_to_limits(batch.memories, around.live_by_kind)
        ledger, answers = decide_each(desk, principal, batch, around, scales)
        changeset = Changeset(
            principal.scope,
            ledger.now,
            principal.actor,
            ledger.all_steps(),
            around.revision,
            batch.thread_of_all,
        )
        return changeset, [answer for answer in answers if answer is not None]

    revision, answers = desk.decide(decision)
    repeats_told(desk, principal, answers, batch.thread_of_all)
    return [replace(answer, revision=revision) for answer in answers]
