"""What each layer could say: chosen in the index, fetched in one statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from commonplace.desk import Desk, visibility_of
from commonplace.model.memory import Memory
from commonplace.model.scope import Principal
from commonplace.recall.conflicts import held_against, in_short
from commonplace.recall.context.cards import Asked, cards, take
from commonplace.recall.context.layers import BY_NAME, is_light
from commonplace.recall.context.now import Talks, talks
from commonplace.recall.planted import may_guide


@dataclass(frozen=True, slots=True)
class Gathered:
    """The memories of each layer, in the order they are shown."""

    memories: Mapping[str, Sequence[Memory]]
    goals: frozenset[str]  # ids, of those among the user's identity
    older: int  # how many older ones the standing layer has
    disputed: Mapping[str, str | None]
    talks: Talks


def gather(desk: Desk, principal: Principal, asked: Asked) -> Gathered:
    seen, said = visibility_of(principal), desk.categories()
    with desk.index.reading(principal.scope) as index:
        found = cards(index, seen, said, asked, desk.clock())
        heard = talks(index, seen, asked.thread, asked.moment, desk.clock())
    taken = take(found, said, asked, principal.agent)
    rows = _rows(desk, principal, [id for ids in taken.ids.values() for id in ids])
    against = held_against(desk, principal, list(rows.values()))
    return Gathered(
        {name: _in_order(rows, ids, name) for name, ids in taken.ids.items()},
        taken.goals,
        taken.older,
        {id: in_short(values) for id, values in against.items()},
        heard,
    )


def _rows(desk: Desk, principal: Principal, ids: Sequence[str]) -> dict[str, Memory]:
    """What changed since the index was asked is judged again. What reads like instructions to an
    agent does not enter its prompt."""
    now, seen = desk.clock(), visibility_of(principal)
    return {
        memory.id: memory
        for memory in desk.store.fetch(principal.scope, ids)
        if memory.is_live(now) and seen.admits(memory) and may_guide(desk, principal, memory)
    }


def _in_order(rows: Mapping[str, Memory], ids: Sequence[str], layer: str) -> list[Memory]:
    """Insights come last in their layer; in a stable one all keep their places, for what comes
    must come at its end."""
    found = [rows[id] for id in ids if id in rows]
    return found if BY_NAME[layer].stable else sorted(found, key=lambda each: is_light(each.kind))
