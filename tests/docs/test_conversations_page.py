"""The page about conversations says what the code does."""

import re
from dataclasses import fields
from pathlib import Path

from commonplace.engine.conversation.observe import Observed
from commonplace.engine.memories.candidates import SkipReason
from commonplace.settings import BY_NAME

PAGE = (Path(__file__).parents[2] / "docs/conversations.md").read_text()


def first_cells(after: str) -> list[str]:
    table = PAGE.partition(after)[2].partition("\n\n")[0]
    return [
        name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])
    ]


def test_conversations_page_examples_run():
    names: dict[str, object] = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.S):
        exec(compile(code, "docs/conversations.md", "exec"), names)


def test_conversations_page_lists_every_field_of_observed():
    named = {field.name for field in fields(Observed)} | {"looked_closely"}
    assert set(first_cells("| part | holds |\n|---|---|\n")) == named - {"revision"}


def test_conversations_page_lists_every_skip_reason():
    assert first_cells("| left out | because |\n|---|---|\n") == [str(each) for each in SkipReason]


def test_conversations_page_names_the_daily_limit():
    assert f"{BY_NAME['observe_daily'].default} unless set otherwise" in PAGE
