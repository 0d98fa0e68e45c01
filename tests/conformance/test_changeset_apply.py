"""A changeset is applied whole or not at all, on the state it was decided on."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from commonplace.errors import StaleDecision, StoreError
from commonplace.model.changeset import LinkMemories, Receipt, build_link, build_removal
from commonplace.model.journal import Event
from commonplace.model.memory.memory import Link
from commonplace.store import failpoints
from commonplace.store.queries import Counters, JournalQuery
from support.clock import START
from support.making import ANA, BOB, a_memory, adding, changeset, put, updating
from support.stores import SCOPED_TABLES, all_rows, raw


class Unplugged(Exception):
    pass


@pytest.fixture
def pull_the_plug():
    """Makes the named moment of a write fail."""

    def at(moment):
        def hook(reached):
            if reached == moment:
                raise Unplugged(moment)

        failpoints.install_hook(hook)

    yield at
    failpoints.install_hook(None)


def test_apply_increments_the_revision_by_one_per_changeset(store):
    revisions = [put(store, [a_memory(), a_memory()]).revision for _ in range(3)]
    assert revisions == [1, 2, 3]
    assert store.counters(ANA).revision == 3


def test_apply_refuses_a_changeset_decided_on_an_old_revision_of_another_scope(store):
    """A changeset without steps asks for that: it moves nothing, and holds its scope in place."""
    put(store, [a_memory()])
    unmoved = changeset(decided_on=1)
    bobs = [changeset(adding(a_memory(user_id="bob")), scope=BOB), unmoved]
    store.apply(*bobs)
    assert (store.counters(ANA).revision, store.counters(BOB).revision) == (1, 1)
    put(store, [a_memory()])
    with pytest.raises(StaleDecision):
        store.apply(*bobs)
    assert store.counters(BOB).revision == 1


def test_apply_counts_revisions_per_scope(store):
    put(store, [a_memory()])
    assert put(store, [a_memory()], BOB).revision == 1
    assert store.counters(ANA).revision == 1


def test_apply_round_trips_every_field_of_a_memory(store):
    whole = a_memory(
        'Ana said "hi" — שלום 你好 100%',
        tags=("a", "é"),
        metadata={"nested": [1, {"b": None}]},
        evidence=("she said so",),
        importance=5,
        confidence=0.25,
        pinned=True,
        facet="note",
        thread_id="t",
        valid_from=START,
    )
    put(store, [whole])
    assert store.fetch(ANA, [whole.id]) == [whole]


@pytest.mark.parametrize(
    "breaking",
    [
        pytest.param(lambda known: adding(known), id="an id that is taken"),
        pytest.param(
            lambda known: build_link(Link("b", "a", 0.9, START)), id="a link the wrong way round"
        ),
        pytest.param(
            lambda known: updating(known.evolve(version=7), importance=5), id="an old version"
        ),
    ],
)
def test_apply_rolls_back_all_steps_when_one_fails(store, store_url, breaking):
    known = a_memory("Known before")
    put(store, [known])
    before = all_rows(store_url)
    with pytest.raises(StoreError):
        store.apply(changeset(adding(a_memory("Never stored")), breaking(known)))
    assert all_rows(store_url) == before


@pytest.mark.parametrize(
    "moment", ["apply.begun", "apply.rows", "apply.journal", "apply.before_commit"]
)
def test_apply_interrupted_before_commit_leaves_no_rows(store, store_url, pull_the_plug, moment):
    known = a_memory("Known before")
    put(store, [known])
    before = all_rows(store_url)
    pull_the_plug(moment)
    steps = (adding(a_memory("Never stored")), updating(known, content="New", reindexed=True))
    with pytest.raises(Unplugged):
        store.apply(changeset(*steps, receipt=Receipt("r", START, 1)))
    failpoints.install_hook(None)
    assert all_rows(store_url) == before
    assert put(store, [a_memory("Life goes on")]).revision == 2


def test_apply_interrupted_after_commit_keeps_the_rows(store, pull_the_plug):
    kept = a_memory()
    pull_the_plug("apply.after_commit")
    with pytest.raises(Unplugged):
        put(store, [kept])
    assert store.fetch(ANA, [kept.id]) == [kept]


def test_apply_refuses_a_decision_on_an_old_revision(store, store_url):
    put(store, [a_memory()])
    put(store, [a_memory()])
    before = all_rows(store_url)
    with pytest.raises(StaleDecision):
        store.apply(changeset(adding(a_memory()), decided_on=1))
    assert all_rows(store_url) == before


def test_apply_refuses_a_decision_on_a_future_revision_and_creates_no_scope(store):
    with pytest.raises(StaleDecision):
        store.apply(changeset(adding(a_memory()), decided_on=3))
    assert store.counters(ANA) == Counters()
    assert store.scopes() == []


def test_apply_accepts_a_decision_on_the_current_revision(store):
    assert store.apply(changeset(adding(a_memory()), decided_on=0)).revision == 1
    assert store.apply(changeset(adding(a_memory()), decided_on=1)).revision == 2


def test_apply_refuses_an_update_of_an_old_version(store, store_url):
    first = a_memory()
    put(store, [first])
    store.apply(changeset(updating(first, importance=4)))
    before = all_rows(store_url)
    with pytest.raises(StaleDecision):
        store.apply(changeset(updating(first, importance=5)))
    assert all_rows(store_url) == before


def test_apply_refuses_an_update_of_a_memory_of_another_scope(store, store_url):
    hers = a_memory()
    put(store, [hers])
    put(store, [a_memory()], BOB)
    before = all_rows(store_url)
    with pytest.raises(StaleDecision):
        store.apply(changeset(updating(hers, content="Mine now", reindexed=True), scope=BOB))
    assert all_rows(store_url) == before


def test_apply_of_concurrent_decisions_on_one_revision_accepts_one(store):
    put(store, [a_memory()])
    writers = 6
    together = Barrier(writers, timeout=30)

    def decide_and_apply(_):
        together.wait()
        try:
            return store.apply(changeset(adding(a_memory()), decided_on=1)).revision
        except StaleDecision:
            return None

    with ThreadPoolExecutor(writers) as pool:
        revisions = list(pool.map(decide_and_apply, range(writers)))
    assert sorted(revisions, key=str) == [2] + [None] * (writers - 1)
    assert store.counters(ANA).revision == 2


def test_apply_of_concurrent_first_writes_of_a_scope_accepts_all(store):
    writers = 6
    together = Barrier(writers, timeout=30)

    def write(_):
        together.wait()
        return put(store, [a_memory()]).revision

    with ThreadPoolExecutor(writers) as pool:
        assert sorted(pool.map(write, range(writers))) == list(range(1, writers + 1))


def test_apply_removal_leaves_only_journal_entries_and_receipt(store, store_url):
    gone, other = a_memory("Removed", id="a"), a_memory("Stays", id="b")
    link = build_link(Link("a", "b", 0.9, START))
    store.apply(changeset(adding(gone), adding(other), link))
    store.apply(changeset(build_removal(gone, event=Event.ERASE), receipt=Receipt("r", START, 1)))
    assert store.fetch(ANA, ["a", "b"]) == [other]
    assert store.links(ANA, ["b"]) == []
    assert store.versions(ANA, ["a"]) == []
    told = store.journal(ANA, JournalQuery(subject="a", events_only=True))
    assert [row.entry.event for row in told] == [Event.ADD, Event.LINK, Event.ERASE]
    counted = {t: raw(store_url, f"SELECT COUNT(*) FROM {t}")[0][0] for t in SCOPED_TABLES}
    assert counted["memories"] == counted["versions"] == 1
    assert counted["terms"] == counted["vectors"] == 1
    assert counted["links"] == 0
    assert counted["receipts"] == 1


def test_apply_stores_one_link_per_pair(store):
    store.apply(changeset(adding(a_memory(id="a")), adding(a_memory(id="b"))))
    for strength in (0.9, 0.8):
        store.apply(changeset(build_link(Link("a", "b", strength, START))))
    assert [link.strength for link in store.links(ANA, ["a"])] == [0.9]


def test_link_journal_entry_names_both_ends():
    """Its journal entry names both ends, so that undoing it needs no look at the rows."""
    step = build_link(Link.between("b", "a", 0.8, START))
    assert isinstance(step, LinkMemories)
    assert (step.entry.subject, step.entry.new_ref) == ("a", "b")
