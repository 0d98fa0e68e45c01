"""Memories that say the same: merged where the words are equal or a model and the words agree,
linked where they are similar, and nothing that was said is lost."""

from __future__ import annotations

import pytest

from commonplace.engine.maintenance.sleep.tasks.duplicates import (
    SAME_BY_MODEL,
    SAME_TERMS,
    SIMILAR,
    run_duplicates,
)
from commonplace.model.sleep import MAX_PAIRS_A_DAY
from support.making import a_memory
from support.models import ToldModel, saying
from support.sleeping import actions_of, rehearsed, sleep_through, store_beside

FIRST = "Dana's dentist is on Yarkon Street"
AGAIN = "The dentist of Dana is on Yarkon Street"


@pytest.fixture
def book(open_book):
    """Jobs run when a test says so: a worker would have a night of its own."""
    return open_book(worker="off")


def stored(me, clock, *contents, **fields):
    """Put beside each other, as an import does: no write compares them."""
    fields = {"kind": "fact", "created_at": clock.now, **fields}
    return store_beside(me, [a_memory(content, **fields) for content in contents])


def live(me):
    return {memory.id for memory in me.list(limit=1000).memories}


def whys(batches):
    return [action.why for action in actions_of(batches)]


# A model for which all is the same.
SAYS_SAME = saying({"pairs": [{"pair": n, "verdict": "same"} for n in range(1, 9)]})


def test_equal_terms_are_merged_and_nothing_is_lost(me, clock):
    one = a_memory(FIRST, kind="fact", tags=("teeth",), importance=2, evidence=("said so",))
    two = a_memory(
        AGAIN, kind="fact", tags=("street",), importance=4, evidence=("wrote it",), confidence=0.7
    )
    store_beside(me, [one, two])
    (action,) = actions_of(sleep_through(me, run_duplicates))
    assert (action.why, action.ends) == (SAME_TERMS, (one.id,))
    kept = me.show(two.id).memory
    assert live(me) == {two.id}
    assert (kept.importance, kept.confidence) == (4, 1.0)
    assert {"teeth", "street"} <= set(kept.tags)
    assert {"said so", "wrote it"} <= set(kept.evidence)
    gone = me._engine.store.fetch(me.principal.scope, [one.id])[0]
    assert (gone.state, gone.superseded_by) == ("superseded", two.id)
    assert actions_of(sleep_through(me, run_duplicates)) == []


def test_equal_terms_in_another_order_are_not_the_same(me, clock):
    ids = stored(
        me,
        clock,
        *("Dan owes Ana 50 euros", "Ana owes Dan 50 euros"),
        *("Tom teaches Mia piano", "Mia teaches Tom piano"),
    )
    assert SAME_TERMS not in whys(sleep_through(me, run_duplicates))
    assert live(me) == set(ids)


@pytest.mark.parametrize(
    "fields",
    [
        ({"sensitivity": "high"}, {}),
        ({"agent_id": "planner"}, {}),
        ({"category": "tasks"}, {}),
        ({"facet": "hearsay"}, {}),
        ({"kind": "insight"}, {}),
    ],
)
def test_memories_for_different_readers_are_never_merged(me, clock, fields):
    ids = [*stored(me, clock, FIRST, **fields[0]), *stored(me, clock, AGAIN, **fields[1])]
    assert actions_of(sleep_through(me, run_duplicates)) == []
    assert len(ids) == 2


def test_key_values_and_contacts_are_never_merged(me, clock):
    kv = {"kind": "kv", "metadata": {"subject": "door code", "value": "4711"}}
    contact = {"kind": "contact", "metadata": {"name": "Dana Levi"}}
    ids = stored(me, clock, "door code is 4711", "The door code is 4711", **kv)
    ids += stored(me, clock, "Dana Levi", "Dana Levi", **contact)
    assert set(whys(sleep_through(me, run_duplicates))) <= {SIMILAR}
    assert {
        m.id for m in me._engine.store.fetch(me.principal.scope, ids) if m.state == "active"
    } == {*ids}


def test_what_is_pinned_or_permanent_stays(me, clock):
    (pinned,) = stored(me, clock, FIRST, pinned=True)
    (other,) = stored(me, clock, AGAIN, importance=5)
    (action,) = actions_of(sleep_through(me, run_duplicates))
    assert action.ends == (other,)
    assert me.show(pinned).memory.importance == 5
    assert me.show(pinned).memory.pinned
    (permanent,) = stored(me, clock, AGAIN, stability="permanent")
    assert SAME_TERMS not in whys(sleep_through(me, run_duplicates))
    assert live(me) == {pinned, permanent}


def test_events_of_two_days_are_two_events(me, clock):
    (one,) = stored(me, clock, "Dana visited the dentist", kind="event")
    clock.tick(days=1)
    (two,) = stored(me, clock, "Dana visited the dentist", kind="event")
    assert SAME_TERMS not in whys(sleep_through(me, run_duplicates))
    assert live(me) == {one, two}
    clock.tick(hours=1)
    (three,) = stored(me, clock, "Dana visited the dentist.", kind="event")
    assert whys(sleep_through(me, run_duplicates)) == [SAME_TERMS]
    assert live(me) == {one, two}
    assert three not in live(me)


def test_many_equal_ones_become_one(me, clock):
    ids = stored(me, clock, *[FIRST + "." * n for n in range(7)])
    actions = actions_of(sleep_through(me, run_duplicates))
    assert [action.why for action in actions] == [SAME_TERMS] * 6
    assert len(live(me) & set(ids)) == 1


