"""The page about time says what the code does."""

import re
from pathlib import Path

from commonplace.operations.table import BY_NAME

PAGE = (Path(__file__).parents[2] / "docs/time.md").read_text()


def test_time_page_example_runs():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    exec(compile(code, "docs/time.md", "exec"), {})


def test_time_page_names_the_verbs_with_as_of_and_known_at():
    (sentence,) = re.findall(r"^(.*) take both\.", PAGE, re.M)
    travelling = {
        operation.verb
        for operation in BY_NAME.values()
        if {"as_of", "known_at"} <= {parameter.name for parameter in operation.parameters}
    }
    assert set(re.findall(r"`(\w+)`", sentence)) == travelling
