"""Every unit and every pair of signs, at every door, at a length and at twice the length."""

from __future__ import annotations

import pytest

import commonplace
from support.hostile_texts import DOORS, PAIRS, UNITS, Stopwatch

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def stopwatch(tmp_path_factory):
    store = str(tmp_path_factory.mktemp("hostile") / "memory.db")
    with commonplace.open(store, embedder="hashing", worker="off", tidy_on_open=False) as book:
        yield Stopwatch(book)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("units", [UNITS, PAIRS], ids=["units", "pairs"])
def test_hostile_text_of_twice_the_length_takes_twice_the_time(stopwatch, door, units):
    slow = stopwatch.slow_units(door, units)
    assert not slow, "\n".join(map(str, slow))
