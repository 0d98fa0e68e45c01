"""The page about understanding says what the code does."""

import os
import re
import shlex
from pathlib import Path

import pytest

from benchmarks.judgement.understanding import judge_messages, read_messages, search_table
from benchmarks.report import as_markdown
from commonplace.language.query.follow_ups import expand_follow_up
from commonplace.language.query.message import RecentTurn
from commonplace.language.query.needs_search import needs_search
from support import program

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/understanding.md").read_text(encoding="utf-8")
SEARCHES = re.findall(r"^\| `(.+?)` \| (yes|no) \| (.+?) \|$", PAGE, re.M)
FOLLOW_UPS = re.findall(r"^\| ([^|`]*) \| `(.+?)` \| (.+?) \|$", PAGE, re.M)


@pytest.mark.parametrize(("message", "needed", "reason"), SEARCHES)
def test_understanding_page_search_examples_match_needs_search(message, needed, reason):
    found = needs_search(message)
    assert found.needed == (needed == "yes")
    assert reason in found.reasons


@pytest.mark.parametrize(("before", "message", "query"), FOLLOW_UPS)
def test_understanding_page_follow_up_examples_match_the_code(before, message, query):
    recent = [RecentTurn(before.strip())] if before.strip() else []
    assert expand_follow_up(message, recent).query == query


def test_understanding_page_has_search_and_follow_up_examples():
    assert len(SEARCHES) > 5
    assert len(FOLLOW_UPS) > 5


def test_understanding_page_example_runs():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    exec(compile(code, "docs/understanding.md", "exec"), {})


def test_understanding_page_commands_run_in_order(tmp_path):
    (block,) = re.findall(r"```\n(commonplace .*?)```", PAGE, re.S)
    store = {"COMMONPLACE_STORE": str(tmp_path / "page.db"), "COMMONPLACE_EMBEDDER": "hashing"}
    for line in block.strip().splitlines():
        ran = program.run(shlex.split(line)[1:], environment={**os.environ, **store})
        assert ran.returncode == 0, f"{line}: {ran.stderr}"


def test_understanding_page_numbers_of_the_open_half_are_current():
    table = search_table(
        judge_messages(read_messages(ROOT / "labelled", "searches", "open")), "open"
    )
    assert as_markdown(table) in PAGE, "run `python -m benchmarks understanding --write`"
