"""Each test folder has a time budget. Going over it is said at the end of a run, and fails nothing:
machines are shared and noisy, but a folder that grows slow should be noticed. With several workers
the seconds are those of all together."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

SECONDS = {
    "unit": 90,
    "contract": 15,
    "conformance": 130,
    "verbs": 320,
    "surfaces": 220,
    "migrations": 30,
    "docs": 40,
    "architecture": 15,
    "acceptance": 200,
    "benchmarks": 45,
}
_spent: defaultdict[str, float] = defaultdict(float)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _spent[Path(report.nodeid).parts[1]] += report.duration


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_sep("-", "seconds by folder (budget)")
    for folder, seconds in sorted(_spent.items()):
        budget = SECONDS.get(folder)
        over = "  over budget" if budget and seconds > budget else ""
        terminalreporter.write_line(f"{folder:<14}{seconds:7.1f} ({budget or '–'}){over}")
