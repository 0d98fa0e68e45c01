"""What an agent's allowlist held back from an answer: how many items, and in which categories."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from commonplace.engine.access import visibility_of
from commonplace.engine.search.candidates import RecallRequest, select_candidates
from commonplace.store.cache.scope_index import Mask, ScopeIndex


@dataclass(frozen=True, slots=True)
class Withheld:
    """Their contents are not told."""

    count: int
    categories: tuple[str, ...]  # the fullest first

    @property
    def sentence(self) -> str:
        items = "1 more item is" if self.count == 1 else f"{self.count} more items are"
        return f"{items} in categories that this agent may not see: {', '.join(self.categories)}."


def count_withheld(request: RecallRequest) -> Withheld | None:
    """Items of the caller's own scope that would be among the best k without the allowlist, weak
    ones aside; None if there are none. The search runs again only if the allowlist hides anything
    at all."""
    engine, principal = request.engine, request.principal
    if principal.categories is None:
        return None
    own = [reading for reading in request.readings if reading.is_own]
    with engine.index.holding(own) as indexes:
        if not any(_hidden(request, index).any() for index in indexes):
            return None
        everything = frozenset(
            str(name) for each in indexes for name in each.words["category"].codes
        )
    whole = replace(request, principal=principal.allowed_to_see(everything), readings=own)
    found = select_candidates(whole, request.plan.k).ranked[: request.plan.k]
    hidden: Counter[str] = Counter()
    with engine.index.holding(own) as indexes:
        for index in indexes:
            mask = _hidden(request, index)
            slots = (index.slot_of_id.get(each.id) for each in found if not each.weak)
            hidden.update(
                _category(index, slot) for slot in slots if slot is not None and mask[slot]
            )
    ordered = tuple(name for name, _ in hidden.most_common())
    return Withheld(hidden.total(), ordered) if hidden else None


def _hidden(request: RecallRequest, index: ScopeIndex) -> Mask:
    """Slots that the allowlist alone hides."""
    visibility, now = visibility_of(request.principal), request.engine.clock()
    everything = index.visible(replace(visibility, categories=None), now)
    return np.asarray(everything & ~index.visible(visibility, now))


def _category(index: ScopeIndex, slot: int) -> str:
    code = int(index.coded["category"][slot])
    return str(list(index.words["category"].codes)[code])
