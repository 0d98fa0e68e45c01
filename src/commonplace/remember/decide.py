"""What follows from how a new memory relates to those that are there. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from commonplace.errors import LimitReached
from commonplace.model.kinds import POLICIES, Kind
from commonplace.model.memory import Memory
from commonplace.model.relations import TABLE, Action, OnConflict, Relation, action_for
from commonplace.remember.relate import Related


@dataclass(frozen=True, slots=True)
class Weighed:
    """One that is there, and how the new one relates to it."""

    old: Memory
    related: Related
    similarity: float | None

    @property
    def relation(self) -> Relation:
        return self.related.relation


@dataclass(frozen=True, slots=True)
class Decision:
    relation: Relation
    action: Action
    others: tuple[Memory, ...] = ()  # the ones that it is about, the closest first
    reason: str = ""
    until: Memory | None = None  # what holds since, when the new one tells of an earlier time


NOTHING_LIKE_IT = Decision(Relation.NEW, Action.STORED)

# What was said before settles it; after that, a value that differs matters more than a wording.
_STRONGEST_FIRST = (Relation.REPEAT, Relation.CHANGED, Relation.REWORDING, Relation.NEAR)


def decide(
    new: Memory, weighed: Sequence[Weighed], now: datetime, on_conflict: OnConflict
) -> Decision:
    found = _by_relation(new, _of_its_day(new, weighed), now, on_conflict)
    relation = next((each for each in _STRONGEST_FIRST if found[each]), Relation.NEW)
    if relation is Relation.NEW:
        return NOTHING_LIKE_IT
    closest = found[relation]
    same_day = [each for each in closest if _day(each.old) == _day(new)]
    action = action_for(relation, new.kind, same_day=bool(same_day))
    if action is Action.REFRESHED:
        closest = (same_day if new.kind is Kind.EVENT else closest)[:1]
    elif action is Action.SUPERSEDED:
        closest = [*found[Relation.CHANGED], *found[Relation.REWORDING]]
    action = _as_wished(relation, action, on_conflict)
    if action is Action.OVERRIDDEN and len(closest) > 1:
        action = Action.PENDING  # which of them is meant, only a person knows
    if action in (Action.OVERRIDDEN, Action.ALTERNATIVE):
        closest = closest[:1]
    reason = "; ".join(dict.fromkeys(e.related.reason for e in closest if e.related.reason))
    until = _what_came_after(new, weighed) if action is Action.STORED else None
    return Decision(relation, action, tuple(each.old for each in closest), reason, until)


def _what_came_after(new: Memory, weighed: Sequence[Weighed]) -> Memory | None:
    """The first of those that are known to have taken the place of what is told only now."""
    if new.valid_to is not None:
        return None
    after = [
        (each.old.valid_from, each.old)
        for each in weighed
        if each.relation is Relation.CHANGED and each.related.certain
        if each.old.valid_from and _is_earlier(new, each.old)
    ]
    return min(after, key=lambda dated: dated[0])[1] if after else None


def _of_its_day(new: Memory, weighed: Sequence[Weighed]) -> Sequence[Weighed]:
    """An event that was told today already is that one, whatever was told on other days."""
    if new.kind is not Kind.EVENT:
        return weighed
    today = [each for each in weighed if _day(each.old) == _day(new)]
    told = any(each.relation in (Relation.REPEAT, Relation.REWORDING) for each in today)
    return today if told else weighed


def _by_relation(
    new: Memory, weighed: Sequence[Weighed], now: datetime, on_conflict: OnConflict
) -> dict[Relation, list[Weighed]]:
    found: dict[Relation, list[Weighed]] = {relation: [] for relation in Relation}
    replaces = on_conflict is not OnConflict.ALTERNATIVE
    for each in sorted(weighed, key=_closeness):
        changed = each.relation is Relation.CHANGED
        history = changed and replaces and _tells_of_earlier(new, each.old, now)
        found[Relation.NEAR if history else each.relation].append(each)
    certain = [each for each in found[Relation.CHANGED] if each.related.certain]
    # Texts that are merely alike but for a value: one of them is meant, not all.
    found[Relation.CHANGED] = certain or found[Relation.CHANGED][:1]
    return found


def _closeness(each: Weighed) -> tuple[bool, float, str]:
    return (not each.related.certain, -(each.similarity or 0.0), each.old.id)


def _tells_of_earlier(new: Memory, old: Memory, now: datetime) -> bool:
    """What was true before, told later, does not change what is true now."""
    over = new.valid_to is not None and new.valid_to <= now
    return over or _is_earlier(new, old)


def _is_earlier(new: Memory, old: Memory) -> bool:
    earlier = new.valid_from and old.valid_from and new.valid_from < old.valid_from
    return bool(earlier) and TABLE[Relation.CHANGED, new.kind] is Action.SUPERSEDED


def _day(memory: Memory) -> object:
    return (memory.valid_from or memory.created_at).date()


def _as_wished(relation: Relation, action: Action, on_conflict: OnConflict) -> Action:
    if action is Action.PENDING:
        return {
            OnConflict.ASK: Action.PENDING,
            OnConflict.OVERRIDE: Action.OVERRIDDEN,
            OnConflict.INSERT: Action.STORED,
            OnConflict.ALTERNATIVE: Action.ALTERNATIVE,
        }[on_conflict]
    replaces = action is Action.SUPERSEDED and relation is Relation.CHANGED
    if replaces and on_conflict is OnConflict.ALTERNATIVE:
        return Action.ALTERNATIVE
    return action


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
