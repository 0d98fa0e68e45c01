"""Contributions: what each source or person added to a shared memory.

A memory that several sources assert is computed from their contributions. When a source is removed,
the memory is rebuilt from the remaining ones. Fields that a user changed by hand since then keep
their values.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from commonplace.engine.composition import build_successor, is_rendered_from_fields, render_content
from commonplace.engine.context import EngineContext
from commonplace.engine.memory_relation import (
    COMPARED_CONTACT_FIELDS,
    TEXT_CONTACT_FIELDS,
    covers_words,
    relate_memories,
)
from commonplace.engine.provenance.evidence import (
    OWNER_EVIDENCE,
    ActiveEvidence,
    added_evidence,
    rests_on,
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
from commonplace.model.memory.memory import MAX_QUESTIONS, HeldValue, Memory, State
from commonplace.model.sources.source import is_source_id
from commonplace.store.queries import HeldQuery

_UPDATABLE_FIELDS = (
    *("importance", "pinned", "category", "tags", "expires_at", "sensitivity", "facet"),
    *("summary", "stability", "valid_to"),
)


def refresh_memory(
    old: Memory, new: Memory, mentioned: Collection[str], now: datetime, *, by_owner: bool
) -> Memory:
    """The old memory with the new one's evidence, with missing fields filled in, and with the
    mentioned fields replaced."""
    changes: dict[str, Any] = {
        name: getattr(new, name) for name in _UPDATABLE_FIELDS if name in mentioned
    }
    if "ttl_days" in mentioned:
        changes["expires_at"] = new.expires_at
    changes["confidence"] = max(old.confidence, new.confidence)
    metadata = _merge_metadata(old, new)
    changes["metadata"] = metadata
    both = dict.fromkeys((*old.questions, *new.questions))
    changes["questions"] = tuple(both)[:MAX_QUESTIONS]
    content = _merge_content(old, new, metadata)
    if content != old.content:
        changes |= {"content": content}
        changes.setdefault("summary", summarise(content))
    after = old.evolve(**changes, updated_at=now)
    return after.evolve(evidence=(*old.evidence, *added_evidence(after, new, by_owner)))


def _merge_metadata(old: Memory, new: Memory) -> dict[str, Any]:
    """Current values stay; a longer name or description replaces the shorter one."""
    if not POLICIES[old.kind].asks_on_change:  # no decision is needed: the newer value wins
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


# Fields computed from contributions, unless a user changed them since. Content is never changed in
# place.
_CONTRIBUTED_FIELDS = (
    *("tags", "category", "facet", "importance", "confidence", "sensitivity"),
    *("valid_from", "valid_to", "expires_at", "questions"),
)
REPLACES = "replaces"  # the reason of a contribution that replaced the earlier ones
_ORIGIN_FIELDS = ("source_id", "source_type", "thread_id", "actor_id", "role", "run_id", "job_id")


def is_from_source(memory: Memory) -> bool:
    return is_source_id(memory.source_id or "")


def new_contributions(
    engine: EngineContext,
    principal: Principal,
    existing: Memory,
    new: Memory,
    mentioned: frozenset[str],
    at: datetime,
    has_first: bool = False,
) -> list[HeldValue]:
    """The contributions to store when the new memory is added to an existing one: its own, and
    before the first such one also that of the existing memory. ``has_first``: the latter is stored
    already."""
    has_contributions = has_first or engine.store.held(
        principal.scope, HeldQuery(contributes_to=[existing.id])
    )
    if not (has_contributions or is_from_source(existing) or is_from_source(new)):
        return []  # no source whose removal could need it
    first = (
        []
        if has_contributions
        else [_contribution(existing, engine.new_id(), frozenset(), existing)]
    )
    return [*first, _contribution(new, new.id, mentioned, existing, at)]


def inherit_contributions(
    engine: EngineContext,
    principal: Principal,
    new: Memory,
    old: Memory,
    contribution: HeldValue,
) -> list[HeldValue]:
    """The contributions to a memory that replaces another: those of the old memory, copied, and the
    given new one. The old memory keeps its own, in case it is restored."""
    inherited = engine.store.held(principal.scope, HeldQuery(contributes_to=[old.id]))
    if not (inherited or is_from_source(old) or is_from_source(contribution.memory)):
        return []
    inherited = inherited or [_contribution(old, old.id, frozenset(), old)]
    return [
        replace(each, memory=each.memory.evolve(id=engine.new_id()), contributes_to=new.id)
        for each in (*inherited, contribution)
    ]


def copy_contributions(
    engine: EngineContext, principal: Principal, kept: Memory, same: Memory, at: datetime
) -> list[HeldValue]:
    """The contributions to store when one memory absorbs another: those of the latter, copied, and
    before the first ones also that of the memory that stays. The absorbed one keeps its own."""
    known = engine.store.held(principal.scope, HeldQuery(contributes_to=[kept.id, same.id]))
    of_kept = [each for each in known if each.contributes_to == kept.id]
    of_same = [each for each in known if each.contributes_to == same.id]
    if not known and not (is_from_source(kept) or is_from_source(same)):
        return []
    first = [] if of_kept else [_contribution(kept, engine.new_id(), frozenset(), kept)]
    copied = of_same or [_contribution(same, same.id, frozenset(), kept, at)]
    return [
        *first,
        *(
            replace(each, memory=each.memory.evolve(id=engine.new_id()), contributes_to=kept.id)
            for each in copied
        ),
    ]


def make_contribution(
    memory: Memory, mentioned: Collection[str], at: datetime, reason: str = ""
) -> HeldValue:
    return replace(
        _contribution(memory, memory.id, frozenset(mentioned), memory, at), reason=reason
    )


def join_contributions(memory: Memory, same: Sequence[HeldValue], id: str) -> list[HeldValue]:
    """Contributions of held values that say the same as the memory."""
    joined = [
        replace(each, alternative_to=None, contributes_to=memory.id, reason="") for each in same
    ]
    return [_contribution(memory, id, frozenset(), memory), *joined] if joined else []


def _contribution(
    memory: Memory,
    id: str,
    mentioned: frozenset[str],
    target: Memory,
    at: datetime | None = None,
) -> HeldValue:
    return HeldValue(
        memory=memory.evolve(id=id, conflict=None, version=1),
        conflict=None,
        alternative_to=None,
        mentioned=mentioned,
        reason="",
        actor=memory.actor_id,
        held_at=at or memory.created_at,
        contributes_to=target.id,
    )


def add_contributor_evidence(memory: Memory, assertion: Memory) -> Memory:
    """Evidence for a contributor that asserts only a part of the memory: the memory can be rebuilt
    from that part. An agent's own assertion is no evidence."""
    if assertion.agent_id is not None and not supporting_sources(assertion):
        return memory
    new = [each for each in _contributor_evidence(assertion) if each not in memory.evidence]
    sources = supporting_sources(memory)
    named = [
        each for each in new if each == OWNER_EVIDENCE or source_of_evidence(each) not in sources
    ]
    return memory.evolve(evidence=(*memory.evidence, *named))


