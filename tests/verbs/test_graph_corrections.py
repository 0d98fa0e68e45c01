"""What was read wrongly is put right by somebody's own word, and stays so."""

from __future__ import annotations

import pytest

from commonplace.errors import CategoryNotAllowed, InvalidInput


def talk(me, said, date="2026-01-05"):
    id = me.ingest(f"Ana: {said}", format="transcript", date=date, external_id=said).id
    me.extract([id])
    return id


def names(page):
    return {node.name for node in page.nodes}


@pytest.fixture
def sally(me):
    """Sarah Chen, whom one source wrongly calls Sally."""
    talk(me, "My friend Sarah Chen works at Acme.")
    sarah = me.node("Sarah Chen").node.id
    other = me.agent("reader").nodes_add("Sarah Chen", aliases=["Sally Moon"])
    assert other.id == sarah
    assert "Sally Moon" in me.node(sarah).node.aliases
    return sarah


# ——— rejected names ———


def test_nodes_update_removes_an_alias_and_adds_the_alias_again(me, sally, clock):
    clock.tick(days=1)
    assert me.nodes_update(sally, not_aliases=["SALLY  moon"]).node.aliases == ()
    clock.tick(days=1)
    assert me.nodes_update(sally, description="A pianist").node.aliases == ()
    clock.tick(days=1)
    assert me.nodes_update(sally, aliases=["Sally Moon"]).node.aliases == ("Sally Moon",)


def test_node_known_at_shows_an_alias_removed_later(me, sally, clock):
    before = clock()
    clock.tick(days=1)
    me.nodes_update(sally, not_aliases=["Sally Moon"])
    clock.tick(days=1)
    assert me.node(sally).node.aliases == ()
    assert me.node(sally, known_at=before).node.aliases == ("Sally Moon",)


def test_extract_makes_a_new_node_for_a_removed_alias(me, sally, clock):
    clock.tick(days=1)
    me.nodes_update(sally, not_aliases=["Sally Moon"])
    talk(me, "Sally Moon lives in Haifa.", date="2026-01-09")
    moon = me.node("Sally Moon").node
    assert moon.id != sally
    assert names(me.people()) >= {"Sarah Chen", "Sally Moon"}


def test_extract_again_does_not_restore_a_removed_alias(me, clock):
    """Not even the source that meant it so takes it for that one again."""
    sarah = me.nodes_add("Sarah Chen", aliases=["Ruth Moon"]).id
    source = talk(me, "Ruth Moon lives in Haifa.")
    me.nodes_update(sarah, aliases=[])
    assert me.node(sarah).node.aliases == ("Ruth Moon",)
    clock.tick(days=1)
    me.nodes_update(sarah, not_aliases=["Ruth Moon"])
    assert me.node(sarah).node.aliases == ()
    me.extract([source])
    assert me.node(sarah).node.aliases == ()
    assert me.node("Ruth Moon").node.id != sarah
    told = {(edge.from_name, edge.to_name) for edge in me.edges(limit=100).edges}
    assert ("Ruth Moon", "Haifa") in told
    assert ("Sarah Chen", "Haifa") not in told


def test_nodes_update_removes_a_wrong_alias_of_the_owner(me):
    me.profile_set("preferred name", "Ana")
    me.nodes_update("me", aliases=["ANA Airlines"])
    assert me.node("ANA Airlines").node.is_owner
    assert me.nodes_update("me", not_aliases=["ANA Airlines"]).node.aliases == ()
    me.nodes_add("ANA Airlines", node_type="Entity", type="organization")
    assert not me.node("ANA Airlines").node.is_owner


def test_nodes_update_renames_a_node_without_keeping_the_old_name(me, sally):
    after = me.nodes_update(sally, name="Sarah Levi", not_aliases=["Sarah Chen"]).node
    assert (after.name, after.aliases) == ("Sarah Levi", ("Sally Moon",))


