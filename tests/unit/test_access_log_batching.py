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


def test_merge_bookkeeping_joins_reads_of_one_scope_thread_and_actor():
    (one,) = merge_bookkeeping([read(), read(touched=("m1", "m2"))])
    assert one.touched == {"m1": 2, "m2": 1}
    assert one.entries == (SEARCH, SEARCH)


def test_merge_bookkeeping_keeps_all_used_keys():
    used = [Bookkeeping(Scope.of_user("ana"), START, used_keys=(key,)) for key in "ab"]
    (one,) = merge_bookkeeping(used)
    assert one.used_keys == ("a", "b")


def test_merge_bookkeeping_keeps_the_order_of_recall_turns():
    turns = [RecallTurn("t", None, START, (LoggedSearch("recall", word, ()),)) for word in "abc"]
    (one,) = merge_bookkeeping(
        Bookkeeping(Scope.of_user("ana"), START, turns=(turn,)) for turn in turns
    )
    assert list(one.turns) == turns


def test_merge_bookkeeping_separates_users_threads_and_actors():
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
def test_merge_bookkeeping_loses_and_duplicates_no_read(batch):
    merged = merge_bookkeeping(batch)
    assert sum(sum(b.touched.values()) for b in merged) == sum(len(b.touched) for b in batch)
    assert sum(len(b.entries) for b in merged) == len(batch)
    assert len({(b.scope, b.thread_id, b.actor) for b in merged}) == len(merged)
