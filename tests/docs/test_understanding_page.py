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
def test_a_message_is_judged_as_the_page_says(message, needed, reason):
    found = needs_search(message)
    assert found.needed == (needed == "yes")
    assert reason in found.reasons


@pytest.mark.parametrize(("before", "message", "query"), FOLLOW_UPS)
def test_a_follow_up_means_what_the_page_says(before, message, query):
    recent = [RecentTurn(before.strip())] if before.strip() else []
    assert expand_follow_up(message, recent).query == query


def test_the_page_has_examples_of_both_kinds():
    assert len(SEARCHES) > 5
    assert len(FOLLOW_UPS) > 5


def test_its_example_runs():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    exec(compile(code, "docs/understanding.md", "exec"), {})


def test_its_commands_run_one_after_the_other(tmp_path):
    (block,) = re.findall(r"```\n(commonplace .*?)```", PAGE, re.S)
    store = {"COMMONPLACE_STORE": str(tmp_path / "page.db"), "COMMONPLACE_EMBEDDER": "hashing"}
    for line in block.strip().splitlines():
        ran = program.run(shlex.split(line)[1:], environment={**os.environ, **store})
        assert ran.returncode == 0, f"{line}: {ran.stderr}"


def test_its_numbers_of_the_open_half_are_those_of_the_rules():
    table = search_table(
        judge_messages(read_messages(ROOT / "labelled", "searches", "open")), "open"
    )
    assert as_markdown(table) in PAGE, "run `python -m benchmarks understanding --write`"
