"""Who is one and who is two stays so, whatever is read afterwards."""

from __future__ import annotations

import pytest


def talk(me, said, date="2026-01-05"):
    id = me.ingest(f"Ana: {said}", format="transcript", date=date, external_id=said).id
    me.extract([id])
    return id


def people(me):
    return {node.name for node in me.people(limit=100).nodes if not node.is_owner}


def relations(me):
    return {
        (edge.from_name, edge.relationship_type, edge.to_name)
        for edge in me.edges(past=True, limit=100).edges
    }


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            ["My manager Ruth Katz works at Wix.", "My manager Noa Bar works at Wix."],
            {"Ruth Katz", "Noa Bar"},
        ),
        (["My brother Dan lives in Haifa.", "My brother Tom lives in Eilat."], {"Dan", "Tom"}),
        (["My brother lives in Haifa.", "My brother Tom lives in Eilat."], {"Tom"}),
        (
            [
                "My brother lives in Haifa.",
                "My brother Tom is in Rome. My brother Dan is in Eilat.",
            ],
            {"My brother", "Tom", "Dan"},
        ),
    ],
)
def test_extract_keeps_holders_of_one_role_as_distinct_people(me, said, expected):
    for each in said:
        talk(me, each)
    assert people(me) == expected


def whole(me):
    return people(me), relations(me), {node.name for node in me.entities(limit=100).nodes}


@pytest.fixture
def two_talks(me, clock):
    """The same woman under two names, in two talks; and what is known of her, once merged."""
    me.observe("My friend Sarah Chen works at Acme.", thread="first")
    clock.tick(days=1)
    me.observe("Sara Kohn lives in Haifa. Sara Kohn has a dog called Rex.", thread="second")
    me.extract()
    apart = whole(me)
    keeper, other = me.node("Sarah Chen").node.id, me.node("Sara Kohn").node.id
    me.merge([keeper, other])
    return keeper, other, apart, whole(me)


def extract_source_again(me):
    for source in me.sources().sources:
        me.extract([source.id])


def go_on_talking(me):
    for thread in ("first", "second"):
        me.observe(f"Good morning, it is now {me.revision}.", thread=thread)
    assert me.extract().sources == 2


@pytest.mark.parametrize("read_again", [extract_source_again, go_on_talking])
def test_extract_again_keeps_merged_nodes_merged_and_split_restores_them(me, two_talks, read_again):
    keeper, other, apart, merged = two_talks
    read_again(me)
    assert whole(me) == merged
    assert me.node(other).node.id == keeper
    me.split(other)
    assert whole(me) == apart
    read_again(me)
    assert whole(me) == apart


def test_extract_assigns_later_statements_to_the_merged_node_until_split(me, two_talks):
    other = two_talks[1]
    me.observe("Sara Kohn works at Globex.", thread="second")
    me.extract()
    assert people(me) == {"Sarah Chen"}
    assert ("Sarah Chen", "works-at", "Globex") in relations(me)
    me.split(other)
    assert ("Sara Kohn", "works-at", "Globex") in relations(me)
    assert ("Sarah Chen", "works-at", "Globex") not in relations(me)


def test_restore_node_is_complete_after_its_thread_grew(me, two_talks):
    keeper, _other, _apart, merged = two_talks
    me.forget([keeper])
    go_on_talking(me)
    assert people(me) == set()
    me.restore([keeper])
    assert whole(me) == merged


@pytest.mark.parametrize("read_again", [extract_source_again, go_on_talking])
def test_extract_again_keeps_nodes_split_by_source_separate(me, clock, read_again):
    """Of two who have one name, each source goes on to mean the one that it meant."""
    me.observe("My friend Sarah Chen works at Acme.", thread="first")
    clock.tick(days=1)
    me.observe("Sarah Chen lives in Haifa.", thread="second")
    me.extract()
    source = next(each.id for each in me.sources().sources if each.thread_id == "second")
    me.split(me.node("Sarah Chen").node.id, name="Sarah of Haifa", sources=[source])
    split = whole(me)
    assert split[0] == {"Sarah Chen", "Sarah of Haifa"}
    assert ("Sarah of Haifa", "lives-in", "Haifa") in split[1]
    read_again(me)
    assert whole(me) == split


def test_split_by_name_assigns_statements_of_one_source_to_the_named_node(me):
    """Split by their names: nothing that the talk said is lost when it goes on."""
    sarah = me.nodes_add("Sarah Chen", aliases=["Ruth"]).id
    me.observe("Sarah Chen works at Acme. Ruth lives in Haifa.", thread="first")
    me.extract()
    assert ("Sarah Chen", "lives-in", "Haifa") in relations(me)
    me.nodes_update(sarah, aliases=[])
    me.split(sarah, name="Ruth Jones", names=["Ruth"])
    me.observe("Good morning to you.", thread="first")
    me.extract()
    assert relations(me) == {
        ("Sarah Chen", "works-at", "Acme"),
        ("Ruth Jones", "lives-in", "Haifa"),
    }


