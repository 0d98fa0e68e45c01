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
LEAST_OF_LIES = {"open": 98.0, "sealed": 90.0}  # %
LEAST_OF_RIGHT = {"open": 90.0, "sealed": 85.0}


@pytest.mark.parametrize("half", HALVES)
def test_findings_are_judged_as_they_are_labelled(half):
    judged = judge_findings(read_findings(LABELLED, half))
    print(f"{half}: {share_right(judged):.1f} %")  # totals only: one half is sealed
    assert share_right(judged) >= LEAST_RIGHT
    assert by_group(judged, half).rows[-1][0] == "all"


@pytest.mark.parametrize("half", HALVES)
def test_lies_of_a_model_do_not_stand(half):
    """Right findings that look like them do."""
    judged = judge_findings(read_findings(LABELLED, half, "lies"))
    lies = [each for each in judged if each.label.case != "right"]
    right = [each for each in judged if each.label.case == "right"]
    print(f"{half}: {share_right(lies):.1f} % of lies, {share_right(right):.1f} % of the right")
    assert share_right(lies) >= LEAST_OF_LIES[half]
    assert share_right(right) >= LEAST_OF_RIGHT[half]


def test_halves_have_the_same_composition():
    composed = [
        sorted((each.language, each.case, each.keep) for each in read_findings(LABELLED, half))
        for half in HALVES
    ]
    assert composed[0] == composed[1]


def test_sealed_half_shows_no_items():
    with pytest.raises(SystemExit, match="sealed"):
        main(["--half", "sealed", "--show"])
