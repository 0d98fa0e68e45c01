"""Who sees a storyline or a macro: its owner, as far as its sources can be read, and the members of
a team of whose sources alone it is made (SPEC §8)."""

from __future__ import annotations

import pytest

from commonplace.engine.graph.visible_graph import visible_graph
from commonplace.errors import NotFound
from commonplace.model.access.principal import Principal
from support.promoted import DAYS, promote, storylines, tell

ROOF = "My friend Sarah Chen fixed part {day} of the roof."
MEETING = "Ana: My colleague Sarah Chen works at Acme. Sarah fixed part {day} of the roof."
SARAH = "Sarah Chen"


@pytest.fixture
def book(open_book):
    return open_book(extraction="on-demand", tidy_on_open=False, worker="off")


@pytest.fixture
def bob(book):
    return book.user("bob")


@pytest.fixture
def team(me, bob):
    made = me.teams_create("roof").id
    me.teams_invite(made, "bob")
    bob.teams_join(made)
    return made


@pytest.fixture
def of_team(me, bob, team, clock):
    """Two storylines and a macro of Ana's, all of the team's sources."""
    clock.tick(days=150)
    days = (*DAYS, *(day + 150 for day in DAYS))
    tell(me, days, MEETING, format="transcript", team=team)
    promote(me, SARAH)
    assert {each.team_id for each in storylines(me)} == {team}


def seen_by(me, principal=None):
    """Names of own and others' storylines and macros."""
    shown = visible_graph(me._engine, principal or me.principal, members=True)
    own, others = shown.snapshot, shown.of_members
    return (len(own.storylines), len(own.macros)), (len(others.storylines), len(others.macros))


NOTHING = (0, 0)


def test_storyline_visibility_for_owners_and_members_of_the_team(me, bob, book, of_team, team):
    assert seen_by(me) == ((2, 1), NOTHING)
    assert seen_by(bob) == (NOTHING, (2, 1))
    assert seen_by(book.user("eve")) == (NOTHING, NOTHING)
    me.teams_invite(team, "eve")
    assert seen_by(book.user("eve")) == (NOTHING, NOTHING), "an invitation shows nothing"


def test_storyline_of_another_member_shows_name_text_dates_and_sources(me, bob, of_team):
    own = {each.id: each for each in storylines(me)}
    shown = visible_graph(me._engine, bob.principal, members=True).of_members
    for storyline in shown.storylines.values():
        assert storyline == own[storyline.id].evolve(anchor=""), "and no node of hers"
        assert storyline.name == "Sarah Chen – storyline"
        assert storyline.description
    assert {each.anchor for each in shown.macros.values()} == {""}


def test_storyline_with_one_private_source_is_the_owners_alone(me, bob, team, of_team):
    tell(me, [154], ROOF)
    assert seen_by(me) == ((2, 1), NOTHING)
    assert seen_by(bob) == (NOTHING, (1, 0)), "nor is the macro his, of which it is a part"


def test_storyline_of_a_team_source_is_invisible_to_an_ex_member(me, bob, team, of_team):
    promote_for(bob, me, team)
    assert seen_by(bob) == ((2, 1), (2, 1))
    bob.teams_leave(team)
    assert seen_by(bob) == (NOTHING, NOTHING)
    assert len(storylines(bob)) == 2, "they come back when Bob does"
    assert seen_by(me) == ((2, 1), NOTHING), "nor does Ana see those of one who left"


def promote_for(bob, me, team):
    sources = sorted({source.id for line in storylines(me) for source in line.sources})
    bob.extract(sources)
    promote(bob, SARAH)


@pytest.mark.parametrize(
    ("categories", "shown"),
    [(None, (2, 1)), (("relationships", "history"), (2, 1)), (("relationships",), NOTHING)],
)
def test_storyline_visibility_for_agents_by_category(me, bob, of_team, categories, shown):
    allowed = None if categories is None else frozenset(categories)
    agent = Principal("ana", agent="planner", allowed=allowed)
    assert seen_by(me, agent)[0] == shown
    assert seen_by(me, Principal("bob", agent="planner", allowed=allowed))[1] == shown


def test_storyline_of_a_sensitive_source_needs_clearance(me):
    tell(me, DAYS, ROOF)
    promote(me, SARAH)
    tell(me, [4], "My friend Sarah Chen fell off roof {day}.", sensitivity="high")
    assert seen_by(me, Principal("ana"))[0] == (0, 0)
    assert seen_by(me, Principal("ana", cleared=True))[0] == (1, 0)


def test_storyline_is_invisible_without_its_anchor(me):
    tell(me, DAYS, ROOF)
    promote(me, SARAH)
    assert seen_by(me)[0] == (1, 0)
    assert seen_by(me, Principal("ana", agent="p", allowed=frozenset({"history"})))[0] == (0, 0)


def test_storylines_of_a_team_are_listed_and_shown_to_its_members(me, bob, book, of_team, team):
    own = me.storylines(include_archived=True).storylines
    listed = bob.storylines(include_archived=True).storylines
    assert [each.id for each in listed] == [each.id for each in own]
    assert {each.anchor for each in listed} == {None}
    assert {each.team_id for each in listed} == {team}
    whole = bob.show(listed[0].id)
    assert whole.storyline.description == own[0].description
    assert [each.id for each in whole.sources] == [s.id for s in me.show(own[0].id).sources]
    (macro,) = bob.macros().macros
    assert macro.anchor is None
    shown = bob.show(macro.id)
    assert {each.id for each in shown.storylines} == {each.id for each in listed}
    assert [each.macro_id for each in whole.macros] == [macro.id]
    bob.teams_leave(team)
    assert bob.storylines(include_archived=True).storylines == ()
    with pytest.raises(NotFound):
        bob.show(macro.id)
