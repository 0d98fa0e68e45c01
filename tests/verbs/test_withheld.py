"""What an allowlist held back is said: the number and the categories, never the contents."""

from __future__ import annotations

import pytest

from commonplace.engine.search.withheld import Withheld


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
