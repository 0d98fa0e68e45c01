"""observe: what turns of conversations leave in memory.

It makes the steps; the book puts them into one changeset with those that keep the turns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from commonplace.desk import Desk
from commonplace.errors import CommonplaceError
from commonplace.language.normalise import fold
from commonplace.language.observing.candidate import Candidate
from commonplace.language.observing.turn import without_credentials
from commonplace.model.changes import Step
from commonplace.model.heard import Heard, day_of
from commonplace.model.memory import Memory, Sensitivity
from commonplace.model.relations import Action
from commonplace.model.scope import Principal
from commonplace.model.source import Source, SourceType
from commonplace.remember.batch import Asked, Batch, Remembered, asked, decide_each
from commonplace.remember.consent import Claim, Proposed, claim, steps_for
from commonplace.remember.gate import Gate
from commonplace.remember.neighbours import look_around
from commonplace.remember.notice import Noticed, Reason, Skipped, skipped
from commonplace.remember.of_candidate import fields_of
from commonplace.remember.weigh import Scales


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory that a turn has left, and the words that gave it."""

    trigger: str
    remembered: Remembered

    @property
    def kind(self) -> str:
        return self.remembered.memory.kind

    @property
    def category(self) -> str:
        return self.remembered.memory.category

    @property
    def importance(self) -> int:
        return self.remembered.memory.importance

    @property
    def confidence(self) -> float:
        return self.remembered.memory.confidence

    @property
    def sensitivity(self) -> Sensitivity:
        """High: only who is cleared finds it, and whoever knows its id."""
        return self.remembered.memory.sensitivity


@dataclass(frozen=True, slots=True)
class Wanted:
    """A candidate, and the memory that it would be."""

    place: int  # of its turn in the batch
    candidate: Candidate
    asked: Asked


@dataclass(frozen=True, slots=True)
class Plan:
    """What a batch of turns would leave."""

    noticed: Sequence[Noticed]
    wanted: Sequence[Wanted]
    refused: Sequence[tuple[int, Skipped]]

    @property
    def memories(self) -> list[Memory]:
        return [each.asked.memory for each in self.wanted]

    @property
    def is_empty(self) -> bool:
        return not self.wanted and not any(each.claims for each in self.noticed)


@dataclass(slots=True)
class Left:
    """What a batch of turns leaves, by the places of the turns."""

    kept: list[tuple[int, Kept]] = field(default_factory=list)
    skipped: list[tuple[int, Skipped]] = field(default_factory=list)
    proposed: list[tuple[int, Proposed]] = field(default_factory=list)
    steps: tuple[Step, ...] = ()
    decided_on: int | None = None  # None: it rests on nothing that others could change

    @property
    def counted(self) -> int:
        """What the day is charged with: something heard again is not."""
        return sum(each.remembered.action is not Action.REFRESHED for _, each in self.kept)


def planned(desk: Desk, principal: Principal, noticed: Sequence[Noticed]) -> Plan:
    """A candidate that its kind refuses is told, and hinders nothing."""
    now = desk.clock()
    wanted: list[Wanted] = []
    refused: list[tuple[int, Skipped]] = []
    for place, each in enumerate(noticed):
        for candidate in each.wanted:
            try:
                taken = asked(desk, principal, _fields(candidate, each.turn, now), now)
            except CommonplaceError as error:
                refused.append((place, skipped(candidate, Reason.REFUSED, str(error))))
                continue
            # Of what stands, only its words are taken anew: the rest was perhaps set by hand.
            said = taken.mentioned & _SAID
            wanted.append(Wanted(place, candidate, replace(taken, mentioned=said)))
    return Plan(noticed, wanted, refused)


_SAID = frozenset({"content", "metadata", "ttl_days", "valid_from", "valid_to"})


def _fields(candidate: Candidate, turn: Heard, now: datetime) -> dict[str, Any]:
    return fields_of(candidate, min(turn.at, now)) | {
        "source_type": SourceType.CHAT,
        "thread_id": turn.thread,
        "role": turn.role,
        "actor_id": turn.speaker,
        "run_id": turn.run_id,
        "job_id": turn.job_id,
    }


