"""Whatever happened to a memory, each moment of its past is seen as it was written down then."""

import itertools
from contextlib import suppress
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import commonplace
from commonplace.api.categories_file import load_shipped_categories
from commonplace.errors import CommonplaceError, NotFound
from support.clock import Clock
from support.naive_past import NaivePast

CITIES = ("Rome", "Berlin", "Oslo")
_users = itertools.count(1)


class Life:
    """One user to whom things happen, on a clock that only this test moves."""

    def __init__(self, book, other, clock):
        self.clock = clock
        self.me = book.user(f"ana{next(_users)}")
        self.elsewhere = other.user(f"bob{next(_users)}")
        self.past = NaivePast(self.me)

    def do(self, name, word, pick, hours):
        self.clock.tick(hours=hours)
        ids = self.past.ids
        with suppress(CommonplaceError):  # nothing there yet, or gone again
            made = getattr(self, name)(word, ids[pick % len(ids)] if ids else "nothing yet")
            ids.extend(made or ())
        self.past.write_down(self.clock())

    def tell_a_fact(self, word, id):
        return [self.me.remember(f"Ana lives in {word}", kind="fact").id]

    def tell_since_when(self, word, id):
        since = self.clock() - timedelta(hours=30)
        return [self.me.remember(f"Ana works in {word}", kind="fact", valid_from=since).id]

    def tell_until_when(self, word, id):
        now = self.clock()
        span = {"valid_from": now - timedelta(hours=9), "valid_to": now + timedelta(hours=20)}
        return [self.me.remember(f"Ana visits {word}", kind="note", **span).id]

    def note_for_a_while(self, word, id):
        return [self.me.remember(f"Ana is on the way to {word}", kind="note", ttl_days=2).id]

    def override(self, word, id):
        value = {"subject": "Ana's address", "value": word}
        return [self.me.remember(kind="kv", metadata=value, on_conflict="override").id]

    def set_profile(self, word, id):
        return [self.me.profile_set("city", word).id]

    def reword(self, word, id):
        return [self.me.update(id, content=f"Ana is now in {word}").id]

    def change_in_place(self, word, id):
        self.me.update(id, importance=1 + len(word) % 5, category=word.lower())

    def guard(self, word, id):
        level = self.me.show(id).memory.sensitivity
        self.me.update(id, sensitivity="normal" if level == "high" else "high")

    def let_end(self, word, id):
        self.me.update(id, ttl_days=1)

    def forget(self, word, id):
        self.me.forget(id)

    def restore(self, word, id):
        self.me.restore(id)

    def restore_first_version(self, word, id):
        self.me.restore(f"{id}@1")

    def erase(self, word, id):
        self.me.erase(id)

    def tell_elsewhere(self, word, id):
        return [self.elsewhere.remember(f"Ana has lived in {word}", kind="fact").id]

    def import_from_elsewhere(self, word, id):
        self.me.import_(self.elsewhere.export())

    def night(self, word, id):
        self.me.tidy()


def happening(*deeds):
    """Runs of these deeds; a few hours or days lie between them, or nothing."""
    hours = st.sampled_from((0, 1, 13, 40))
    deed = st.tuples(st.sampled_from(deeds), st.sampled_from(CITIES), st.integers(0, 20), hours)
    return st.lists(deed, min_size=2, max_size=14)


EVERY_DEED = sorted(name for name in vars(Life) if not name.startswith("_") and name != "do")
LIVES = st.one_of(
    happening(*EVERY_DEED),
    happening("set_profile", "forget", "restore", "restore_first_version", "let_end"),
    happening("set_profile", "forget", "restore", "guard", "guard", "change_in_place"),
    happening("tell_a_fact", "tell_since_when", "restore", "forget", "let_end", "night"),
    happening("tell_elsewhere", "import_from_elsewhere", "change_in_place"),
)
# Moments are best chosen where something begins or ends, and an hour beside it.
MOMENT = st.tuples(st.integers(0, 100), st.sampled_from((-1, 0, 0, 1)))


@pytest.fixture(scope="module")
def books(shared_url):
    clock = Clock()
    opened = [
        commonplace.open(shared_url, embedder="hashing", clock=clock, tidy_on_open=False)
        for _ in range(2)
    ]
    yield (*opened, clock)
    for book in opened:
        book.close()


@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(deeds=LIVES, moments=st.lists(st.tuples(MOMENT, MOMENT), min_size=2, max_size=5))
def test_list_and_recall_at_any_past_moment_equal_a_naive_replay(books, deeds, moments):
    book, other, clock = books
    life = Life(book, other, clock)
    for deed in deeds:
        life.do(*deed)
    clock.tick(hours=2)
    life.past.write_down(clock())
    now, edges = clock(), life.past.edges()
    for (of, of_hours), (at, at_hours) in moments:
        as_of = edges[of % len(edges)] + timedelta(hours=of_hours)
        known_at = min(now, edges[at % len(edges)] + timedelta(hours=at_hours))
        for then in (
            {"as_of": as_of},
            {"known_at": known_at},
            {"as_of": as_of, "known_at": known_at},
        ):
            expected = life.past.seen(then.get("as_of"), then.get("known_at"), now)
            listed = life.me.list(limit=1000, **then).memories
            assert {(memory.id, memory.content) for memory in listed} == expected
            found = life.me.recall("Ana", k=1000, threshold=0, sources="none", **then).hits
            assert {(hit.id, hit.text) for hit in found} == expected


AGENT = "helper"  # which has the default allowlist
ROME, OSLO = ("set_profile", "Rome", 0, 1), ("set_profile", "Oslo", 0, 1)
RETOLD = st.one_of(
    happening("set_profile", "forget"),
    happening("set_profile", "guard"),
    happening("set_profile", "forget", "restore", "guard", "restore_first_version"),
    happening("tell_a_fact", "guard", "change_in_place", "forget", "restore"),
    happening(*EVERY_DEED),
)


def versions_of(handle, id, **then):
    """What it said, as it is told now; None where it is not shown."""
    try:
        shown = handle.show(id, **then)
    except NotFound:
        return None
    return {version.memory.content for version in shown.versions}


@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(deeds=RETOLD)
@example(deeds=[ROME, ("forget", "", 0, 1), OSLO])
@example(deeds=[("note_for_a_while", "Rome", 0, 0), ("reword", "", 0, 40), ("night", "", 0, 13)])
@example(deeds=[ROME, ("guard", "", 0, 1), OSLO, ("guard", "", 0, 1)])
def test_show_returns_only_versions_visible_to_the_principal(books, deeds):
    """Today as at a look back to this moment: nothing that was forgotten or had ended, and to an
    agent nothing of the time when it was sensitive or of a category that is kept from it."""
    book, other, clock = books
    life = Life(book, other, clock)
    for deed in deeds:
        life.do(*deed)
    clock.tick(hours=2)
    life.past.write_down(clock())
    agent = life.me.agent(AGENT)
    for id, present in life.past.notes[-1].said.items():
        assert versions_of(life.me, id) == life.past.versions(id)
        assert versions_of(life.me, id, known_at=clock()) == life.past.versions(id)
        theirs = life.past.versions(id, is_the_agents) if is_the_agents(present) else None
        assert versions_of(agent, id) == theirs
        assert versions_of(agent, id, known_at=clock()) == theirs


def is_the_agents(memory):
    allowed = load_shipped_categories().allowed(AGENT)
    return memory.category in allowed and memory.sensitivity != "high"
