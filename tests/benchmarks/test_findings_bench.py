"""The findings benchmark: its labels are read, counted and good enough."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.judgement.findings import (
    LEAST_RIGHT,
    by_group,
    judge_findings,
    main,
    read_findings,
    share_right,
)
from benchmarks.judgement.labels import HALVES

LABELLED = Path(__file__).parents[2] / "labelled"


@pytest.mark.parametrize("half", HALVES)
def test_findings_are_judged_as_they_are_labelled(half):
    judged = judge_findings(read_findings(LABELLED, half))
    print(f"{half}: {share_right(judged):.1f} %")  # totals only: one half is sealed
    assert share_right(judged) >= LEAST_RIGHT
    assert by_group(judged, half).rows[-1][0] == "all"


def test_halves_have_the_same_composition():
    composed = [
        sorted((each.language, each.case, each.keep) for each in read_findings(LABELLED, half))
        for half in HALVES
    ]
    assert composed[0] == composed[1]


def test_sealed_half_shows_no_items():
    with pytest.raises(SystemExit, match="sealed"):
        main(["--half", "sealed", "--show"])