@pytest.mark.parametrize(
    "changes",
    [
        {"not_aliases": ["Sarah Chen"]},
        {"not_aliases": ["sarah chen"]},
        {"not_aliases": ["Sal"], "aliases": ["Sal"]},
    ],
)
def test_nodes_update_refuses_to_remove_the_current_name_or_a_given_alias(me, sally, changes):
    with pytest.raises(InvalidInput) as refused:
        me.nodes_update(sally, **changes)
    assert refused.value.field == "not_aliases"


def test_import_keeps_an_alias_removed(me, sally, clock, open_book):
    clock.tick(days=1)
    me.nodes_update(sally, not_aliases=["Sally Moon"])
    lines = list(me.export())
    other = open_book().user("bea")
    other.import_(lines)
    assert other.node("Sarah Chen").node.aliases == ()


# ——— what it is ———


@pytest.fixture
def wolt(me):
    """A company that was taken for a person."""
    talk(me, "My friend Wolt Ender called.")
    node = me.node("Wolt Ender").node
    assert node.node_type == "Person"
    me.relate("me", node.id, "uses")
    return node.id


def test_nodes_update_changes_node_type_and_keeps_id_and_edges(me, wolt, clock):
    before = clock()
    clock.tick(days=1)
    said = me.nodes_update(wolt, node_type="Entity", type="organization").node
    assert (said.id, said.type, said.subtype) == (wolt, "Entity", "organization")
    assert "Wolt Ender" not in names(me.people())
    assert "Wolt Ender" in names(me.entities(types=["organization"]))
    edge = next(e for e in me.node(wolt).edges if e.relationship_type == "uses")
    assert edge.relationship_kind == "associated_with"
    assert me.node(wolt, known_at=before).node.node_type == "Person"


def test_extract_does_not_override_a_corrected_node_type(me, wolt, clock):
    clock.tick(days=1)
    me.nodes_update(wolt, node_type="Entity", type="organization")
    for source in me.sources().sources:
        me.extract([source.id])
    talk(me, "My colleague Wolt Ender lives in Haifa.", date="2026-01-09")
    assert "Wolt Ender" not in names(me.people())
    assert me.node("Wolt Ender").node.id == wolt


def test_nodes_update_can_change_node_type_back(me, wolt, clock):
    me.nodes_update(wolt, node_type="Entity", type="organization")
    clock.tick(days=1)
    back = me.nodes_update(wolt, node_type="Person").node
    assert (back.type, back.subtype) == ("Person", "")
    assert me.nodes_update(wolt, node_type="Concept").node.type == "Concept"


def test_merge_of_nodes_requires_equal_node_types(me, wolt):
    other = me.nodes_add("Wolt", node_type="Entity", type="organization").id
    with pytest.raises(InvalidInput) as refused:
        me.merge([other, wolt])
    assert "node_type" in refused.value.remedy
    me.nodes_update(wolt, node_type="Entity", type="organization")
    assert me.merge([other, wolt]).node.name == "Wolt"


@pytest.mark.parametrize(
    ("named", "changes", "field"),
    [
        ("me", {"node_type": "Entity"}, "node_type"),
        ("Wolt Ender", {"node_type": "Concept", "type": "organization"}, "type"),
        ("Wolt Ender", {"node_type": "Robot"}, "node_type"),
        ("Wolt Ender", {"node_type": "Entity", "type": "organization", "name": "Acme"}, "name"),
    ],
)
def test_nodes_update_rejects_invalid_node_type_changes(me, wolt, named, changes, field):
    me.nodes_add("Acme", node_type="Entity", type="organization")
    with pytest.raises(InvalidInput) as refused:
        me.nodes_update(named, **changes)
    assert refused.value.field == field


def test_nodes_update_refuses_an_agent_a_type_outside_the_allowlist(open_book, tmp_path):
    """An agent that sees people alone makes no thing of one."""
    (tmp_path / "categories.yaml").write_text("allowlists:\n  rel: [relationships]\n")
    me = open_book(categories=str(tmp_path / "categories.yaml")).user("ana")
    dana = me.nodes_add("Dana Levi").id
    with pytest.raises(CategoryNotAllowed):
        me.agent("rel").nodes_update(dana, node_type="Entity")
