"""The page about query says what the code does."""

import re
from pathlib import Path

from commonplace.operations.table import BY_NAME
from commonplace.settings import BY_NAME as SETTINGS

PAGE = (Path(__file__).parents[2] / "docs/query.md").read_text()


def test_query_page_has_a_row_per_parameter():
    rows = re.findall(r"^\| (.+?) \| (.*?) \|", PAGE, re.M)
    named = [name for fields, _ in rows for name in re.findall(r"`(\w+)`", fields)]
    operation = BY_NAME["query"]
    assert set(named) == {p.name for p in operation.parameters} | set(operation.aliases)


def test_query_page_defaults_match_the_code():
    defaults = {p.name: p.default for p in BY_NAME["query"].parameters}
    for name in ("top_k", "budget_tokens"):
        assert f"| `{name}` | {defaults[name]} |" in PAGE
    assert f"`recall_log_days` ({SETTINGS['recall_log_days'].default:g})" in PAGE
    assert SETTINGS["recall_log"].default is False


def test_query_page_example_runs():
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    exec(compile(example, "docs/query.md", "exec"), {})
