"""Categories on a terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from commonplace.recall.categories import CheckedCategory, ExplainedCategory, KnownCategories
from commonplace.surfaces.cli.draw import drawn


@drawn.register
def _known(answer: KnownCategories) -> Any:
    table = Table(box=None, pad_edge=False)
    for heading in ("category", "context", "items", "agents"):
        table.add_column(heading)
    for each in answer.categories:
        table.add_row(
            Text(each.name, "bold"), _mode(each), str(each.memories + each.passages), _agents(each)
        )
    lines: list[Any] = [table]
    if answer.origin:
        lines.append(Text(f"from {answer.origin}", "dim"))
    if answer.problem:
        lines.append(Text(f"! its newest state does not count: {answer.problem}", "yellow"))
    return Group(*lines)


@drawn.register
def _one(answer: ExplainedCategory) -> Any:
    items = f"{answer.memories} memories" + (
        f", {answer.passages} passages" if answer.passages else ""
    )
    lines = [
        Text.assemble((answer.name, "bold"), f" · {_mode(answer)} · {items}"),
        Text(f"  seen by: {_agents(answer) or 'no agent'}", "dim"),
    ]
    if not answer.is_named:
        lines.append(Text("  no file names it", "yellow"))
    return Group(*lines)


@drawn.register
def _checked(answer: CheckedCategory) -> Any:
    word, colour = ("yes", "green") if answer.is_allowed else ("no", "red")
    return Text.assemble((f"{word}: ", f"bold {colour}"), answer.because)


def _mode(category: ExplainedCategory) -> str:
    length = "" if category.rag_length is None else f", at most {category.rag_length}"
    return f"{category.context}{length}"


def _agents(category: ExplainedCategory) -> str:
    return ", ".join(category.agents)
