"""Every test that the coverage page names exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = sorted(set(re.findall(r"`(tests/[\w/.:]+)`", (ROOT / "docs/coverage.md").read_text())))


@pytest.mark.parametrize("named", NAMED)
def test_a_named_test_exists(named):
    file, _, name = named.partition("::")
    text = (ROOT / file).read_text()
    assert f"def {name or 'test_'}" in text


def test_the_page_names_tests():
    assert len(NAMED) > 40
