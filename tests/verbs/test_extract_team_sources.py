"""A team's source becomes knowledge in each member's own graph, and goes from all of them."""

from __future__ import annotations

import pytest

from commonplace.errors import NotFound
from support.settled import settled

MEETING = "Bob: My colleague Sarah Chen works at Acme. Sarah is moving to Berlin next week."


@pytest.fixture
def book(open_book):
    return open_book(extraction="auto")


@pytest.fixture
def team(book):
    bob, eve = book.user("bob"), book.user("eve")
    made = bob.teams_create("garden").id
    bob.teams_invite(made, "eve")
    eve.teams_join(made)
    return made, bob, eve


def people(me):
    return {node.name for node in me.people().nodes if not node.is_owner}


def test_extract_of_a_team_source_starts_with_the_first_read_of_a_member(book, team):
    id, bob, eve = team
    source = bob.ingest(MEETING, format="transcript", team=id).id
    settled(book)
    assert people(bob) == people(eve) == set()
    eve.show(source)
    settled(book)
    assert people(eve) == {"Bob", "Sarah Chen"}
    assert people(bob) == set()
    assert bob.recall("Where is Sarah moving?").hits
    settled(book)
    assert people(bob) == {"Sarah Chen"}
    sarah = eve.node("Sarah Chen")
    assert [each.id for each in sarah.sources] == [source]
    with pytest.raises(NotFound):
        bob.node(sarah.node.id)


@pytest.mark.parametrize("reading", ["show", "recall"])
def test_extract_reruns_for_a_member_after_a_team_source_is_replaced(book, team, reading):
    id, bob, eve = team
    new = "Bob: My colleague Noa Levi works at Globex. Noa is moving to Rome next week."
    source = bob.ingest(MEETING, format="transcript", team=id, external_id="meeting").id
    eve.show(source)
    settled(book)
    assert people(eve) == {"Bob", "Sarah Chen"}
    assert bob.ingest(new, format="transcript", team=id, external_id="meeting").id == source
    settled(book)
    if reading == "show":
        eve.show(source)
    else:
        assert eve.recall("Where is Noa moving?").hits
    settled(book)
    assert people(eve) == {"Bob", "Noa Levi"}


def test_extract_does_not_rerun_for_an_unchanged_team_source(book, team, clock):
    id, bob, eve = team
    source = bob.ingest(MEETING, format="transcript", team=id).id
    eve.show(source)
    settled(book)
    before = book._engine.store.extractions(eve.principal.own_scope)
    clock.tick(hours=1)
    eve.show(source)
    settled(book)
    assert book._engine.store.extractions(eve.principal.own_scope) == before


def test_extract_includes_team_sources(book, team):
    id, bob, eve = team
    bob.ingest(MEETING, format="transcript", team=id)
    told = eve.extract()
    assert (told.sources, told.left) == (1, 0)
    assert people(eve) == {"Bob", "Sarah Chen"}
    assert eve.extract().sources == 0


@pytest.mark.parametrize("has_left", [False, True])
def test_erase_team_source_removes_its_assertions_from_every_member_graph(book, team, has_left):
    id, bob, eve = team
    source = bob.ingest(MEETING, format="transcript", team=id).id
    for member in (bob, eve):
        member.extract()
    eve.note("Sarah Chen", "Likes tea", lifetime="forever")
    if has_left:
        eve.teams_leave(id)
        assert people(eve) == {"Bob", "Sarah Chen"}  # what they know they know
        assert eve.node("Sarah Chen").sources == ()
    bob.erase(source)
    assert people(bob) == set()
    assert people(eve) == {"Sarah Chen"}  # of whom she has said something herself
    assert eve.node("Sarah Chen").edges == ()
    assert eve.verify_forget("Berlin").clean


def test_forget_and_restore_of_a_team_source_apply_to_every_member_graph(book, team):
    id, bob, eve = team
    source = bob.ingest(MEETING, format="transcript", team=id).id
    for member in (bob, eve):
        member.extract()
    before = people(eve)
    bob.forget(source)
    assert people(bob) == people(eve) == set()
    bob.restore(source)
    assert people(eve) == before


def test_erase_team_source_removes_its_memories_for_every_member(book, team):
    id, bob, eve = team
    letter = "Bob: Remember that the gate code is 4711.\nEve: My phone number is 052-1234567."
    source = bob.ingest(letter, format="transcript", team=id).id
    for member in (bob, eve):
        member.extract()
    learned = [memory.content for memory in eve.list().memories]
    assert learned
    bob.erase(source, now=True)
    assert eve.list().memories == ()
    assert eve.verify_forget("4711").clean


@pytest.mark.parametrize("of_team", [False, True])
def test_extract_ignores_sources_shared_with_a_guest(book, team, of_team):
    id, bob, _ = team
    guest = book.user("guest")
    source = bob.ingest(MEETING, format="transcript", team=id if of_team else None).id
    bob.sources_share(source, "guest")
    guest.sources_accept(source)
    assert guest.show(source).passages
    assert guest.recall("Where is Sarah moving?").hits
    assert guest.extract().sources == 0
    with pytest.raises(NotFound):
        guest.extract([source])
    assert not [job for job in guest.jobs() if job.kind == "extract"]
    settled(book)
    assert people(guest) == set()
