"""Evidence: sources and signals that support memories and profile fields.

A memory's evidence lists its supporting sources, one entry per source, by ids that contain no text.
While one of them exists, erasing the others leaves the memory.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from commonplace.engine.composition import RESTS_ON, is_rendered_from_fields
from commonplace.engine.context import EngineContext
from commonplace.engine.indexing import index_memories
from commonplace.language.text.normalise import fold
from commonplace.language.text.sentences import summarise
from commonplace.language.text.terms import extract_keywords
from commonplace.lazy import lazy_imports
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import RemoveMemory, RewriteMemory, build_removal
from commonplace.model.filters import OWNER_VISIBILITY
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.memory.kinds import POLICIES, Kind
from commonplace.model.memory.memory import Memory, State
from commonplace.model.profile.fields import Signal, describe_field
from commonplace.model.sleep import SLEEP_ACTOR
from commonplace.model.sources.source import (
    THREAD_ORIGIN,
    Source,
    is_source_id,
    split_passage_id,
)
from commonplace.store.queries import NO_LIMIT, MemoryListing

with lazy_imports(__name__):
    from commonplace.language.compare.compare import CompareVerdict, compare

OWNER_EVIDENCE = "owner"  # the owner asserted it, outside of any source


def supporting_sources(memory: Memory) -> set[str]:
    """Ids of all supporting sources, whether or not they still exist."""
    named = (memory.source_id or "", *memory.evidence)
    return {source_of_evidence(each) for each in named if is_source_id(each)}


def supporting_passages(memory: Memory) -> tuple[str, ...]:
    """Ids of the passages that state it, or of the source where no passage is known."""
    named = [each for each in memory.evidence if is_source_id(each)]
    known_sources = {source_of_evidence(each) for each in named}
    source = memory.source_id or ""
    return (*named, *([source] if is_source_id(source) and source not in known_sources else []))


def rests_on(memory: Memory, ids: Collection[str]) -> bool:
    """Whether one of these sources or passages supports it."""
    return any(
        each in ids or source_of_evidence(each) in ids for each in supporting_passages(memory)
    )


@dataclass(frozen=True, slots=True)
class ActiveEvidence:
    """What counts as support: active sources, without their forgotten and erased passages."""

    sources: Mapping[str, Source] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()  # ids of passages
    also: frozenset[str] = frozenset()  # further sources, by id

    def admits(self, evidence: str) -> bool:
        source = source_of_evidence(evidence)
        return (source in self.sources or source in self.also) and evidence not in self.hidden

    def supports(self, memory: Memory) -> bool:
        return any(map(self.admits, supporting_passages(memory)))

    def without(self, ids: Collection[str]) -> ActiveEvidence:
        """Without these sources and passages."""
        sources = {id: source for id, source in self.sources.items() if id not in ids}
        hidden = self.hidden | {id for id in ids if id != source_of_evidence(id)}
        return ActiveEvidence(sources, hidden, self.also - set(ids))

    def including(self, ids: Collection[str]) -> ActiveEvidence:
        """Also with these sources and passages."""
        sources = {id for id in ids if id == source_of_evidence(id)}
        return ActiveEvidence(self.sources, self.hidden - set(ids), self.also | sources)


def added_evidence(memory: Memory, assertion: Memory, by_owner: bool) -> tuple[str, ...]:
    """The evidence that a further assertion adds to a memory. A source is listed once: repeating
    something in the same conversation adds nothing. An assertion that states less than the memory
    does not support it, because it would keep content that only an erased source had."""
    # Without a source, no removal is possible that the owner's assertion would outlive.
    needs_owner = by_owner and memory.source_id is not None
    supports = _evidence_of(assertion, needs_owner) if _states_all_of(assertion, memory) else ()
    known_sources = supporting_sources(memory)
    new = [
        each
        for each in supports
        if not (is_source_id(each) and source_of_evidence(each) in known_sources)
    ]
    texts = [each for each in assertion.evidence if not _is_support(each)]
    return tuple(each for each in (*texts, *new) if each not in memory.evidence)


def adds_only_evidence(before: Memory, after: Memory) -> bool:
    """True if only the evidence differs."""
    added = set(after.evidence) - set(before.evidence)
    same = after.evolve(evidence=before.evidence, updated_at=before.updated_at) == before
    return same and all(map(_is_support, added))


def rests_on_all(memory: Memory) -> bool:
    """An insight of a night links what it was given: it goes with any of it."""
    return memory.kind is Kind.INSIGHT and memory.actor_id == SLEEP_ACTOR


def keep_other_evidence(memory: Memory, active: ActiveEvidence) -> Memory | None:
    """The memory without its removed evidence, supported by the owner or by what is active; None if
    nothing else supports it. Evidence given as text is dropped, because its source is unknown."""
    evidence = tuple(
        each for each in memory.evidence if each == OWNER_EVIDENCE or active.admits(each)
    )
    if not evidence or memory.state is State.SOFT_DELETED or rests_on_all(memory):
        return None
    source = None if OWNER_EVIDENCE in evidence else active.sources[source_of_evidence(evidence[0])]
    speaker_fields: dict[str, Any] = dict.fromkeys(("actor_id", "run_id", "job_id"))
    is_observed = source is not None and source.origin == THREAD_ORIGIN
    return memory.evolve(
        **speaker_fields,
        role=memory.role if is_observed else None,
        evidence=evidence,
        source_id=source.id if source else None,
        source_type=source.source_type if source else None,
        thread_id=source.thread_id if source else None,
    )


def rename_evidence(evidence: tuple[str, ...], new_ids: Mapping[str, str]) -> tuple[str, ...]:
    """The evidence with new ids for its sources."""
    parts = [each.partition("#") for each in evidence]
    return tuple(new_ids.get(source, source) + sign + rest for source, sign, rest in parts)


def _evidence_of(memory: Memory, by_owner: bool) -> tuple[str, ...]:
    named = tuple(filter(_is_support, memory.evidence))
    source = memory.source_id
    if source is None:
        return (*named, OWNER_EVIDENCE) if by_owner else named
    if is_source_id(source) and source not in map(source_of_evidence, named):
        return (*named, source)
    return named


def _is_support(evidence: str) -> bool:
    return evidence == OWNER_EVIDENCE or is_source_id(evidence)


def source_of_evidence(id: str) -> str:
    return split_passage_id(id)[0]


def _states_all_of(assertion: Memory, memory: Memory) -> bool:
    if POLICIES[memory.kind].has_fields and dict(assertion.metadata) != dict(memory.metadata):
        return False
    if fold(assertion.content) == fold(memory.content) or is_rendered_from_fields(memory):
        return True
    comparison = compare(assertion.content, memory.content)
    return not POLICIES[memory.kind].has_fields and comparison.verdict is not CompareVerdict.MORE


# The ids that support each signal: it counts while all of them exist.
SignalSupports = list[list[str]]

MAX_SIGNAL_SUPPORTS = 10  # per value, the newest: 100 goals with theirs fit into one memory


def supports_of_signals(signals: Sequence[Signal]) -> SignalSupports:
    """Empty if one of the signals has no origin that could be erased: the value then needs no
    support."""
    supports = [[id for id in (each.source_id, each.memory_id) if id] for each in signals]
    return supports[-MAX_SIGNAL_SUPPORTS:] if all(supports) else []


def with_field_supports(
    known: Memory | None, value: Any, supports: SignalSupports
) -> dict[str, SignalSupports]:
    """Supports by value, since each of several goals has its own. ``known``: the field whose other
    supports are kept."""
    by_value = dict(known.metadata.get(RESTS_ON, {})) if known else {}
    by_value.pop(str(value), None)
    return {**by_value, str(value): supports} if supports else by_value


def add_field_supports(field: Memory, value: Any, supports: SignalSupports) -> Memory | None:
    """The field with further supports for its value. None if there is nothing new, or if the value
    needs no support because the owner set it or its origin cannot be erased."""
    by_value = field.metadata.get(RESTS_ON, {})
    known = by_value.get(str(value), [])
    more = [each for each in supports if each not in known]
    if not known or not more:
        return None
    both = [*known, *more][-MAX_SIGNAL_SUPPORTS:]
    return field.evolve(metadata={**field.metadata, RESTS_ON: {**by_value, str(value): both}})


def remove_unsupported_fields(
    engine: EngineContext, principal: Principal, gone: Container[str]
) -> tuple[list[RemoveMemory], list[RewriteMemory]]:
    """Remove the profile fields, or the goals in them, that lose their last support. Support that
    had already expired or been purged neither keeps a field nor removes it."""
    scope = principal.scope
    listing = MemoryListing(
        states=tuple(State), visibility=OWNER_VISIBILITY, only_profile=True, limit=NO_LIMIT
    )
    fields = [field for field in engine.store.page(scope, listing) if field.id not in gone]
    versions_of = {field.id: [field] for field in fields}
    for version in engine.store.versions(scope, list(versions_of)):
        versions_of[version.memory.id].append(version.memory)
    check = _SupportCheck(engine, principal, gone)
    lost = {field.id: check.lost(versions_of[field.id]) for field in fields}
    ended = [f for f in fields if lost[f.id] and _remaining_value(f, lost[f.id]) in (None, [])]
    reduced = [
        _without_values(field, lost[field.id])
        for field in fields
        if lost[field.id] and field not in ended
    ]
    indexes = index_memories(engine, reduced)[0] if reduced else []
    rewrites = [
        RewriteMemory(field, index, _rebuilt_field_entry(field))
        for field, index in zip(reduced, indexes, strict=True)
    ]
    return [build_removal(field, event=Event.ERASE) for field in ended], rewrites


@dataclass(frozen=True, slots=True)
class _SupportCheck:
    engine: EngineContext
    principal: Principal
    gone: Container[str]

    def lost(self, versions: Sequence[Memory]) -> set[str]:
        """The values, of any version, whose last support is being removed."""
        by_value: dict[str, SignalSupports] = {}
        for memory in versions:
            for value, supports in memory.metadata.get(RESTS_ON, {}).items():
                by_value[value] = [*by_value.get(value, []), *supports]
        return {
            value
            for value, supports in by_value.items()
            if any(map(self._is_removed, supports)) and not any(map(self._exists, supports))
        }

    def _is_removed(self, ids: list[str]) -> bool:
        return any(id in self.gone for id in ids)

    def _exists(self, ids: list[str]) -> bool:
        scope, remaining = self.principal.scope, [id for id in ids if id not in self.gone]
        existing = {memory.id for memory in self.engine.store.fetch(scope, remaining)}
        existing |= {source.id for source in self.engine.live_sources(scope, remaining)}
        return existing == set(ids)


def _remaining_value(field: Memory, lost: Container[str]) -> Any:
    """The value without the lost parts. A value that was set since is the owner's own."""
    value = field.metadata["value"]
    by_value = field.metadata.get(RESTS_ON, {})
    if isinstance(value, list):
        return [each for each in value if each not in lost or each not in by_value]
    return None if str(value) in lost and str(value) in by_value else value


def _without_values(field: Memory, lost: Container[str]) -> Memory:
    """The field is rewritten even if only an earlier version had the value: rewriting drops the
    earlier versions."""
    value = _remaining_value(field, lost)
    if value == field.metadata["value"]:
        return field
    by_value = {v: ids for v, ids in field.metadata[RESTS_ON].items() if v not in lost}
    metadata = {**field.metadata, "value": value, RESTS_ON: by_value}
    if not by_value:
        del metadata[RESTS_ON]
    content = describe_field(field.metadata["subject"], value)
    return field.evolve(
        content=content,
        summary=summarise(content),
        tags=extract_keywords(content),
        metadata=metadata,
    )


def _rebuilt_field_entry(field: Memory) -> Entry:
    return Entry(
        op=Op.UPDATE,
        event=Event.UPDATE,
        subject=field.id,
        category=field.category,
        new_ref=field.ref,
        meta={"rebuilt": True},
    )
