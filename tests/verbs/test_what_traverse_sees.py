"""What traverse sees: every source that may be read, whatever became of it; nothing of others."""

from __future__ import annotations

import pytest

SPEAKING = "My colleague Sarah Chen works at Lumora Labs."
CATEGORIES = """
allowlists:
  reader: [relationships, knowledge, history]
  gardener: [relationships, history]
  baker: [relationships, knowledge]
"""


@pytest.fixture
def book(open_book, tmp_path):
    file = tmp_path / "categories.yaml"
    file.write_text(CATEGORIES)
    return open_book(worker="off", categories=str(file))


def titles(me, **asked):
    query = "MATCH (s:Source) RETURN s.name ORDER BY s.name"
    return [name for (name,) in me.traverse("cypher", cypher=query, **asked).rows]


def brought(me, title, said="it rained all day", **more):
    return me.ingest(f"{title}: {said}.", title=title, format="text", **more).id


# ——— sources ———


def test_a_source_is_seen_before_it_was_extracted(me):
    brought(me, "Monday", SPEAKING)
    assert titles(me) == ["Monday"]
    me.extract()
    brought(me, "Tuesday")
    assert titles(me) == ["Monday", "Tuesday"]
    told = "MATCH (s:Source) WHERE NOT (s)-[:mentions]->() RETURN s.name, s.processing_status"
    assert me.traverse("cypher", cypher=told).rows == (("Tuesday", "processed"),)
    me.extract()
    assert titles(me) == ["Monday", "Tuesday"]


def test_what_becomes_of_a_source_is_seen_at_once(me):
    kept, gone = brought(me, "Monday"), brought(me, "Tuesday")
    assert titles(me) == ["Monday", "Tuesday"]
    me.forget(gone)
    assert titles(me) == ["Monday"]
    me.restore(gone)
    assert titles(me) == ["Monday", "Tuesday"]
    me.erase(kept, now=True)
    assert titles(me) == ["Tuesday"]
    brought(me, "Wednesday")
    assert titles(me) == ["Tuesday", "Wednesday"]


def test_a_sensitive_source_is_seen_by_who_is_cleared(book, me):
    brought(me, "Openly")
    brought(me, "Secretly", sensitivity="high")
    assert titles(me) == ["Openly"]
    assert titles(book.user("ana", cleared=True)) == ["Openly", "Secretly"]


def test_agents_see_sources_where_they_may(me):
    brought(me, "Monday")
    assert titles(me.agent("reader")) == ["Monday"]
    assert titles(me.agent("baker")) == []


def test_sources_of_teams_and_of_hosts_are_seen_while_they_may_be_read(book, me):
    bob, eve = book.user("bob"), book.user("eve")
    team = bob.teams_create("garden").id
    bob.teams_invite(team, "ana")
    me.teams_join(team)
    brought(me, "Mine")
    brought(bob, "The team's", team=team)
    shared = brought(eve, "Eve's, shared")
    brought(eve, "Eve's own")
    eve.sources_share(shared, "ana")
    assert titles(me) == ["Eve's, shared", "Mine", "The team's"]
    assert titles(bob) == ["The team's"]
    assert titles(eve) == ["Eve's own", "Eve's, shared"]
    eve.sources_unshare(shared, with_user="ana")
    bob.teams_remove(team, "ana")
    assert titles(me) == ["Mine"]


def test_a_source_that_was_not_extracted_yet_can_be_walked_from(me):
    assert me.traverse("ppr", seed_nodes=[brought(me, "Monday")]).reached == ()
