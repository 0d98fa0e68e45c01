"""Storylines and macros as a terminal prints them, and fenced as agents read them."""

from __future__ import annotations

import json

import pytest
from rich.console import Console
from story_scenarios import GOOGLE, LINES, WINTER

from commonplace.operations.serialization import as_data
from commonplace.surfaces.cli.render import drawn
from commonplace.surfaces.mcp.presentation import answer_text

TOLD = "Google interviewed the user in January."


@pytest.fixture
def me(open_book):
    me = open_book(worker="off").user("ana")
    me.import_(LINES)
    return me


def printed(answer):
    console = Console(width=200, highlight=False)
    with console.capture() as caught:
        console.print(drawn(answer))
    return " ".join(caught.get().split())


def test_cli_prints_storylines_with_their_dates(me):
    text = printed(me.storylines())
    assert "Google – storyline 2026-01-05 – 2026-01-16 open" in text
    assert TOLD in text
    assert f"2 sources · id {GOOGLE}" in text
    assert "No storylines." in printed(me.storylines(anchor="ana"))


def test_cli_prints_a_macro_with_its_storylines_and_sources(me):
    text = printed(me.show(WINTER))
    assert "Google – macro" in text
    assert "Kitchen – storyline" in text
    assert "Log of 2026-02-20" in text
    assert "part of Google – macro" in printed(me.show(GOOGLE))


def test_cli_prints_storylines_that_explore_found(me):
    text = printed(me.explore("Google", granularity=2))
    assert TOLD in text
    assert "2026-01-16" in text
    assert "Google – storyline: Google interviewed" in printed(me.explore("Google", granularity=3))


@pytest.mark.parametrize("granularity", [2, 3])
def test_mcp_fences_the_words_of_storylines(me, granularity):
    found = me.explore("Google", granularity=granularity)
    episodic = json.loads(answer_text(found, as_data(found)))["episodic"]
    if granularity == 2:
        (hit, *_) = episodic["storylines"]
        assert hit["description"].startswith("quoted: «")
        assert all(each["summary"].startswith("quoted: «") for each in hit["preview_sources"])
    else:
        (hit,) = episodic["macros"]
        assert hit["description"].startswith("quoted: «")
        assert all(each["one_liner"].startswith("quoted: «") for each in hit["storylines"])
