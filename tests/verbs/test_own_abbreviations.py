"""A user's own abbreviations: theirs to set, met by recall, and no answer themselves."""

from __future__ import annotations

import pytest

from commonplace.errors import InvalidInput, NotAllowed, TooLong

YC = "The Y Combinator application deadline is 3 May"


def own(me):
    return [(each.short, each.long) for each in me.abbreviations() if each.own]


def test_recall_expands_a_built_in_abbreviation(me):
    me.remember(YC, kind="fact")
    me.remember("The deadline of the tax return is 30 April", kind="fact")
    me.remember("The deadline of the grant is in June", kind="fact")
    assert me.recall("YC deadline").hits[0].text == YC
    assert YC not in [hit.text for hit in me.recall("YCX deadline").hits[:1]]


def test_recall_finds_the_abbreviated_form(me):
    me.remember("The YC deadline is 3 May", kind="fact")
    assert [hit.text for hit in me.recall("YC deadline").hits] == ["The YC deadline is 3 May"]


def test_abbreviate_takes_effect_on_the_next_recall(me):
    me.remember("The tax form number is 4711", kind="fact")
    assert me.recall("TFN", strict=True).is_empty
    answer = me.abbreviate("TFN", "tax form number")
    assert (answer.id, answer.is_new) == ("abbreviation:tfn", True)
    assert [hit.text for hit in me.recall("TFN").hits] == ["The tax form number is 4711"]
    assert me.understand("my TFN").query == "my TFN (tax form number)"


def test_recall_excludes_abbreviations_unless_filtered_by_facet(me):
    me.abbreviate("TFN", "tax form number")
    for query in ("TFN", "tax form number", "TFN stands for tax form number"):
        assert me.recall(query, threshold=0).is_empty
    me.remember(
        "A tax form number has nine digits",
        kind="kv",
        metadata={"subject": "tax form number", "value": "nine digits"},
    )
    (hit,) = me.recall("tax form number").hits
    assert hit.related == ()
    (found,) = me.recall("TFN stands for", filters={"facet": "abbreviation"}).hits
    assert found.id == "abbreviation:tfn"


def test_recall_finds_a_plain_memory_with_the_abbreviation_facet(me):
    me.remember("TLA is a three letter acronym", facet="abbreviation")
    assert len(me.recall("three letter acronym").hits) == 1
    assert own(me) == []


def test_abbreviation_does_not_conflict_with_a_kv_of_the_same_subject(me):
    me.abbreviate("YC", "Yacht Club")
    kept = me.remember(kind="kv", metadata={"subject": "YC", "value": "in Marina street"})
    assert (kept.relation, kept.action) == ("new", "stored")


def test_abbreviate_again_makes_a_new_version(me):
    me.abbreviate("YC", "Yacht Club")
    answer = me.abbreviate("yc", "Young Chefs")
    assert (answer.id, answer.is_new) == ("abbreviation:yc", False)
    assert own(me) == [("yc", "Young Chefs")]
    assert me.understand("Yc").query == "Yc (Young Chefs)"
    versions = [v.memory.metadata["value"] for v in me.show("abbreviation:yc").versions]
    assert versions == ["Yacht Club", "Young Chefs"]
    before = me.revision
    me.abbreviate("yc", "Young Chefs")
    assert me.revision == before


def test_abbreviation_can_be_forgotten_restored_and_erased(me):
    me.abbreviate("TFN", "tax form number")
    me.forget("abbreviation:tfn")
    assert own(me) == []
    assert me.understand("TFN").query == "TFN"
    me.restore("abbreviation:tfn")
    assert me.understand("TFN").query == "TFN (tax form number)"
    me.forget("abbreviation:tfn")
    me.abbreviate("TFN", "tax form number")
    assert own(me) == [("TFN", "tax form number")]
    me.erase("abbreviation:tfn", now=True)
    assert own(me) == []
    assert me.verify_forget("tax form number").clean


