"""An index of the past is made from that of the present, and is the one that there was: what has
never changed is not read again, and neither of the two is moved by the other."""

from __future__ import annotations

import itertools
from contextlib import suppress
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import commonplace
from commonplace.engine.access import visibility_of
from commonplace.engine.history.time_travel import load_past_index
from commonplace.errors import NotFound
from commonplace.model.memory.lifecycle import PointInTime
from support.clock import Clock

_users = itertools.count(1)
CITIES = ("Rome", "Berlin", "Oslo")
TAGS = 6  # their place in a fingerprint


def line(who, what):
    return f'{{"speaker": "{who}", "text": "{what}", "time": "2026-01-02"}}\n'


def known_of(index):
    """Everything but the tags of sources, of which there are no versions."""
    return {
        name: told[:TAGS] + told[TAGS + 1 :] if "#" in name else told
        for name, told in index.fingerprint().items()
    }


class Days:
    """Things happen to one user. Nothing is forgotten: that would be seen from no moment."""

    def __init__(self, me, clock):
        self.me, self.clock = me, clock
        self.ids, self.kept = [], []

    def do(self, name, word, pick):
        self.clock.tick(hours=1)
        getattr(self, name)(word, self.ids[pick % len(self.ids)] if self.ids else "none yet")
        self.kept.append((self.clock(), self.now()))

    def now(self):
        with self.me._engine.index.reading(self.me.principal.scope) as index:
            return known_of(index)

    def then(self, known_at):
        return known_of(self.look(known_at).index)

    def look(self, known_at):
        principal = self.me.principal
        then = PointInTime(known_at=known_at)
        return load_past_index(self.me._engine, principal.scope, then, visibility_of(principal))

    def note(self, word, id):
        self.ids.append(self.me.remember(f"The map of {word}", kind="note", tags=[word]).id)

    def move(self, word, id):
        self.ids.append(self.me.remember(f"Ana lives in {word}", kind="fact").id)

    def set_profile(self, word, id):
        self.me.profile_set("city", word)

    def retag(self, word, id):
        with suppress(NotFound):  # nothing there yet, or superseded
            self.me.update(id, tags=[word.lower()], importance=len(word) % 5 + 1)

    def write(self, word, id):
        self.me.ingest(f"A letter from {word}.", title=f"Letter from {word}")

    def talk(self, word, id):
        train = (
            f"train {len(self.kept)} to {word}"  # words said twice count as known since the first
        )
        said = line("Noa", f"Is the {train} late?") + line("Tal", f"The {train} is on time.")
        self.me.ingest(said, external_id="talk", append=True)


DEEDS = ("note", "move", "set_profile", "retag", "write", "talk")


@pytest.fixture(scope="module")
def opened(shared_url):
    clock = Clock()
    book = commonplace.open(shared_url, embedder="hashing", clock=clock, tidy_on_open=False)
    yield book, clock
    book.close()


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    deeds=st.lists(
        st.tuples(st.sampled_from(DEEDS), st.sampled_from(CITIES), st.integers(0, 9)),
        min_size=2,
        max_size=10,
    )
)
def test_past_index_equals_the_index_at_that_moment(opened, deeds):
    book, clock = opened
    days = Days(book.user(f"ana{next(_users)}"), clock)
    for deed in deeds:
        days.do(*deed)
    for at, fingerprint in days.kept:
        assert days.then(at) == fingerprint


EVERYTHING = [(name, city, 0) for city in CITIES for name in DEEDS]


def test_past_index_and_present_index_are_independent(me, clock):
    days = Days(me, clock)
    for deed in EVERYTHING[:9]:
        days.do(*deed)
    now, known_at = days.now(), clock() - timedelta(hours=4)
    past = days.look(known_at)
    then = known_of(past.index)
    assert days.now() == now
    for deed in EVERYTHING[9:]:
        days.do(*deed)
    assert known_of(past.index) == then == days.then(known_at)


def test_past_index_does_not_reload_unchanged_memories(me, clock):
    made = me.remember_many([f"Thing number {n}" for n in range(9)])
    clock.tick(days=1)
    me.update(made[3].id, importance=5)
    then = PointInTime(known_at=clock() - timedelta(hours=1))
    engine, scope = me._engine, me.principal.scope
    with engine.index.reading(scope) as index:
        past = engine.store.past(scope, then, clock(), index.counters)
        unchanged = {index.ids[index.slot_of[unit]] for unit in past.unchanged}
    assert unchanged == {each.id for each in made} - {made[3].id}
    assert [life.memory.id for life in past.histories] == [made[3].id]
    assert [unit for unit, *_ in past.page.terms] == [past.histories[0].unit]


def test_list_known_at_fetches_only_rows_of_the_page(me, clock, monkeypatch):
    me.remember_many([f"Thing number {n}" for n in range(9)])
    store, read = type(me._engine.store), []
    fetch = store.fetch
    monkeypatch.setattr(
        store, "fetch", lambda self, scope, ids: read.extend(ids) or fetch(self, scope, ids)
    )
    page = me.list(limit=3, known_at=clock())
    assert [memory.content for memory in page.memories] == [f"Thing number {n}" for n in (8, 7, 6)]
    found = [id for id in read if not id.startswith("profile:")]  # which a worker may read, too
    assert len(found) == 4  # one more, to know whether there is more


def test_past_index_load_includes_changes_missed_by_the_present_index(open_book, clock):
    one, other = (open_book().user("ana") for _ in range(2))
    one.remember("The kettle is blue")
    assert one.recall("kettle").hits
    engine, scope = one._engine, one.principal.scope
    with engine.index.reading(scope) as index:
        before = index.copy()
    other.remember("The kettle is old")
    past = engine.store.past(scope, PointInTime(known_at=clock()), clock(), before.counters)
    before.absorb(past.missed)
    with engine.index.reading(scope) as index:
        assert before.fingerprint() == index.fingerprint()
