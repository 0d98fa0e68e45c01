"""Who said what: the owner by their user id, agents by their names."""

from __future__ import annotations

import pytest

# As the seed has it.
NOTES_ADDED_BY = """
MATCH (n)
WHERE n.user_id = $userId
UNWIND n.notes AS note
WITH n, note
WHERE note.added_by = $userId
RETURN n.name, note.content, note.date_added
"""
READ = "Dana Levi is allergic to nuts."


@pytest.fixture
def told(me):
    """Notes that Ana typed, that were read in a source of hers, and that an agent made."""
    me.profile_set("preferred name", "Ana")
    said = f"Ana: Dana Levi is my manager. {READ} Dana Levi lives in Haifa."
    source = me.ingest(said, format="transcript", date="2026-02-25").id
    me.extract([source])
    me.note("Dana Levi", "Likes tea")
    me.agent("reader").note("Dana Levi", "Prefers mail")
    me.agent("reader").nodes_add("Tom Chen")
    me.relate("Dana Levi", "Tom Chen", "friend")
    return me


def asked(me, query):
    return set(me.traverse("cypher", cypher=query, params={"userId": "ana"}).rows)


def noted_in(me):
    return {note.content for note in me.node("Dana Levi").notes}


def test_traverse_finds_notes_by_added_by_user_id(told):
    rows = told.traverse("cypher", cypher=NOTES_ADDED_BY, params={"userId": "ana"}).rows
    assert {name for name, _, _ in rows} == {"Dana Levi"}
    found = {content for _, content, _ in rows}
    assert found == noted_in(told) - {"Prefers mail"}
    assert "Likes tea" in found
    assert len(found) > 1  # with what was read


def test_extract_records_the_owner_as_author_of_assertions(told):
    assert asked(told, "MATCH ()-[r]->() WHERE r.user_id = $userId RETURN r.recorded_by") == {
        ("ana",)
    }
    made = "MATCH (n:Person) WHERE n.user_id = $userId RETURN n.name, n.created_by"
    people = dict(asked(told, made))
    assert people["Dana Levi"] == people["Ana"] == "ana"
    assert people["Tom Chen"] == "agent:reader"


@pytest.mark.parametrize("by", ["ana", "user:ana"])
def test_contributions_filter_by_the_user_id_of_the_owner(told, by):
    mine = told.contributions(by=by)
    assert {each.by for each in mine} == {"ana"}
    texts = {each.text for each in mine}
    assert {"Dana Levi", "Dana Levi lives-in Haifa", "Likes tea"} <= texts
    assert not texts & {"Prefers mail", "Tom Chen"}


@pytest.mark.parametrize("by", ["reader", "agent:reader"])
def test_contributions_filter_by_agent_name(told, by):
    theirs = told.contributions(by=by)
    assert {each.by for each in theirs} == {"agent:reader"}
    assert {each.text for each in theirs} == {"Prefers mail", "Tom Chen"}
    assert len(told.contributions()) == len(theirs) + len(told.contributions(by="ana"))


def test_contributions_from_a_team_source_are_not_attributed_to_the_reader(book):
    bob, eve = book.user("bob"), book.user("eve")
    team = bob.teams_create("garden").id
    bob.teams_invite(team, "eve")
    eve.teams_join(team)
    said = f"Bob: Dana Levi is my manager. {READ}"
    source = bob.ingest(said, format="transcript", date="2026-02-25", team=team).id
    for reader in (bob, eve):
        reader.extract([source])
    (hers,) = (each for each in eve.contributions() if each.what == "note")
    (his,) = (each for each in bob.contributions() if each.what == "note")
    assert hers.source_id == his.source_id == source
    assert his.by == "bob"
    assert hers.by != "eve"


def test_contributions_filter_by_author_newest_first(me, clock):
    me.nodes_add("Sarah Chen")
    me.nodes_add("Acme", node_type="Entity", type="organization")
    clock.tick(minutes=1)
    agent = me.agent("helper")
    agent.note("Sarah Chen", "Plays the cello")
    clock.tick(minutes=1)
    me.note("Sarah Chen", "Lives upstairs")
    clock.tick(minutes=1)
    agent.relate("Sarah Chen", "Acme", "works-at")

    def told(by=None):
        found = me.contributions(by=by)
        return [(each.what, each.text) for each in found if each.by != "ana" or by]

    assert [what for what, _ in told("agent:helper")] == ["edge", "note"]
    assert told("helper") == told("agent:helper") == told()
    assert ("note", "Lives upstairs") in told("ana")
    assert ("note", "Plays the cello") not in told("ana")
    assert told("nobody") == []
