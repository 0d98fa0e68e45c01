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


def test_delta_header_keeps_an_important_change_before_many_notes(me, header):
    me.remember("The kettle explodes", kind="note", importance=5)
    me.remember_many(NOTES)
    assert header(me).split("\n")[1] == "- +created: [knowledge] The kettle explodes (imp=5)"
    assert header(me) == ""


def test_delta_header_is_not_crowded_out_by_forgotten_changes(me, header):
    me.remember("The kettle is blue", kind="note")
    kept = me.remember_many([{**note, "importance": 5} for note in NOTES])
    me.forget([each.id for each in kept])
    assert header(me).split("\n")[1:] == ["- +created: [knowledge] The kettle is blue (imp=2)"]


def test_delta_header_is_not_crowded_out_by_disallowed_changes(me, header):
    me.remember("I prefer tea over coffee", category="preferences")
    me.remember_many([{**note, "importance": 5} for note in NOTES])
    (bullet,) = header(me.agent("stylist")).split("\n")[1:]
    assert bullet == "- +created: [preferences] I prefer tea over coffee (imp=2)"


def test_delta_header_is_not_crowded_out_by_conversation_turns(me, header):
    me.remember("The kettle is blue", kind="note")
    me.observe_many([{"text": f"So I said {n} things.", "thread": "t9"} for n in range(20)])
    assert "The kettle is blue" in header(me)


# ——— the cursor ———


def test_delta_header_without_token_budget_is_delivered_next_time(me, header):
    me.remember("The kettle is blue")
    assert header(me, budget_tokens=0) == ""
    assert "The kettle is blue" in header(me)
    assert header(me) == ""


def test_context_shortened_delta_header_counts_omitted_changes(me):
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


def test_context_with_categories_counts_changes_in_other_categories(me):
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


def test_query_as_agent_by_owner_does_not_move_the_agents_cursor(me):
    me.remember("I need to renew the passport by June")
    assert me.query("passport", agent="planner").header
    planner = me.agent("planner")
    assert planner.query("passport", agent="planner").header  # its own look counts
    assert planner.query("passport").header == ""
