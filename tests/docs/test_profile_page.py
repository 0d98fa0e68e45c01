"""The page about the profile says what the code does."""

import re
from pathlib import Path

from commonplace.model.check import MAX_LIST
from commonplace.model.consent import (
    BENIGN,
    ENOUGH_SIGNALS,
    MAX_OPEN,
    MAX_OPEN_BY_ONE,
    SENSITIVE,
    STRICTER,
    SURE,
)
from commonplace.model.lifecycle import LIFETIMES
from commonplace.model.profile import FIELDS
from commonplace.remember.relate import SAME_IN_FULL
from commonplace.remember.unsay import MAX_SUPPORTS
from commonplace.settings import BY_NAME

PAGE = (Path(__file__).parents[2] / "docs/profile.md").read_text()
ROWS = dict(re.findall(r"^\| ([a-z_, ]+) \| (.+) \|$", PAGE, re.M))


def test_the_page_lists_what_waits_and_what_applies():
    by_rule = {rule.partition(" ")[0]: set(names.split(", ")) for names, rule in ROWS.items()}
    assert by_rule["applies"] == BENIGN
    waiting = [set(names.split(", ")) for names, rule in ROWS.items() if rule.startswith("waits")]
    assert waiting == [SENSITIVE, {"any other"}]


def test_its_numbers_are_the_codes():
    assert (
        f"after {ENOUGH_SIGNALS} independent signals, or one insight of confidence {SURE}" in PAGE
    )
    assert f"waits {LIFETIMES.proposed.days} days (setting `proposal_days`)" in PAGE
    assert BY_NAME["proposal_days"].default == LIFETIMES.proposed.days
    assert f"At most {MAX_OPEN} proposals wait at once, {MAX_OPEN_BY_ONE} of one agent's" in PAGE
    assert f"a list holds {MAX_LIST} goals" in PAGE
    assert f"the {MAX_SUPPORTS} newest are known" in PAGE
    assert "`, `".join(FIELDS) in PAGE
    higher = f"{STRICTER} higher than a [rewording](remembering.md) needs"
    assert f"{higher}: {SAME_IN_FULL + STRICTER:.2f} instead of {SAME_IN_FULL}" in PAGE


def test_its_example_runs():
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    exec(compile(example, "docs/profile.md", "exec"), {})
