"""docs/observe.md says what is kept of each example; this says each example."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.model.memory.candidate import ForgetRequest, TurnFinding
from support.turns import said

PAGE = Path(__file__).parents[2] / "docs" / "observe.md"


def examples() -> list[list[str]]:
    table = PAGE.read_text(encoding="utf-8").partition("| who | says |")[2].partition("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    assert len(rows) > 10
    return rows


def as_the_page_says(found: TurnFinding) -> tuple[str, str | None]:
    if isinstance(found, ForgetRequest):
        return "looked up, to choose from", found.query
    if found.is_sensitive:
        return f"proposal: {found.profile_field}", found.profile_value
    return found.kind.value, found.content


@pytest.mark.parametrize(("who", "says", "kept", "content"), examples())
def test_observe_page_examples_are_stored_as_shown(who, says, kept, content):
    (found,) = said(says, who)
    assert as_the_page_says(found) == (kept, content)
