"""What a message was understood as, and abbreviations, on a terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Group
from rich.text import Text

from commonplace.model.abbreviation import Abbreviation
from commonplace.recall.understanding import Understanding
from commonplace.remember.abbreviate import Abbreviated
from commonplace.surfaces.cli.draw import drawn, id_line


@drawn.register
def _understanding(answer: Understanding) -> Any:
    needed = (
        Text("Search memory", "bold green") if answer.needs_search else Text("No search", "bold")
    )
    lines = [needed, *(Text(f"  {reason}", "dim") for reason in answer.reasons)]
    if answer.is_expanded:
        lines.append(Text.assemble(("Query: ", "bold"), answer.query))
    for each in answer.expanded:
        said = f"{each.said} → {each.meant}  " if each.said else ""
        lines.append(Text(f"  {said}{each.why}", "dim"))
    return Group(*lines)


@drawn.register
def _abbreviation(answer: Abbreviation) -> Any:
    line = Text.assemble((answer.short, "bold"), f"  {answer.long}")
    return line.append(f"  {answer.id}", "dim") if answer.id else line


@drawn.register
def _abbreviated(answer: Abbreviated) -> Any:
    told = Text.assemble((answer.short, "bold"), f" stands for {answer.long}.")
    return Group(told, id_line(answer.id))
