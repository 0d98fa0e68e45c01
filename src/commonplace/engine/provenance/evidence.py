"""Evidence: sources and signals that support memories and profile fields.

They stand in its evidence, one for each source, by ids that hold no text. While one of them stands,
erasing the others leaves the memory. Pure.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commonplace.engine.composition import RESTS_ON, is_rendered_from_fields
from commonplace.engine.context import EngineContext
from commonplace.engine.indexing import index_memories
from commonplace.language.compare.compare import CompareVerdict, compare
from commonplace.language.text.normalise import fold
from commonplace.language.text.sentences import summarise
from commonplace.language.text.terms import extract_keywords
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import RemoveMemory, RewriteMemory, build_removal
from commonplace.model.filters import OWNER_VISIBILITY
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.memory.kinds import POLICIES
from commonplace.model.memory.memory import Memory, State
from commonplace.model.profile.fields import Signal, describe_field
from commonplace.model.sources.source import Source, is_source_id, split_passage_id
from commonplace.store.queries import NO_LIMIT, MemoryListing

OWNER_EVIDENCE = "owner"  # said it themself, outside of any source


def supporting_sources(memory: Memory) -> set[str]:
    """Whether they are still there or not."""
    named = (memory.source_id or "", *memory.evidence)
    return {source_of_evidence(each) for each in named if is_source_id(each)}


def supporting_passages(memory: Memory) -> tuple[str, ...]:
    """Where its words were said: passages where they are known, else the source."""
    named = [each for each in memory.evidence if is_source_id(each)]
    whole = {source_of_evidence(each) for each in named}
    home = memory.source_id or ""
    return (*named, *([home] if is_source_id(home) and home not in whole else []))


def added_evidence(standing: Memory, assertion: Memory, by_owner: bool) -> tuple[str, ...]:
    """The evidence that another telling adds to what stands. A source is named once: who repeats
    something in one conversation adds nothing to it. What tells less than stands here does not
    carry it: that would keep words that only an erased source had."""
    own_word = by_owner and standing.source_id is not None  # else nothing could take it away
    told = _evidence_of(assertion, own_word) if _states_all_of(assertion, standing) else ()
    behind = supporting_sources(standing)
    new = [each for each in told if not (is_source_id(each) and source_of_evidence(each) in behind)]
    words = [each for each in assertion.evidence if not _is_support(each)]
    return tuple(each for each in (*words, *new) if each not in standing.evidence)


def adds_only_evidence(before: Memory, after: Memory) -> bool:
    """Nothing is new but what it rests on."""
    added = set(after.evidence) - set(before.evidence)
    same = after.evolve(evidence=before.evidence, updated_at=before.updated_at) == before
    return same and all(map(_is_support, added))


def keep_other_evidence(memory: Memory, standing: Mapping[str, Source]) -> Memory | None:
    """The memory without the source that it came of, resting on the owner's word or on another of
    these; None when nothing else carries it. Evidence in words goes: whose it was is not known."""
    evidence = tuple(
        each
        for each in memory.evidence
        if each == OWNER_EVIDENCE or source_of_evidence(each) in standing
    )
    if not evidence or memory.state is State.SOFT_DELETED:
        return None
    home = None if OWNER_EVIDENCE in evidence else standing[source_of_evidence(evidence[0])]
    said: dict[str, Any] = dict.fromkeys(("actor_id", "role", "run_id", "job_id"))
    return memory.evolve(
        **said,
        evidence=evidence,
        source_id=home.id if home else None,
        source_type=home.source_type if home else None,
        thread_id=home.thread_id if home else None,
    )


def rename_evidence(evidence: tuple[str, ...], called: Mapping[str, str]) -> tuple[str, ...]:
    """With other ids for the sources in it."""
    parted = [each.partition("#") for each in evidence]
    return tuple(called.get(source, source) + sign + rest for source, sign, rest in parted)


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


def _states_all_of(assertion: Memory, standing: Memory) -> bool:
    if POLICIES[standing.kind].has_fields and dict(assertion.metadata) != dict(standing.metadata):
        return False
    if fold(assertion.content) == fold(standing.content) or is_rendered_from_fields(standing):
        return True
    told = compare(assertion.content, standing.content)
    return not POLICIES[standing.kind].has_fields and told.verdict is not CompareVerdict.MORE


SignalSupports = list[
    list[str]
]  # the ids behind each signal; it stands while all of them are there

MAX_SIGNAL_SUPPORTS = 10  # of one value, the newest: a hundred goals and theirs fit into one memory


def supports_of_signals(signals: Sequence[Signal]) -> SignalSupports:
    """Empty when one of them came from nowhere that could be erased: then it always stands."""
    found = [[id for id in (each.source_id, each.memory_id) if id] for each in signals]
    return found[-MAX_SIGNAL_SUPPORTS:] if all(found) else []


def with_field_supports(
    known: Memory | None, value: Any, supports: SignalSupports
) -> dict[str, SignalSupports]:
    """By value, since each of several goals has its own; ``known`` where it keeps its others."""
    rests = dict(known.metadata.get(RESTS_ON, {})) if known else {}
    rests.pop(str(value), None)
    return {**rests, str(value): supports} if supports else rests


def add_field_supports(field: Memory, value: Any, supports: SignalSupports) -> Memory | None:
    """The field when more speaks for what it says. None where nothing new does, and where it needs
    no support: that is its owner's word, or came from nowhere that could be erased."""
    rests = field.metadata.get(RESTS_ON, {})
    known = rests.get(str(value), [])
    more = [each for each in supports if each not in known]
    if not known or not more:
        return None
    both = [*known, *more][-MAX_SIGNAL_SUPPORTS:]
    return field.evolve(metadata={**field.metadata, RESTS_ON: {**rests, str(value): both}})