def test_merges_over_the_limit_of_a_night_wait(me, clock):
    ids = stored(me, clock, *[f"{FIRST} {word}" for word in NAMES for _ in "ab"])
    batches = sleep_through(me, run_duplicates, live=10, ended=2)
    assert sum(len(action.ends) for action in actions_of(batches)) == 3
    assert batches[-1].waiting > 0
    assert len(live(me)) == len(ids) - 3
    sleep_through(me, run_duplicates)
    assert len(live(me)) == len(NAMES)


NAMES = ("Oslo", "Rome", "Bern", "Graz", "Lyon", "Kyiv")


def test_similar_memories_are_linked_once_and_rest(me, clock):
    one, two = stored(
        me,
        clock,
        "Dana likes hiking in summer",
        "Dana likes hiking in winter",
    )
    found = actions_of(sleep_through(me, run_duplicates))
    assert [action.why for action in found] == [SIMILAR]
    (link,) = me._engine.store.links(me.principal.scope, [one])
    assert {link.a, link.b} == {one, two}
    assert actions_of(sleep_through(me, run_duplicates)) == []
    rested = me._engine.store.fingerprints(me.principal.scope)
    clock.tick(days=15)
    me.update(one, importance=3)
    assert actions_of(sleep_through(me, run_duplicates)) == []  # linked before
    assert me._engine.store.fingerprints(me.principal.scope) != rested  # looked at again


def test_at_most_fifty_pairs_a_day(me, clock):
    stored(me, clock, *[f"{FIRST}, number {n}" for n in range(40) for _ in "abc"])
    sleep_through(me, run_duplicates)
    kept = me._engine.store.fingerprints(me.principal.scope)
    assert len(kept) == MAX_PAIRS_A_DAY
    assert actions_of(sleep_through(me, run_duplicates)) == []
    clock.tick(days=1)
    assert actions_of(sleep_through(me, run_duplicates))


def test_old_and_untouched_memories_are_left_alone(me, clock):
    stored(me, clock, FIRST, AGAIN)
    clock.tick(days=4)
    assert actions_of(sleep_through(me, run_duplicates)) == []  # nobody touched them lately
    stored(me, clock, FIRST, importance=3)
    assert whys(sleep_through(me, run_duplicates)) == [SAME_TERMS] * 2
    clock.tick(days=91)
    stored(me, clock, AGAIN)
    assert actions_of(sleep_through(me, run_duplicates)) == []  # the other is too old


PAIRS = [
    ("Dana likes hiking in summer", "Dana likes hiking in winter"),
    ("Dana likes jazz and blues", "Dana likes jazz and rock"),
    ("Dana eats meat on Sundays", "Dana does not eat meat on Sundays"),
    ("The rent is 1,450 euros a month", "The rent is 1,500 euros a month"),
    ("Tom paid Dana for the old tickets", "Dana paid Tom for the old tickets"),
    ("Dana drinks coffee in the morning", "Dana only drinks coffee in the morning"),
    ("Dana used to work at the harbour", "Dana works at the harbour"),
]


def test_a_model_that_says_same_for_everything_loses_nothing(open_book, clock):
    me = open_book(model=ToldModel(SAYS_SAME)).user("ana")
    ids = stored(me, clock, *(text for pair in PAIRS for text in pair), source_id=SOURCE)
    sleep_through(me, run_duplicates)
    assert live(me) == set(ids)


SOURCE = "source:00000000-0000-0000-0000-000000000001"


def test_a_model_and_the_words_together_merge_into_the_fuller_one(open_book, clock):
    me = open_book(model=ToldModel(SAYS_SAME)).user("ana")
    less, more = stored(
        me,
        clock,
        "Dana plays tennis on Sundays",
        "On Sundays Dana plays tennis in the park with her sister",
        source_id=SOURCE,
    )
    assert SAME_BY_MODEL not in [action.why for action in rehearsed(me, run_duplicates).actions]
    assert whys(sleep_through(me, run_duplicates)) == [SAME_BY_MODEL]
    assert live(me) == {more}
    assert less not in live(me)


def test_what_a_person_stored_does_not_end_because_of_a_model(open_book, clock):
    me = open_book(model=ToldModel(SAYS_SAME)).user("ana")
    ids = stored(
        me,
        clock,
        "Dana plays tennis on Sundays",
        "On Sundays Dana plays tennis in the park with her sister",
    )
    assert whys(sleep_through(me, run_duplicates)) == [SIMILAR]
    assert live(me) == set(ids)


def test_an_erased_source_takes_its_words_out_of_a_merged_memory(me, clock):
    said = "Ana: My dentist is on Yarkon Street."
    sources = [me.ingest(said, format="transcript", external_id=f"t{n}").id for n in range(2)]
    ids = [
        *stored(me, clock, FIRST, source_id=sources[0], evidence=(sources[0],)),
        *stored(me, clock, AGAIN, source_id=sources[1], evidence=(sources[1],)),
    ]
    assert whys(sleep_through(me, run_duplicates)) == [SAME_TERMS]
    (kept,) = live(me) & set(ids)
    me.erase(sources[0])
    assert live(me) & set(ids) == {kept}  # the other source says it
    me.erase(sources[1])
    assert not live(me) & set(ids)
    assert me.verify_forget("Yarkon").clean
