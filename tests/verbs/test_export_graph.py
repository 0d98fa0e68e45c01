"""export and import of the graph: it arrives as it was, and what is here already does not come
twice."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import pytest

from commonplace.errors import InvalidInput
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import Bookkeeping
from commonplace.model.graph.elements import Mentioned
from commonplace.model.graph.steps import PutStory
from commonplace.model.graph.types import NodeType
from commonplace.store.queries import EndedQuery, UnembeddedQuery
from support.clock import START
from support.graph_making import (
    a_macro,
    a_node,
    a_node_telling,
    a_note,
    a_storyline,
    an_artifact,
    an_edge,
    an_edge_telling,
    an_extraction,
    cited,
    extracted,
    putting_artifact,
    putting_edge,
    putting_node,
    putting_note,
    putting_story,
)
from support.making import ANA, changeset

BEN = Scope.of_user("ben")
TEAMS = cited("source:t", scope="team:crew", passage=2)


@pytest.fixture
def store(book):
    return book._engine.store


@pytest.fixture
def graph(store, me):
    """A bit of everything, of Ana's. Vectors are left to come."""
    me.remember("The lamp is green")
    owner = a_node("Ana", is_owner=True)
    mira = a_node(
        "Mira",
        aliases=("מירה", "Miri"),
        has_meso=True,
        has_macro=True,
        mentioned=Mentioned(source_count=1, first_at=START, days=(date(2026, 3, 1),)),
    )
    miri = a_node("Miri", merged_into=mira.id)
    acme = a_node("Acme", type=NodeType.ENTITY, subtype="organization", stands=False)
    friends = an_edge(owner, mira, attitude=5)
    work = an_edge(mira, acme, "works-at")
    own_word = a_node_telling(owner, source=None)
    steps = [putting_node(owner, own_word), *map(putting_node, (mira, miri, acme))]
    steps += [putting_edge(friends), putting_edge(work, an_edge_telling(work, source=TEAMS))]
    steps += [putting_note(a_note(mira)), putting_note(a_note(friends, source=TEAMS))]
    steps += [putting_artifact(an_artifact(output={"steps": [1, "two"]}))]
    steps += [extracted(an_extraction()), extracted(an_extraction(scope="team:crew"))]
    first, second = a_storyline(mira.id, closed_at=START), a_storyline(mira.id, 100, 105)
    steps += map(putting_story, (first, second, a_macro(mira.id, first, second)))
    without_vectors = [_without_vector(step) for step in steps]
    store.apply(changeset(*without_vectors))
    store.record(Bookkeeping(ANA, START, read={mira.id: True, friends.id: False}))
    return mira


def _without_vector(step):
    if not hasattr(step, "vector"):
        return step
    if isinstance(step, PutStory):
        return replace(step, vector=None)
    return type(step)(step.before, step.after, step.entry, step.text, None, step.assertions)


@pytest.fixture
def learned(me):
    """What Ana has of conversations: read, merged, noted, forgotten by hand and with a source."""
    talks = [
        "Ana: My friend Sarah Chen works at Acme. My brother Dan lives in Haifa.",
        "Ana: My friend Sally Brook works at Globex. My cousin Noa Levi moved to Berlin.",
        "Ana: My colleague Omer Paz likes hiking.",
    ]
    sources = [me.ingest(talk, format="transcript").id for talk in talks]
    me.extract()
    me.merge([me.node(name).node.id for name in ("Sarah Chen", "Sally Brook")])
    me.note("Dan", "Sings in a choir", lifetime="forever")
    fleeting = me.note("Dan", "Has a cold", lifetime="week").id
    plan = me.artifacts_create("plan", {"steps": [1]}, content_type="plan").id
    by_hand = [me.node("Noa Levi").node.id, me.edges(node="Haifa").edges[0].id, fleeting, plan]
    me.forget(by_hand)
    me.nodes_add("Noa Levi")  # another one: the name of a forgotten node is free
    me.forget(sources[2])
    return by_hand