def test_update_abbreviation_keeps_its_id(me):
    me.abbreviate("TFN", "tax form number")
    answer = me.update("abbreviation:tfn", metadata={"value": "tax file number"})
    assert answer.id == "abbreviation:tfn"
    assert own(me) == [("TFN", "tax file number")]
    assert me.recall("tax file number").is_empty


def test_update_abbreviation_with_an_unusable_value_disables_expansion(me):
    me.abbreviate("TFN", "tax form number")
    me.update("abbreviation:tfn", metadata={"value": ["one", "two"]})
    assert own(me) == []
    assert me.understand("TFN").query == "TFN"


def test_abbreviation_survives_export_and_import(me, book):
    me.abbreviate("TFN", "tax form number")
    other = book.user("other")
    other.remember(kind="kv", metadata={"subject": "TFN", "value": "4711"})
    other.import_(list(me.export()))
    assert own(other) == [("TFN", "tax form number")]
    assert len(other.recall("TFN").hits) == 1


def test_abbreviation_is_writable_by_the_owner_only(me):
    agent = me.agent("supervisor")
    with pytest.raises(NotAllowed):
        agent.abbreviate("TFN", "tax form number")
    me.abbreviate("TFN", "tax form number")
    assert own(agent) == [("TFN", "tax form number")]
    with pytest.raises(NotAllowed):
        agent.forget("abbreviation:tfn")
    with pytest.raises(NotAllowed):
        agent.update("abbreviation:tfn", metadata={"value": "anything"})
    agent.remember(kind="kv", facet="abbreviation", metadata={"subject": "ABC", "value": "hers"})
    assert own(me) == [("TFN", "tax form number")]


def test_abbreviation_is_hidden_from_agents_without_access(me):
    me.abbreviate("TFN", "tax form number")
    planner = me.agent("planner")
    assert own(planner) == []
    assert planner.understand("TFN").query == "TFN"
    me.update("abbreviation:tfn", sensitivity="high")
    assert own(me.agent("supervisor")) == []


@pytest.mark.parametrize(
    ("short", "long", "error"),
    [
        ("", "x", InvalidInput),
        ("YC", "", InvalidInput),
        ("QZ", "qz", InvalidInput),
        ("?!", "what", InvalidInput),
        ("a b c d e", "five words", InvalidInput),
        ("x" * 41, "long", TooLong),
        ("YC", "x" * 201, TooLong),
        (7, "seven", InvalidInput),
        ("YC", None, InvalidInput),
        ("Y\x00C", "x", InvalidInput),
    ],
)
def test_abbreviate_refuses_invalid_input(me, short, long, error):
    with pytest.raises(error):
        me.abbreviate(short, long)
    assert own(me) == []


def test_recall_known_at_uses_the_abbreviations_of_that_time(me, clock):
    me.remember("The yacht club opens at nine", kind="fact")
    me.remember("The young chefs meet on Monday", kind="fact")
    me.abbreviate("YC", "yacht club")
    then = clock()
    clock.tick(days=1)
    me.abbreviate("YC", "young chefs")
    for _ in range(2):
        (before,) = me.recall("YC", known_at=then).hits
        (now,) = me.recall("YC").hits
        assert (before.text, now.text) == (
            "The yacht club opens at nine",
            "The young chefs meet on Monday",
        )


def test_recall_is_unaffected_by_abbreviations_absent_from_the_query(me):
    for text in ("The boiler was repaired", "The roof leaks", "The boiler is old"):
        me.remember(text, kind="fact")
    before = me.recall("old boiler", explain=True)
    me.abbreviate("TFN", "tax form number")
    after = me.recall("old boiler", explain=True)
    assert [hit.text for hit in after.hits] == [hit.text for hit in before.hits]


def test_abbreviate_to_itself_disables_a_built_in_abbreviation(me):
    me.abbreviate("YC", "YC")
    assert me.understand("YC deadline").query == "YC deadline"


def test_abbreviation_ids_distinguish_space_from_underscore(me):
    assert me.abbreviate("a b", "one").id != me.abbreviate("a_b", "other").id
