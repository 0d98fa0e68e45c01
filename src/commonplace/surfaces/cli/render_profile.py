"""The profile on a terminal: what it says, what others would have it say, what was decided."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from commonplace.model.consent import Decision
from commonplace.recall.proposals import OpenProposal
from commonplace.remember.consent import Outcome, Proposed
from commonplace.remember.profile import Profile, ProfileChange
from commonplace.remember.proposals import Decided
from commonplace.surfaces.cli.draw import drawn, id_line, plain, several


@drawn.register
def _profile(answer: Profile) -> Any:
    if not answer.fields and not answer.notes:
        return Text("The profile is empty.", "yellow")
    table = Table(box=None, show_header=False, padding=(0, 1))
    for name, value in answer.fields.items():
        table.add_row(Text(name, "bold"), Text(plain(value)))
    for id, note in answer.notes.items():
        table.add_row(Text(id, "dim"), Text(note))
    return table


@drawn.register
def _profile_change(answer: ProfileChange) -> Any:
    return Group(Text.assemble(("✓ ", "bold green"), answer.memory.content), id_line(answer.id))


_OUTCOMES = {
    Outcome.WAITING: ("? proposed", "yellow"),
    Outcome.APPLIED: ("✓ applied", "green"),
    Outcome.HOLDS: ("✓ the profile says so already:", "green"),
    Outcome.FULL: ("− no room for", "yellow"),
}


@drawn.register
def _proposed(answer: Proposed) -> Any:
    word, colour = _OUTCOMES[answer.outcome]
    lines = [Text.assemble((f"{word} ", f"bold {colour}"), _says(answer.name, answer.value))]
    if answer.ends_at:
        until = f"until {answer.ends_at:%Y-%m-%d}"
        lines.append(
            Text(f"  waits {until}, {several(answer.signals, 'independent signal')}", "dim")
        )
    return Group(*lines, id_line(answer.id))


@drawn.register
def _open(answer: OpenProposal) -> Any:
    lines = [Text.assemble(("? ", "bold yellow"), _says(answer.name, answer.value))]
    lines += [Text(f"  {line}", "dim") for line in _particulars(answer)]
    lines.append(Text(f"  profile accept | decline {answer.id}", "yellow"))
    return Group(*lines)


def _particulars(answer: OpenProposal) -> Iterator[str]:
    if answer.stands is not None:
        yield f"now: {plain(answer.stands)}"
    yield f"by {', '.join(answer.by)}, {several(answer.signals, 'independent signal')}"
    if answer.reason:
        yield answer.reason
    yield from (f"“{words}”" for words in answer.evidence)
    yield f"{answer.proposed_at:%Y-%m-%d} until {answer.ends_at:%Y-%m-%d}"


@drawn.register
def _decided(answer: Decided) -> Any:
    accepted = answer.decision is Decision.ACCEPTED
    mark = ("✓ ", "bold green") if accepted else ("− ", "bold")
    told = Text.assemble(mark, f"{answer.decision}: ", _says(answer.name, answer.value))
    others = [Text(f"  declined with it: {' '.join(answer.declined)}", "dim")] * bool(
        answer.declined
    )
    return Group(told, *others, id_line(answer.field))


def _says(name: str, value: Any) -> str:
    return f"{name}: {plain(value)}"