@dataclass(frozen=True, slots=True)
class Home:
    """Where a turn is kept: the source as it will be, and the turn's passages in it."""

    source: Source
    passages: tuple[str, ...]  # none while its beginning is not processed


def decide(
    desk: Desk, principal: Principal, plan: Plan, batch: Batch, homes: Mapping[int, Home]
) -> Left:
    """``homes`` are those of the turns, by place. To be decided again when another was faster."""
    left = Left(skipped=list(plan.refused))
    if plan.is_empty:
        return left
    counters = desk.store.counters(principal.scope)
    left.decided_on = counters.revision
    if plan.wanted:
        room = desk.observe_daily - counters.observed_on(day_of(desk.clock()))
        at_home = [
            replace(each.asked, memory=_at_home(each.asked.memory, homes[each.place]))
            for each in plan.wanted
        ]
        left.steps = _keep(desk, principal, plan, replace(batch, asked=at_home), room, left)
    claims = _claims(plan, homes, left)
    steps, proposed = steps_for(desk, principal, [said for _, said in claims])
    left.proposed = [(place, told) for (place, _), told in zip(claims, proposed, strict=True)]
    left.steps += steps
    return left


def _at_home(memory: Memory, home: Home) -> Memory:
    """What is said in a conversation that is guarded is guarded itself. What it rests on is
    its turn, by its id: its words would outlive the conversation when that is erased."""
    guarded = home.source.sensitivity is Sensitivity.HIGH
    return memory.evolve(
        source_id=home.source.id,
        sensitivity=Sensitivity.HIGH if guarded else memory.sensitivity,
        evidence=home.passages or (home.source.id,),
    )


def _keep(
    desk: Desk, principal: Principal, plan: Plan, batch: Batch, room: int, left: Left
) -> tuple[Step, ...]:
    around = look_around(desk, principal.scope, batch.memories, batch.vectors, batch.indexes)
    gate = Gate(principal, around, room)
    ledger, answers = decide_each(desk, principal, batch, around, Scales(desk), gate.refuses)
    for place, (wanted, answer) in enumerate(zip(plan.wanted, answers, strict=True)):
        if answer is None:
            why = skipped(wanted.candidate, *gate.refused[place])
            left.skipped.append((wanted.place, why))
        else:
            left.kept.append((wanted.place, Kept(wanted.candidate.trigger, answer)))
    return ledger.all_steps()


def _claims(plan: Plan, homes: Mapping[int, Home], left: Left) -> list[tuple[int, Claim]]:
    """For the profile. A field that is kept as a memory, too, is claimed only with it."""
    kept = {(place, each.trigger): each.remembered.id for place, each in left.kept}
    claims: list[tuple[int, Claim]] = []
    for place, noticed in enumerate(plan.noticed):
        for candidate in noticed.claims:
            memory = kept.get((place, candidate.trigger))
            if memory is None and not candidate.is_sensitive:
                continue
            try:
                said = _claim(candidate, noticed, homes[place].source, memory)
            except CommonplaceError as error:
                left.skipped.append((place, skipped(candidate, Reason.REFUSED, str(error))))
                continue
            claims.append((place, said))
    return claims


def _claim(candidate: Candidate, noticed: Noticed, home: Source, memory: str | None) -> Claim:
    return claim(
        candidate.profile_field,
        candidate.profile_value,
        evidence=[without_credentials(candidate.trigger, noticed.wanted)],
        thread=noticed.turn.thread,
        source_id=home.id,
        memory_id=None if candidate.is_sensitive else memory,
    )


def speaks_for_themself(desk: Desk, principal: Principal, turns: Sequence[Heard]) -> list[bool]:
    """Of each turn, whether a user who speaks in it is the owner: no name is given, or theirs."""
    names = {fold(principal.user_id)}
    if any(turn.speaker and fold(turn.speaker) not in names for turn in turns):
        called = desk.store.fetch(principal.scope, ["profile:preferred_name"])
        names |= {fold(str(each.metadata.get("value", ""))) for each in called}
    return [turn.speaker is None or fold(turn.speaker) in names for turn in turns]
