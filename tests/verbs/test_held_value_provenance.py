"""A value that a source told and that waits beside what stands goes with its source."""

from __future__ import annotations

import pytest

OURS = "The wifi password is rose1"
SECRET = "tulip42"


@pytest.fixture
def told(me):
    """What stands, and the source that tells otherwise."""
    stands = me.remember(OURS).id
    source = me.ingest(otherwise("Ana"), format="transcript").id
    me.extract([source])
    return stands, source


def otherwise(speaker):
    return f"{speaker}: Remember that the wifi password is {SECRET}."


def beside(me, id):
    return [each.metadata["value"] for each in me.show(id).alternatives]


def test_erase_source_erases_alternatives_extracted_from_the_source(me, told):
    stands, source = told
    [other] = me.show(stands).alternatives
    erased = me.erase(source, now=True)
    assert beside(me, stands) == []
    assert set(erased.ids) == {source, other.id}
    assert erased.receipt.items == 2
    assert me.verify_forget(SECRET).clean


def test_erase_of_source_and_alternative_lists_the_alternative_once(me, told):
    stands, source = told
    other = me.show(stands).alternatives[0].id
    assert sorted(me.erase([other, source]).ids) == sorted([other, source])
    assert me.verify_forget(SECRET).clean


def test_erase_source_keeps_alternatives_by_the_owner(me, told):
    stands, source = told
    me.remember("The wifi password is lily7", on_conflict="alternative")
    me.erase(source)
    assert beside(me, stands) == ["lily7"]


def test_forget_source_drops_alternatives_until_extracted_again(me, told):
    stands, source = told
    assert beside(me, stands) == [SECRET]
    me.forget(source)
    assert beside(me, stands) == []
    assert me.conflicts(alternatives=True) == []
    me.restore(source)
    me.extract([source])
    assert beside(me, stands) == [SECRET]


@pytest.mark.parametrize("ending", ["erase", "forget"])
def test_erase_or_forget_of_a_team_source_drops_members_alternatives(book, ending):
    bob, eve = book.user("bob"), book.user("eve")
    team = bob.teams_create("garden").id
    bob.teams_invite(team, "eve")
    eve.teams_join(team)
    stands = eve.remember(OURS).id
    source = eve.ingest(otherwise("Eve"), format="transcript", team=team).id
    eve.extract([source])
    assert beside(eve, stands) == [SECRET]
    getattr(bob, ending)(source)  # an admin of the team
    assert beside(eve, stands) == []
    assert "held" not in eve.verify_forget(SECRET).found_in
