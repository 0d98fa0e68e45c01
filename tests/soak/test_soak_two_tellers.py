"""More races of two processes for one subject than a daily run has time for."""

from __future__ import annotations

import pytest

from support.two_tellers import always_one_stands_and_one_is_pending

pytestmark = pytest.mark.soak


def test_two_processes_tell_other_values_five_hundred_times(store_url):
    always_one_stands_and_one_is_pending(store_url, rounds=500)
