"""The delta header of context and query: nothing important is lost, and nothing is told twice."""

from __future__ import annotations

import pytest

from commonplace.language.text.tokens import count_tokens

NOTES = [{"content": f"Note number {n} on herons", "kind": "note"} for n in range(20)]


@pytest.fixture(autouse=True)
def looked_at(monkeypatch):
    """Few lines at a time, so that a few changes are many."""
    monkeypatch.setattr("commonplace.engine.history.changes.SHORT_DELTA_LINES", 12)


@pytest.fixture(params=["context", "query"])
def header(request):
    def told(handle, **asked):
        if request.param == "query":
            return handle.query("kettle", **asked).header
        parts = {part.layer: part.text for part in handle.context("kettle", **asked).parts}
        return parts.get("changes", "")

    return told


def test_what_is_important_is_told_however_much_came_after_it(me, header):
    me.remember("The kettle explodes", kind="note", importance=5)
    me.remember_many(NOTES)
    assert header(me).split("\n")[1] == "- +created: [knowledge] The kettle explodes (imp=5)"
    assert header(me) == ""


def test_important_things_that_came_and_went_hide_nothing(me, header):
    me.remember("The kettle is blue", kind="note")
    kept = me.remember_many([{**note, "importance": 5} for note in NOTES])
    me.forget([each.id for each in kept])
    assert header(me).split("\n")[1:] == ["- +created: [knowledge] The kettle is blue (imp=2)"]


def test_what_an_agent_may_not_see_does_not_take_the_place_of_what_it_may(me, header):
    me.remember("I prefer tea over coffee", category="preferences")
    me.remember_many([{**note, "importance": 5} for note in NOTES])
    (bullet,) = header(me.agent("stylist")).split("\n")[1:]
    assert bullet == "- +created: [preferences] I prefer tea over coffee (imp=2)"


def test_many_turns_of_a_talk_hide_nothing(me, header):
    me.remember("The kettle is blue", kind="note")
    me.observe_many([{"text": f"So I said {n} things.", "thread": "t9"} for n in range(20)])
    assert "The kettle is blue" in header(me)


# ——— the cursor ———


def test_what_had_no_room_is_told_next_time(me, header):
    me.remember("The kettle is blue")
    assert header(me, budget_tokens=0) == ""
    assert "The kettle is blue" in header(me)
    assert header(me) == ""


def test_the_numbers_of_a_shortened_header_are_true(me):
    for number in range(5):
        me.remember(f"The kettle number {number} has a rather long description, as kettles do")
    seen = set()
    for budget in range(30, 300, 10):
        context = me.context(budget_tokens=budget, thread=f"t{budget}")
        parts = {part.layer: part.text.split("\n") for part in context.parts}
        if told := parts.get("changes"):
            bullets = [line for line in told if "+created" in line]
            seen.add(len(bullets))
            assert told[-1] == f"- … and {5 - len(bullets)} more"
        assert count_tokens(context.text) <= budget
    assert seen == {1, 2, 3}


def test_a_narrowed_context_tells_its_changes_once_and_how_many_others_there_were(me):
    me.remember("I prefer tea over coffee", category="preferences")
    me.remember("The kettle is blue")
    first = me.context(categories=["preferences"])
    assert first.delta.header == "\n".join(
        [
            "Memory updates since rev 0:",
            "- +created: [preferences] I prefer tea over coffee (imp=2)",
            "- … and 1 in other categories",
        ]
    )
    assert first.delta.header in first.text
    assert me.context(categories=["preferences"]).delta.header == ""


def test_the_owner_who_asks_as_an_agent_does_not_use_up_its_news(me):
    me.remember("I need to renew the passport by June")
    assert me.query("passport", agent="planner").header
    planner = me.agent("planner")
    assert planner.query("passport", agent="planner").header  # its own look counts
    assert planner.query("passport").header == ""
