"""Contributions: what each source added to a shared memory; rebuild without some.

What somebody has changed about the memory by hand since stays as they left it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from commonplace.engine.comparison import (
    COMPARED_CONTACT_FIELDS,
    TEXT_CONTACT_FIELDS,
    covers_words,
    relate_memories,
)
from commonplace.engine.composition import build_successor, is_rendered_from_fields, render_content
from commonplace.engine.context import EngineContext
from commonplace.engine.provenance.evidence import (
    OWNER_EVIDENCE,
    added_evidence,
    source_of_evidence,
    supporting_sources,
)
from commonplace.language.compare.compare import CompareVerdict, compare
from commonplace.language.text.normalise import fold
from commonplace.language.text.sentences import summarise
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import HoldValues, ReleaseHeld
from commonplace.model.journal import Entry, Op
from commonplace.model.memory.kinds import POLICIES, Kind, MemoryRelation
from commonplace.model.memory.memory import HeldValue, Memory, State
from commonplace.model.sources.source import is_source_id
from commonplace.store.queries import HeldQuery

_UPDATABLE_FIELDS = (
    *("importance", "pinned", "category", "tags", "expires_at", "sensitivity", "facet"),
    *("summary", "stability", "valid_to"),
)


def refresh_memory(
    old: Memory, new: Memory, mentioned: Collection[str], now: datetime, *, by_owner: bool
) -> Memory:
    """Evidence is added, fields that were missing are filled in, what was mentioned is taken."""
    changes: dict[str, Any] = {
        name: getattr(new, name) for name in _UPDATABLE_FIELDS if name in mentioned
    }
    if "ttl_days" in mentioned:
        changes["expires_at"] = new.expires_at
    changes["confidence"] = max(old.confidence, new.confidence)
    metadata = _merge_metadata(old, new)
    changes["metadata"] = metadata
    content = _merge_content(old, new, metadata)
    if content != old.content:
        changes |= {"content": content}
        changes.setdefault("summary", summarise(content))
    after = old.evolve(**changes, updated_at=now)
    return after.evolve(evidence=(*old.evidence, *added_evidence(after, new, by_owner)))


def _merge_metadata(old: Memory, new: Memory) -> dict[str, Any]:
    """What stands stays; a fuller name or description takes the place of the shorter one."""
    if not POLICIES[old.kind].asks_on_change:  # there nobody is asked: the newer word holds
        return {**old.metadata, **new.metadata}
    metadata = {**new.metadata, **old.metadata}
    if old.kind is Kind.CONTACT:
        for name in COMPARED_CONTACT_FIELDS:
            before, after = old.metadata.get(name), new.metadata.get(name)
            if name in TEXT_CONTACT_FIELDS and before and after:
                metadata[name] = max(before, after, key=lambda text: len(str(text)))
            elif after and not before:
                metadata[name] = after
    return metadata


def _merge_content(old: Memory, new: Memory, metadata: dict[str, Any]) -> str:
    if is_rendered_from_fields(old) and is_rendered_from_fields(new):
        return render_content(old.kind, metadata)
    if is_rendered_from_fields(new) or covers_words(old, new):
        return old.content
    if (
        is_rendered_from_fields(old)
        or compare(old.content, new.content).verdict is CompareVerdict.MORE
    ):
        return new.content
    if POLICIES[old.kind].has_fields:
        return f"{old.content}\n{new.content}"
    return old.content


# What comes of the tellings, unless somebody has changed it since. Words nobody changes in place.
_CONTRIBUTED_FIELDS = (
    *("tags", "category", "facet", "importance", "confidence", "sensitivity"),
    *("valid_from", "valid_to", "expires_at"),
)
REPLACES = "replaces"  # the reason of a part that took the place of what was told before
_ORIGIN_FIELDS = ("source_id", "source_type", "thread_id", "actor_id", "role", "run_id", "job_id")


def is_from_source(memory: Memory) -> bool:
    return is_source_id(memory.source_id or "")


def new_contributions(
    engine: EngineContext,
    principal: Principal,
    standing: Memory,
    new: Memory,
    mentioned: frozenset[str],
    at: datetime,
    has_first: bool = False,
) -> list[HeldValue]:
    """To be kept when the new one becomes a part of what stands: what it tells, and before the
    first such one what stood. ``has_first``: that is kept already."""
    known = has_first or engine.store.held(principal.scope, HeldQuery(contributes_to=[standing.id]))
    if not (known or is_from_source(standing) or is_from_source(new)):
        return []  # nothing could take it away
    first = [] if known else [_contribution(standing, engine.new_id(), frozenset(), standing)]
    return [*first, _contribution(new, new.id, mentioned, standing, at)]


def inherit_contributions(
    engine: EngineContext,
    principal: Principal,
    new: Memory,
    old: Memory,
    told: HeldValue,
) -> list[HeldValue]:
    """Of a memory that takes another's place: what it has kept of the old one goes with whoever
    told that. ``told``: what was said now, and by whom. The old one keeps its own, for the day that
    it comes back."""
    before = engine.store.held(principal.scope, HeldQuery(contributes_to=[old.id]))
    if not (before or is_from_source(old) or is_from_source(told.memory)):
        return []
    before = before or [_contribution(old, old.id, frozenset(), old)]
    return [
        replace(each, memory=each.memory.evolve(id=engine.new_id()), contributes_to=new.id)
        for each in (*before, told)
    ]


def make_contribution(
    memory: Memory, mentioned: Collection[str], at: datetime, reason: str = ""
) -> HeldValue:
    return replace(
        _contribution(memory, memory.id, frozenset(mentioned), memory, at), reason=reason
    )


def join_contributions(memory: Memory, same: Sequence[HeldValue], id: str) -> list[HeldValue]:
    """Of a memory that was held with others that say the same."""
    parts = [
        replace(each, alternative_to=None, contributes_to=memory.id, reason="") for each in same
    ]
    return [_contribution(memory, id, frozenset(), memory), *parts] if parts else []


def _contribution(
    said: Memory,
    id: str,
    mentioned: frozenset[str],
    into: Memory,
    at: datetime | None = None,
) -> HeldValue:
    return HeldValue(
        memory=said.evolve(id=id, conflict=None, version=1),
        conflict=None,
        alternative_to=None,
        mentioned=mentioned,
        reason="",
        actor=said.actor_id,
        held_at=at or said.created_at,
        contributes_to=into.id,
    )


def add_contributor_evidence(memory: Memory, assertion: Memory) -> Memory:
    """Also what tells only a part of it carries it: it can be made anew of that part. An agent's
    word alone does not."""
    if assertion.agent_id is not None and not supporting_sources(assertion):
        return memory
    new = [each for each in _contributor_evidence(assertion) if each not in memory.evidence]
    behind = supporting_sources(memory)
    named = [
        each for each in new if each == OWNER_EVIDENCE or source_of_evidence(each) not in behind
    ]
    return memory.evolve(evidence=(*memory.evidence, *named))


def hold_contributions(memory: Memory, told: Sequence[HeldValue]) -> list[HoldValues]:
    entry = Entry(op=Op.HOLD, subject=memory.id, category=memory.category)
    return [HoldValues(None, tuple(told), entry)] if told else []


def hold_again(held: Sequence[HeldValue]) -> list[HoldValues]:
    return [
        HoldValues(
            None, (each,), Entry(op=Op.HOLD, subject=each.alternative_to or each.contributes_to)
        )
        for each in held
    ]


def release_contributions(memory: str, told: Sequence[HeldValue]) -> list[ReleaseHeld]:
    """No word about it: the memory itself is told of."""
    ids = tuple(each.memory.id for each in told)
    return [ReleaseHeld(ids, Entry(op=Op.RESOLVE, subject=memory))] if ids else []


def merge_contributions(told: Sequence[HeldValue]) -> Memory:
    """As it would be if these had told it, in this order, and nobody else."""
    first, *rest = sorted(told, key=lambda each: (each.held_at, each.memory.id))
    made = first.memory
    for each in rest:
        made = _merge_contribution(made, each)
    evidence = dict.fromkeys(named for each in told for named in _contributor_evidence(each.memory))
    return made.evolve(
        evidence=tuple(evidence), **{name: getattr(first.memory, name) for name in _ORIGIN_FIELDS}
    )


def _merge_contribution(made: Memory, assertion: HeldValue) -> Memory:
    """As remembering does it: a repeat adds to what stands, a statement's newer wording takes its
    place."""
    new = assertion.memory
    adds = (
        POLICIES[made.kind].asks_on_change
        or relate_memories(new, made, None).relation is MemoryRelation.REPEAT
    )
    if adds and assertion.reason != REPLACES:
        return refresh_memory(made, new, assertion.mentioned, made.updated_at, by_owner=False)
    return build_successor(new, made, assertion.mentioned)


def _contributor_evidence(memory: Memory) -> Iterable[str]:
    named = [each for each in memory.evidence if each == OWNER_EVIDENCE or is_source_id(each)]
    if named or memory.source_id is not None:
        return named or [str(memory.source_id)]
    return [OWNER_EVIDENCE] if memory.agent_id is None else []


@dataclass(slots=True)
class Rebuild:
    """What becomes of memories that share sources, by id."""

    anew: dict[str, Memory] = field(default_factory=dict)
    unsupported: dict[str, Memory] = field(default_factory=dict)  # nobody is left to tell them
    gone: dict[str, list[HeldValue]] = field(default_factory=dict)  # what the sources that end told
    beside: list[HeldValue] = field(default_factory=list)  # what is held against them, put anew

    @property
    def known(self) -> set[str]:
        return self.anew.keys() | self.unsupported.keys()


def rebuild_memories(
    engine: EngineContext,
    principal: Principal,
    changed: Collection[str],
    stood: Collection[str],
    stands: Collection[str],
    *,
    for_good: bool = False,
) -> Rebuild:
    """Of the memories that one of the changed sources tells. ``stood`` and ``stands``: the sources
    that told and tell, before and from now on. ``for_good``: what was told by those that end goes,
    and what only forgotten ones tell is made of those, for the day that they come back."""
    found = Rebuild()
    held = engine.store.held(principal.scope)
    together = _group_by_memory(held)
    shared = {
        id: told
        for id, told in together.items()
        if any(_is_contributed_by(each, changed) for each in told)
    }
    for memory in engine.store.fetch(principal.scope, list(shared)):
        told = shared[memory.id]
        before, after = (
            _supporting_contributions(told, stood) or told,
            _supporting_contributions(told, stands),
        )
        if for_good:
            found.gone[memory.id] = [each for each in told if _is_contributed_by(each, changed)]
            if memory.state is State.SOFT_DELETED:
                after = after or [each for each in told if each not in found.gone[memory.id]]
        if after:
            waiting = [
                h for h in held if h.alternative_to == memory.id and _is_contributed_by(h, stands)
            ]
            joined, rest = _compare_alternatives(memory, before, after, waiting)
            after += joined
            found.beside += [*joined, *rest]
            found.anew[memory.id] = _rebuild_memory(
                memory, merge_contributions(before), merge_contributions(after)
            )
        else:
            found.unsupported[memory.id] = memory
    return found


def _compare_alternatives(
    memory: Memory,
    before: Sequence[HeldValue],
    after: Sequence[HeldValue],
    waiting: Sequence[HeldValue],
) -> tuple[list[HeldValue], list[HeldValue]]:
    """Against what the memory says without the sources that end: what says the same by then is a
    part of it, and no reason quotes what is gone."""
    joined: list[HeldValue] = []
    rest: list[HeldValue] = []
    for each in waiting:
        made = _rebuild_memory(
            memory, merge_contributions(before), merge_contributions([*after, *joined])
        )
        related = relate_memories(each.memory, made, None)
        if related.relation in (MemoryRelation.REPEAT, MemoryRelation.REWORDING):
            joined.append(replace(each, alternative_to=None, contributes_to=memory.id, reason=""))
        else:
            rest.append(replace(each, reason=related.reason))
    return joined, rest


def _group_by_memory(held: Iterable[HeldValue]) -> Mapping[str, list[HeldValue]]:
    found: dict[str, list[HeldValue]] = defaultdict(list)
    for each in held:
        if each.contributes_to:
            found[each.contributes_to].append(each)
    return found


def _supporting_contributions(
    told: Sequence[HeldValue], sources: Collection[str]
) -> list[HeldValue]:
    """What these sources tell, and what the owner said; where there is any of it, also what an
    agent added, whose word alone carries nothing."""
    own = [each for each in told if not supporting_sources(each.memory)]
    carrying = [each for each in told if _is_contributed_by(each, sources)]
    carrying += [each for each in own if each.memory.agent_id is None]
    added = [each for each in own if each.memory.agent_id is not None]
    return [*carrying, *added] if carrying else []


def _is_contributed_by(each: HeldValue, sources: Collection[str]) -> bool:
    return not supporting_sources(each.memory).isdisjoint(sources)


def _rebuild_memory(memory: Memory, before: Memory, after: Memory) -> Memory:
    changes: dict[str, Any] = {
        name: getattr(after, name)
        for name in _CONTRIBUTED_FIELDS
        if getattr(memory, name) == getattr(before, name)
    }
    by_hand = {n: v for n, v in memory.metadata.items() if before.metadata.get(n) != v}
    taken = before.metadata.keys() - memory.metadata.keys()
    metadata = {n: v for n, v in after.metadata.items() if n not in taken} | by_hand
    home = {name: getattr(after, name) for name in _ORIGIN_FIELDS}
    changes.setdefault("tags", _remaining_tags(memory, f"{memory.content} {before.content}", after))
    said = {"content": after.content, "summary": after.summary, "evidence": after.evidence}
    return memory.evolve(**changes, **home, **said, metadata=metadata)


def _remaining_tags(memory: Memory, said: str, after: Memory) -> tuple[str, ...]:
    """Its tags, but for words of what is said no more."""
    gone = set(fold(said).split()) - set(fold(after.content).split())
    return tuple(tag for tag in memory.tags if gone.isdisjoint(fold(tag).split()))
