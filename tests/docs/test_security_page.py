"""docs/security.md names the tests behind its promises."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text()
TESTS = re.findall(r"`(tests/[\w/]+\.py)`", PAGE)


@pytest.mark.parametrize("path", TESTS)
def test_security_page_names_tests_that_exist(path):
    assert (ROOT / path).is_file()


def test_security_page_backs_every_promise_with_a_test():
    rows = PAGE.split("| promise |")[1].split("\n\n")[0].split("\n")[2:]
    assert rows
    assert [row for row in rows if "`tests/" not in row] == []
