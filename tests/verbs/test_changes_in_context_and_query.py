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
        # Without a question: what is recalled on a first look is not told in the header.
        parts = {part.layer: part.text for part in handle.context(**asked).parts}
        return parts.get("changes", "")

    return told


def test_delta_header_keeps_an_important_change_before_many_notes(me, header):
    me.remember("The door is green")
    header(me)
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
    forgotten = me.remember("I prefer tea over coffee", category="preferences").id
    header(me.agent("stylist"))
    me.forget(forgotten)
    me.remember_many([{**note, "importance": 5} for note in NOTES])
    (bullet,) = header(me.agent("stylist")).split("\n")[1:]
    assert bullet == "- −forgotten: [preferences] I prefer tea over coffee"


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
    threads = {budget: f"t{budget}" for budget in range(30, 300, 10)}
    me.remember("The door is green")
    for thread in threads.values():
        me.changes(thread)
    for number in range(5):
        me.remember(
            f"The kettle number {number} has a rather long description, as kettles do", kind="note"
        )
    seen = set()
    for budget in threads:
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
    assert first.volatile_text.startswith(
        "Memory updates since rev 0:\n- … and 1 in other categories\n"
    )
    assert me.context(categories=["preferences"]).delta.header == ""


def test_query_as_agent_by_owner_does_not_move_the_agents_cursor(me):
    me.remember("I need to renew the passport by June")
    assert me.query("passport", agent="planner").header
    planner = me.agent("planner")
    assert planner.query("passport", agent="planner").header  # its own look counts
    assert planner.query("passport").header == ""


# ——— a first look ———


@pytest.mark.parametrize("count", [3, 4])
def test_delta_header_of_a_first_look_is_whole_or_empty(me, header, count):
    me.remember_many(NOTES[:count])
    bullets = header(me.agent("helper"), thread="new").split("\n")[1:]
    assert len(bullets) == (3 if count == 3 else 0)
    me.remember("The kettle is blue")
    assert "The kettle is blue" in header(me.agent("helper"), thread="new")


def test_delta_header_is_the_same_in_changes_query_and_context(me):
    helper = me.agent("helper")
    me.remember("The door is green")
    for thread in "abc":
        helper.changes(thread)
    me.erase(me.remember("The kettle is blue").id, now=True)
    assert helper.changes("a").header == ""
    assert helper.query("kettle", thread="b").header == ""
    assert helper.context("kettle", thread="c").delta.header == ""


def test_delta_header_leaves_out_what_a_worker_extracted(open_book, clock, header):
    book = open_book(worker="off", extraction="auto")
    me = book.user("ana")
    me.remember("The door is green")
    header(me)
    me.observe("My sister Noa works at Intel.")
    for _ in range(3):
        clock.tick(days=1)
        book.work(once=True)
    assert me.people().nodes
    told = header(me)
    assert "Noa" in told
    assert "(Person)" not in told


def test_delta_header_in_a_context_omits_what_the_stable_part_shows(me):
    me.remember("The door is green")
    me.context()
    me.remember("I prefer tea over coffee", category="preferences")
    told = me.context()
    assert "I prefer tea" in told.stable_text
    assert "Memory updates" not in told.text
    assert "I prefer tea" in told.delta.header
    assert me.context().delta.header == ""
