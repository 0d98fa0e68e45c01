"""Teams and their people, as a person reads them on a terminal: by name, with the id beside it."""

from __future__ import annotations

import pytest
from rich.console import Console

import commonplace
from commonplace.surfaces.cli.render import drawn
from support.clock import Clock


@pytest.fixture
def book():
    with commonplace.open(":memory:", embedder="hashing", clock=Clock()) as opened:
        yield opened


@pytest.fixture
def team(book):
    return book.user("ana").teams_create("Planning")


def printed(answer):
    console = Console(width=120, highlight=False)
    with console.capture() as caught:
        console.print(drawn(answer))
    return caught.get()


def test_cli_teams_invite_role_and_remove_show_the_team_name(book, team):
    ana = book.user("ana")
    invited = ana.teams_invite("Planning", "dan")
    assert invited.team_name == "Planning"
    book.user("dan").teams_join("Planning")
    changed = ana.teams_role("Planning", "dan", "admin")
    removed = ana.teams_remove("Planning", "dan")
    for answer, words in ((invited, "invited dan"), (changed, "admin"), (removed, "left dan")):
        told = printed(answer)
        assert words in told
        assert "in Planning" in told
        assert f"id {team.id}" in told


def test_cli_teams_leave_shows_the_team_name(book, team):
    book.user("ana").teams_invite("Planning", "dan")
    assert "in Planning" in printed(book.user("dan").teams_leave("Planning"))


def test_cli_teams_delete_shows_the_team_name(book, team):
    assert printed(book.user("ana").teams_delete(team.id)).startswith("Team Planning deleted")
