"""Facts that are told reach the graph in the call that stores them, and leave it with them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from commonplace.errors import NotFound


@pytest.fixture
def book(open_book):
    return open_book(extraction="auto", worker="off", tidy_on_open=False)


def relations(user):
    """The relationships that hold, in a fixed direction where they are mutual."""
    found = [(each.from_name, each.relationship_type, each.to_name) for each in user.edges().edges]
    return sorted((a, type, b) if b != "ana" else (b, type, a) for a, type, b in found)


def test_remember_tells_the_graph_before_it_returns(me):
    me.remember("Mira works at Kelp Labs")
    assert relations(me) == [("Mira", "works-at", "Kelp Labs")]
    assert me.node("Mira").node.name == "Mira"


@pytest.mark.parametrize(
    "said", ["I work at Kelp Labs", "The user works at Kelp Labs", "User works at Kelp Labs"]
)
def test_remember_takes_the_user_for_the_owner(me, said):
    me.remember(said)
    assert relations(me) == [("ana", "works-at", "Kelp Labs")]


def test_observe_tells_the_graph_before_it_returns(me):
    me.observe("My sister Hanna lives in Lyon.", thread="t")
    assert ("Hanna", "lives-in", "Lyon") in relations(me)
    before = relations(me)
    me.extract()
    assert relations(me) == before


def test_observe_learns_nothing_from_the_assistant(me):
    me.observe("Mira works at Kelp Labs, I believe.", thread="t", role="assistant")
    assert relations(me) == []


def test_plain_memories_leave_the_graph_empty(me):
    me.remember("The bins are emptied on Tuesday")
    with pytest.raises(NotFound):
        me.node("me")


def test_a_newer_fact_ends_the_older_one_in_the_graph(me, clock):
    me.remember("Mira works at Kelp Labs", kind="fact")
    clock.tick(days=3)
    me.remember("Mira works at Bluefin now", kind="fact")
    assert relations(me) == [("Mira", "works-at", "Bluefin")]
    assert me.recall("where does Mira work?").hits[0].text == "Mira works at Bluefin now"


@pytest.mark.parametrize(
    "newer",
    [
        {"content": "Dana moved to Lisbon on 20 January 2026"},
        {"content": "Dana lives in Lisbon", "valid_from": "2026-01-20"},
    ],
)
def test_a_newer_statement_with_an_earlier_start_wins(me, clock, newer):
    me.remember("Dana lives in Haifa", kind="fact")
    clock.tick(days=5)
    told = me.remember(kind="fact", **newer)
    assert str(told.memory.state) == "active"
    assert relations(me) == [("Dana", "lives-in", "Lisbon")]
    assert "Lisbon" in me.recall("where does Dana live?").hits[0].text


def test_forgetting_and_restoring_a_memory_takes_its_relations_along(me):
    told = me.remember("Mira works at Kelp Labs")
    me.forget(told.id)
    assert relations(me) == []
    assert me.recall("where does Mira work?").is_empty
    me.restore(told.id)
    assert relations(me) == [("Mira", "works-at", "Kelp Labs")]


def test_erasing_a_memory_erases_what_only_it_said(book, me):
    kept = me.remember("Mira lives in Acre")
    gone = me.remember("Mira works at Quillfeather Labs")
    me.erase(gone.id, now=True)
    assert relations(me) == [("Mira", "lives-in", "Acre")]
    assert me.verify_forget("Quillfeather").clean
    me.erase(kept.id)
    with pytest.raises(NotFound):
        me.node("Mira")


def test_a_fact_told_twice_stays_while_one_telling_does(me):
    one = me.remember("Mira works at Kelp Labs", kind="note")
    me.remember("Since May, Mira works at Kelp Labs in the harbour", kind="note")
    me.erase(one.id)
    assert relations(me) == [("Mira", "works-at", "Kelp Labs")]


def test_updating_a_memory_updates_the_graph(me, clock):
    told = me.remember("Mira works at Kelp Labs", kind="fact")
    clock.tick(hours=1)
    me.update(told.id, content="Mira works at Bluefin")
    assert relations(me) == [("Mira", "works-at", "Bluefin")]


def test_a_sensitive_memory_tells_only_those_who_may_see_it(me):
    told = me.remember("Mira works at Kelp Labs", sensitivity="high")
    assert relations(me) == []
    assert me.recall("who is Mira?").is_empty
    me.update(told.id, sensitivity="normal")
    assert relations(me) == [("Mira", "works-at", "Kelp Labs")]
    me.update(told.id, sensitivity="high")
    assert relations(me) == []


def test_memories_that_are_kept_apart_tell_the_graph_nothing(me):
    me.remember("Mira works at Kelp Labs", ttl_days=2)
    me.remember("Omer works at Bluefin", category="constraints")
    me.remember("Ruth works at Bluefin", kind="log")
    assert relations(me) == []


def test_changes_report_the_memory_and_not_what_follows_from_it(me):
    me.remember("Mira works at Kelp Labs")
    assert [change.bullet for change in me.changes().changes] == [
        "- +created: [knowledge] Mira works at Kelp Labs (imp=2)"
    ]


def test_recall_gives_one_hit_for_a_memory_and_its_relation(me):
    me.remember("Mira works at Kelp Labs")
    assert [hit.text for hit in me.recall("where does Mira work?").hits] == [
        "Mira works at Kelp Labs"
    ]


def test_leaving_at_the_end_of_the_year_ends_nothing_yet(me, clock):
    me.remember("I work at Kelp Labs")
    clock.tick(days=1)
    me.observe("I'm leaving Kelp Labs at the end of the year.", thread="t")
    assert relations(me) == [("ana", "works-at", "Kelp Labs")]
    clock.tick(days=365)
    assert relations(me) == []


def test_a_plan_that_starts_later_does_not_hide_a_friend(me):
    me.observe("My friend Amara and I are taking pottery classes starting in June.", thread="t")
    assert ("ana", "friend", "Amara") in relations(me)


def test_notes_of_an_old_source_live_from_the_day_they_are_added(me, clock):
    me.ingest("Mira borrowed the long ladder.", date="2024-05-01", external_id="old")
    me.extract()
    (note,) = me.node("Mira").notes
    assert note.expires_at == clock() + timedelta(days=30)


def test_told_fact_after_the_clock_was_set_back_is_the_current_one(me, clock):
    me.remember("Noa works at Intel", kind="fact")
    clock.now -= timedelta(days=1)
    me.remember("Noa works at Wix", kind="fact")
    (edge,) = me.edges().edges
    assert edge.to_name == "Wix"
    assert "Wix" in me.recall("where does Noa work?").hits[0].text
