"""How long a source is kept: for ever, until its day, or for as long as it is read."""

from __future__ import annotations

import pytest

from commonplace.errors import InvalidInput, NotFound

MEETING = (
    "Ana: My colleague Sarah Chen works at Acme. Sarah Chen got a new dog. My tulip code is 4711."
)
END = {"days": 30}


def brought(me, said=MEETING, **more):
    source = me.ingest(said, format="transcript", **more).id
    me.extract([source])
    return source


def everywhere(me, source):
    """In which reads it is."""
    keys = [key for (key,) in me.traverse(cypher="MATCH (s:Source) RETURN s.entity_key").rows]
    explored = me.explore(text_matches=["Sarah Chen"], granularity=1).episodic.sources
    sarah = next((node for node in me.people().nodes if node.name == "Sarah Chen"), None)
    walked = me.traverse(seed_nodes=[sarah.id]).reached if sarah else ()
    hits = me.recall("Who got a new dog?").hits
    before = {"known_at": "2026-03-10"}
    found = {
        "sources": [each.id for each in me.sources().sources],
        "recall": [hit.citation.source for hit in hits if hit.citation],
        "cypher": keys,
        "explore": [each.entity_key for each in explored],
        "walk": [each.entity_key for each in walked],
        "node": [each.id for each in me.node(sarah.id).sources] if sarah else [],
        "recall of then": [
            hit.citation.source
            for hit in me.recall("Who got a new dog?", **before).hits
            if hit.citation
        ],
        "sources of then": [each.id for each in me.sources(**before).sources],
        "stats": [source] * me.stats().sources,
    }
    for name, ask in {"show": me.show, "show of then": lambda id: me.show(id, **before)}.items():
        try:
            found[name] = [ask(source).source.id]
        except NotFound:
            found[name] = []
    return {name for name, ids in found.items() if source in ids}


ALL = {"sources", "recall", "cypher", "explore", "walk", "node", "show", "stats"}
THEN = {"recall of then", "sources of then", "show of then"}


def test_expiry_hides_an_ephemeral_source_from_every_read(me, clock):
    source = brought(me, ttl_policy="ephemeral")
    clock.tick(days=30, microseconds=-1)
    assert everywhere(me, source) == ALL | THEN
    clock.tick(microseconds=1)
    assert everywhere(me, source) == set()
    for ask in (me.forget, me.restore):
        with pytest.raises(NotFound):
            ask(source)
    assert me.sources(forgotten=True).sources == ()


def test_tidy_deletes_an_expired_source_with_dependent_memories_and_nodes(me, clock):
    source = brought(me, ttl_policy="ephemeral")
    brought(me, "Ana: My neighbour Noa Levi works at Acme.")
    assert any("4711" in memory.content for memory in me.list().memories)
    clock.tick(**END)
    assert me.tidy().expired == 1
    assert {node.name for node in me.people().nodes if not node.is_owner} == {"Noa Levi"}
    assert {node.name for node in me.entities().nodes} == {"Acme"}
    assert not [memory for memory in me.list().memories if "4711" in memory.content]
    assert me.verify_forget("tulip").clean
    assert me.verify_forget("Sarah Chen").clean
    ended = [row["event"] for row in me.history(source)]
    assert ended[:2] == ["DELETE", "TTL"]
    assert me.tidy().changed == 0
    assert brought(me) != source  # it may come anew


def test_expiry_of_a_team_source_applies_to_members_and_guests(book, clock):
    bob, eve, guest = (book.user(name) for name in ("bob", "eve", "guest"))
    guest.remember("Buy bread")
    team = bob.teams_create("garden").id
    bob.teams_invite(team, "eve")
    eve.teams_join(team)
    source = brought(bob, team=team, ttl_policy="ephemeral", participants=["guest"])
    guest.sources_accept(source)
    eve.extract([source])
    for reader in (bob, eve, guest):
        assert source in {each.id for each in reader.sources().sources}
        assert reader.recall("Who got a new dog?").hits
    clock.tick(**END)
    for reader in (bob, eve, guest):
        assert source not in {each.id for each in reader.sources().sources}
        found = reader.recall("Who got a new dog?").hits
        assert not [hit for hit in found if hit.citation and not hit.weak]
        assert not reader.recall("Who got a new dog?", known_at="2026-03-10", strict=True).hits
    for _ in range(2):  # the team's night, and then that of each member
        book.tidy_what_is_due()
        clock.tick(days=1)
    for reader in (bob, eve):
        assert {node.name for node in reader.people().nodes if not node.is_owner} == set()
        assert reader.verify_forget("Sarah Chen").clean


