"""The page about recall says what the code does."""

import re
from dataclasses import asdict
from pathlib import Path

from commonplace.api import User
from commonplace.engine.search.rank import WEIGHTS
from commonplace.model.filters import FILTER_NAMES
from commonplace.model.memory.kinds import POLICIES, Kind
from tools.signals import BEGIN, END, with_signals

PAGE = (Path(__file__).parents[2] / "docs/recall.md").read_text()


def test_recall_page_signal_table_is_current():
    assert with_signals(PAGE) == PAGE, "run `make docs`"


def test_recall_page_has_a_row_per_signal_with_the_weight():
    table = PAGE.partition(BEGIN)[2].partition(END)[0]
    told = {name: float(at_most) for name, at_most in ROW.findall(table)}
    assert told.keys() == asdict(WEIGHTS).keys()
    assert all(abs(at_most - WEIGHTS.of(name)) < 0.001 for name, at_most in told.items())


ROW = re.compile(r"^\| `(\w+)` \| [^|]+ \| ([+-][\d.]+) \| [^|]+ \|$", re.M)


def test_recall_page_names_every_filter():
    (sentence,) = re.findall(r"^The filters: (.*)\.$", PAGE, re.M)
    named = re.sub(r"\([^)]*\)", "", sentence).replace(" ", "").split(",")
    assert sorted(named) == sorted(FILTER_NAMES)


def test_recall_page_weight_of_insights_matches_the_code():
    weights = {kind: policy.recall_weight for kind, policy in POLICIES.items()}
    assert {kind for kind, weight in weights.items() if weight != 1} == {Kind.INSIGHT}
    assert f"An insight counts {weights[Kind.INSIGHT]:g} times" in PAGE


def test_recall_page_example_runs():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    exec(compile(code, "docs/recall.md", "exec"), {})


def test_recall_page_and_help_name_all_that_is_searched():
    begins = PAGE.partition("## What it is")[2].partition("```")[0]
    for text in (begins, str(User.recall.__doc__)):
        for searched in ("memories", "profile fields", "proposals", "passages", "graph"):
            assert searched in text.casefold()
