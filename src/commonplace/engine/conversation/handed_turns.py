"""What callers hand over with turns, grounded in them and in what was said before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from commonplace.engine.context import EngineContext
from commonplace.engine.conversation.handed_over import (
    GroundedHandOver,
    HandedOver,
    ground_handed_over,
    located,
    passages_of_turn,
    refused_hand_over,
)
from commonplace.engine.conversation.observation import TurnLocation
from commonplace.engine.conversation.speakers import are_owners_turns
from commonplace.engine.graph.extraction.told import HandedFindings
from commonplace.engine.graph.unit_of_work import describe_owner
from commonplace.engine.llm.model_calls import count_findings
from commonplace.engine.memories.candidates import SkipReason, TurnCandidates
from commonplace.engine.sources.thread import GrownThread, ThreadUpdate, last_passages
from commonplace.language.llm.prompts import load_prompt
from commonplace.model.access.principal import Principal
from commonplace.model.sources.source import Passage, Source, split_passage_id

CONTEXT_PASSAGES = 6


def ground_handed_turns(
    engine: EngineContext,
    principal: Principal,
    candidates: Sequence[TurnCandidates],
    updates: Sequence[ThreadUpdate],
    handed: Mapping[int, HandedOver],
) -> dict[int, GroundedHandOver]:
    """By the position of the turn. Of a turn that must not be stored, nothing is kept."""
    with engine.store.read_session():
        nodes = engine.graph_cache.of(principal.own_scope).snapshot.nodes.values()
        owner = describe_owner(engine, principal.own_scope, nodes)
        before = {update.thread: _before(engine, principal, update.thread) for update in updates}
    own = are_owners_turns(engine, principal, [each.turn for each in candidates])
    by_thread = {update.thread: update for update in updates}
    found = {}
    for place, items in handed.items():
        turn = candidates[place].turn
        if candidates[place].kept is None:
            found[place] = refused_hand_over(items, SkipReason.ASKED_NOT_TO)
            continue
        update = by_thread[turn.thread]
        passages = _passages_of(candidates, place, update)
        earlier = [each for each in update.passages if each[1].number < passages[0][1].number]
        context = [*before[turn.thread], *earlier][-CONTEXT_PASSAGES:]
        given = passages_of_turn(
            passages[0][0], turn, own[place], [each for _, each in passages], context
        )
        found[place] = ground_handed_over(items, turn, given, owner)
    _count(engine, principal, found)
    return found


def _before(
    engine: EngineContext, principal: Principal, thread: str
) -> list[tuple[Source, Passage]]:
    """The last passages, numbered 0, -1, -2 … backwards: the new ones begin at 1."""
    last = last_passages(engine, principal, thread, CONTEXT_PASSAGES)
    return [
        (source, replace(each, number=number - len(last) + 1))
        for number, (source, each) in enumerate(last)
    ]


def _passages_of(
    candidates: Sequence[TurnCandidates], place: int, update: ThreadUpdate
) -> list[tuple[Source, Passage]]:
    thread = candidates[place].turn.thread
    number = sum(
        each.kept is not None and each.turn.thread == thread for each in candidates[: place + 1]
    )
    return [update.passages[index] for index in update.of_turn(number)]


def _count(
    engine: EngineContext, principal: Principal, found: Mapping[int, GroundedHandOver]
) -> None:
    kept = sum(len(each.candidates) + len(each.graph.edges) for each in found.values())
    dropped = sum(len(each.skipped) for each in found.values())
    if kept or dropped:
        count_findings(engine, principal.own_scope, load_prompt("read_turns"), kept, dropped)


def locate_handed(
    found: Mapping[int, GroundedHandOver],
    updates: Sequence[ThreadUpdate],
    grown: Sequence[GrownThread],
    locations: Mapping[int, TurnLocation],
) -> tuple[HandedFindings, ...]:
    """With the passages as they are stored. Until a source is processed it has none."""
    numbers: dict[str, dict[int, int]] = {}
    for update, each in zip(updates, grown, strict=True):
        if each.passages:
            numbers[each.source.id] = {
                passage.number: split_passage_id(id)[1] or 0
                for (_, passage), id in zip(update.passages, each.passages, strict=True)
            }
    return tuple(
        located(locations[place].source, grounded.graph, numbers[locations[place].source.id])
        for place, grounded in found.items()
        if grounded.graph.edges and locations[place].source.id in numbers
    )
