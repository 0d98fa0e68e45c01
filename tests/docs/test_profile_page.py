"""The page about the profile says what the code does."""

import re
from pathlib import Path

from commonplace.engine.memory_relation import FULL_REWORDING_SIMILARITY
from commonplace.engine.provenance.evidence import MAX_SIGNAL_SUPPORTS
from commonplace.model.memory.lifecycle import LIFETIMES
from commonplace.model.profile.consent import (
    BENIGN_FIELDS,
    ENOUGH_SIGNALS,
    MAX_OPEN,
    MAX_OPEN_BY_ONE,
    SENSITIVE_FIELDS,
    STRICTER_BY,
    SURE_INSIGHT,
)
from commonplace.model.profile.fields import KNOWN_FIELDS
from commonplace.model.validation import MAX_LIST
from commonplace.settings import BY_NAME

PAGE = (Path(__file__).parents[2] / "docs/profile.md").read_text()
ROWS = dict(re.findall(r"^\| ([a-z_, ]+) \| (.+) \|$", PAGE, re.M))


def test_profile_page_lists_fields_that_apply_and_fields_that_wait():
    by_rule = {rule.partition(" ")[0]: set(names.split(", ")) for names, rule in ROWS.items()}
    assert by_rule["applies"] == BENIGN_FIELDS
    waiting = [set(names.split(", ")) for names, rule in ROWS.items() if rule.startswith("waits")]
    assert waiting == [SENSITIVE_FIELDS, {"any other"}]


def test_profile_page_numbers_match_the_code():
    assert (
        f"after {ENOUGH_SIGNALS} independent signals, or one insight of confidence {SURE_INSIGHT}"
        in PAGE
    )
    assert f"waits {LIFETIMES.proposed.days} days (setting `proposal_days`)" in PAGE
    assert BY_NAME["proposal_days"].default == LIFETIMES.proposed.days
    assert f"At most {MAX_OPEN} proposals wait at once, {MAX_OPEN_BY_ONE} of one agent's" in PAGE
    assert f"a list holds {MAX_LIST} goals" in PAGE
    assert f"the {MAX_SIGNAL_SUPPORTS} newest are known" in PAGE
    assert "`, `".join(KNOWN_FIELDS) in PAGE
    higher = f"{STRICTER_BY} higher than a [rewording](remembering.md) needs"
    assert (
        f"{higher}: {FULL_REWORDING_SIMILARITY + STRICTER_BY:.2f} "
        f"instead of {FULL_REWORDING_SIMILARITY}" in PAGE
    )


def test_profile_page_example_runs():
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    exec(compile(example, "docs/profile.md", "exec"), {})
