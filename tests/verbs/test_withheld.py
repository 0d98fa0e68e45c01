"""What an allowlist or a missing clearance held back is said: the number, never the contents."""

from __future__ import annotations

import pytest

from commonplace.engine.search.withheld import Withheld
from commonplace.errors import NotFound


@pytest.fixture
def planner(me):
    me.remember("I am allergic to peanuts", category="profile")
    me.remember("peanuts are on the shopping list", kind="fact", category="tasks")
    me.remember("The bin day is Thursday", category="knowledge")
    return me.agent("planner")


def test_recall_says_what_the_allowlist_held_back(planner):
    answer = planner.recall("am I allergic to peanuts?")
    assert answer.withheld == Withheld(1, ("profile",))
    assert all(hit.category != "profile" for hit in answer.hits)


def test_query_and_context_say_what_the_allowlist_held_back(planner):
    assert planner.query("am I allergic to peanuts?").withheld == Withheld(1, ("profile",))
    assert planner.context("am I allergic to peanuts?").withheld == Withheld(1, ("profile",))
    assert planner.context().withheld is None


def test_recall_counts_profile_fields_as_withheld(me):
    me.profile_set("city", "Leeds")
    answer = me.agent("planner").recall("where do I live?")
    assert answer.withheld == Withheld(1, ("profile",))


def test_recall_counts_a_memory_and_its_turn_once(me):
    me.agent("assistant").observe("I am allergic to hazelnuts.", thread="t1")
    assert me.list().memories
    answer = me.agent("planner").recall("am I allergic to hazelnuts?")
    assert answer.withheld is not None
    assert answer.withheld.count == 1


def test_recall_says_nothing_of_hidden_items_that_do_not_answer(planner):
    assert planner.recall("peanuts on the shopping list", k=1).withheld is None


def test_recall_says_nothing_to_the_owner_and_to_agents_that_see_all(me, planner):
    assert me.recall("am I allergic to peanuts?").withheld is None
    assert me.agent("my-bot").recall("am I allergic to peanuts?").withheld is None


def test_recall_counts_no_sensitive_items_as_withheld(me):
    me.remember("I am allergic to latex", category="profile", sensitivity="high")
    assert me.agent("planner").recall("allergic to latex").withheld is None


def test_recall_in_asked_categories_withholds_nothing(planner):
    assert planner.recall("allergic to peanuts", categories=["tasks"]).withheld is None


def test_withheld_sentence_names_number_and_categories():
    assert Withheld(1, ("profile",)).sentence == (
        "1 more item is in categories that this agent may not see: profile."
    )
    assert "2 more items are" in Withheld(2, ("profile", "event")).sentence


# ——— sensitivity high ———


@pytest.fixture
def login(me):
    me.remember("The bin day is Thursday")
    return me.remember("My gmail password is Hunter2!x9").id


def test_owner_without_clearance_is_told_of_sensitive_items(me, login):
    for answer in (me.recall, me.query, me.context):
        withheld = answer("what is my gmail password?").withheld
        assert withheld == Withheld(0, (), sensitive=1)
        assert "Hunter2" not in withheld.sentence


def test_owner_is_told_nothing_of_sensitive_items_that_do_not_answer(me, login):
    assert me.recall("when is the bin day?").withheld is None
    assert me.recall("gmail password", categories=["tasks"]).withheld is None
    assert me.recall("gmail password", kinds=["fact"]).withheld is None


def test_clearance_shows_what_was_withheld(me, book, login):
    cleared = book.user("ana", cleared=True).recall("what is my gmail password?")
    assert cleared.withheld is None
    assert [hit.id for hit in cleared.hits] == [login]


def test_agents_are_not_told_of_sensitive_items(me, login):
    assert me.agent("my-bot").recall("what is my gmail password?").withheld is None


def test_sentence_says_how_to_see_sensitive_items():
    assert Withheld(0, (), sensitive=1).sentence == (
        "1 item of sensitivity high was held back. To see such items, ask with clearance: "
        "--cleared, cleared=True, or a cleared key."
    )
    assert "2 items of sensitivity high were" in Withheld(0, (), sensitive=2).sentence


def test_show_by_words_tells_the_owner_how_to_see_sensitive_items(me, login):
    with pytest.raises(NotFound) as refused:
        me.show("gmail password")
    assert "--cleared" in refused.value.remedy
    with pytest.raises(NotFound) as refused:
        me.agent("my-bot").show(login)
    assert "--cleared" not in refused.value.remedy
