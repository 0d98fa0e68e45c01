"""What child processes do in the tests of jobs."""

from __future__ import annotations

from support.clock import START
from support.processes import Line
from support.stores import open_store


def claim_all(line: Line, url: str, name: str) -> None:
    """Claim until nothing is left, and say which jobs it got."""
    store = open_store(url)
    line.say("ready")
    line.hear()
    line.say([job.id for job in iter(lambda: store.claim(name, START), None)])
    store.close()
