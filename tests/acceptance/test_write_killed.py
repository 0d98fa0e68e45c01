"""A process killed at any point of a write leaves the whole write behind, or none of it."""

from __future__ import annotations

import pytest

from commonplace.store.failpoints import FAILPOINTS
from support.children import CHANGES, DECISIONS, die_during, die_while_erasing
from support.kills import IN_A_WRITE, killed_at
from support.processes import Child
from support.scenarios import KillsAtRandom, wait_until_alone
from support.whole import assert_whole, open_plainly

IN_A_SCRUB = [name for name in FAILPOINTS if name.startswith("scrub.")]


def prepared(store_url, user):
    """A small memory with some history; the ids that the changes are about."""
    with open_plainly(store_url) as book:
        me = book.user(user)
        ids = [
            me.remember(content, kind=kind).id
            for kind, content in [
                ("note", "The roof was painted red"),
                ("fact", "Rosa lives in Lisbon"),
                ("log", "The plumber came in the morning"),
                ("log", "The plumber came in the evening"),
                ("note", "The roof was painted green"),
                ("note", "The shed needs a new door"),
                ("event", "Rosa met Ilan at the market"),
            ]
        ]
        me.update(ids[0], importance=4)
        me.forget(ids[5])
        return ids


def with_questions(store_url, user):
    """A fact, a value, three open questions, two of them about people, and two proposals."""
    people = (
        ("Ilan", "052-111-2233"),
        ("Rosa", "054-999-8877"),
        ("Ilan", "053-000-0001"),
        ("Rosa", "053-000-0002"),
    )
    values = (("alarm", 1), ("alarm", 2), ("gate", 1))
    with open_plainly(store_url) as book:
        me = book.user(user)
        me.remember_many(
            [
                {"kind": "fact", "content": "Rosa lives in Lisbon"},
                *({"kind": "kv", "metadata": {"subject": s, "value": v}} for s, v in values),
                *({"kind": "contact", "metadata": {"name": n, "phone": p}} for n, p in people),
            ]
        )
        me.agent("planner").propose("city", "Lisbon")
        me.agent("planner").propose("tone", "brief")
        assert (len(me.conflicts()), len(me.proposals())) == (3, 2)


def test_every_failpoint_is_covered_by_a_crash_test():
    """Those of migrations, of reembed and of jobs are killed at where these are tested."""
    elsewhere = {name for name in FAILPOINTS if name.startswith(("migration.", "reembed.", "job."))}
    assert {*IN_A_WRITE, *IN_A_SCRUB, *elsewhere} == set(FAILPOINTS)


@killed_at(IN_A_WRITE)
def test_crash_during_a_write_leaves_all_or_nothing(store_url, failpoint):
    for change in CHANGES:
        ids = prepared(store_url, change)
        before = assert_whole(store_url, change)
        with Child(die_during, store_url, change, failpoint, change, ids) as child:
            assert child.rest() == []
            assert child.was_killed()
        wait_until_alone(store_url)
        after = assert_whole(store_url, change)
        if failpoint == "apply.after_commit":
            assert after.revision == before.revision + 1, change
        else:
            assert after == before, change


# In the middle and at the end of a write; `make soak` kills at every step.
@pytest.mark.parametrize(
    "failpoint",
    [
        name
        if name in ("apply.rows", "apply.after_commit")
        else pytest.param(name, marks=pytest.mark.soak)
        for name in IN_A_WRITE
    ],
)
def test_crash_during_a_decision_keeps_conflicts_and_held_values_consistent(store_url, failpoint):
    """`assert_whole` holds questions, held values and disputed memories against each other."""
    for decision in DECISIONS:
        with_questions(store_url, decision)
        before = assert_whole(store_url, decision)
        with Child(die_during, store_url, decision, failpoint, decision, []) as child:
            assert child.rest() == []
            assert child.was_killed()
        wait_until_alone(store_url)
        after = assert_whole(store_url, decision)
        if failpoint == "apply.after_commit":
            assert after.revision == before.revision + 1, decision
        else:
            assert after == before, decision


@killed_at(IN_A_WRITE)
def test_crash_during_a_write_does_not_block_the_next_process(store_url, failpoint):
    """Nothing that the dead one held (a lock, a number) is in the way of the living."""
    ids = prepared(store_url, "ana")
    with Child(die_during, store_url, "ana", failpoint, "update_content", ids) as child:
        assert child.rest() == []
    wait_until_alone(store_url)
    with open_plainly(store_url) as book:
        kept = book.user("ana").remember("Life goes on")
    assert kept.id in {memory.id for memory in assert_whole(store_url, "ana").memories}


@pytest.mark.parametrize("failpoint", IN_A_SCRUB)
def test_crash_during_scrub_leaves_the_erasure_pending_until_tidy(store_url, failpoint):
    ids = prepared(store_url, "ana")
    with Child(die_while_erasing, store_url, "ana", failpoint, ids[:1]) as child:
        assert child.rest() == []
        assert child.was_killed()
    wait_until_alone(store_url)
    with open_plainly(store_url) as book:
        me = book.user("ana")
        assert me.stats().erasures_pending == 1
        assert me.tidy().scrubbed
        assert me.stats().erasures_pending == 0
    left = {memory.id for memory in assert_whole(store_url, "ana").memories}
    assert left == set(ids[1:])


def test_crash_at_random_moments_loses_no_acknowledged_write(store_url):
    kills = KillsAtRandom(store_url, seed=20260301)
    kills.run(6, kills_per_user=6)
    assert kills.kills == 6
    assert kills.acknowledged >= 6
