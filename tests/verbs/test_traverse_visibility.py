"""What traverse sees and remembers to have read: every source that may be read, whatever became of
it, the artifacts of an agent, and nothing of others."""

from __future__ import annotations

import pytest

from commonplace.errors import NotFound
from commonplace.store.queries import GraphQuery

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


def test_traverse_sees_sources_before_extraction(me):
    brought(me, "Monday", SPEAKING)
    assert titles(me) == ["Monday"]
    me.extract()
    brought(me, "Tuesday")
    assert titles(me) == ["Monday", "Tuesday"]
    told = "MATCH (s:Source) WHERE NOT (s)-[:mentions]->() RETURN s.name, s.processing_status"
    assert me.traverse("cypher", cypher=told).rows == (("Tuesday", "processed"),)
    me.extract()
    assert titles(me) == ["Monday", "Tuesday"]


def test_traverse_reflects_forget_restore_erase_and_ingest_at_once(me):
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


def test_traverse_shows_a_sensitive_source_only_when_cleared(book, me):
    brought(me, "Openly")
    brought(me, "Secretly", sensitivity="high")
    assert titles(me) == ["Openly"]
    assert titles(book.user("ana", cleared=True)) == ["Openly", "Secretly"]


def test_traverse_shows_sources_to_agents_with_access_only(me):
    brought(me, "Monday")
    assert titles(me.agent("reader")) == ["Monday"]
    assert titles(me.agent("baker")) == []


def test_traverse_shows_team_and_shared_sources_while_readable(book, me):
    bob, eve = book.user("bob"), book.user("eve")
    team = bob.teams_create("garden").id
    bob.teams_invite(team, "ana")
    me.teams_join(team)
    brought(me, "Mine")
    brought(bob, "The team's", team=team)
    shared = brought(eve, "Eve's, shared")
    brought(eve, "Eve's own")
    eve.sources_share(shared, "ana")
    assert titles(me) == ["Mine", "The team's"]
    me.sources_accept(shared)
    assert titles(me) == ["Eve's, shared", "Mine", "The team's"]
    assert titles(bob) == ["The team's"]
    assert titles(eve) == ["Eve's own", "Eve's, shared"]
    eve.sources_unshare(shared, with_user="ana")
    bob.teams_remove(team, "ana")
    assert titles(me) == ["Mine"]


def test_traverse_accepts_an_unextracted_source_as_seed(me):
    assert me.traverse("ppr", seed_nodes=[brought(me, "Monday")]).reached == ()


# ——— what was read ———


@pytest.mark.parametrize(
    "returned",
    ["p", "collect(p)", "{who: p}", "path", "[path]", "nodes(path)", "p.entity_key"],
)
def test_traverse_marks_returned_items_as_read(book, me, returned):
    brought(me, "Monday", SPEAKING)
    me.extract()
    sarah = me.node("Sarah Chen").node.id
    me.traverse(
        "cypher",
        cypher="MATCH path = (p:Person {name: 'Sarah Chen'})-[r:associated_with]-(e:Entity) "
        f"RETURN {returned}",
    )
    book.flush()
    read = book._engine.store.graph_items(me.principal.own_scope, GraphQuery(marks=None)).marks
    assert read[sarah].access_count == 1
    of_path = {id for id in read if id.startswith(("edge:", "node:"))} - {sarah}
    assert len(of_path) == (2 if returned in ("path", "[path]") else "nodes" in returned)


def test_traverse_marks_no_synthetic_edges_or_literal_ids_as_read(book, me):
    brought(me, "Monday", SPEAKING)
    me.extract()
    me.traverse(
        "cypher", cypher="MATCH (:Source)-[m:mentions]->() RETURN m, 'node:x', [['edge:y']]"
    )
    book.flush()
    assert (
        book._engine.store.graph_items(me.principal.own_scope, GraphQuery(marks=None)).marks == {}
    )


# ——— artifacts ———


@pytest.fixture
def draft(me):
    """An agent's, made of a source that tells of Sarah."""
    source = brought(me, "Monday", SPEAKING)
    me.extract()
    return me.artifacts_create("Letter to Sarah", "Dear Sarah", source=source).id


def walked(me, seed):
    return {each.name: each for each in me.traverse("ppr", seed_nodes=[seed]).reached}


def test_traverse_connects_an_artifact_with_its_source(me, draft):
    found = walked(me, draft)
    assert {"Monday", "Sarah Chen", "Lumora Labs"} <= found.keys()
    assert found["Monday"].path == ("Letter to Sarah", "—produced→ Monday")
    assert found["Sarah Chen"].path[-1] == "—mentions→ Sarah Chen"
    back = walked(me, "Sarah Chen")["Letter to Sarah"]
    assert (back.entity_key, back.node_type, back.depth) == (draft, "Artifact", 2)
    assert (
        me.explore(text_matches=["letter"], granularity=1).episodic.artifacts[0].entity_key == draft
    )


def test_traverse_accepts_an_artifact_without_a_source_as_seed(me, draft):
    alone = me.artifacts_create("A list", "bread").id
    assert walked(me, alone) == {}


def test_traverse_hides_artifacts_without_access(book, me, draft):
    secret = me.artifacts_create("A secret", "hush", sensitivity="high").id
    gardener = me.agent("gardener")  # may not see knowledge
    assert "Letter to Sarah" not in walked(gardener, "Sarah Chen")
    for who, which in ((gardener, draft), (book.user("bob"), draft), (me, secret)):
        with pytest.raises(NotFound):
            walked(who, which)
    baker = me.agent("baker")  # sees the letter, and not where it is from
    assert walked(baker, draft) == {}
    me.forget(draft)
    assert "Letter to Sarah" not in walked(me, "Sarah Chen")


# ——— names ———


def test_traverse_names_an_untitled_source_by_its_beginning(me):
    said = SPEAKING + " We talked about the plans for the harbour and the ships that come in May."
    me.ingest(said, format="text")
    me.extract()
    [source] = [each for each in walked(me, "Sarah Chen").values() if each.node_type == "Source"]
    assert source.name.startswith("My colleague Sarah Chen")
    assert len(source.name) <= 60
    assert "text:" not in " ".join(
        each for place in walked(me, "Sarah Chen").values() for each in place.path
    )
