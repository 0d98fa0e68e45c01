"""Others are answered while hostile texts of the largest allowed size come in."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from commonplace.errors import StoreBusy
from commonplace.operations.table import BY_NAME
from commonplace.surfaces.mcp.calls import text_length
from commonplace.surfaces.rest.request_checks import HEAVY_BODY, LONG_TEXT, HeavyOperations
from support.hostile_requests import waits_under_attack

SECONDS = 8.0  # of watching
PATIENCE = 5.0  # seconds for an answer; 1 is promised on a machine that does nothing else


def test_serve_answers_others_while_hostile_texts_come_in(tmp_path: Path):
    waits = waits_under_attack(str(tmp_path / "memory.db"), SECONDS)
    assert max(max(each) for each in waits.values()) < PATIENCE, waits


# ——— turns of heavy operations ———


async def _begins(turn: object) -> bool:
    """Whether it may run now, without waiting."""
    try:
        await asyncio.wait_for(turn.__aenter__(), 0.05)  # type: ignore[attr-defined]
    except TimeoutError:
        return False
    return True


def test_heavy_operations_of_one_user_wait_for_each_other():
    async def scenario() -> list[bool]:
        heavy = HeavyOperations()
        ingest = BY_NAME["ingest"]
        turns = [heavy.turn(ingest, user) for user in ("ana", "ana", "dan", "tal")]
        return [await _begins(turn) for turn in turns]

    assert asyncio.run(scenario()) == [True, False, True, False]


def test_heavy_operations_leave_light_ones_alone():
    async def scenario() -> list[bool]:
        heavy = HeavyOperations(at_once=1)
        recall = BY_NAME["recall"]
        turns = [heavy.turn(BY_NAME["extract"], "ana"), heavy.turn(recall, "ana")]
        turns.append(heavy.turn(recall, "dan", size=HEAVY_BODY + 1))
        return [await _begins(turn) for turn in turns]

    assert asyncio.run(scenario()) == [True, True, False]


def test_long_texts_of_one_user_run_two_at_a_time_beside_heavy_operations():
    async def scenario() -> list[bool]:
        operations = HeavyOperations(at_once=1)
        recall = BY_NAME["recall"]
        turns = [operations.turn(BY_NAME["extract"], "tal")]
        turns += [operations.turn(recall, "ana", size=LONG_TEXT + 1) for _ in range(3)]
        turns += [operations.turn(recall, "ana", size=LONG_TEXT)]
        turns += [operations.turn(recall, user, size=LONG_TEXT + 1) for user in ("dan", "tal")]
        return [await _begins(turn) for turn in turns]

    assert asyncio.run(scenario()) == [True, True, True, False, True, True, True]


def test_length_of_a_call_counts_all_its_texts():
    given = {"query": "abc", "recent": ["de", {"x": "f"}], "k": 3, "on": True}
    assert text_length(given) == 6


def test_heavy_operations_are_refused_when_too_many_wait_or_too_long():
    async def scenario() -> None:
        heavy = HeavyOperations(at_once=1, waiting=2, seconds=0.01)
        ingest = BY_NAME["ingest"]
        async with heavy.turn(ingest, "ana"):
            with pytest.raises(StoreBusy):  # it took too long
                async with heavy.turn(ingest, "dan"):
                    pass
        async with heavy.turn(ingest, "dan"):  # and its place is free again
            pass
        full = HeavyOperations(waiting=1)
        async with full.turn(ingest, "ana"):
            with pytest.raises(StoreBusy):
                async with full.turn(ingest, "dan"):
                    pass

    asyncio.run(scenario())
