"""context_pack: the simplest form, a heading and the newest memories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from commonplace.desk import Desk, visibility_of
from commonplace.language.tokens import count_tokens
from commonplace.model.abbreviation import is_abbreviation
from commonplace.model.journal import Node
from commonplace.model.memory import Memory
from commonplace.model.scope import Principal
from commonplace.recall.context.layers import ON_REQUEST
from commonplace.recall.plan import Plan
from commonplace.recall.planted import may_guide
from commonplace.recall.recall import recall
from commonplace.recall.within import Within
from commonplace.store.port import Listing

HEADING = "## Memory Context"
NOTES = 20
MOST_TOKENS = 4000
_BETWEEN = "\n\n"
_INDENT = "\n  "  # no line of a memory can pass for a heading, or for another memory
_PAGE = 2 * NOTES


@dataclass(frozen=True, slots=True)
class ContextPack:
    notes: tuple[Memory, ...]
    formatted_text: str  # empty when there are no notes


def context_pack(
    desk: Desk, principal: Principal, query: str | None, thread: str | None, turn: int | None
) -> ContextPack:
    """The newest, or the best for a query. What is sensitive stays out, whoever asks."""
    asking = replace(principal, cleared=False)
    found = _newest(desk, asking) if query is None else _best(desk, asking, query, thread, turn)
    entering = (memory for memory in found if _may_enter(desk, principal, memory))
    return packed(islice(entering, NOTES))


def packed(found: Iterable[Memory]) -> ContextPack:
    """Pure. One that has no room is told by its summary, or left out."""
    notes: list[Memory] = []
    text = HEADING
    for memory in found:
        for words in dict.fromkeys((memory.content, memory.summary)):
            longer = f"{text}{_BETWEEN}[{memory.kind}] {_indented(words)}"
            if count_tokens(longer) <= MOST_TOKENS:
                notes.append(memory)
                text = longer
                break
    return ContextPack(tuple(notes), text if notes else "")


def _indented(words: str) -> str:
    return _INDENT.join(line for line in words.splitlines() if line.strip())


def _may_enter(desk: Desk, principal: Principal, memory: Memory) -> bool:
    is_for_reading = memory.kind not in ON_REQUEST and not is_abbreviation(memory.id)
    return is_for_reading and may_guide(desk, principal, memory)


def _newest(desk: Desk, principal: Principal) -> Iterator[Memory]:
    listing = Listing(visibility=visibility_of(principal), now=desk.clock(), limit=_PAGE)
    while page := desk.store.page(principal.scope, listing):
        yield from page
        listing = replace(listing, after=page[-1].id)


def _best(
    desk: Desk, principal: Principal, query: str, thread: str | None, turn: int | None
) -> Sequence[Memory]:
    plan = Plan(
        query,
        k=NOTES,
        thread_id=thread,
        turn=turn,
        logged_as="context_pack",
        node=Node.CONTEXT,
        within=Within(passages=False, procedures=False),
    )
    found = recall(desk, principal, [plan])[0]
    return desk.store.fetch(principal.scope, [hit.id for hit in found.hits])
