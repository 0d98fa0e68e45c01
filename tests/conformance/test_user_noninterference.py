"""Whatever one user does, every read of another stays the same to the last byte."""

import itertools
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import commonplace
from commonplace.errors import InvalidInput, LimitReached, NotFound
from support.clock import START, Clock
from support.untraced import untraced

WORDS = ("kettle", "garden", "Paris", "blue", "wifi", "password", "שלום", "7")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
PICKS = st.integers(0, 30)  # which of the ids he knows, hers among them

_bobs = itertools.count(1)


@pytest.fixture(scope="module")
def world(shared_url):
    """One book in which ana has a memory of everything there is."""
    clock = Clock()
    book = commonplace.open(shared_url, embedder="hashing", clock=clock)
    ana = book.user("ana")
    kettle = ana.remember("The kettle is blue", thread="t", pinned=True)
    ana.remember("The kettle is blue!", kind="fact")  # near enough for a link
    ana.remember(kind="kv", metadata={"subject": "wifi password", "value": "tulip7"})
    ana.remember("Guards the garden", kind="soul")
    ana.remember("A secret in Paris", sensitivity="high")
    ana.remember("Gone in a day", ttl_days=1)
    ana.update(kettle.id, content="The kettle is red")
    ana.forget(ana.remember("Forgotten garden").id)
    ana.merge([ana.remember(f"Log {n} of the garden", kind="log").id for n in (1, 2)])
    ana.profile_set("city", "Paris")
    ana.profile_note("Likes the garden")
    ana.recall("garden", thread="t")
    ana.keys_create("her laptop")
    ana.erase(ana.remember("Erased password").id, now=True)
    yield book, clock
    book.close()


def everything_she_reads(book):
    ana = untraced(book, "ana")
    exported = list(ana.export())
    ids = [memory.id for memory in ana.list(limit=1000).memories]
    return {
        "list": repr(ana.list(limit=1000)),
        "forgotten": repr(ana.list(limit=1000, forgotten=True)),
        "recall": repr([ana.recall(word, k=20, explain=True) for word in WORDS]),
        "filtered": repr(ana.recall("garden kettle", filters={"tags": ["garden"]}, explain=True)),
        "show": repr([ana.show(id) for id in ids]),
        "history": repr([ana.history(id) for id in ids]),
        "changes": repr(ana.changes("t", since=0)),
        "change log": repr(ana.change_log("t")),
        "events": repr(ana.events(limit=1000)),
        "profile": repr(ana.profile()),
        "stats": repr(ana.stats()),
        "keys": repr(ana.keys()),
        "export": exported,
        "verify": repr([ana.verify_forget(word) for word in ("password", "Erased", "tulip7")]),
        "revision": ana.revision,
    }


class Bob:
    """A busy neighbour. Refusals are part of his day: they too must change nothing of hers."""

    def __init__(self, book, clock):
        self.clock = clock
        self.me = book.user(f"bob {next(_bobs)}", cleared=True)
        self.hers = list(untraced(book, "ana").export())
        self.ids = [memory.id for memory in untraced(book, "ana").list(limit=1000).memories]
        self.key = untraced(book, "ana").keys()[0].id

    def do(self, name, text, pick):
        with suppress(InvalidInput, LimitReached, NotFound):
            getattr(self, name)(text, self.ids[pick % len(self.ids)])

    def remember(self, text, id):
        self.ids.insert(0, self.me.remember(text, tags=["garden"]).id)

    def remember_kv(self, text, id):
        self.me.remember(kind="kv", metadata={"subject": "wifi password", "value": text})

    def reword(self, text, id):
        self.me.update(id, content=text)

    def retag(self, text, id):
        self.me.update(id, tags=text.split(), importance=5)

    def forget(self, text, id):
        self.me.forget(id)

    def forget_all(self, text, id):
        self.me.forget(categories=["knowledge"])

    def restore(self, text, id):
        self.me.restore(id)

    def erase(self, text, id):
        self.me.erase(id)

    def erase_user(self, text, id):
        self.me.erase_user()

    def merge(self, text, id):
        self.me.merge([self.ids[0], id])

    def profile(self, text, id):
        self.me.profile_set("city", text)
        self.me.profile_note(text)

    def read(self, text, id):
        self.me.recall(text, thread="t")
        self.me.changes("t")
        self.me.show(id)

    def tidy(self, text, id):
        self.clock.tick(days=90)
        self.me.tidy()

    def keys(self, text, id):
        self.me.keys_revoke(self.me.keys_rotate(self.me.keys_create(text).id).id)
        with suppress(NotFound):
            self.me.keys_rotate(self.key)
        self.me.keys_revoke(self.key)

    def bring_in_hers(self, text, id):
        self.me.import_(self.hers)


DEEDS = sorted(name for name in vars(Bob) if not name.startswith("_") and name != "do")


@settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(deeds=st.lists(st.tuples(st.sampled_from(DEEDS), TEXTS, PICKS), min_size=3, max_size=12))
def test_isolation_actions_of_one_user_change_no_read_of_another(world, deeds):
    book, clock = world
    before = everything_she_reads(book)
    bob = Bob(book, clock)
    for name, text, pick in deeds:
        bob.do(name, text, pick)
    book.flush()
    clock.now = START
    assert everything_she_reads(book) == before


@pytest.mark.parametrize("deed", DEEDS)
def test_isolation_each_action_on_copied_ids_changes_no_read_of_another(world, deed):
    """He holds the very same ids, and every deed has something to work on."""
    book, clock = world
    before = everything_she_reads(book)
    bob = Bob(book, clock)
    if deed != "bring_in_hers":
        bob.bring_in_hers("", "")
    bob.ids = [memory.id for memory in untraced(book, "ana").list(kinds="note").memories]
    revision = bob.me.revision
    bob.do(deed, "Paris kettle", 1)
    assert bob.me.revision > revision or deed in ("read", "restore", "keys")
    book.flush()
    clock.now = START
    assert everything_she_reads(book) == before
