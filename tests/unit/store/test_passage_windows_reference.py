"""Windows and sessions agree with a reference in plain Python, in whichever portions they come."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.store.cache.windows import (
    ASSISTANT,
    LONG_UNITS,
    NEAR_WINDOW,
    OTHER_SPEAKER,
    OWNER,
    REPLY_TERMS,
    SHORT_TURNS,
    WIDE_WINDOW,
    SessionContexts,
)

DIMENSION = 3

# Session, number in it, terms, vector, whether the vector comes late, who speaks.
vectors = st.tuples(*[st.integers(-3, 3)] * DIMENSION).map(
    lambda row: tuple(x / (math.hypot(*row) or 1) for x in row)
)
speakers = st.sampled_from((OTHER_SPEAKER, OWNER, ASSISTANT))
lengths = st.integers(0, 70) | st.integers(0, 20)
units = st.tuples(st.integers(0, 3), st.integers(1, 9), lengths, vectors, st.booleans(), speakers)
many = st.lists(units, min_size=1, max_size=24, unique_by=lambda unit: unit[:2])
portions = st.lists(st.integers(1, 6), min_size=1, max_size=8)


def built(units, sizes):
    """As an index hands them over: portion by portion, late vectors at the end."""
    contexts, rows = SessionContexts(), np.zeros((64, DIMENSION), np.float32)
    start, sizes = 0, [*sizes, len(units)]
    for size in sizes:
        new = units[start : start + size]
        if not new:
            break
        for slot, unit in enumerate(new, start):
            rows[slot] = (0, 0, 0) if unit[4] else unit[3]
        numbers = np.array([unit[:3] for unit in new], dtype=np.int64)
        who = np.array([unit[5] for unit in new], dtype=np.int64)
        contexts.add(numbers[:, 0], numbers[:, 1], numbers[:, 2], who, rows)
        start += len(new)
    late = [slot for slot, unit in enumerate(units) if unit[4]]
    for slot in late:
        rows[slot] = units[slot][3]
    contexts.update_norms(late, rows)
    return contexts


# ——— the reference ———


def session_of(units, slot):
    """Slots of the same session, in their order."""
    mine = [other for other, unit in enumerate(units) if unit[0] == units[slot][0]]
    return sorted(mine, key=lambda other: units[other][1])


def window(units, slot, reach):
    """Nearest first, back before ahead; a side ends where something does not fit."""
    row = session_of(units, slot)
    place, total = row.index(slot), units[slot][2]
    if is_log(units, slot):
        reach = reach_in_log(units, row, place, reach)
    first = last = place
    back_open = ahead_open = True
    for distance in range(1, max(reach.back, reach.ahead) + 1):
        if back_open and distance <= reach.back:
            back_open = place - distance >= 0
            if back_open:
                back_open = total + units[row[place - distance]][2] <= reach.most_terms
            if back_open:
                first, total = place - distance, total + units[row[place - distance]][2]
        if ahead_open and distance <= reach.ahead:
            ahead_open = place + distance < len(row)
            if ahead_open:
                ahead_open = total + units[row[place + distance]][2] <= reach.most_terms
            if ahead_open:
                last, total = place + distance, total + units[row[place + distance]][2]
    return row[first : last + 1], total


def is_log(units, slot):
    """A session of short turns with an assistant."""
    row = session_of(units, slot)
    is_short = sum(units[other][2] for other in row) <= SHORT_TURNS * len(row)
    return is_short and any(units[other][5] == ASSISTANT for other in row)


def reach_in_log(units, row, place, reach):
    """A turn of the owner reaches its short reply, in the near window; others reach nothing."""
    after = units[row[place + 1]] if place + 1 < len(row) else None
    answered = (
        reach is NEAR_WINDOW
        and units[row[place]][5] == OWNER
        and after is not None
        and after[5] == ASSISTANT
        and after[2] <= REPLY_TERMS
    )
    return replace(reach, back=0, ahead=int(answered))


def says_enough_alone(units, slot):
    row = session_of(units, slot)
    return sum(units[other][2] for other in row) > LONG_UNITS * len(row)


def cosine_of_window(units, slot, query):
    if says_enough_alone(units, slot):
        return sum(a * b for a, b in zip(units[slot][3], query, strict=True))
    members, _ = window(units, slot, NEAR_WINDOW)
    summed = [sum(units[member][3][d] for member in members) for d in range(DIMENSION)]
    norm = math.hypot(*summed)
    return sum(a * b for a, b in zip(summed, query, strict=True)) / norm if norm > 1e-6 else None


def best_of_session(units, slot, query):
    own = [sum(a * b for a, b in zip(u[3], query, strict=True)) for u in units]
    if says_enough_alone(units, slot) or is_log(units, slot):
        return own[slot]
    best = sorted((own[other] for other in session_of(units, slot)), reverse=True)[:3]
    return sum(best) / len(best)


# ——— what is promised ———


@settings(max_examples=60)
@given(many, portions, st.sampled_from([NEAR_WINDOW, WIDE_WINDOW]))
def test_context_windows_agree_with_the_reference(units, sizes, reach):
    contexts = built(units, sizes)
    windows = contexts.near if reach is NEAR_WINDOW else contexts.wide
    for slot in range(len(units)):
        place = int(contexts.places[slot])
        first, last = place - windows.back[place], place + windows.ahead[place]
        members, total = window(units, slot, reach)
        assert contexts.slots[first : last + 1].tolist() == members
        assert windows.terms[place] == total
        assert total <= max(reach.most_terms, units[slot][2])


@settings(max_examples=60)
@given(many, portions, vectors)
def test_context_cosines_agree_with_the_reference(units, sizes, query):
    contexts = built(units, sizes)
    own = np.array([np.dot(unit[3], query) for unit in units], dtype=np.float32)
    near, session = contexts.window_cosines(own), contexts.session_cosines(own)
    for slot in range(len(units)):
        expected = cosine_of_window(units, slot, query)
        if expected is not None:  # opposite vectors sum up to no direction at all
            assert near[slot] == pytest.approx(expected, abs=1e-3)
        assert session[slot] == pytest.approx(best_of_session(units, slot, query), abs=1e-5)


@settings(max_examples=40)
@given(many, portions)
def test_context_windows_are_independent_of_portions(units, sizes):
    one, many_ = built(units, [len(units)]), built(units, sizes)
    np.testing.assert_array_equal(one.slots, many_.slots)
    np.testing.assert_allclose(one.norms, many_.norms, atol=1e-5)
    for ours, theirs in ((one.near, many_.near), (one.wide, many_.wide)):
        np.testing.assert_array_equal(ours.back, theirs.back)
        np.testing.assert_array_equal(ours.ahead, theirs.ahead)
        np.testing.assert_array_equal(ours.terms, theirs.terms)


@settings(max_examples=40)
@given(many, st.data())
def test_context_window_term_counts_are_sums_over_members(units, data):
    contexts = built(units, [])
    holders = data.draw(st.sets(st.integers(0, len(units) - 1), min_size=1))
    counts = {slot: data.draw(st.integers(1, 5)) for slot in holders}
    for windows, reach in ((contexts.near, NEAR_WINDOW), (contexts.wide, WIDE_WINDOW)):
        found = windows.counts(
            contexts.places[list(counts)], np.array(list(counts.values()), np.int32)
        )
        for slot in range(len(units)):
            members, _ = window(units, slot, reach)
            expected = sum(counts.get(member, 0) for member in members)
            assert found[contexts.places[slot]] == expected


def test_context_window_of_a_memory_contains_only_itself():
    contexts = built([(n, 0, 5, (1.0, 0.0, 0.0), False, OTHER_SPEAKER) for n in range(4)], [2])
    own = np.array([0.1, 0.9, 0.3, 0.5], np.float32)
    assert contexts.window_cosines(own).tolist() == pytest.approx(own.tolist())
    assert contexts.session_cosines(own).tolist() == pytest.approx(own.tolist())
    assert neighbours(contexts, np.array([1, 2])).tolist() == [1, 2]


def test_context_windows_without_units_are_empty():
    nothing = np.zeros(0, np.float32)
    assert SessionContexts().window_cosines(nothing).tolist() == []
    assert SessionContexts().session_cosines(nothing).tolist() == []


def test_context_near_window_gives_the_neighbours_of_a_passage():
    contexts = built([(0, n, 5, (1.0, 0.0, 0.0), False, OTHER_SPEAKER) for n in range(1, 8)], [3])
    assert neighbours(contexts, np.array([3])).tolist() == [1, 2, 3, 4]
    assert neighbours(contexts, np.array([0, 6])).tolist() == [0, 1, 4, 5, 6]


def test_context_window_of_an_exchange_is_the_turn_with_its_reply():
    """In a log, the turns before are about something else."""
    turns = [OWNER, ASSISTANT, OWNER, ASSISTANT, OWNER]
    contexts = built([(0, n, 5, (1.0, 0.0, 0.0), False, who) for n, who in enumerate(turns)], [2])
    assert [neighbours(contexts, np.array([slot])).tolist() for slot in range(5)] == [
        [0, 1],
        [1],
        [2, 3],
        [3],
        [4],
    ]
    assert [slots.tolist() for slots in contexts.exchanges()] == [[0, 2], [1, 3]]
    assert contexts.logged().all()


def test_context_window_of_a_long_reply_is_a_unit_of_its_own():
    units = [(0, 0, 2, (1.0, 0.0, 0.0), False, OWNER)]
    units += [(0, 1, REPLY_TERMS + 1, (1.0, 0.0, 0.0), False, ASSISTANT)]
    units += [(0, n, 2, (1.0, 0.0, 0.0), False, OWNER) for n in range(2, 6)]
    contexts = built(units, [])
    assert contexts.logged().all()
    assert [slots.tolist() for slots in contexts.exchanges()] == [[], []]


def neighbours(contexts, slots):
    """Slots of everything in the near windows of these."""
    found = set()
    for place in contexts.places[slots].tolist():
        first = place - contexts.near.back[place]
        last = place + contexts.near.ahead[place]
        found |= set(contexts.slots[first : last + 1].tolist())
    return np.array(sorted(found))