def hold_contributions(memory: Memory, contributions: Sequence[HeldValue]) -> list[HoldValues]:
    entry = Entry(op=Op.HOLD, subject=memory.id, category=memory.category)
    return [HoldValues(None, tuple(contributions), entry)] if contributions else []


def hold_again(held: Sequence[HeldValue]) -> list[HoldValues]:
    return [
        HoldValues(
            None, (each,), Entry(op=Op.HOLD, subject=each.alternative_to or each.contributes_to)
        )
        for each in held
    ]


def release_contributions(memory: str, contributions: Sequence[HeldValue]) -> list[ReleaseHeld]:
    """Without a journal event: the change of the memory itself has one."""
    ids = tuple(each.memory.id for each in contributions)
    return [ReleaseHeld(ids, Entry(op=Op.RESOLVE, subject=memory))] if ids else []


def merge_contributions(contributions: Sequence[HeldValue]) -> Memory:
    """The memory that these contributions alone would have produced, in their order."""
    first, *rest = sorted(contributions, key=lambda each: (each.held_at, each.memory.id))
    merged = first.memory
    for each in rest:
        merged = _merge_contribution(merged, each)
    evidence = dict.fromkeys(
        named for each in contributions for named in _contributor_evidence(each.memory)
    )
    return merged.evolve(
        evidence=tuple(evidence), **{name: getattr(first.memory, name) for name in _ORIGIN_FIELDS}
    )


def _merge_contribution(merged: Memory, contribution: HeldValue) -> Memory:
    """As remembering does: a repeat adds to the existing memory, a newer wording replaces it."""
    new = contribution.memory
    adds = (
        POLICIES[merged.kind].asks_on_change
        or relate_memories(new, merged, None).relation is MemoryRelation.REPEAT
    )
    if adds and contribution.reason != REPLACES:
        return refresh_memory(
            merged, new, contribution.mentioned, merged.updated_at, by_owner=False
        )
    return build_successor(new, merged, contribution.mentioned)


def _contributor_evidence(memory: Memory) -> Iterable[str]:
    named = [each for each in memory.evidence if each == OWNER_EVIDENCE or is_source_id(each)]
    if named or memory.source_id is not None:
        return named or [str(memory.source_id)]
    return [OWNER_EVIDENCE] if memory.agent_id is None else []


@dataclass(slots=True)
class Rebuild:
    """What happens to memories that share sources, by id."""

    anew: dict[str, Memory] = field(default_factory=dict)
    unsupported: dict[str, Memory] = field(default_factory=dict)  # no contributor is left
    gone: dict[str, list[HeldValue]] = field(default_factory=dict)  # contributions to remove
    beside: list[HeldValue] = field(default_factory=list)  # alternatives, compared again

    @property
    def known(self) -> set[str]:
        return self.anew.keys() | self.unsupported.keys()


