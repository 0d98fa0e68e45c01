"""Whatever is remembered and whatever is asked: a context never costs more than its budget, and
is the sum of its parts."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import commonplace
from commonplace.language.text.tokens import count_tokens
from support.clock import Clock
from support.sources import chat, turn

WORDS = (
    "kettle",
    "garden",
    "Paris",
    "blue",
    "heron",
    "Dana",
    "שלום",
    "東京",
    "7",
    "## ",
    "\n- ",
    "🦆",
)
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(" ".join)
TELLING = {
    "soul": {"kind": "soul"},
    "rule": {"kind": "rule", "evidence": ["said so"]},
    "goal": {"kind": "fact", "category": "goals"},
    "preference": {"kind": "note", "category": "preferences"},
    "event": {"kind": "event"},
    "summary": {"kind": "summary"},
    "note": {"kind": "note"},
    "insight": {"kind": "insight"},
    "procedure": {"kind": "procedure", "steps": ["Boil the kettle", "Pour"]},
}
ITEMS = st.lists(
    st.tuples(st.sampled_from([*TELLING, "profile", "talk"]), TEXTS, st.integers(0, 9)),
    max_size=25,
)
BUDGETS = st.one_of(st.integers(0, 60), st.integers(0, 700), st.just(1300), st.just(100_000))

_users = itertools.count(1)


# What a budget holds is counted after the database has answered: one of them in each run.
@pytest.fixture(scope="module", params=("sqlite", pytest.param("postgres", marks=pytest.mark.soak)))
def shared(request):
    clock = Clock()
    url = (
        ":memory:" if request.param == "sqlite" else request.getfixturevalue("postgres").database()
    )
    book = commonplace.open(url, embedder="hashing", clock=clock, tidy_on_open=False, worker="off")
    yield book, clock
    book.close()


def bring(me, what, text):
    if what == "profile":
        me.profile_note(f"{text} {next(_users)}")
    elif what == "talk":
        said = chat(turn("Dana", f"{text} today"), turn("Ilan", f"{text}, you say?", 1))
        me.ingest(said, external_id=str(next(_users)))
    elif what != "soul" or len(me.list(kinds="soul").memories) < 5:
        me.remember(f"{text} {next(_users)}", **TELLING[what])


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(ITEMS, st.none() | TEXTS.filter(str.strip), st.lists(BUDGETS, min_size=1, max_size=4))
def test_context_stays_within_budget_and_equals_the_joined_parts(shared, items, query, budgets):
    book, clock = shared
    me = book.user(f"user {next(_users)}")
    for what, text, hours in items:
        clock.tick(hours=hours)
        bring(me, what, text)
    for budget, handle in itertools.product(budgets, (me, me.agent("supervisor"))):
        context = handle.context(query, budget_tokens=budget)
        assert context.tokens == (count_tokens(context.text) if context.text else 0) <= budget
        assert context.text == "\n\n".join(part.text for part in context.parts)
        assert context.tokens <= sum(part.tokens for part in context.parts)
        cited = [each.id for each in context.citations]
        assert cited == [id for part in context.parts for id in part.ids]
        assert len(cited) == len(set(cited))
    whole = me.whole_context(query or "heron", budget_tokens=budgets[0])
    assert whole.tokens == (count_tokens(whole.text) if whole.text else 0) <= budgets[0]


def test_context_drops_soul_and_rules_last_as_the_budget_shrinks(me):
    """As the budget shrinks, a layer that has gone does not come back before they go."""
    for number, word in enumerate(("kind", "brief", "exact")):
        me.remember(f"Be {word}", kind="soul")
        me.remember(f"Always check the {word} list", kind="rule", evidence=["x"])
        me.remember(f"I prefer {word} letters")
        me.remember(f"Dana wrote letter {number}", kind="event")
    me.profile_set("preferred_name", "Ana")
    whole = me.context("letters", budget_tokens=2000)
    first = [part for part in whole.parts if part.layer in ("soul", "rules")]
    needed = sum(part.tokens for part in first)
    for budget in range(whole.tokens, 0, -7):
        context = me.context("letters", budget_tokens=budget)
        said = {part.layer: part.text for part in context.parts}
        if budget >= needed:
            assert [said[part.layer] for part in first] == [part.text for part in first]
        else:
            assert set(said) <= {"soul", "rules"}
            assert whole.text.startswith(context.text.rstrip("…"))


def test_context_cuts_a_soul_over_budget_with_an_ellipsis(me):
    me.remember("Be kind to herons and " * 200 + "brief", kind="soul")
    context = me.context(budget_tokens=50)
    assert context.text.startswith("## Who you are\n- Be kind to herons and Be kind")
    assert context.text.endswith("…")
    assert 40 < context.tokens <= 50


@pytest.mark.parametrize("budget", [0, 1, 2, 5])
def test_context_with_a_tiny_budget_is_empty(me, budget):
    me.remember("Be kind", kind="soul")
    context = me.context("kind", budget_tokens=budget)
    assert context.text == ""
    assert context.tokens == 0
