"""More races of two processes for one subject than a daily run has time for."""

from __future__ import annotations

import pytest

from support.two_tellers import always_one_stands_and_one_is_pending

pytestmark = pytest.mark.soak


def test_remember_conflict_race_of_two_processes_keeps_one_and_holds_one(store_url):
    always_one_stands_and_one_is_pending(store_url, rounds=500)
