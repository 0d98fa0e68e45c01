"""Whether a recall looks at memories, at passages, or only at the passages of some sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from commonplace.desk import Desk, visibility_in
from commonplace.errors import InvalidInput, NotFound
from commonplace.model.filters import Visibility
from commonplace.model.kinds import Kind
from commonplace.model.reach import Reading
from commonplace.model.scope import Principal
from commonplace.model.source import split_passage_id
from commonplace.recall.look_up_sources import known_source, visible_source
from commonplace.store.index import Mask, ScopeIndex

NONE, ONLY = "none", "only"  # the words for: no passages, nothing but passages


@dataclass(frozen=True, slots=True)
class Within:
    memories: bool = True
    passages: bool = True
    sources: tuple[str, ...] = ()  # if any: only passages of these
    procedures: bool = True

    def narrowed(self, index: ScopeIndex, candidates: Mask) -> Mask:
        """Before anything is scored."""
        if not self.procedures:
            candidates = candidates & ~index.of_kind(Kind.PROCEDURE)
        if self.sources:
            return candidates & index.of_sources(self.sources)
        if not self.passages:
            return candidates & ~index.passages
        return candidates if self.memories else candidates & index.passages

    def visibility(self, principal: Principal, reading: Reading) -> Visibility:
        """Sources that were named were looked up by id: there the owner sees all of theirs."""
        allowed = visibility_in(principal, reading)
        by_id = reading.is_own and principal.is_owner and bool(self.sources)
        return replace(allowed, cleared=True) if by_id else allowed


EVERYWHERE = Within()


def within(desk: Desk, principal: Principal, wanted: Sequence[str]) -> Within:
    """From what was asked: one of the two words, or sources by id or by their own names."""
    match wanted:
        case []:
            return EVERYWHERE
        case [word] if word == NONE:
            return Within(passages=False)
        case [word] if word == ONLY:
            return Within(memories=False)
    return Within(memories=False, sources=tuple(_source(desk, principal, id) for id in wanted))


def _source(desk: Desk, principal: Principal, id: str) -> str:
    known = known_source(desk, principal, id)
    if known is None:
        raise NotFound(
            f"Unknown source {id!r}.",
            remedy=f"Give ids or names of sources, or {NONE} or {ONLY}.",
            field="sources",
        )
    source, number = split_passage_id(known)
    if number is not None:
        raise InvalidInput(
            f"{id} is a passage, not a source.",
            remedy=f"Give its source: {source}.",
            field="sources",
        )
    return visible_source(desk, principal, source, "sources").id
