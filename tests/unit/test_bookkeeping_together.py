"""Reads are written down in batches: one write for one scope, thread and actor."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from commonplace.engine.access_log import merge_bookkeeping
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import Bookkeeping
from commonplace.model.journal import Entry, LoggedSearch, Op, RecallTurn
from support.clock import START

SEARCH = Entry(op=Op.SEARCH)


def read(user="ana", thread="t", actor="user:ana", touched=("m1",)):
    return Bookkeeping(
        Scope.of_user(user),
        START,
        touched=dict.fromkeys(touched, 1),
        entries=(SEARCH,),
        thread_id=thread,
        actor=actor,
    )


def test_reads_of_one_kind_become_one_write():
    (one,) = merge_bookkeeping([read(), read(touched=("m1", "m2"))])
    assert one.touched == {"m1": 2, "m2": 1}
    assert one.entries == (SEARCH, SEARCH)


def test_no_key_that_was_used_is_lost():
    used = [Bookkeeping(Scope.of_user("ana"), START, used_keys=(key,)) for key in "ab"]
    (one,) = merge_bookkeeping(used)
    assert one.used_keys == ("a", "b")


def test_turns_for_the_log_stay_in_their_order():
    turns = [RecallTurn("t", None, START, (LoggedSearch("recall", word, ()),)) for word in "abc"]
    (one,) = merge_bookkeeping(
        Bookkeeping(Scope.of_user("ana"), START, turns=(turn,)) for turn in turns
    )
    assert list(one.turns) == turns


def test_other_users_threads_and_actors_stay_apart():
    batch = [read(), read(user="ben"), read(thread=None), read(actor="agent:x")]
    assert merge_bookkeeping(batch) == batch


@given(
    st.lists(
        st.builds(
            read,
            user=st.sampled_from("ab"),
            thread=st.sampled_from("tu"),
            touched=st.lists(st.sampled_from("xyz"), unique=True),
        )
    )
)
def test_no_read_is_lost_and_none_is_counted_twice(batch):
    merged = merge_bookkeeping(batch)
    assert sum(sum(b.touched.values()) for b in merged) == sum(len(b.touched) for b in batch)
    assert sum(len(b.entries) for b in merged) == len(batch)
    assert len({(b.scope, b.thread_id, b.actor) for b in merged}) == len(merged)