def told(graph):
    """Everything but whose it is."""
    return [
        [each.evolve(user_id="") for each in graph.nodes],
        [each.evolve(user_id="") for each in graph.edges],
        [each.evolve(user_id="") for each in graph.artifacts],
        [_with_no_owner(each) for each in graph.storylines],
        [each.evolve(user_id="") for each in graph.macros],
        graph.marks,
        graph.texts,
    ]


def _with_no_owner(storyline):
    sources = tuple(replace(source, scope="") for source in storyline.sources)
    return storyline.evolve(user_id="", sources=sources)


def test_import_graph_into_an_empty_memory_keeps_all_ids(graph, me, book, store):
    ben = book.user("ben")
    assert ben.import_(list(me.export())).whole
    assert told(store.whole_graph(BEN)) == told(store.whole_graph(ANA))
    assert list(ben.export())[1:] == list(me.export())[1:]
    assert all(finding.ok for finding in ben.doctor())
    assert store.unembedded(BEN, UnembeddedQuery(10)).graph == []


def test_import_graph_rewrites_own_source_scopes_to_the_importer(graph, me, book, store):
    ben = book.user("ben")
    ben.import_(list(me.export()))
    arrived = store.whole_graph(BEN)
    scopes = {each.source.scope for each in arrived.node_assertions if each.source}
    assert scopes == {"user:ben"}
    assert {each.scope for each in arrived.extractions} == {"user:ben", "team:crew"}
    assert arrived.notes[0].source in (None, TEAMS)


def seen(me):
    """What of the graph can be seen, but for when it was last changed."""
    graph = json.loads(me.graph(past=True))
    for node in graph["nodes"]:
        del node["updated_at"]
    return graph


def test_import_graph_keeps_merged_noted_and_forgotten_items(learned, me, book, store):
    ben = book.user("ben")
    ben.import_(list(me.export()))
    assert told(store.whole_graph(BEN)) == told(store.whole_graph(ANA))
    assert (
        store.ended_graph_items(BEN, EndedQuery()).forgotten
        == store.ended_graph_items(ANA, EndedQuery()).forgotten
    )
    assert seen(ben) == seen(me)
    sarah = ben.node("Sarah Chen").node
    assert sarah.id == ben.node("Sally Brook").node.id == me.node("Sarah Chen").node.id


def test_import_graph_keeps_forgotten_items_restorable(learned, me, book):
    """But for the node whose name another has by now."""
    ben = book.user("ben")
    ben.import_(list(me.export()))
    _, edge, note, plan = learned
    for one in (me, ben):
        assert set(one.restore([edge, note, plan]).ids) == {edge, note, plan}
    assert seen(ben) == seen(me)
    assert "Has a cold" in [note.content for note in ben.node("Dan").notes]
    assert ben.artifact(plan)


def test_import_graph_does_not_join_nodes_to_a_forgotten_node(learned, me, book):
    """Beside others: what comes of a name is told of the node that has it now."""
    ben = book.user("ben")
    gone = ben.nodes_add("Dan").id
    ben.forget(gone)
    assert not ben.import_(list(me.export())).whole
    assert ben.node("Dan").node.id == me.node("Dan").node.id
    assert ben.restore(learned[2]).ids


def test_import_graph_twice_adds_nothing(graph, me, book, store):
    ben = book.user("ben")
    lines = list(me.export())
    ben.import_(lines)
    before, revision = store.whole_graph(BEN), store.counters(BEN).graph
    ben.import_(lines)
    me.import_(lines)
    assert store.whole_graph(BEN) == before
    assert store.counters(BEN).graph == revision
    assert list(me.export()) == lines


