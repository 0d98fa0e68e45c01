"""Windows are determined by the conversation alone."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from commonplace.engine.reading.windows import (
    CONTEXT_CHARACTERS,
    CONTEXT_TURNS,
    MAX_CHARACTERS,
    MAX_TURNS,
    PAUSE,
    READ_DELAY,
    all_windows,
    next_passages,
    next_turns,
)
from commonplace.model.sources.source import Passage
from support.clock import START


def passages(*pauses, length=20):
    """Turns of one passage, each after a pause in minutes."""
    at, made = START, []
    for number, pause in enumerate(pauses, 1):
        at += timedelta(minutes=pause)
        made.append(
            Passage(source_id="source:1", number=number, turn=number, text="x" * length, at=at)
        )
    return made


def numbers(windows):
    return [[each.number for each in window.new] for window in windows]


def test_a_pause_closes_a_window():
    made = passages(0, 1, 30, 1)
    first, second = all_windows(made, 0, next_turns)
    assert numbers([first, second]) == [[1, 2], [3, 4]]
    assert (first.is_closed, second.is_closed) == (True, False)
    assert second.closes_at == made[-1].at + READ_DELAY
    assert not second.is_ready(made[-1].at)
    assert second.is_ready(made[-1].at + READ_DELAY)


def test_sixteen_turns_close_a_window():
    (window,) = all_windows(passages(*[1] * MAX_TURNS), 0, next_turns)
    assert window.is_closed
    assert [len(each) for each in numbers(all_windows(passages(*[1] * 40), 0, next_turns))] == [
        16,
        16,
        8,
    ]


def test_context_is_the_last_turns_that_fit():
    second = list(all_windows(passages(*[1] * 20), 0, next_turns))[1]
    assert [each.number for each in second.context] == [*range(17 - CONTEXT_TURNS, 17)]
    long = list(all_windows(passages(*[1] * 20, length=900), 0, next_turns))[1]
    assert sum(len(each.text) for each in long.context) <= CONTEXT_CHARACTERS


def test_a_single_long_turn_is_cut():
    made = [
        Passage(source_id="source:1", number=n, turn=1, text="x" * 1000, at=START)
        for n in range(1, 15)
    ]
    windows = list(all_windows(made, 0, next_turns))
    assert numbers(windows) == [[*range(1, 7)], [*range(7, 13)], [13, 14]]


@given(st.lists(st.integers(0, 60), max_size=80), st.integers(1, 900))
def test_each_passage_is_read_once_and_windows_do_not_depend_on_when_they_are_read(pauses, length):
    made = passages(*pauses, length=length)
    whole = list(all_windows(made, 0, next_turns))
    assert [number for each in numbers(whole) for number in each] == [p.number for p in made]
    for window in whole:
        assert len(window.new) <= MAX_TURNS
        assert sum(len(each.text) for each in window.new) <= max(MAX_CHARACTERS, length)
        later = [b.at - a.at for a, b in zip(window.new, window.new[1:], strict=False)]
        assert all(pause < PAUSE for pause in later)
    # What is said later changes no closed window.
    closed = [window.new for window in whole if window.is_closed]
    more = [*made, *passages(*pauses, 45, length=length)[len(made) :]]
    again = [window.new for window in all_windows(more, 0, next_turns)]
    assert again[: len(closed)] == closed


def test_batches_of_a_source_have_one_passage_before():
    made = passages(*[0] * 10, length=1000)
    windows = list(all_windows(made, 0, next_passages))
    assert numbers(windows) == [[1, 2, 3, 4, 5, 6], [7, 8, 9, 10]]
    assert [each.number for each in windows[1].context] == [6]
    assert all(window.is_closed for window in windows)
