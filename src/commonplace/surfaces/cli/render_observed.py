"""What a turn has left, on a terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Group
from rich.text import Text

from commonplace.book.observing import Observed
from commonplace.model.memory import Sensitivity
from commonplace.remember.notice import Skipped
from commonplace.remember.observe import Kept
from commonplace.surfaces.cli.draw import drawn


@drawn.register
def _observed(answer: Observed) -> Any:
    lines: list[Any] = [drawn(each) for each in (*answer.stored, *answer.conflicts)]
    lines += [drawn(each) for each in answer.proposals]
    lines += [drawn(each) for each in answer.skipped]
    for choice in answer.forget:
        lines += [Text(f"To forget: {choice.query}", "bold"), drawn(choice)]
    if not lines:
        why = answer.why_not or "nothing in it is worth more"
        lines.append(Text(f"Kept in the conversation alone: {why}.", "dim"))
    where = ", ".join(answer.passages) or answer.source_id
    if where is None:
        return Group(*lines)
    return Group(*lines, Text(f"  turn kept as {where}", "dim"))


@drawn.register
def _kept(answer: Kept) -> Any:
    told = f"  {answer.category}, importance {answer.importance}, confidence {answer.confidence:g}"
    if answer.sensitivity is Sensitivity.HIGH:
        told += ", stored as sensitive: shown by its id, or to who is cleared"
    return Group(drawn(answer.remembered), Text(f"{told}, from: {answer.trigger}", "dim"))


@drawn.register
def _skipped(answer: Skipped) -> Any:
    detail = f": {answer.detail}" if answer.detail else ""
    return Text.assemble(
        ("left out ", "bold yellow"),
        answer.content,
        (f"  ({answer.reason}{detail}, confidence {answer.confidence:g})", "dim"),
    )
