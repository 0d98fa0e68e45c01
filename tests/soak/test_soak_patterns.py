"""No pattern of the package runs away on a text that is hard for it.

Patterns that take quadratic time are allowed on the bounded pieces that they are given (sentences,
lines, names); what the doors take as a whole is linear by `test_soak_hostile_texts.py`. A cubic or
exponential pattern would hold up the server even on a piece.
"""

from __future__ import annotations

import time

import pytest

from support.hostile_texts import TookTooLong, time_limit
from support.package_patterns import hard_texts, package_patterns

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1800)]

LENGTH = 2_000  # quadratic patterns take hundredths of a second, cubic ones minutes
SECONDS = 1.0  # of processor time


def seconds_for(pattern, text):
    began = time.thread_time()
    try:
        with time_limit(SECONDS):
            pattern.search(text)
    except TookTooLong:
        return SECONDS
    return time.thread_time() - began


def test_patterns_of_the_package_do_not_run_away(capsys):
    patterns = package_patterns()
    assert len(patterns) > 500
    slow, measured, slowest = [], 0, 0.0
    for place, pattern in patterns.items():
        for text in hard_texts(pattern, LENGTH):
            seconds = seconds_for(pattern, text)
            measured += 1
            slowest = max(slowest, seconds)
            if seconds >= SECONDS:
                slow.append(f"{place}: {pattern.pattern[:80]!r} on {text[:40]!r}")
    with capsys.disabled():
        print(f"\n{len(patterns)} patterns, {measured} texts, the slowest {slowest:.2f} s")
    assert not slow, "\n".join(slow)