def test_import_graph_adds_assertions_to_an_existing_node_by_name(graph, me, book, store):
    mira = a_node("Mira", user_id="ben", description="The cellist")
    assertion = a_node_telling(mira, source=None, description="The cellist")
    store.apply(changeset(putting_node(mira, assertion), scope=BEN))
    ben = book.user("ben")
    assert not ben.import_(list(me.export())).whole
    arrived = store.whole_graph(BEN)
    [known] = [node for node in arrived.nodes if node.name == "Mira"]
    assert (known.id, known.description) == (mira.id, "The cellist")
    assert known.mentioned.source_count == 1, "as many as now tell of it"
    assert graph.id not in {node.id for node in arrived.nodes}
    assert len(arrived.edges) == 2
    assert all(mira.id in edge.ends for edge in arrived.edges)
    assert [node.merged_into for node in arrived.nodes if node.name == "Miri"] == [mira.id]
    assert all(finding.ok for finding in ben.doctor())
    revision = store.counters(BEN).graph
    ben.import_(list(me.export()))
    assert store.counters(BEN).graph == revision


def test_import_treats_a_memory_with_only_a_graph_as_nonempty(graph, me, book, store):
    store.apply(changeset(putting_node(a_node("Noa", user_id="ben")), scope=BEN))
    assert not book.user("ben").import_(list(me.export())).whole
    assert len(store.whole_graph(BEN).nodes) == 5


# Fields that came to them since.
LATER = {"node_telling": "not_called", "edge_telling": "beside", "extraction": "heard"}


def test_import_graph_accepts_an_export_of_an_older_version(graph, me, book, store):
    lines = [json.loads(line) for line in me.export()]
    older = [{k: v for k, v in line.items() if k != LATER.get(line["type"])} for line in lines]
    assert older != lines
    assert book.user("ben").import_(list(map(json.dumps, older))).whole
    assert told(store.whole_graph(BEN)) == told(store.whole_graph(ANA))
    assert {each.heard for each in store.whole_graph(BEN).extractions} == {()}


def lines_with(me, type_, **changes):
    lines = [json.loads(line) for line in me.export()]
    for line in lines:
        if line["type"] == type_:
            line.update(changes)
            break
    return [json.dumps(line) for line in lines]


@pytest.mark.parametrize(
    ("type_", "changes"),
    [
        ("node", {"id": "mira"}),
        ("node", {"node_type": "Robot"}),
        ("node", {"confidence": 2}),
        ("node", {"key": "x" * 501}),
        ("node", {"merged_into": "node:nowhere"}),
        ("node", {"surprise": 1}),
        ("edge", {"a": "node:nowhere"}),
        ("edge", {"attitude": 9}),
        ("node_telling", {"node": "node:nowhere"}),
        ("edge_telling", {"edge": "edge:nowhere"}),
        ("edge_telling", {"source": {"id": "source:1"}}),
        ("note", {"about": "node:nowhere"}),
        ("note", {"content": "\ud800"}),
        ("artifact", {"id": "plan"}),
        ("extraction", {"passages": -1}),
        ("storyline", {"anchor": "node:nowhere"}),
        ("storyline", {"sources": []}),
        ("storyline", {"closed_at": None}),
        ("storyline", {"id": "s"}),
        ("macro", {"storylines": ["storyline:nowhere"]}),
        ("macro", {"storylines": []}),
        ("marks", {"salience": 7}),
    ],
)
def test_import_graph_rejects_an_invalid_line_and_imports_nothing(
    graph, me, book, store, type_, changes
):
    with pytest.raises(InvalidInput):
        book.user("ben").import_(lines_with(me, type_, **changes))
    assert store.whole_graph(BEN).is_empty


def test_import_graph_rejects_duplicate_node_names_and_second_owners(graph, me, book):
    lines = list(me.export())
    node = next(told for told in map(json.loads, lines) if told.get("is_owner"))
    for twin in ({"id": "node:2"}, {"id": "node:2", "key": "other"}):
        with pytest.raises(InvalidInput):
            book.user("ben").import_([*lines, json.dumps({**node, **twin})])