@pytest.mark.parametrize("later", ["Dan Cohen works at Acme.", "Danny works at Acme."])
def test_extract_keeps_edges_when_a_thread_names_a_person_differently(me, later):
    me.observe("My friend Dan lives in Haifa.", thread="first")
    me.extract()
    ids = {edge.id for edge in me.edges().edges}
    me.observe(later, thread="first")
    me.extract()
    assert ids < {edge.id for edge in me.edges().edges}
    (name,) = people(me)
    assert {type for a, type, b in relations(me) if name in (a, b)} == {
        "friend",
        "lives-in",
        "works-at",
    }


def test_extract_again_keeps_edges_when_a_name_became_ambiguous(me):
    """When the talk began there was but one Dan."""
    talk(me, "My colleague Dan Levi works at Acme.")
    me.observe("Dan lives in Haifa.", thread="first")
    me.extract()
    me.nodes_add("Dan Cohen", aliases=["Dan"])
    before = whole(me)
    assert ("Dan Levi", "lives-in", "Haifa") in before[1]
    me.observe("Good morning to you.", thread="first")
    me.extract()
    assert whole(me) == before


def test_extract_again_does_not_bring_back_an_erased_edge(me):
    me.observe("My brother Dan lives in Haifa. My friend Tom lives in Haifa.", thread="first")
    me.extract()
    out = next(e.id for e in me.edges(node="Dan").edges if e.relationship_type == "lives-in")
    me.erase([out])
    before = relations(me)
    me.observe("Tom Levi works at Acme.", thread="first")
    me.extract()
    assert ("Dan", "lives-in", "Haifa") not in relations(me)
    assert len(relations(me)) == len(before) + 1


def test_nodes_update_rename_keeps_the_old_name_as_alias(me):
    dana = me.nodes_add("Dana Levi").id
    assert me.nodes_update("Dana Levi", name="Dana Cohen").node.aliases == ("Dana Levi",)
    assert me.node("Dana Levi").node.id == dana
    talk(me, "Dana Levi works at Wix.")
    assert people(me) == {"Dana Cohen"}
    assert relations(me) == {("Dana Cohen", "works-at", "Wix")}


def test_nodes_update_not_aliases_removes_the_alias_left_by_a_rename(me):
    me.nodes_add("Dana Levi")
    me.nodes_update("Dana Levi", name="Dana Cohen")
    assert me.nodes_update("Dana Cohen", not_aliases=["Dana Levi"]).node.aliases == ()


FRIEND = "My friend Sarah lives in Haifa."
COLLEAGUE = "My colleague Sarah Chen works at Acme."
COUSIN = "My cousin Sarah Levi lives in Rome."


@pytest.mark.parametrize(
    ("order", "friends"),
    [
        ([COLLEAGUE, FRIEND, COUSIN], {"Sarah Chen"}),
        ([COUSIN, FRIEND, COLLEAGUE], {"Sarah Levi"}),
        ([COLLEAGUE, COUSIN, FRIEND], {"Sarah"}),
    ],
)
def test_extract_resolves_an_ambiguous_name_once_by_nodes_known_at_that_time(me, order, friends):
    """The one thing that the order of arrival decides; read again, a source means the same."""
    sources = [talk(me, said) for said in order]

    def met():
        return {
            name
            for a, type, b in relations(me)
            if type == "friend"
            for name in (a, b)
            if name != "ana"
        }

    assert met() == friends
    me.extract(sources)
    assert met() == friends


@pytest.mark.parametrize("first", ["Bob Klein", "Robert Klein"])
def test_merge_nodes_keeps_the_name_of_the_first_and_split_restores_both(me, first):
    talk(me, "Robert Klein lives in Bonn.")
    talk(me, "Bob Klein lives in Cologne.", date="2026-01-12")
    apart = whole(me)
    ids = {name: me.node(name).node.id for name in people(me)}
    (other,) = ids.keys() - {first}
    merged = me.merge([ids[first], ids[other]])
    assert (merged.node.name, merged.node.aliases) == (first, (other,))
    split = me.split(ids[other])
    assert (split.node.name, split.node.aliases) == (other, ())
    assert (split.rest.name, split.rest.aliases) == (first, ())
    assert whole(me) == apart


def test_split_node_keeps_own_name_after_the_merged_node_adopted_the_same(me):
    talk(me, "Robert Klein lives in Bonn.")
    of_bob = talk(me, "Bob Klein lives in Cologne.", date="2026-01-12")
    bob, robert = me.node("Bob Klein").node.id, me.node("Robert Klein").node.id
    me.merge([bob, robert])
    me.forget([of_bob])
    assert me.node(bob).node.name == "Robert Klein"
    assert me.split(robert).node.name == "Robert Klein"
    me.restore([of_bob])
    assert people(me) == {"Robert Klein", "Bob Klein"}
