"""Signals into one score: every part is named, the parts add up, and no signal works backwards."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from commonplace.engine.search.rank import (
    MEANING_SIGNALS,
    SIGNAL_NAMES,
    WEIGHTS,
    WORD_SIGNALS,
    above_floor,
    best_slots,
    share_of_best,
    sum_parts,
    weight_signals,
)

SIZE = 6
shares = st.floats(0, 1, allow_nan=False)
a_signal = arrays(np.float64, SIZE, elements=shares)
scores = arrays(np.float64, SIZE, elements=st.just(0.0) | st.floats(1e-6, 50))
cosines = arrays(np.float64, SIZE, elements=st.floats(-1, 1) | st.just(np.nan))
masks = arrays(np.bool_, SIZE)


def all_signals(draw):
    return {name: draw(a_signal) for name in SIGNAL_NAMES}


@settings(max_examples=15)
@given(st.data())
def test_weighted_signals_add_up_to_the_score(data):
    parts = weight_signals(all_signals(data.draw))
    total = sum_parts(parts, SIZE)
    for place in range(SIZE):
        expected = sum(float(part[place]) for part in parts.values())
        assert total[place] == pytest.approx(expected)


@settings(max_examples=25)
@given(st.data(), st.sampled_from([name for name in SIGNAL_NAMES if name != "asks"]))
def test_score_is_monotonic_in_every_signal_except_asks(data, name):
    signals = all_signals(data.draw)
    more = {**signals, name: np.maximum(signals[name], data.draw(a_signal))}
    assert (
        sum_parts(weight_signals(more), SIZE) >= sum_parts(weight_signals(signals), SIZE) - 1e-9
    ).all()
    asking = {**signals, "asks": np.ones(SIZE)}
    assert (
        sum_parts(weight_signals(asking), SIZE) <= sum_parts(weight_signals(signals), SIZE) + 1e-9
    ).all()


def test_unknown_similarity_of_one_item_does_not_affect_others():
    """One unit without a vector yet does not move the scores of the others."""
    signals = {name: np.full(2, 0.5) for name in (*WORD_SIGNALS, *MEANING_SIGNALS)}
    one_unknown = {
        n: np.array([0.5, np.nan]) if n in MEANING_SIGNALS else s for n, s in signals.items()
    }
    known, other = sum_parts(weight_signals(signals), 2), sum_parts(weight_signals(one_unknown), 2)
    assert other[0] == pytest.approx(known[0])
    assert other[1] == pytest.approx(0.5)


@given(scores, masks)
def test_share_of_best_normalises_to_one_and_keeps_order(values, mask):
    (found,) = share_of_best([values], [mask])
    if not mask.any() or values[mask].max() == 0:
        assert not found[mask].any()
        return
    assert found[mask].max() == pytest.approx(1)
    assert (found[mask] >= 0).all()
    order = np.argsort(values[mask], kind="stable")
    assert (np.diff(found[mask][order]) >= -1e-12).all()


@given(cosines, masks)
def test_above_floor_maps_to_unit_range_and_keeps_unknowns(values, mask):
    (found,) = above_floor([values], [mask])
    assert (np.isnan(found) == np.isnan(values)).all()
    known = found[mask & ~np.isnan(values)]
    assert ((known >= 0) & (known <= 1 + 1e-9)).all()


def test_signal_weights_are_shares_of_the_base():
    assert WEIGHTS.of("words") == pytest.approx(WEIGHTS.words / WEIGHTS.base)
    assert sum(WEIGHTS.of(name) for name in (*WORD_SIGNALS, *MEANING_SIGNALS)) == pytest.approx(1)


@given(
    arrays(np.float64, 40, elements=st.sampled_from([0.1, 0.2, 0.3])),
    arrays(np.bool_, 40),
    st.integers(1, 5),
)
def test_best_slots_omit_no_better_candidate(values, mask, most):
    (chosen,) = best_slots([values], [mask], most)
    assert mask[chosen].all()
    assert len(set(chosen.tolist())) == len(chosen) >= min(most, np.count_nonzero(mask))
    left = np.setdiff1d(np.flatnonzero(mask), chosen)
    if len(left) and len(chosen):
        assert values[left].max() <= values[chosen].min()
