"""What was held back from an answer: by an agent's allowlist, how many items and in which
categories; from the owner without clearance, how many items of sensitivity high."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from commonplace.engine.access import visibility_of
from commonplace.engine.search.candidates import RecallRequest, select_candidates
from commonplace.engine.search.profile_hits import add_asked_fields
from commonplace.engine.search.rank import Ranked
from commonplace.engine.search.supersession import SETTLED, load_statements, settle
from commonplace.store.cache.scope_index import Mask, ScopeIndex


@dataclass(frozen=True, slots=True)
class Withheld:
    """Their contents are not told."""

    count: int  # by the allowlist
    categories: tuple[str, ...]  # the fullest first
    sensitive: int = 0  # of sensitivity high; told to the owner only

    @property
    def sentence(self) -> str:
        return " ".join(filter(None, (self._by_allowlist, self._by_sensitivity)))

    @property
    def _by_allowlist(self) -> str:
        if not self.count:
            return ""
        items = "1 more item is" if self.count == 1 else f"{self.count} more items are"
        return f"{items} in categories that this agent may not see: {', '.join(self.categories)}."

    @property
    def _by_sensitivity(self) -> str:
        if not self.sensitive:
            return ""
        items = "1 item" if self.sensitive == 1 else f"{self.sensitive} items"
        were = "was" if self.sensitive == 1 else "were"
        return f"{items} of sensitivity high {were} held back. {SEE_SENSITIVE}"


SEE_SENSITIVE = "To see such items, ask with clearance: --cleared, cleared=True, or a cleared key."


def count_withheld(request: RecallRequest, others: Sequence[RecallRequest] = ()) -> Withheld | None:
    """What of the caller's own scope would be in the answer otherwise; None if there is nothing.
    ``others``: other wordings of the request. The one from which most is held back counts."""
    found = [each for each in map(_count_withheld, (request, *others)) if each is not None]
    return max(found, key=lambda each: each.count + each.sensitive, default=None)


def _count_withheld(request: RecallRequest) -> Withheld | None:
    if request.principal.is_owner:
        return _count_sensitive(request)
    return _count_by_allowlist(request)


def _count_sensitive(request: RecallRequest) -> Withheld | None:
    """Items that answer the question and have sensitivity high, weak ones aside. Only they are
    searched, and only if there are any."""
    engine, principal, plan = request.engine, request.principal, request.plan
    own = [reading for reading in request.readings if reading.is_own]
    if principal.cleared or not principal.is_in_own_scope or plan.within.sources:
        return None
    with engine.index.holding(own) as indexes:
        hidden = frozenset(
            id
            for index in indexes
            if (mask := _sensitive(request, index)).any()
            for id, slot in index.slot_of_id.items()
            if mask[slot] and (plan.within.ids is None or id in plan.within.ids)
        )
    if not hidden:
        return None
    within = replace(plan, within=replace(plan.within, ids=hidden))
    cleared = replace(request, principal=replace(principal, cleared=True), plan=within)
    found = select_candidates(replace(cleared, readings=own), plan.k).ranked[: plan.k]
    count = sum(not each.weak for each in found if each.id in hidden)
    return Withheld(0, (), count) if count else None


def _sensitive(request: RecallRequest, index: ScopeIndex) -> Mask:
    """Slots that the missing clearance alone hides."""
    visibility, now = visibility_of(request.principal), request.engine.clock()
    everything = index.visible(replace(visibility, cleared=True), now)
    return np.asarray(everything & ~index.visible(visibility, now))


def _count_by_allowlist(request: RecallRequest) -> Withheld | None:
    """Items that would be among the best k without the allowlist, weak ones aside. The search runs
    again only if the allowlist hides anything at all."""
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
    found = _find_best(whole)
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


def _find_best(request: RecallRequest) -> list[Ranked]:
    """The best k, with the profile fields that are asked for; a memory and its turn are one."""
    engine, principal, plan = request.engine, request.principal, request.plan
    ranked = select_candidates(request, SETTLED * plan.k).ranked
    statements = load_statements(engine, principal, plan, ranked)
    found = settle(ranked, statements, memories=plan.within.memories).ranked
    ids = {each.id for each in found}
    repeated = {
        passage
        for passage, memories in statements.live.items()
        if any(memory.id in ids for memory in memories)
    }
    return add_asked_fields(request, [each for each in found if each.id not in repeated])[: plan.k]


def _hidden(request: RecallRequest, index: ScopeIndex) -> Mask:
    """Slots that the allowlist alone hides."""
    visibility, now = visibility_of(request.principal), request.engine.clock()
    everything = index.visible(replace(visibility, categories=None), now)
    return np.asarray(everything & ~index.visible(visibility, now))


def _category(index: ScopeIndex, slot: int) -> str:
    code = int(index.coded["category"][slot])
    return str(list(index.words["category"].codes)[code])
