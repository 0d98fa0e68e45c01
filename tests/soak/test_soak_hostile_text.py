"""A bigger fuzz: other texts, all of them recalled by their own words too."""

from __future__ import annotations

import pytest

from support.scenarios import survive_odd_texts
from support.whole import assert_whole

pytestmark = pytest.mark.soak


@pytest.mark.parametrize("seed", [101, 202, 303])
def test_remember_fuzz_of_odd_texts_stores_or_refuses_each(book, store_url, seed):
    me = book.user(f"user {seed}")
    stored, refused = survive_odd_texts(me, count=4000, seed=seed, recall_one_in=4)
    assert stored > 3000
    assert refused
    assert len(assert_whole(store_url, f"user {seed}").memories) == stored
