"""A source that names a node which the reader has mentions it, also where it says nothing of it."""

from __future__ import annotations

import pytest


@pytest.fixture
def known(me):
    me.nodes_add("Google", node_type="Entity", type="organization")
    me.nodes_add("Chicago", node_type="Entity", type="location")
    me.nodes_add("Dana Levi", node_type="Person")
    me.nodes_add("דנה כהן", node_type="Person")
    nodes = (*me.people().nodes, *me.entities().nodes)
    return {node.name: node.id for node in nodes if not node.is_owner}


def read(me, text, date="2026-01-05", **given):
    id = me.ingest(text, date=date, **given).id
    me.extract()
    return id


def graph(me):
    return me._engine.graph_cache.of(me.principal.scope).snapshot


def mentioned(me, source):
    """The names of the nodes that a source mentions; not the owner."""
    nodes = graph(me).nodes
    ids = {each.node for each in graph(me).mentions if each.source == source}
    return {nodes[id].name for id in ids if not nodes[id].is_owner}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I negotiated with Google.", {"Google"}),
        ("Google called me back.", {"Google"}),
        ("Dana Levi opened her bakery.", {"Dana Levi"}),
        ("We had a stopover in Chicago.", {"Chicago"}),
        ("אתמול דנה כהן פתחה מאפייה.", {"דנה כהן"}),
        ("We had a stopover in Denver with Rita Stone.", set()),
    ],
)
def test_source_that_names_a_known_node_mentions_it_and_adds_nothing(me, known, text, names):
    before = graph(me)
    source = read(me, text)
    after = graph(me)
    assert mentioned(me, source) == names
    assert {n.name for n in after.nodes.values() if not n.is_owner} == {*known}
    for name in names:
        node = after.nodes[known[name]]
        assert node.mentioned.source_count == node.mentioned.promotion_score == 1
        assert [day.isoformat() for day in node.mentioned.days] == ["2026-01-05"]
        assert (node.description, node.aliases, node.is_dirty) == ("", (), False)
        assert node.id not in after.notes
    assert len(after.edges) == len(before.edges)


def test_mention_is_counted_once_and_extracting_again_changes_nothing(me, known):
    sources = [
        read(me, "I negotiated with Google.", f"2026-01-0{day}", external_id=str(day))
        for day in range(1, 6)
    ]
    node = graph(me).nodes[known["Google"]]
    me.extract(sources)
    again = graph(me).nodes[known["Google"]]
    assert again.mentioned == node.mentioned
    assert again.version == node.version
    assert len(node.mentioned.days) == node.mentioned.source_count == 5


@pytest.mark.parametrize("end", ["forget", "erase"])
def test_mention_goes_with_its_source(me, known, end):
    source = read(me, "I negotiated with Google.")
    getattr(me, end)([source])
    assert mentioned(me, source) == set()
    assert graph(me).nodes[known["Google"]].mentioned.source_count == 0
    if end == "forget":
        me.restore([source])
        assert mentioned(me, source) == {"Google"}


def test_mentions_keep_no_node_that_nothing_else_asserts(me):
    first = read(me, "My sister Rita Stone lives in Haifa.")
    second = read(me, "Rita Stone opened her bakery.", "2026-01-06")
    assert "Rita Stone" in mentioned(me, second)
    me.forget([first])
    assert mentioned(me, second) == set()
    me.restore([first])
    assert "Rita Stone" in mentioned(me, second)
    me.erase([first])
    assert not [n for n in graph(me).nodes.values() if "Rita" in n.name]


def test_name_that_may_be_several_nodes_mentions_none(me):
    me.nodes_add("Tom Weiss", node_type="Person", aliases=["Tommy"])
    me.nodes_add("Tom Levi", node_type="Person", aliases=["Tommy"])
    assert mentioned(me, read(me, "Tommy Brown waved. Then Tom called.")) == set()


def test_part_of_a_name_and_a_similar_name_mention_nobody(me, known):
    assert mentioned(me, read(me, "Dana Levin opened her bakery.")) == set()


def test_common_word_is_no_name(me):
    me.nodes_add("Kitchen", node_type="Entity", type="project")
    assert mentioned(me, read(me, "The kitchen is cold.")) == set()


def test_names_in_machine_text_mention_nobody(me, known):
    talk = '{"role": "assistant", "text": "Call Dana Levi.", "at": "2026-01-05T10:00:00Z"}'
    assert mentioned(me, read(me, talk, format="conversation")) == set()


def test_split_mention_stays_with_the_new_node(me, known):
    source = read(me, "Google called me back.")
    read(me, "I work at Google.", "2026-01-06")
    split = me.split(known["Google"], name="Google Cloud", sources=[source])
    assert mentioned(me, source) == {"Google Cloud"}
    me.extract([source])
    assert mentioned(me, source) == {"Google Cloud"}
    assert split.id != known["Google"]


def test_mentions_of_a_sensitive_source_do_not_count_for_others(me, known):
    read(me, "I negotiated with Google.", sensitivity="high")
    assert graph(me).nodes[known["Google"]].mentioned.source_count == 0
