"""What a guest's index is made of: the granted sources, and nothing else of that scope."""

from __future__ import annotations

from datetime import timedelta

import pytest

from commonplace.model.access.principal import ReadableScope, Scope
from commonplace.model.journal import Event
from commonplace.model.memory.lifecycle import PointInTime
from commonplace.model.memory.memory import State
from commonplace.store.cache.index_cache import IndexCache
from commonplace.store.cache.scope_index import NO_COUNTERS, ScopeIndex
from commonplace.store.queries import GrantedSources, SourcesById
from support.clock import START
from support.making import ANA, EMBEDDER, a_memory, adding, changeset
from support.sources import a_source, altering, bringing, ending, filling

ELSEWHERE = Scope("user:only the granted ones")


def fill(store, scope, sources):
    for source, texts in sources:
        store.apply(changeset(bringing(source), scope=scope))
        store.apply(changeset(filling(source, texts), scope=scope))


def whole(store, scope):
    index = ScopeIndex(EMBEDDER.dimension)
    index.absorb(store.index_page(scope, NO_COUNTERS.seq, NO_COUNTERS.epoch))
    return index.fingerprint()


def granted(store, scope, *sources, then=None):
    ids = [source.id for source in sources]
    index, more = ScopeIndex(EMBEDDER.dimension), {"then": then} if then else {}
    index.absorb(
        store.index_page(scope, NO_COUNTERS.seq, NO_COUNTERS.epoch, GrantedSources(ids, **more))
    )
    return index.fingerprint()


NOTHING = ScopeIndex(1).fingerprint()


@pytest.fixture
def talks(store):
    """Two that are granted and two that are not, among memories."""
    found = [a_source(f"talk {n}", participants=("ana", f"Person {n}")) for n in range(4)]
    texts = [[f"The heron {n}", "The blue kettle"] for n in range(4)]
    store.apply(changeset(adding(a_memory("A private kettle"))))
    fill(store, ANA, zip(found, texts, strict=True))
    fill(store, ELSEWHERE, zip(found[:2], texts[:2], strict=True))
    return found


def test_granted_index_equals_the_index_of_a_scope_with_only_those_sources(store, talks):
    assert granted(store, ANA, *talks[:2]) == whole(store, ELSEWHERE)
    assert granted(store, ANA) == NOTHING


def test_granted_index_excludes_forgotten_sensitive_erased_and_foreign_sources(store, talks):
    one, two, three, four = store.sources(ANA, SourcesById([source.id for source in talks]))
    store.apply(changeset(altering(one, state=State.SOFT_DELETED)))
    store.apply(changeset(altering(two, sensitivity="high")))
    store.apply(changeset(ending(three, Event.ERASE)))
    assert granted(store, ANA, one, two, three) == NOTHING
    assert granted(store, Scope("user:somebody else"), four) == NOTHING
    assert granted(store, ANA, four) != NOTHING


def test_granted_index_page_is_empty_while_the_scope_is_unchanged(store, talks):
    ids = [talks[0].id]
    page = store.index_page(ANA, NO_COUNTERS.seq, NO_COUNTERS.epoch, GrantedSources(ids))
    known = page.counters
    assert page.passages
    again = store.index_page(ANA, known.seq, known.epoch, GrantedSources(ids))
    assert (again.counters, again.sources, again.passages) == (known, (), ())


def test_granted_index_of_a_past_moment_holds_passages_said_by_then(store, talks):
    """The first passage was said one minute after the start, the second two minutes after it."""
    first = PointInTime(as_of=START + timedelta(seconds=90))
    told = granted(store, ANA, talks[0], then=first)
    assert f"{talks[0].id}#1" in told
    assert f"{talks[0].id}#2" not in told
    assert granted(store, ANA, talks[0], then=PointInTime(as_of=START)) == NOTHING
    assert (
        granted(store, ANA, talks[0], then=PointInTime(known_at=START - timedelta(days=1)))
        == NOTHING
    )


def test_granted_index_cache_follows_every_change_of_granted_sources(store, talks):
    cache = IndexCache(store, EMBEDDER.dimension)
    reading = ReadableScope(ANA, is_own=False, sources=frozenset(talk.id for talk in talks[:2]))

    def kept():
        with cache.holding([reading]) as (index,):
            return index.fingerprint()

    def fresh():
        return granted(store, ANA, *talks[:2])

    def first():
        return store.sources(ANA, SourcesById([talks[0].id]))[0]

    assert kept() == fresh() != NOTHING
    store.apply(changeset(filling(first(), ["A third heron"])))
    assert kept() == fresh()
    store.apply(changeset(adding(a_memory("Another private kettle"))))
    assert kept() == fresh()
    store.apply(changeset(altering(first(), state=State.SOFT_DELETED)))
    assert kept() == fresh()
    store.apply(changeset(altering(first(), state=State.ACTIVE)))
    assert kept() == fresh()
    store.apply(changeset(ending(first(), Event.ERASE)))
    assert kept() == fresh() != NOTHING


def test_index_cache_drop_of_a_scope_drops_granted_indexes(store, talks):
    cache = IndexCache(store, EMBEDDER.dimension)
    guest = ReadableScope(ANA, is_own=False, sources=frozenset([talks[0].id]))
    with cache.holding([ReadableScope(ANA), guest, ReadableScope(ELSEWHERE)]):
        pass
    cache.drop(ANA)
    assert cache.scopes() == [ELSEWHERE.key]
