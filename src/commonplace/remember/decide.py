"""How a new memory relates to what is there, and what follows from it. Pure.

Every write is *new* for now; the relations repeat, rewording, changed and near take their place
in `relate`, and what each kind does about them in `Decision`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from commonplace.errors import LimitReached
from commonplace.model.kinds import POLICIES, Kind
from commonplace.model.memory import Memory
from commonplace.remember.neighbours import Neighbour


class Relation(StrEnum):
    NEW = "new"


class Action(StrEnum):
    STORED = "stored"


@dataclass(frozen=True, slots=True)
class Decision:
    relation: Relation
    action: Action


def relate(memory: Memory, neighbours: Sequence[Neighbour]) -> Decision:
    return Decision(Relation.NEW, Action.STORED)


def hold_to_limits(memories: Sequence[Memory], live_by_kind: dict[Kind, int]) -> None:
    """Some kinds have room for only a few live ones."""
    for kind, live in live_by_kind.items():
        most = POLICIES[kind].max_live
        wanted = sum(memory.kind is kind for memory in memories)
        if most is not None and wanted and live + wanted > most:
            raise LimitReached(
                f"At most {most} {kind} memories are live at a time; there are {live}.",
                remedy=f"Update one of them (which supersedes it), or forget one. ({kind})",
                field="kind",
            )
