"""The last look at a candidate, when it is known how it relates to what is there."""

from __future__ import annotations

from dataclasses import dataclass, field

from commonplace.desk import can_see, visibility_of
from commonplace.language.normalise import fold
from commonplace.language.observing.hearsay import HEARSAY
from commonplace.language.sentences import sentences
from commonplace.model.kinds import POLICIES, Kind
from commonplace.model.memory import Memory
from commonplace.model.relations import Action
from commonplace.model.scope import Principal
from commonplace.remember.carry_out import Ledger
from commonplace.remember.decide import Decision
from commonplace.remember.neighbours import Surroundings
from commonplace.remember.notice import Reason


@dataclass(slots=True)
class Gate:
    """An agent that tells of a category it does not see is treated as if nothing were there."""

    principal: Principal
    around: Surroundings
    room: int  # how many more are taken
    refused: dict[int, tuple[Reason, str]] = field(default_factory=dict)
    taken: list[Kind] = field(default_factory=list)

    def refuses(self, place: int, memory: Memory, decision: Decision, ledger: Ledger) -> bool:
        blind = not visibility_of(self.principal).admits_category(memory.category)
        if decision.action is Action.REFRESHED and not blind:
            return False
        why = self._why(memory, decision, ledger)
        if why is None:
            self.taken.append(memory.kind)
            return False
        self.refused[place] = why
        return True

    def _why(self, memory: Memory, decision: Decision, ledger: Ledger) -> tuple[Reason, str] | None:
        if decision.action is Action.STORED and self._is_told(memory, ledger):
            return Reason.REPEAT, "a memory says so already"
        if memory.facet == HEARSAY and _would_change_what_is_sure(decision):
            return Reason.NOT_THE_OWNER, "hearsay, against what is known at first hand"
        most = POLICIES[memory.kind].max_live
        live = self.around.live_by_kind.get(memory.kind, 0) + self.taken.count(memory.kind)
        if most is not None and live >= most:
            return Reason.REFUSED, f"at most {most} {memory.kind} memories are live at a time"
        if len(self.taken) >= self.room:
            return Reason.DAY_FULL, "the day has given as many as observe_daily allows"
        return None

    def _is_told(self, memory: Memory, ledger: Ledger) -> bool:
        """Whether a sentence of what stands, of whatever kind, says just this. An event may come
        again, on another day."""
        said = fold(memory.content)
        return any(
            said in map(fold, (old.content, *sentences(old.content)))
            for old in ledger.standing.values()
            if old.is_live(ledger.now)
            and can_see(self.principal, old)
            and not memory.kind is old.kind is Kind.EVENT
        )


def _would_change_what_is_sure(decision: Decision) -> bool:
    replaces = decision.action in (Action.SUPERSEDED, Action.PENDING, Action.OVERRIDDEN)
    return replaces and any(other.facet != HEARSAY for other in decision.others)
