"""The in-process index is a cache: whatever happened, it equals one built anew, and it keeps to
its memory budget."""

import itertools
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import commonplace
from commonplace.engine.maintenance.vectors import fill_vectors
from commonplace.errors import InvalidInput, NotFound, StoreCorrupt
from commonplace.language.text.terms import analyse
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import build_removal
from commonplace.model.filters import Filters, Visibility
from commonplace.model.journal import Event
from commonplace.store.cache.index_cache import IndexCache
from commonplace.store.cache.scope_index import ScopeIndex
from support.clock import Clock
from support.embedders import Switchable
from support.making import ANA, EMBEDDER, a_memory, adding, changeset, put

WORDS = ("kettle", "garden", "Paris", "blue", "running", "שלום", "東京", "7", "not")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
EVERYTHING = (Filters(), Visibility(cleared=True))

_users = itertools.count(1)


class Writer:
    """One of two open books, each with a cache of its own, on the same store."""

    def __init__(self, url, clock):
        self.embedder = Switchable()
        self.book = commonplace.open(url, embedder=self.embedder, clock=clock, tidy_on_open=False)

    def do(self, name, user_id, text, pick, ids):
        me = self.book.user(user_id, cleared=True)
        with suppress(InvalidInput, NotFound):  # nothing there yet, or gone again
            getattr(self, name)(me, text, ids[pick % len(ids)] if ids else "nothing yet", ids)
        self.embedder.down = False

    def remember(self, me, text, id, ids):
        ids.append(me.remember(text).id)

    def remember_without_a_vector(self, me, text, id, ids):
        self.embedder.down = True
        ids.append(me.remember(text).id)

    def reword(self, me, text, id, ids):
        ids.append(me.update(id, content=text).id)

    def retag(self, me, text, id, ids):
        me.update(id, tags=text.split(), importance=1 + len(text) % 5, pinned=len(text) % 2 == 0)

    def forget(self, me, text, id, ids):
        me.forget(id)

    def restore(self, me, text, id, ids):
        me.restore(id)

    def erase(self, me, text, id, ids):
        me.erase(id)

    def set_profile(self, me, text, id, ids):
        ids.append(me.profile_set("city", text).id)

    def set_profile_without_a_vector(self, me, text, id, ids):
        self.embedder.down = True
        ids.append(me.profile_set("city", text).id)

    def merge(self, me, text, id, ids):
        ids.append(me.merge([id, *ids[:1]]).id)

    def fill_vectors(self, me, text, id, ids):
        fill_vectors(self.book._engine, me.principal, me._link_in_maintenance)

    def read(self, me, text, id, ids):
        """Catches up here, so that later changes reach this cache in another portion."""
        me.recall(text)


DEEDS = sorted(name for name in vars(Writer) if not name.startswith("_") and name != "do")


@pytest.fixture(scope="module")
def two_writers(shared_url):
    clock = Clock()
    pair = (Writer(shared_url, clock), Writer(shared_url, clock))
    yield pair
    for writer in pair:
        writer.book.close()


def rebuilt(store, scope, dimension):
    index = ScopeIndex(dimension)
    index.absorb(store.index_page(scope, 0, -1))
    return index


def scores(index, query, vector, now):
    """BM25, share of terms and cosine of each candidate, by id: the same to the last digit."""
    mask = index.candidates(*EVERYTHING, now)
    words, held = index.bm25(analyse(query), mask)
    slots = np.flatnonzero(mask)
    exact = (index.vectors[slots].astype(float) @ vector.astype(float)).astype(np.float32)
    assert index.cosines(vector, mask)[slots] == pytest.approx(
        np.where(index.has_vector[slots], exact, -np.inf), abs=1e-6
    )
    return {
        index.ids[slot]: (words[slot], held[slot], cosine)
        for slot, cosine in zip(slots.tolist(), exact.tolist(), strict=True)
    }


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    deeds=st.lists(
        st.tuples(st.integers(0, 1), st.sampled_from(DEEDS), TEXTS, st.integers(0, 20)),
        min_size=4,
        max_size=20,
    ),
    query=TEXTS,
)
def test_index_cache_equals_a_rebuild_after_any_interleaving(two_writers, deeds, query):
    user_id = f"user {next(_users)}"
    scope = Scope.of_user(user_id)
    ids = []
    for who, name, text, pick in deeds:
        two_writers[who].do(name, user_id, text, pick, ids)
    vector = two_writers[0].embedder.embed([query])[0]
    for writer in two_writers:
        engine = writer.book._engine
        fresh = rebuilt(engine.store, scope, writer.embedder.dimension)
        with engine.index.reading(scope) as kept:
            assert kept.counters.revision == fresh.counters.revision
            assert kept.fingerprint() == fresh.fingerprint()
            now = engine.clock()
            assert scores(kept, query, vector, now) == scores(fresh, query, vector, now)


