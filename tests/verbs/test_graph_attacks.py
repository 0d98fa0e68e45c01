"""What agents and owners tried with the graph, and what became of it."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from commonplace.errors import CategoryNotAllowed, InvalidInput, NotFound, TooLong

SECRET = "Ana: My therapist Quinn Oxblood works at Hushclinic."
OPENLY = "Ana: My sister Noa Levi works at Acme."


CATEGORIES = """
allowlists:
  helper: [relationships, interests, knowledge, history]
  gardener: [knowledge, relationships]
  biologist: [knowledge, interests]
"""


@pytest.fixture
def book(open_book, tmp_path):
    file = tmp_path / "categories.yaml"
    file.write_text(CATEGORIES)
    return open_book(categories=str(file))


@pytest.fixture
def cleared(book, me):
    """The owner as they see all of theirs."""
    return book.user("ana", cleared=True)


@pytest.fixture
def agent(me):
    return me.agent("helper")


def read(me, said, **more):
    source = me.ingest(said, format="transcript", **{"date": "2026-01-05", **more}).id
    me.extract([source])
    return source


def person(me, name):
    return next((node for node in me.people().nodes if node.name == name), None)


def names(me):
    pages = (me.people(), me.concepts(), me.entities())
    return {node.name for page in pages for node in page.nodes if not node.is_owner}


# ——— what a source tells stays the source's ———


@pytest.mark.parametrize("change", [{"ttl_policy": "keep_forever"}, {"description": "A pianist"}])
def test_nodes_update_keeps_no_source_text_after_erase_of_the_source(me, change):
    source = read(me, OPENLY)
    assert person(me, "Noa Levi").aliases == ("My sister",)
    me.nodes_update("Noa Levi", **change)
    me.erase(source, now=True)
    assert me.verify_forget("My sister").clean
    left = person(me, "Noa Levi")
    if "ttl_policy" in change:
        assert left is None
    else:
        assert (left.addresses, left.aliases, left.description) == ((), (), "A pianist")


def test_nodes_update_keeps_earlier_fields_of_the_same_author(me):
    me.nodes_add("Sarah Chen", aliases=["Sar"], description="A cellist")
    me.nodes_update("Sarah Chen", addresses=["sarah@example.org"])
    sarah = me.node("Sarah Chen").node
    assert sarah.description == "A cellist"
    assert sarah.addresses == ("sarah@example.org",)
    assert "Sar" in sarah.aliases


# ——— what is guarded stays guarded, whoever speaks of it ———


@pytest.fixture
def guarded(me):
    """A source of sensitivity high, and what only it tells of."""
    return read(me, SECRET, sensitivity="high")


@pytest.mark.parametrize(
    "say",
    [
        lambda me, id: me.note(id, "Sees me on Mondays"),
        lambda me, id: me.relate("me", id, "trusts"),
        lambda me, id: me.nodes_update(id, description="Listens well"),
        lambda me, id: me.nodes_add("Quinn Oxblood", description="Listens well"),
    ],
)
def test_owner_assertion_on_a_sensitive_node_stays_hidden_from_agents(cleared, agent, guarded, say):
    say(cleared, person(cleared, "Quinn Oxblood").id)
    assert names(agent) == set()
    assert agent.edges().edges == ()
    told = [each.text for each in agent.contributions()]
    assert not [text for text in told if "Quinn" in text or "Mondays" in text]


def test_owner_assertion_on_a_sensitive_node_stays_hidden_after_open_source(
    me, cleared, agent, guarded
):
    quinn = person(cleared, "Quinn Oxblood").id
    cleared.nodes_update(quinn, description="Listens well")
    cleared.note(quinn, "Sees me on Mondays")
    read(me, "Ana: My neighbour Quinn Oxblood works at Acme.")
    shown = agent.node(quinn)
    assert (shown.node.description, shown.notes) == ("Quinn Oxblood is the user's neighbour.", ())
    assert {edge.relationship_type for edge in shown.edges} == {"works-at", "neighbour"}
    cleared.nodes_update(quinn, description="A neighbour")
    assert agent.node(quinn).node.description == "A neighbour"


def test_note_on_a_sensitive_edge_is_hidden_from_agents(me, cleared, agent):
    for name in ("Sarah Chen", "Dan Cohen"):
        me.nodes_add(name)
    read(me, "Ana: Sarah Chen is married to Dan Cohen.", sensitivity="high")
    cleared.note(["Sarah Chen", "Dan Cohen"], "Nobody knows")
    cleared.relate("Sarah Chen", "Dan Cohen", "spouse", description="Since May")
    assert agent.edges().edges == ()
    assert "Nobody knows" not in {each.text for each in agent.contributions()}


def test_artifact_of_a_sensitive_source_is_hidden_from_agents(me, cleared, agent, guarded):
    me.artifacts_create("Letter", "Dear Quinn", content_type="action", source=guarded)
    assert agent.artifacts().artifacts == ()
    assert [each.name for each in cleared.artifacts().artifacts] == ["Letter"]


def test_graph_reads_omit_source_ids_the_agent_may_not_read(me, clock):
    gardener = me.agent("gardener")
    said = "Ana: My sister Sarah Chen works at Acme. Sarah Chen got a new dog."
    source = read(me, said, date=clock().date().isoformat())
    made = me.artifacts_create("Letter", "Dear Sarah", content_type="action", source=source)
    assert [each.source.id for each in me.artifacts().artifacts] == [source]
    assert [each.source for each in gardener.artifacts().artifacts] == [None]
    assert gardener.show(made.id).artifact.source is None
    assert source in {each.source_id for each in me.contributions()}
    assert {each.source_id for each in gardener.contributions()} == {None}
    assert [note.source for note in gardener.node("Sarah Chen").notes] == [None]


@pytest.fixture
def couple(me, cleared):
    """Two whom everybody knows, and that they are married, which is guarded."""
    for name in ("Sarah Chen", "Dan Cohen", "Omer Katz"):
        me.nodes_add(name)
    read(me, "Ana: Sarah Chen is married to Dan Cohen.", sensitivity="high")
    return next(e.id for e in cleared.edges().edges if e.relationship_type == "spouse")


def test_relate_does_not_report_closing_a_hidden_edge(cleared, agent, couple):
    assert agent.relate("Sarah Chen", "Omer Katz", "spouse").closed == ()
    assert cleared.relate("Sarah Chen", "Omer Katz", "spouse").is_new is False


def test_forget_and_restore_of_a_sensitive_edge_answer_not_found(agent, couple):
    for move in (agent.forget, agent.restore):
        with pytest.raises(NotFound):
            move(couple)
    assert agent.relate("Sarah Chen", "Dan Cohen", "spouse").is_new


def test_split_of_a_hidden_merged_node_answers_not_found(me, cleared, agent):
    ann = me.nodes_add("Ann Open").id
    read(me, SECRET, sensitivity="high")
    quinn = person(cleared, "Quinn Oxblood").id
    cleared.merge([ann, quinn])
    with pytest.raises(NotFound):
        agent.split(quinn)
    assert cleared.split(quinn).id == quinn


# ——— a name that somebody else has ———


def test_hidden_node_name_is_refused_without_revealing_the_node_id(me, cleared, agent, clock):
    """By renaming, by splitting, by restoring: the one answer, without an id."""
    mine = agent.nodes_add("Quinn Oxblood")
    agent.forget(mine.id)
    clock.tick(seconds=1)
    read(me, SECRET, sensitivity="high")
    quinn = person(cleared, "Quinn Oxblood").id
    other = agent.nodes_add("Robin Oak", aliases=["Rob"])
    me.nodes_add("Robin Oak", aliases=["Bobby"])
    attempts = (
        lambda: agent.restore(mine.id),
        lambda: agent.nodes_update(other.id, name="Quinn Oxblood"),
        lambda: agent.split(other.id, name="Quinn Oxblood", names=["Robin Oak"]),
    )
    for attempt in attempts:
        with pytest.raises(InvalidInput, match="Another node has the name") as refused:
            attempt()
        assert quinn not in f"{refused.value} {refused.value.remedy}"


def test_nodes_add_of_a_hidden_node_answers_as_for_a_new_node(me, agent, clock):
    read(me, SECRET, sensitivity="high")
    clock.tick(days=1)
    hidden, new = agent.nodes_add("Quinn Oxblood"), agent.nodes_add("Robin Oak")
    assert (hidden.is_new, new.is_new) == (True, True)
    for field in ("version", "created_by", "created_at", "ttl_policy", "aliases", "mentioned"):
        assert getattr(hidden.node, field) == getattr(new.node, field)


def test_note_on_the_owner_requires_access_to_people(me):
    biologist = me.agent("biologist")
    me.nodes_add("Sarah Chen")
    me.note("me", "Sings")
    with pytest.raises(CategoryNotAllowed):
        biologist.note("me", "Likes moss")


# ——— a key for one team ———


def test_team_key_reads_no_graph_assertions_of_another_team(book, me):
    garden, board = (me.teams_create(name).id for name in ("garden", "board"))
    said = "Bob: My colleague Sarah Chen works at Acme. Sarah Chen got a new dog."
    read(me, said, team=board)
    read(me, "Bob: My colleague Dan Cohen works at Hooli.", team=garden)
    read(me, OPENLY)
    me.nodes_add("Robin Oak")
    me.relate("Dan Cohen", "Robin Oak", "friend")
    limited = book.authenticate(me.keys_create("gate", team=garden).token)
    told = {*names(limited), *(each.text for each in limited.contributions())}
    assert not [text for text in told if "Sarah" in text or "dog" in text]
    assert names(limited) >= {"Dan Cohen", "Hooli", "Noa Levi", "Acme", "Robin Oak"}
    found = {e.relationship_type for e in limited.node("Dan Cohen").edges}
    assert {"works-at", "friend"} <= found
    assert "Sarah Chen" in names(me)
    with pytest.raises(NotFound):
        limited.node(person(me, "Sarah Chen").id)


# ——— odd input ———


@pytest.mark.parametrize("field", ["aliases", "addresses"])
def test_nodes_reject_more_than_a_hundred_aliases_or_addresses(me, field):
    many = [f"n{number}@example.org" for number in range(101)]
    assert me.nodes_add("Sarah Chen", **{field: many[:100]}).is_new
    for say in (me.nodes_add, me.nodes_update):
        with pytest.raises(TooLong) as refused:
            say("Sarah Chen", **{field: many})
        assert refused.value.field == field


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:00:00-14:00"])
def test_cypher_datetime_accepts_moments_outside_the_utc_year_range(me, moment):
    query = f"RETURN datetime('{moment}') AS at, datetime('{moment}').epochSeconds <> 0"
    assert me.traverse("cypher", cypher=query).rows == ((moment, True),)


def test_erase_accepts_the_id_of_a_merged_node(me):
    keep, merged = me.nodes_add("Sarah Chen").id, me.nodes_add("Sarah Cohen").id
    me.merge([keep, merged])
    assert merged in me.erase(merged, now=True).ids
    assert names(me) == set()
    assert me.verify_forget("Sarah").clean


def test_graph_graphml_is_well_formed_for_any_node_name(me):
    me.nodes_add("Sarah\ufffe Chen\uffff & <Co>")
    root = ElementTree.fromstring(me.graph(format="graphml"))
    assert "Sarah Chen & <Co>" in {each.text for each in root.iter()}


@pytest.mark.parametrize("name", ["\u200b", "\u2060\u200d"])
def test_nodes_add_rejects_an_invisible_name(me, name):
    with pytest.raises(InvalidInput) as refused:
        me.nodes_add(name)
    assert refused.value.field == "name"


def test_relate_rejects_an_empty_type_and_a_self_relation(me):
    for name in ("Sarah Chen", "Dan Cohen"):
        me.nodes_add(name)
    with pytest.raises(InvalidInput) as refused:
        me.relate("Sarah Chen", "Dan Cohen", " _ ")
    assert refused.value.field == "relationship_type"
    with pytest.raises(InvalidInput) as refused:
        me.relate("Sarah Chen", "Sarah Chen", "friend")
    assert refused.value.field == "to_node"


# ——— what was taken out by hand ———


def test_extract_restores_an_erased_node_only_for_a_named_source(me):
    source = read(me, OPENLY)
    me.erase(person(me, "Noa Levi").id)
    assert me.extract().sources == 0
    assert "Noa Levi" not in names(me)
    me.extract([source])
    assert "Noa Levi" in names(me)
