"""What a memory rests on: the turns and sources that tell it, and the owner's own word.

They stand in its evidence, one for each source, by ids that hold no text. While one of them stands,
erasing the others leaves the memory. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from commonplace.language.normalise import fold
from commonplace.language.statements.compare import Verdict, compare
from commonplace.model.kinds import Kind
from commonplace.model.memory import Memory, State
from commonplace.model.source import Source, is_source_id, split_passage_id
from commonplace.remember.replace import is_told_by_fields

OWNER = "owner"  # said it themself, outside of any source
_VALUES = (Kind.KV, Kind.CONTACT)


def sources_behind(memory: Memory) -> set[str]:
    """Whether they are still there or not."""
    named = (memory.source_id or "", *memory.evidence)
    return {source_of(each) for each in named if is_source_id(each)}


def turns_behind(memory: Memory) -> tuple[str, ...]:
    """Where its words were said: passages where they are known, else the source."""
    named = [each for each in memory.evidence if is_source_id(each)]
    whole = {source_of(each) for each in named}
    home = memory.source_id or ""
    return (*named, *([home] if is_source_id(home) and home not in whole else []))


def added_by_telling(standing: Memory, telling: Memory, by_owner: bool) -> tuple[str, ...]:
    """The evidence that another telling adds to what stands. A source is named once: who repeats
    something in one conversation adds nothing to it. What tells less than stands here does not
    carry it: that would keep words that only an erased source had."""
    own_word = by_owner and standing.source_id is not None  # else nothing could take it away
    told = _supports(telling, own_word) if _says_all_of(telling, standing) else ()
    behind = sources_behind(standing)
    new = [each for each in told if not (is_source_id(each) and source_of(each) in behind)]
    words = [each for each in telling.evidence if not _is_support(each)]
    return tuple(each for each in (*words, *new) if each not in standing.evidence)


def is_only_supported(before: Memory, after: Memory) -> bool:
    """Nothing is new but what it rests on."""
    added = set(after.evidence) - set(before.evidence)
    same = after.evolve(evidence=before.evidence, updated_at=before.updated_at) == before
    return same and all(map(_is_support, added))


def without(memory: Memory, standing: Mapping[str, Source]) -> Memory | None:
    """The memory without the source that it came of, resting on the owner's word or on another of
    these; None when nothing else carries it. Evidence in words goes: whose it was is not known."""
    evidence = tuple(
        each for each in memory.evidence if each == OWNER or source_of(each) in standing
    )
    if not evidence or memory.state is State.SOFT_DELETED:
        return None
    home = None if OWNER in evidence else standing[source_of(evidence[0])]
    said: dict[str, Any] = dict.fromkeys(("actor_id", "role", "run_id", "job_id"))
    return memory.evolve(
        **said,
        evidence=evidence,
        source_id=home.id if home else None,
        source_type=home.source_type if home else None,
        thread_id=home.thread_id if home else None,
    )


def renamed(evidence: tuple[str, ...], called: Mapping[str, str]) -> tuple[str, ...]:
    """With other ids for the sources in it."""
    parted = [each.partition("#") for each in evidence]
    return tuple(called.get(source, source) + sign + rest for source, sign, rest in parted)


def _supports(memory: Memory, by_owner: bool) -> tuple[str, ...]:
    named = tuple(filter(_is_support, memory.evidence))
    source = memory.source_id
    if source is None:
        return (*named, OWNER) if by_owner else named
    if is_source_id(source) and source not in map(source_of, named):
        return (*named, source)
    return named


def _is_support(evidence: str) -> bool:
    return evidence == OWNER or is_source_id(evidence)


def source_of(id: str) -> str:
    return split_passage_id(id)[0]


def _says_all_of(telling: Memory, standing: Memory) -> bool:
    if standing.kind in _VALUES and dict(telling.metadata) != dict(standing.metadata):
        return False
    if fold(telling.content) == fold(standing.content) or is_told_by_fields(standing):
        return True
    told = compare(telling.content, standing.content)
    return standing.kind not in _VALUES and told.verdict is not Verdict.MORE