def rebuild_memories(
    engine: EngineContext,
    principal: Principal,
    changed: Collection[str],
    active_before: ActiveEvidence,
    active_after: ActiveEvidence,
    *,
    for_good: bool = False,
) -> Rebuild:
    """Rebuild the memories to which one of the changed sources or passages contributes.
    ``for_good``: contributions of the changed ones are deleted, and a forgotten memory is rebuilt
    from forgotten sources, in case these are restored."""
    rebuild = Rebuild()
    held = engine.store.held(principal.scope)
    by_memory = _group_by_memory(held)
    shared = {
        id: contributions
        for id, contributions in by_memory.items()
        if any(rests_on(each.memory, changed) for each in contributions)
    }
    for memory in engine.store.fetch(principal.scope, list(shared)):
        contributions = shared[memory.id]
        before, after = (
            _supporting_contributions(contributions, active_before) or contributions,
            _supporting_contributions(contributions, active_after),
        )
        if for_good:
            rebuild.gone[memory.id] = [
                each
                for each in contributions
                if rests_on(each.memory, changed) and not active_after.supports(each.memory)
            ]
            if memory.state is State.SOFT_DELETED:
                after = after or [
                    each for each in contributions if each not in rebuild.gone[memory.id]
                ]
        if after:
            alternatives = [
                h for h in held if h.alternative_to == memory.id and active_after.supports(h.memory)
            ]
            joined, rest = _compare_alternatives(memory, before, after, alternatives)
            after += joined
            rebuild.beside += [*joined, *rest]
            rebuild.anew[memory.id] = _rebuild_memory(
                memory, merge_contributions(before), merge_contributions(after)
            )
        else:
            rebuild.unsupported[memory.id] = memory
    return rebuild


def _compare_alternatives(
    memory: Memory,
    before: Sequence[HeldValue],
    after: Sequence[HeldValue],
    alternatives: Sequence[HeldValue],
) -> tuple[list[HeldValue], list[HeldValue]]:
    """Compare alternatives with the rebuilt memory. Those that now say the same become
    contributions; the others get a new reason, which does not quote removed content."""
    joined: list[HeldValue] = []
    rest: list[HeldValue] = []
    for each in alternatives:
        rebuilt = _rebuild_memory(
            memory, merge_contributions(before), merge_contributions([*after, *joined])
        )
        related = relate_memories(each.memory, rebuilt, None)
        if related.relation in (MemoryRelation.REPEAT, MemoryRelation.REWORDING):
            joined.append(replace(each, alternative_to=None, contributes_to=memory.id, reason=""))
        else:
            rest.append(replace(each, reason=related.reason))
    return joined, rest


def _group_by_memory(held: Iterable[HeldValue]) -> Mapping[str, list[HeldValue]]:
    by_memory: dict[str, list[HeldValue]] = defaultdict(list)
    for each in held:
        if each.contributes_to:
            by_memory[each.contributes_to].append(each)
    return by_memory


def _supporting_contributions(
    contributions: Sequence[HeldValue], active: ActiveEvidence
) -> list[HeldValue]:
    """Contributions of what is active and of the owner. If there are any, also those of agents,
    which are not enough on their own."""
    own = [each for each in contributions if not supporting_sources(each.memory)]
    supporting = [each for each in contributions if active.supports(each.memory)]
    supporting += [each for each in own if each.memory.agent_id is None]
    added = [each for each in own if each.memory.agent_id is not None]
    return [*supporting, *added] if supporting else []


def _rebuild_memory(memory: Memory, before: Memory, after: Memory) -> Memory:
    changes: dict[str, Any] = {
        name: getattr(after, name)
        for name in _CONTRIBUTED_FIELDS
        if getattr(memory, name) == getattr(before, name)
    }
    by_hand = {n: v for n, v in memory.metadata.items() if before.metadata.get(n) != v}
    removed = before.metadata.keys() - memory.metadata.keys()
    metadata = {n: v for n, v in after.metadata.items() if n not in removed} | by_hand
    origin = {name: getattr(after, name) for name in _ORIGIN_FIELDS}
    changes.setdefault("tags", _remaining_tags(memory, f"{memory.content} {before.content}", after))
    text = {"content": after.content, "summary": after.summary, "evidence": after.evidence}
    return memory.evolve(**changes, **origin, **text, metadata=metadata)


def _remaining_tags(memory: Memory, before: str, after: Memory) -> tuple[str, ...]:
    """The tags without words that occur only in removed content."""
    gone = set(fold(before).split()) - set(fold(after.content).split())
    return tuple(tag for tag in memory.tags if gone.isdisjoint(fold(tag).split()))