def remove_unsupported_fields(
    engine: EngineContext, principal: Principal, gone: Container[str]
) -> tuple[list[RemoveMemory], list[RewriteMemory]]:
    """The fields, or the goals among them, that lose their last support with these. One that
    expired before, or was purged, neither keeps a field nor takes it along."""
    scope = principal.scope
    listing = MemoryListing(
        states=tuple(State), visibility=OWNER_VISIBILITY, only_profile=True, limit=NO_LIMIT
    )
    fields = [field for field in engine.store.page(scope, listing) if field.id not in gone]
    told = {field.id: [field] for field in fields}
    for version in engine.store.versions(scope, list(told)):
        told[version.memory.id].append(version.memory)
    standing = _SupportCheck(engine, principal, gone)
    lost = {field.id: standing.lost(told[field.id]) for field in fields}
    ended = [f for f in fields if lost[f.id] and _remaining_value(f, lost[f.id]) in (None, [])]
    fewer = [
        _without_values(field, lost[field.id])
        for field in fields
        if lost[field.id] and field not in ended
    ]
    indexes = index_memories(engine, fewer)[0] if fewer else []
    rewrites = [
        RewriteMemory(field, index, _rebuilt_field_entry(field))
        for field, index in zip(fewer, indexes, strict=True)
    ]
    return [build_removal(field, event=Event.ERASE) for field in ended], rewrites


@dataclass(frozen=True, slots=True)
class _SupportCheck:
    engine: EngineContext
    principal: Principal
    gone: Container[str]

    def lost(self, versions: Sequence[Memory]) -> set[str]:
        """The values, in whichever version, of which the last support is among what goes."""
        rests: dict[str, SignalSupports] = {}
        for memory in versions:
            for value, supports in memory.metadata.get(RESTS_ON, {}).items():
                rests[value] = [*rests.get(value, []), *supports]
        return {
            value
            for value, supports in rests.items()
            if any(map(self._is_removed, supports)) and not any(map(self._stands, supports))
        }

    def _is_removed(self, ids: list[str]) -> bool:
        return any(id in self.gone for id in ids)

    def _stands(self, ids: list[str]) -> bool:
        scope, left = self.principal.scope, [id for id in ids if id not in self.gone]
        there = {memory.id for memory in self.engine.store.fetch(scope, left)}
        there |= {source.id for source in self.engine.live_sources(scope, left)}
        return there == set(ids)


def _remaining_value(field: Memory, lost: Container[str]) -> Any:
    """What the field still says; a value that was set since is the owner's own."""
    value = field.metadata["value"]
    rests = field.metadata.get(RESTS_ON, {})
    if isinstance(value, list):
        return [each for each in value if each not in lost or each not in rests]
    return None if str(value) in lost and str(value) in rests else value


def _without_values(field: Memory, lost: Container[str]) -> Memory:
    """Written anew even where only an earlier version said it: those go when it is."""
    value = _remaining_value(field, lost)
    if value == field.metadata["value"]:
        return field
    rests = {v: ids for v, ids in field.metadata[RESTS_ON].items() if v not in lost}
    metadata = {**field.metadata, "value": value, RESTS_ON: rests}
    if not rests:
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
