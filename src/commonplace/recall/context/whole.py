"""whole_context: the best of each store for a broad question, under one budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from commonplace.desk import Desk, reach_of, visibility_in, visibility_of
from commonplace.model.filters import Filters
from commonplace.model.journal import Node
from commonplace.model.reach import each_scope_once
from commonplace.model.scope import Principal
from commonplace.recall.context import wording
from commonplace.recall.context.cards import PROFILE
from commonplace.recall.context.compose import Lines, compose
from commonplace.recall.context.layers import Layer
from commonplace.recall.context.noting import was_read
from commonplace.recall.context.values import Cited, Part
from commonplace.recall.pack import Hit
from commonplace.recall.plan import Plan
from commonplace.recall.recall import recall
from commonplace.recall.within import Within

MEMORIES = "memories"


@dataclass(frozen=True, slots=True)
class WholeContext:
    query: str
    text: str
    tokens: int
    budget_tokens: int
    parts: tuple[Part, ...]
    citations: tuple[Cited, ...]
    degraded: bool  # found by words alone: the embedder is down

    @property
    def is_empty(self) -> bool:
        return not self.parts


@dataclass(frozen=True, slots=True)
class _Shelf:
    """A store as the user thinks of one: memories, the profile, mail, chats …"""

    name: str
    heading: str
    plan: Plan


def whole_context(
    desk: Desk,
    principal: Principal,
    query: str,
    *,
    k: int,
    budget: int,
    thread: str | None,
    turn: int | None,
) -> WholeContext:
    plan = Plan(
        query,
        k=k,
        explain=desk.recall_log,
        thread_id=thread,
        turn=turn,
        logged_as=None,
        node=Node.CONTEXT,
        hits_only=True,
    )
    shelves = list(_shelves(desk, principal, plan))
    answers = recall(desk, principal, [shelf.plan for shelf in shelves])
    found = [
        (shelf, _belonging(shelf, answer.hits)[:k])
        for shelf, answer in zip(shelves, answers, strict=True)
    ]
    full = [(shelf, hits) for shelf, hits in found if hits]
    composed = compose([_lines(shelf, hits, len(full)) for shelf, hits in full], budget)
    told = {cited.id for cited in composed.citations}
    said = [hit for _, hits in full for hit in hits if hit.id in told]
    was_read(desk, principal, plan, said, "whole_context")
    return WholeContext(
        query,
        composed.text,
        composed.tokens,
        budget,
        composed.parts,
        composed.citations,
        degraded=any(answer.degraded for answer in answers),
    )


def _shelves(desk: Desk, principal: Principal, plan: Plan) -> Iterator[_Shelf]:
    """One for each type of source that has passages here that the asker may see."""
    memories = replace(plan, within=Within(passages=False, procedures=False))
    seen = visibility_of(principal)
    yield _Shelf(MEMORIES, "## Memories", replace(memories, k=2 * plan.k))
    if seen.admits_category(PROFILE):
        own = replace(memories, filters=Filters(categories=(PROFILE,)), k=2 * plan.k)
        yield _Shelf(PROFILE, "## About the user", own)
    for source_type in _source_types(desk, principal):
        of_type = replace(plan, within=Within(memories=False))
        filters = Filters(source_type=source_type)
        yield _Shelf(source_type, f"## From {source_type}", replace(of_type, filters=filters))


def _source_types(desk: Desk, principal: Principal) -> list[str]:
    readings, now = each_scope_once(reach_of(desk, principal)), desk.clock()
    types: set[str] = set()
    with desk.index.holding(readings) as indexes:
        for reading, index in zip(readings, indexes, strict=True):
            mask = index.passages & index.visible(visibility_in(principal, reading), now)
            present = set(index.coded["source_type"][: index.size][mask].tolist())
            known = index.words["source_type"].codes.items()
            types |= {str(word) for word, code in known if code in present}
    return sorted(types)


def _belonging(shelf: _Shelf, hits: Sequence[Hit]) -> list[Hit]:
    """The profile's own items stand with the profile, and nowhere else."""
    is_profile = shelf.name == PROFILE
    return [
        hit for hit in hits if not hit.suspicious and hit.id.startswith(f"{PROFILE}:") is is_profile
    ]


def _lines(shelf: _Shelf, hits: Sequence[Hit], shelves: int) -> Lines:
    """Each has the same share of the budget; what one leaves goes to the first of the others."""
    layer = Layer(shelf.name, shelf.heading, "", share=1 / shelves, marked=True)
    return Lines(layer, [wording.of_hit(hit) for hit in hits])