def test_index_cache_of_a_large_scope_equals_a_rebuild(store):
    """Far enough that columns are enlarged and postings are folded, in many portions."""
    cache = IndexCache(store, EMBEDDER.dimension)
    words = [f"word{number}" for number in range(120)]
    for portion in range(12):
        picked = [" ".join(words[(portion * 7 + n) % 80 :][:40]) for n in range(12)]
        put(store, [a_memory(text) for text in picked])
        with cache.reading(ANA) as kept:
            kept.bm25(words[:3], kept.live[: kept.size])
    with cache.reading(ANA) as kept:
        fresh = rebuilt(store, ANA, EMBEDDER.dimension)
        assert kept.size == fresh.size == 144
        assert kept.fingerprint() == fresh.fingerprint()


def test_index_recovers_after_an_interrupted_catch_up(store):
    first, second = a_memory("kettle"), a_memory("garden")
    put(store, [first])
    index = rebuilt(store, ANA, EMBEDDER.dimension)
    put(store, [second])
    page = store.index_page(ANA, index.counters.seq, index.counters.epoch)
    broken = page.__class__(page.counters, page.rows, [(page.terms[0][0], "")], [(1, b"odd")])
    with pytest.raises(StoreCorrupt):
        index.absorb(broken)
    index.absorb(store.index_page(ANA, index.counters.seq, index.counters.epoch))
    fresh = rebuilt(store, ANA, EMBEDDER.dimension)
    assert index.fingerprint() == fresh.fingerprint()


def test_index_reports_terms_of_a_wrong_type_as_damage(store):
    put(store, [a_memory("kettle")])
    page = store.index_page(ANA, 0, 0)
    broken = replace(page, terms=[(unit, 7, traits) for unit, _, traits in page.terms])
    with pytest.raises(StoreCorrupt):
        ScopeIndex(EMBEDDER.dimension).absorb(broken)


# ——— the budget ———


def owners_with_memories(store, count):
    owners = [Scope.of_user(f"owner {number}") for number in range(count)]
    for owner in owners:
        put(store, [a_memory(f"{owner.key} kettle {n}") for n in range(3)], owner)
    return owners


def texts_found(cache, scope):
    with cache.reading(scope) as index:
        mask = index.candidates(*EVERYTHING, a_memory().created_at)
        words, _ = index.bm25(["kettl"], mask)
        return int((words > 0).sum())


@pytest.fixture
def one_index_weighs(store):
    cache = IndexCache(store, EMBEDDER.dimension)
    owner = Scope.of_user("weighed")
    put(store, [a_memory(f"{owner.key} kettle {n}") for n in range(3)], owner)
    texts_found(cache, owner)
    return cache.nbytes


def test_index_cache_evicts_the_least_recently_used_scope(store, one_index_weighs):
    a, b, c = owners_with_memories(store, 3)
    cache = IndexCache(store, EMBEDDER.dimension, budget=int(one_index_weighs * 2.5))
    for scope in (a, b, a, c):
        assert texts_found(cache, scope) == 3
    assert cache.scopes() == [a.key, c.key]
    assert cache.nbytes <= one_index_weighs * 2.5
    assert texts_found(cache, b) == 3
    assert cache.scopes() == [c.key, b.key]


def test_index_cache_does_not_keep_a_scope_larger_than_the_budget(store, one_index_weighs):
    small = owners_with_memories(store, 1)[0]
    put(store, [a_memory(f"kettle {n}") for n in range(300)])
    cache = IndexCache(store, EMBEDDER.dimension, budget=int(one_index_weighs * 1.5))
    texts_found(cache, small)
    for _ in range(2):
        assert texts_found(cache, ANA) == 300
        assert cache.scopes() == [small.key]  # nobody had to go for it
    assert cache.nbytes == pytest.approx(one_index_weighs, rel=0.2)


def test_erase_removes_the_memory_from_every_index_cache(store):
    doomed, other = a_memory("kettle doomed"), a_memory("kettle other")
    put(store, [doomed, other])
    caches = [IndexCache(store, EMBEDDER.dimension) for _ in range(2)]
    assert [texts_found(cache, ANA) for cache in caches] == [2, 2]
    store.apply(changeset(build_removal(doomed, event=Event.ERASE)))
    for cache in caches:
        with cache.reading(ANA) as index:
            assert index.size == 1
            assert index.slot_of_id.keys() == {other.id}
            assert "doom" not in index.postings._number_of


def test_index_cache_reloads_a_dropped_scope(store):
    put(store, [a_memory("kettle")])
    cache = IndexCache(store, EMBEDDER.dimension)
    assert texts_found(cache, ANA) == 1
    cache.drop(ANA)
    assert (cache.scopes(), cache.nbytes) == ([], 0)
    assert texts_found(cache, ANA) == 1


def test_index_cache_is_usable_after_a_database_error(store, monkeypatch):
    put(store, [a_memory("kettle")])
    cache = IndexCache(store, EMBEDDER.dimension)
    with monkeypatch.context() as broken:
        broken.setattr(store, "_reading", None)
        with pytest.raises(TypeError), cache.reading(ANA):
            raise AssertionError("nothing can be read")
    store.apply(changeset(adding(a_memory("kettle again"))))
    assert texts_found(cache, ANA) == 2
