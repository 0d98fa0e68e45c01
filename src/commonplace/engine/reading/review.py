"""The review of decisions that rest on a model: never ask, never touch what a person decided."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from commonplace.engine.access import proposes
from commonplace.engine.context import EngineContext
from commonplace.engine.memories.candidates import BOTH_CONFIDENCE
from commonplace.engine.memories.conflicts import is_same_statement
from commonplace.engine.memories.decided import (
    is_decided,
    is_found_by_rules,
    may_replace_value,
)
from commonplace.engine.memories.write_plan import WritePlan
from commonplace.engine.memory_relation import WriteDecision
from commonplace.model.access.principal import Principal
from commonplace.model.filters import OWNER_VISIBILITY, Filters
from commonplace.model.memory.kinds import POLICIES, Action, MemoryRelation, OnConflict
from commonplace.model.memory.memory import HEARSAY_FACET, Memory, State
from commonplace.model.sources.source import SourceType
from commonplace.store.queries import NO_LIMIT, MemoryListing

_SAME = (MemoryRelation.REPEAT, MemoryRelation.REWORDING)


def conflict_handling(memory: Memory) -> OnConflict:
    """Where a person would be asked, the other value is held beside the known one."""
    asks = POLICIES[memory.kind].asks_on_change
    return OnConflict.ALTERNATIVE if asks else OnConflict.ASK


@dataclass(slots=True)
class ModelReview:
    """Reviews the decisions about one window; made anew for each decision."""

    engine: EngineContext
    principal: Principal
    source: str
    _ended: list[Memory] | None = field(default=None)

    def __call__(
        self, _place: int, memory: Memory, decision: WriteDecision, plan: WritePlan
    ) -> tuple[Memory, WriteDecision | None]:
        if self._is_over(memory):
            return memory, None
        if decision.relation in _SAME and any(
            self._rules_found(memory, old) for old in decision.others
        ):
            memory = memory.evolve(confidence=max(memory.confidence, BOTH_CONFIDENCE))
        return memory, self._guarded(memory, decision)

    def _guarded(self, memory: Memory, decision: WriteDecision) -> WriteDecision | None:
        if decision.action is Action.PENDING and not proposes(self.principal, memory):
            return replace(decision, action=Action.ALTERNATIVE, others=decision.others[:1])
        decided = [old for old in decision.others if self._is_decided(old)]
        if decision.action in (Action.SUPERSEDED, Action.OVERRIDDEN) and decided:
            if decision.relation is MemoryRelation.REWORDING:
                return None
            return replace(decision, action=Action.ALTERNATIVE, others=tuple(decided[:1]))
        is_beside = decision.action is Action.ALTERNATIVE and not decided
        if is_beside and self._is_later_word(memory, decision.others[0]):
            return replace(decision, action=Action.OVERRIDDEN)
        return decision

    def _is_later_word(self, new: Memory, old: Memory) -> bool:
        return _is_owners_later_word(new, old) and may_replace_value(
            self.engine, self.principal, old
        )

    def _is_decided(self, old: Memory) -> bool:
        return is_decided(self.engine, self.principal.scope, old)

    def _rules_found(self, new: Memory, old: Memory) -> bool:
        """In the same passage."""
        same_words = set(new.evidence) & set(old.evidence)
        return bool(same_words) and is_found_by_rules(self.engine, self.principal.scope, old.id)

    def _is_over(self, memory: Memory) -> bool:
        """Whether what the same passage says was stored before, and forgotten or replaced."""
        if self._ended is None:
            listing = MemoryListing(
                filters=Filters(source_id=self.source),
                visibility=OWNER_VISIBILITY,
                states=(State.SOFT_DELETED, State.SUPERSEDED),
                limit=NO_LIMIT,
            )
            self._ended = self.engine.store.page(self.principal.scope, listing)
        return any(
            set(memory.evidence) & set(old.evidence) and is_same_statement(old, memory)
            for old in self._ended
        )


def _is_owners_later_word(new: Memory, old: Memory) -> bool:
    """A value that came from a turn changes by what the owner says in a later one."""
    return (
        HEARSAY_FACET not in (new.facet, old.facet)
        and old.source_type == SourceType.CHAT
        and old.role is not None  # of an observed turn, not of an ingested chat
        and old.created_at <= new.created_at
    )
