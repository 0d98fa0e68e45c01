"""Teams, their people and guests on a terminal."""

from __future__ import annotations

from rich.console import Group
from rich.text import Text

from commonplace.book.guests import Shared
from commonplace.book.teams import TeamEnded
from commonplace.book.which_team import ShownMember, ShownTeam
from commonplace.model.team import Standing
from commonplace.surfaces.cli.draw import drawn, id_line, several

_COLOURS = {Standing.MEMBER: "green", Standing.INVITED: "yellow", Standing.LEFT: "red"}


@drawn.register
def _team(answer: ShownTeam) -> Group:
    told = Text.assemble((f"{answer.role} ", _COLOURS[answer.standing]), (answer.name, "bold"))
    if answer.standing is Standing.INVITED:
        told.append(f"  invited by {answer.invited_by}: teams join, or teams leave", "yellow")
    told.append("".join(f"  {word}" for word in _words(answer)), "dim")
    return Group(
        told, *(Text("  ").append_text(_person(one)) for one in answer.members), id_line(answer.id)
    )


def _words(team: ShownTeam) -> list[str]:
    chosen = [("primary", team.is_primary), ("active", team.is_active)]
    kept = [f"kept {team.retention_days} days"] if team.retention_days else []
    return [*(word for word, is_it in chosen if is_it), *kept]


@drawn.register
def _member(answer: ShownMember) -> Group:
    told = _person(answer)
    if answer.team_name:
        told.append("  in ").append(answer.team_name, "bold")
    return Group(told, id_line(answer.team_id))


def _person(one: ShownMember) -> Text:
    told = Text.assemble((f"{one.standing} ", _COLOURS[one.standing]), one.user_id)
    return told.append(f"  {one.role}, since {one.since:%Y-%m-%d}", "dim")


@drawn.register
def _ended(answer: TeamEnded) -> Text:
    return Text.assemble(
        "The team ", (answer.name, "bold"), f" is gone, with {several(answer.sources, 'source')}."
    )


@drawn.register
def _shared(answer: Shared) -> Text:
    others = ", ".join(answer.guests) or "nobody else"
    return Text.assemble("read by ", (others, "cyan"), "\n").append_text(id_line(answer.id))