def test_keep_forever_source_keeps_full_salience(me, clock):
    kept, other = brought(me, ttl_policy="keep_forever"), brought(me, "Ana: Noa Levi is my boss.")
    clock.tick(days=2000)
    me.tidy()
    rows = me.traverse(
        cypher="MATCH (s:Source) RETURN s.entity_key, s.ttl_policy, s.salience, s.state"
    ).rows
    told = {key: rest for key, *rest in rows}
    assert told[kept] == ["keep_forever", 1.0, "core"]
    assert told[other][0] == "decay"
    assert told[other][2] == "archived"
    me.traverse(seed_nodes=[kept])
    assert me.show(kept).source.ttl_policy == "keep_forever"


def test_keep_forever_source_outranks_team_retention(book, clock):
    bob = book.user("bob")
    team = bob.teams_create("garden", retention_days=10).id
    kept = brought(bob, team=team, ttl_policy="keep_forever")
    brought(bob, "Bob: Noa Levi is my boss.", team=team)
    clock.tick(days=11)
    book.tidy_what_is_due()
    assert [each.id for each in bob.sources().sources] == [kept]


def test_reingest_changes_the_ttl_policy_of_a_source(me, clock):
    source = brought(me, ttl_policy="ephemeral")
    clock.tick(days=20)
    assert me.ingest(MEETING, format="transcript", ttl_policy="keep_forever").action == "updated"
    clock.tick(days=20)
    assert everywhere(me, source) >= ALL
    said = me.show(source).source
    with pytest.raises(InvalidInput, match="expired already"):
        me.ingest(MEETING, format="transcript", ttl_policy="ephemeral")
    assert me.show(source).source == said
    with pytest.raises(InvalidInput):
        me.ingest("Something else", ttl_policy="for a while")


def test_expiry_of_a_source_applies_in_another_process(book, open_book, clock):
    me = book.user("ana")
    source = brought(me)
    other = open_book().user("ana")
    assert other.recall("Who got a new dog?").hits
    me.ingest(MEETING, format="transcript", ttl_policy="ephemeral")
    clock.tick(**END)
    assert not [hit for hit in other.recall("Who got a new dog?").hits if hit.citation]
    assert source not in {each.id for each in other.sources().sources}


def test_export_and_import_keep_the_ttl_policy_of_a_source(me, book):
    source = brought(me, ttl_policy="ephemeral")
    lines = list(me.export())
    there = book.user("eve")
    there.import_(lines)
    assert there.show(source).source.ttl_policy == "ephemeral"
    old = [line.replace('"ttl_policy":"ephemeral",', "") for line in lines]
    assert old != lines
    book.user("kim").import_(old)
    assert book.user("kim").show(source).source.ttl_policy == "decay"


def test_what_only_an_ephemeral_source_told_ends_at_the_instant(me, clock):
    brought(me, ttl_policy="ephemeral")
    brought(me, "Ana: My neighbour Noa Levi works at Acme. My rose code is 4712.")
    clock.tick(days=30, microseconds=-1)
    assert [memory for memory in me.list().memories if "4711" in memory.content]
    clock.tick(microseconds=1)
    assert not [memory for memory in me.list().memories if "4711" in memory.content]
    assert [memory for memory in me.list().memories if "4712" in memory.content]
    assert {node.name for node in me.people().nodes if not node.is_owner} == {"Noa Levi"}
    assert {node.name for node in me.entities().nodes} == {"Acme"}
    assert "Sarah" not in me.context("Who is Sarah Chen?").text
