"""What no night may do, whatever a task or a model decides. Pure.

A batch that breaks a rule is refused whole. Only an expiry that the user set ends what is pinned,
permanent or part of the profile: then it has ended already, and is only deleted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from commonplace.model.changeset import (
    AddMemory,
    ChangeMemory,
    ChangesetStep,
    ChangeSource,
    RemoveMemory,
    RemoveSource,
    RewriteMemory,
)
from commonplace.model.graph.steps import SetArchived
from commonplace.model.memory.kinds import Stability, TtlPolicy
from commonplace.model.memory.lifecycle import has_expired, is_purgeable
from commonplace.model.memory.memory import Memory, State
from commonplace.model.profile.fields import is_profile_item
from commonplace.model.sources.source import Source

TOO_MANY_ENDINGS = "more endings than a night may make"
PROTECTED = "ends what is protected"
NO_SUCCESSOR = "supersedes without a live successor"
REMOVES_LIVE = "removes what is live"


@dataclass(frozen=True, slots=True)
class KnownItems:
    """Stored items that steps name by id only."""

    memories: Mapping[str, Memory] = field(default_factory=dict)
    sources: Mapping[str, Source] = field(default_factory=dict)


def is_protected(memory: Memory) -> bool:
    """No night ends it: a person has set it apart."""
    is_permanent = memory.stability is Stability.PERMANENT
    return memory.pinned or is_permanent or is_profile_item(memory.id)


def named_memories(steps: Iterable[ChangesetStep]) -> set[str]:
    """Ids of memories that the rules have to know."""
    return {id for step in steps for id in _named(step)}


def _named(step: ChangesetStep) -> Iterator[str]:
    match step:
        case RemoveMemory():
            yield step.id
        case ChangeMemory(after=after) if after.superseded_by:
            yield after.superseded_by


def named_sources(steps: Iterable[ChangesetStep]) -> set[str]:
    archived = (step for step in steps if isinstance(step, SetArchived) and step.at)
    removed = {step.id for step in steps if isinstance(step, RemoveSource)}
    return removed | {id for step in archived for id in step.ids}


def ended_memories(
    steps: Iterable[ChangesetStep], known: KnownItems, now: datetime
) -> dict[str, Memory]:
    """Live memories that the steps end, by id. What has expired is not live."""
    ended = {}
    for step in steps:
        match step:
            case ChangeMemory(before=before, after=after) if not after.is_live(now):
                memory: Memory | None = before
            case RemoveMemory():
                memory = known.memories.get(step.id)
            case _:
                continue
        if memory is not None and memory.is_live(now):
            ended[memory.id] = memory
    return ended


def broken_rule(
    steps: tuple[ChangesetStep, ...],
    declared: Iterable[str],
    may_still_end: int,
    known: KnownItems,
    now: datetime,
) -> str | None:
    """``declared``: live memories that the task says it ends. None: all rules hold."""
    ended = ended_memories(steps, known, now)
    if len(ended.keys() | set(declared)) > may_still_end:
        return TOO_MANY_ENDINGS
    if any(map(is_protected, ended.values())) or any(_ends_kept(s, known, now) for s in steps):
        return PROTECTED
    if any(_removes_live(step, known, now) for step in steps):
        return REMOVES_LIVE
    return None if _all_have_successors(steps, known, now) else NO_SUCCESSOR


def _ends_kept(step: ChangesetStep, known: KnownItems, now: datetime) -> bool:
    """Whether it archives, forgets or removes a source that is kept for ever."""
    match step:
        case SetArchived() if step.at:
            sources = [known.sources.get(id) for id in step.ids]
        case ChangeSource(before=before, after=after):
            sources = [before] if before.state is not after.state else []
        case _:
            return False
    return any(each is not None and each.ttl_policy is TtlPolicy.KEEP_FOREVER for each in sources)


def _removes_live(step: ChangesetStep, known: KnownItems, now: datetime) -> bool:
    """A night deletes only what has expired, or was forgotten long ago."""
    match step:
        case RemoveMemory():
            memory = known.memories.get(step.id)
            return memory is not None and not (
                has_expired(memory, now) or is_purgeable(memory, now)
            )
        case RemoveSource():
            source = known.sources.get(step.id)
            return source is not None and source.as_it_stands(now).state is State.ACTIVE
        case RewriteMemory():
            return True  # for erasure only
        case _:
            return False


def _all_have_successors(steps: Iterable[ChangesetStep], known: KnownItems, now: datetime) -> bool:
    """Each successor is live, or was added by an earlier step."""
    live = {id for id, memory in known.memories.items() if memory.is_live(now)}
    superseded = set[str]()
    for step in steps:
        match step:
            case AddMemory(memory=memory):
                live.add(memory.id)
            case ChangeMemory(after=after) if after.state is State.SUPERSEDED:
                superseded.add(after.id)
                if after.superseded_by not in live - superseded:
                    return False
            case ChangeMemory(after=after) if not after.is_live(now):
                live.discard(after.id)
            case RemoveMemory():
                live.discard(step.id)
            case _:
                continue
    successors = {
        step.after.superseded_by
        for step in steps
        if isinstance(step, ChangeMemory) and step.after.state is State.SUPERSEDED
    }
    return successors <= live - superseded
