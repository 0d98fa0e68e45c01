"""Requests that are made up from the description: a few for each operation, the same every time.
`make fuzz` sends many more (tests/soak/test_soak_rest_fuzz.py)."""

import pytest

from support.fuzzing import Fuzzing
from support.served import Served

CASES = 2  # of each operation


@pytest.fixture(scope="module")
def tally(tmp_path_factory):
    store = str(tmp_path_factory.mktemp("fuzzed") / "memory.db")
    with Served(store, "--no-worker", serve_rate=0, recall_log=True) as server:
        with Fuzzing(server.url, server.admin_key) as fuzzing:
            for number, operation in enumerate(fuzzing.operations()):
                fuzzing.run(operation, CASES, number)
        return fuzzing.tally


def test_rest_fuzz_answers_match_the_openapi_description(tally):
    assert tally.failures == [], "\n\n".join(tally.failures[:3])
    assert max(tally.statuses) < 500


def test_rest_fuzz_reaches_success_for_every_operation(tally):
    assert tally.never_done == []


def test_rest_fuzz_has_at_least_30_percent_success(tally):
    assert tally.share_of_success >= 0.3, tally.told()
