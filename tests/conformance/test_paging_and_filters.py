"""A filter means one thing: to the database, to the index and to the rule they both follow."""

import itertools
from datetime import timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.model.access.principal import Scope
from commonplace.model.changeset import Bookkeeping
from commonplace.model.filters import FILTER_NAMES, Filters, Visibility
from commonplace.model.memory.kinds import Kind, Stability
from commonplace.model.memory.memory import Sensitivity, State
from commonplace.store.cache.scope_index import ScopeIndex
from commonplace.store.queries import MemoryListing, ScopeQuery
from support.clock import START
from support.making import ANA, EMBEDDER, a_memory, put

NOW = START + timedelta(hours=3)
ALL = 1 << 40
_users = itertools.count(1)

# Few values each, so that filters and memories often meet, and some that need quoting.
WORDS = st.sampled_from(["helper", "it's", 'a "b"', "50%_", "שלום"])
SOME_WORD = st.none() | WORDS
HOURS = st.integers(0, 6).map(lambda hours: START + timedelta(hours=hours))
KINDS = st.sampled_from([Kind.NOTE, Kind.KV, Kind.SOUL])
TAGS = st.lists(WORDS, max_size=3, unique=True).map(tuple)
EXACT = ("agent_id", "run_id", "actor_id", "role", "facet", "thread_id", "source_type", "source_id")

MEMORIES = st.lists(
    st.fixed_dictionaries(
        {
            "kind": KINDS,
            "category": WORDS,
            "tags": TAGS,
            "importance": st.integers(1, 5),
            "pinned": st.booleans(),
            "stability": st.sampled_from(Stability),
            "sensitivity": st.sampled_from(Sensitivity),
            "state": st.sampled_from([State.ACTIVE, State.ACTIVE, *State]),
            "expires_at": st.none() | HOURS,
            "created_at": HOURS,
            "updated_at": HOURS,
            **dict.fromkeys(EXACT, SOME_WORD),
        }
    ),
    max_size=8,
)
FILTERS = st.builds(
    Filters,
    **{name: st.none() | WORDS for name in EXACT},
    kinds=st.lists(KINDS, max_size=2).map(tuple),
    categories=st.lists(WORDS, max_size=2).map(tuple),
    tags=TAGS,
    pinned=st.none() | st.booleans(),
    importance_min=st.none() | st.integers(1, 5),
    importance_max=st.none() | st.integers(1, 5),
    created_after=st.none() | HOURS,
    created_before=st.none() | HOURS,
    updated_after=st.none() | HOURS,
    updated_before=st.none() | HOURS,
)
# Most filters name a few fields; one that names all of them admits nothing.
NAMED = st.sets(st.sampled_from(FILTER_NAMES), max_size=3)
NARROW = st.tuples(FILTERS, NAMED).map(
    lambda drawn: Filters(**{name: getattr(drawn[0], name) for name in drawn[1]})
)
VISIBILITIES = st.builds(Visibility, cleared=st.booleans(), agent=st.none() | WORDS)

thorough = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def new_user() -> Scope:
    return Scope.of_user(f"user {next(_users)}")


@thorough
@given(given_memories=MEMORIES, filters=NARROW, visibility=VISIBILITIES)
def test_filters_agree_between_database_index_and_rule(
    shared_store, given_memories, filters, visibility
):
    scope = new_user()
    memories = [a_memory(**fields) for fields in given_memories]
    if memories:
        put(shared_store, memories, scope)
    index = ScopeIndex(EMBEDDER.dimension)
    index.absorb(shared_store.index_page(scope, 0, -1))

    listing = MemoryListing(filters=filters, visibility=visibility, now=NOW, limit=ALL)
    in_database = [memory.id for memory in shared_store.page(scope, listing)]
    mask = index.candidates(filters, visibility, NOW)
    in_index = {index.ids[slot] for slot in mask.nonzero()[0]}
    by_rule = {
        memory.id
        for memory in memories
        if memory.is_live(NOW) and filters.admits(memory) and visibility.admits(memory)
    }
    assert set(in_database) == in_index == by_rule
    assert len(in_database) == len(by_rule)


@thorough
@given(hours=st.lists(st.integers(0, 2), max_size=7), size=st.integers(1, 3))
def test_memory_pages_show_each_memory_once_newest_first(shared_store, hours, size):
    scope = new_user()
    memories = [a_memory(created_at=START + timedelta(hours=hour)) for hour in hours]
    if memories:
        put(shared_store, memories, scope)
    seen = []
    after = None
    while page := shared_store.page(scope, MemoryListing(limit=size, after=after)):
        assert len(page) <= size
        seen += page
        after = page[-1].id
    assert sorted(memory.id for memory in seen) == sorted(memory.id for memory in memories)
    assert [m.created_at for m in seen] == sorted((m.created_at for m in seen), reverse=True)


def test_memory_page_orders_equal_times_by_latest_written(store):
    first, second = a_memory(), a_memory()
    put(store, [first, second])
    assert [memory.id for memory in store.page(ANA, MemoryListing())] == [second.id, first.id]


def test_memory_listing_selects_by_expiry_purge_supersession_and_stability(store):
    """What has ended, what may be purged, what replaced what, what still waits for an end."""
    ended = a_memory(expires_at=START + timedelta(hours=1))
    pinned = a_memory(expires_at=START + timedelta(hours=1), pinned=True)
    purgeable = a_memory(state=State.SOFT_DELETED, purge_at=START + timedelta(hours=1))
    replaced = a_memory(state=State.SUPERSEDED, superseded_by=ended.id)
    volatile = a_memory(stability=Stability.VOLATILE)
    field = a_memory(id="profile:city")
    put(store, [ended, pinned, purgeable, replaced, volatile, field])

    def ids(**asked):
        return {memory.id for memory in store.page(ANA, MemoryListing(**asked))}

    assert ids(expired_by=NOW) == {ended.id}
    assert ids(expired_by=START) == set()
    assert ids(states=(State.SOFT_DELETED,), purgeable_by=NOW) == {purgeable.id}
    assert ids(states=tuple(State), superseded_by=(ended.id,)) == {replaced.id}
    assert ids(volatile=True) == {volatile.id}
    assert ids(only_profile=True) == {field.id}
    assert ids(now=NOW) == {pinned.id, volatile.id, field.id}


def test_fetch_returns_rows_in_requested_order_without_missing_ids(store):
    a, b = a_memory(), a_memory()
    put(store, [a, b])
    assert [m.id for m in store.fetch(ANA, [b.id, "nobody", a.id, b.id])] == [b.id, a.id]
    assert store.fetch(ANA, []) == []


def test_scopes_are_listed_never_tidied_first(store):
    """Both databases agree on whose turn it is."""
    for name in ("b", "a", "c", "d"):
        put(store, [a_memory()], Scope.of_user(name))
    for hour, name in enumerate(("c", "a")):
        at = START + timedelta(hours=hour)
        store.record(Bookkeeping(Scope.of_user(name), at, tidied=True))
    assert [scope.name for scope in store.scopes()] == ["b", "d", "c", "a"]
    due = store.scopes(ScopeQuery(tidied_before=START + timedelta(minutes=30)))
    assert [scope.name for scope in due] == ["b", "d", "c"]
