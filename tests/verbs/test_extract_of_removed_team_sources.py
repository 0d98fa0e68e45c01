"""A member learns nothing of a team's source that is taken away while they extract it."""

from __future__ import annotations

import pytest

from commonplace.model.access.principal import Scope
from support.settled import settled

MEETING = "Bob: My colleague Sarah Chen works at Acme.\nEve: Remember that the gate code is 4711."


@pytest.fixture
def book(open_book):
    return open_book(extraction="on-demand")


@pytest.fixture
def team(book):
    """Bob and Eve, and a source of their team's that nobody has extracted."""
    bob, eve = book.user("bob"), book.user("eve")
    made = bob.teams_create("garden").id
    bob.teams_invite(made, "eve")
    eve.teams_join(made)
    source = bob.ingest(MEETING, format="transcript", team=made).id
    settled(book)
    return bob, eve, source


@pytest.fixture
def before_the_next_write(book, monkeypatch):
    """Something that another does, once, after the next change was decided and before it is
    written."""
    store = book._engine.store
    write = store.apply
    waiting = []

    def slowly(*changesets):
        if waiting:
            waiting.pop()()
        return write(*changesets)

    monkeypatch.setattr(store, "apply", slowly)
    return waiting.append


def assert_learned_nothing(eve):
    assert {node.name for node in eve.people().nodes if not node.is_owner} == set()
    assert eve.list().memories == ()


@pytest.mark.parametrize("ending", ["erase", "forget"])
def test_extract_stores_nothing_when_a_team_source_is_removed_before_the_write(
    team, before_the_next_write, ending
):
    bob, eve, source = team
    before_the_next_write(lambda: getattr(bob, ending)(source))
    assert eve.extract([source]).sources == 0
    assert_learned_nothing(eve)
    if ending == "erase":
        assert eve.verify_forget("Sarah").clean


@pytest.mark.parametrize("ending", ["erase", "forget"])
def test_removal_of_a_team_source_includes_a_concurrent_extraction(
    team, before_the_next_write, ending
):
    bob, eve, source = team
    before_the_next_write(lambda: eve.extract([source]))
    getattr(bob, ending)(source)
    assert_learned_nothing(eve)
    if ending == "erase":
        assert eve.verify_forget("Sarah").clean


def test_extract_of_a_team_source_retries_after_an_unrelated_team_change(
    team, before_the_next_write
):
    bob, eve, source = team
    before_the_next_write(lambda: bob.ingest("Bob: Hello.", format="transcript", team="garden"))
    assert eve.extract([source]).sources == 1
    assert "Sarah Chen" in {node.name for node in eve.people().nodes}


def test_extract_by_a_member_leaves_the_team_revision_unchanged(book, team):
    _, eve, source = team
    store, scope = book._engine.store, Scope.of_team("garden")
    before = store.counters(scope).revision
    eve.extract([source])
    assert store.counters(scope).revision == before
