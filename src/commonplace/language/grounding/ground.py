"""Checks what a model, or a caller, found in passages against their words.

Nothing is taken on trust: an item that its passages do not carry is dropped and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from commonplace.language.extract.values import OwnerIdentity
from commonplace.language.grounding.evidence import GivenEvidence
from commonplace.language.grounding.graph import GraphFindings
from commonplace.language.grounding.items import ForgetItem, MemoryItem, read_items
from commonplace.language.grounding.memories import ground_memory
from commonplace.language.grounding.placing import Rejected, place_quote
from commonplace.language.grounding.plausible import implausible
from commonplace.language.grounding.values import (
    DropReason,
    GivenPassage,
    GroundedFindings,
    GroundedMemory,
    SpokenBy,
)
from commonplace.language.text.normalise import fold
from commonplace.model.memory.candidate import ForgetRequest
from commonplace.model.sources.source import SourceType

# Known statements that the turns of one window take back: half of those that were given, but
_LEAST_CORRECTED, _MOST_CORRECTED = 2, 5


def ground(
    value: object,
    passages: Sequence[GivenPassage],
    owner: OwnerIdentity,
    source_type: SourceType,
    known: Mapping[str, str] = MappingProxyType({}),
) -> GroundedFindings:
    """``value``: as in the schema of `read_turns` or `extract_source`; lists may be missing.
    ``known``: earlier statements, by key: their names and words count, no numbers or values."""
    items = read_items(value)
    evidence = GivenEvidence(passages, owner, known)
    dropped: Counter[DropReason] = Counter()
    if items.malformed:
        dropped[DropReason.MALFORMED] += items.malformed
    graph = GraphFindings(evidence, owner.name)
    graph.add_names(items.names)
    graph.add_relations(items.relations)
    graph.add_notes(items.notes)
    memories = _memories(items.memories, evidence, source_type, graph.names, dropped)
    forget = _forget_requests(items.forget, evidence, dropped)
    return GroundedFindings(memories, graph.extraction(), forget, dropped + graph.dropped)


def _memories(
    items: Sequence[MemoryItem],
    evidence: GivenEvidence,
    source_type: SourceType,
    names: Sequence[str],
    dropped: Counter[DropReason],
) -> tuple[GroundedMemory, ...]:
    """Each statement once."""
    found: dict[str, GroundedMemory] = {}
    for item in items:
        try:
            place = place_quote(item, evidence, is_plan=item.kind == "plan")
            memory = ground_memory(item, place, evidence, source_type, names)
            if reason := implausible(memory, place.passage.given.text):
                raise Rejected(reason)
        except Rejected as rejected:
            dropped[rejected.reason] += 1
            continue
        found.setdefault(fold(memory.candidate.content), memory)
    return tuple(_within_limit(found.values(), evidence.known))


def _within_limit(
    found: Iterable[GroundedMemory], known: Mapping[str, str]
) -> Iterator[GroundedMemory]:
    """A few turns change a few things: whoever calls more of what is known out of date is not
    believed beyond the first ones."""
    limit = max(_LEAST_CORRECTED, min(_MOST_CORRECTED, len(known) // 2))
    taken: set[str] = set()
    for memory in found:
        new = [key for key in memory.known if key not in taken][: limit - len(taken)]
        kept = tuple(key for key in memory.known if key in taken or key in new)
        taken.update(new)
        if kept != memory.known:
            words = "; ".join(known[key] for key in kept)
            memory = replace(memory, known=kept, corrects=words)
        yield memory


def _forget_requests(
    items: Sequence[ForgetItem], evidence: GivenEvidence, dropped: Counter[DropReason]
) -> tuple[ForgetRequest, ...]:
    """Only the owner asks, in these words."""
    found: dict[str, ForgetRequest] = {}
    for item in items:
        try:
            place = place_quote(item, evidence)
            if place.passage.given.by is not SpokenBy.OWNER:
                raise Rejected(DropReason.NOT_THE_OWNER)
            support = evidence.support_at(place.index)
            if support.unknown_names(item.what):
                raise Rejected(DropReason.UNGROUNDED_NAME)
            if not support.has_words(item.what):
                raise Rejected(DropReason.UNGROUNDED_WORDS)
        except Rejected as rejected:
            dropped[rejected.reason] += 1
            continue
        found.setdefault(fold(item.what), ForgetRequest(item.what, place.quote))
    return tuple(found.values())
