"""`make fuzz`: requests made up from the OpenAPI description, 20,000 of them or ten minutes' worth,
against a server in a process of its own. The numbers are printed at the end."""

import os
import time

import pytest

from support.fuzzing import Fuzzing
from support.served import Served

CASES = int(os.environ.get("FUZZ_CASES", "20000"))
SECONDS = float(os.environ.get("FUZZ_SECONDS", "600"))
AT_ONCE = 20  # of one operation, before the next one has its turn


@pytest.mark.soak
def test_rest_fuzz_gets_only_documented_answers(tmp_path, capsys):
    """Without a worker, so that there is work to ask about."""
    store = str(tmp_path / "m.db")
    with Served(store, "--no-worker", serve_rate=0, recall_log=True) as server:
        with Fuzzing(server.url, server.admin_key) as fuzzing:
            end = time.monotonic() + SECONDS
            operations = list(fuzzing.operations())
            rounds = max(1, CASES // (AT_ONCE * len(operations)))
            for number in range(rounds * len(operations)):
                if time.monotonic() > end and number >= len(operations):
                    break
                fuzzing.run(operations[number % len(operations)], AT_ONCE, number)
        assert server.ask("GET", "/readyz").status == 200
    tally = fuzzing.tally
    with capsys.disabled():
        print(f"\n{tally.told()}\n{len(operations)} operations")
    assert tally.failures == [], "\n\n".join(tally.failures[:5])
    assert max(tally.statuses) < 500
    assert tally.never_done == []
    assert tally.share_of_success >= 0.3
