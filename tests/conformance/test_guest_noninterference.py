"""Whatever else a scope holds, a guest's answers are the same: not a score, not a spelling, not a
known name tells of what was not granted. Nor does what is sensitive in a team show to members."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import commonplace
from commonplace.engine.history.time_travel import context_at
from commonplace.engine.search.plan import RecallPlan
from commonplace.engine.search.recall import recall
from commonplace.model.access.principal import Principal, ReadableScope, Scope
from commonplace.model.memory.lifecycle import PointInTime
from commonplace.model.sources.source import ContentType, SourceType
from support.clock import START, Clock
from support.making import a_memory
from support.scopes import Said, bring, keep

WORDS = ("kettle", "kettel", "garden", "heron", "herron", "blue", "Paris", "boiler")
QUERIES = ("kettel", "What did Dana say about the heron?", "blue garden", "boiler plan", "Mallory")
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
turns = st.builds(Said, text=texts, speaker=st.sampled_from(("Dana", "Mallory", "Ilan", None)))
talks = st.lists(st.lists(turns, min_size=1, max_size=4), min_size=1, max_size=3)
_examples = itertools.count(1)


@pytest.fixture(scope="module")
def shared_book(shared_url):
    clock = Clock()
    book = commonplace.open(
        shared_url, embedder="hashing", clock=clock, worker="off", tidy_on_open=False
    )
    clock.tick(days=40)
    yield book
    book.close()


def owner(book, name, granted, more=(), memories=()):
    """Somebody who granted some talks, and has more."""
    scope = Scope.of_user(name)
    ids = [f"source:{place}" for place in range(len(granted))]
    documents = {"source_type": SourceType.TEXT_IMPORT, "content_type": ContentType.TEXT_NOTE}
    for place, said in enumerate(more):
        kind = documents if place % 2 else {}
        bring(book, scope, said, title="Boiler plan", participants=("Mallory",), **kind)
    for id, said in zip(ids, granted, strict=True):
        bring(book, scope, said, id=id, title="Garden diary", user_id="bob")
    keep(book, scope, [a_memory(text) for text in memories])
    return ReadableScope(scope, is_own=False, sources=frozenset(ids))


def team(book, name, open_talks, hidden=()):
    """A team with sources that its members see, and sensitive ones."""
    scope = Scope(f"team:{name}")
    for place, said in enumerate(hidden):
        bring(
            book, scope, said, participants=("Mallory",), sensitivity="high", id=f"source:x{place}"
        )
    for place, said in enumerate(open_talks):
        bring(book, scope, said, id=f"source:{place}", user_id="bob", team_id="one")
    return ReadableScope(scope, is_own=False)


def answers(book, guest, reading, engine):
    plans = [RecallPlan(query, k=50, explain=True, threshold=0.0) for query in QUERIES]
    plans += [RecallPlan(query, k=50) for query in QUERIES]
    found = recall(engine, guest, plans, scopes=[ReadableScope(guest.scope), reading])
    return [(each.tokens, each.hits) for each in found]


@settings(
    max_examples=10,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(talks, talks, st.lists(texts, max_size=3), talks, st.booleans())
def test_recall_of_a_guest_is_independent_of_ungranted_data(
    shared_book, granted, more, memories, own, looks_back
):
    number = next(_examples)
    guest = Principal(f"guest {number}")
    for said in own:
        bring(shared_book, guest.scope, said)
    bare = owner(shared_book, f"bare {number}", granted)
    rich = owner(shared_book, f"rich {number}", granted, more, memories)
    engine = shared_book._engine
    if looks_back:
        engine = context_at(
            engine, guest, PointInTime(as_of=shared_book._engine.clock(), known_at=START)
        )
    heard = answers(shared_book, guest, bare, engine)
    assert heard == answers(shared_book, guest, rich, engine)
    assert any(hits for _, hits in heard)


def scores(book, member, reading):
    found = answers(book, member, reading, book._engine)
    return [{hit.id: hit.score for hit in hits} for _, hits in found]


@settings(
    max_examples=10,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(talks, talks, talks)
def test_recall_of_a_team_member_is_independent_of_sensitive_sources(
    shared_book, open_talks, hidden, own
):
    number = next(_examples)
    member = Principal(f"member {number}")
    for said in own:
        bring(shared_book, member.scope, said)
    bare = team(shared_book, f"bare {number}", open_talks)
    rich = team(shared_book, f"rich {number}", open_talks, hidden)
    heard = scores(shared_book, member, bare)
    for one, other in zip(heard, scores(shared_book, member, rich), strict=True):
        assert one == pytest.approx(other, abs=1e-4)  # rows were multiplied at other places
    assert any(heard)
