"""Whatever is in the memory and whatever is asked: never over the budget, never another user's,
never what has ended, was superseded or forgotten, never outside the filter."""

from __future__ import annotations

import itertools
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import commonplace
from commonplace.language.text.tokens import count_tokens
from support.clock import Clock
from support.sources import chat, turn

WORDS = ("kettle", "garden", "Paris", "blue", "heron", "Dana", "שלום", "東京", "7", "when")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)
ENDS = ("stays", "expires", "is superseded", "is forgotten", "is erased", "is secret")
ITEMS = st.lists(st.tuples(st.booleans(), st.sampled_from(ENDS), TEXTS), min_size=1, max_size=7)

_users = itertools.count(1)


@pytest.fixture(scope="module")
def shared():
    clock = Clock()
    book = commonplace.open(
        ":memory:", embedder="hashing", clock=clock, tidy_on_open=False, worker="off"
    )
    yield book, clock
    book.close()


def bring(me, clock, is_memory, end, text):
    """Keeps something; returns the id when it must never come back."""
    sensitivity = "high" if end == "is secret" else "normal"
    if not is_memory:
        said = chat(turn("Dana", text), turn("Ilan", f"{text}, you say?", 1))
        external_id = str(next(_users))
        id = me.ingest(said, external_id=external_id, sensitivity=sensitivity, tags=["talk"]).id
    else:
        given = {"ttl_days": 1} if end == "expires" else {}
        id = me.remember(text, kind="note", sensitivity=sensitivity, tags=["note"], **given).id
    if end == "is superseded" and is_memory:
        me.update(id, content=f"{text} indeed {next(_users)}")
    elif end == "is forgotten":
        me.forget(id)
    elif end == "is erased":
        me.erase(id)
    gone = end not in ("stays",) and not (end in ("expires", "is superseded") and not is_memory)
    return id if gone else None


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    items=ITEMS,
    query=TEXTS,
    budget=st.integers(0, 120),
    k=st.integers(1, 12),
    threshold=st.none() | st.floats(0, 1),
)
def test_recall_never_returns_removed_foreign_or_filtered_items(
    shared, items, query, budget, k, threshold
):
    book, clock = shared
    number = next(_users)
    me, other = book.user(f"user {number}"), book.user(f"other {number}")
    never = {bring(me, clock, *item) for item in items} - {None}
    bring(other, clock, True, "stays", query)
    bring(other, clock, False, "stays", query)
    clock.tick(days=2)
    mine = {memory.id for memory in me.list(limit=1000).memories}
    mine |= {source.id for source in me.sources(limit=1000).sources}
    for asker in (me, me.agent("helper")):
        answer = asker.recall(query, k=k, budget_tokens=budget, threshold=threshold)
        assert answer.tokens == (count_tokens(answer.text) if answer.hits else 0)
        assert answer.tokens <= budget
        assert len(answer.hits) <= k
        ids = {hit.id.partition("#")[0] for hit in answer.hits}
        assert not ids & never
        assert ids <= mine
        if threshold is not None:
            known = [hit.similarity for hit in answer.hits if hit.similarity is not None]
            assert all(similarity >= threshold for similarity in known)
        tagged = asker.recall(query, k=k, filters={"tags": ["talk"]}).hits
        assert all(hit.kind == "passage" for hit in tagged)
        early = asker.recall(query, filters={"created_before": clock.now - timedelta(days=999)})
        assert early.is_empty
