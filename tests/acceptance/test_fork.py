"""A process that has a book open may fork: both sides go on with it."""

from __future__ import annotations

from support.children import fork_a_store_in_memory, fork_and_share
from support.processes import Child
from support.whole import assert_whole
from support.workers import fork_while_working


def test_fork_parent_and_child_keep_all_writes(store_url):
    """The parent closes its book while the child writes on; what the child wrote must survive."""
    with Child(fork_and_share, store_url, "ana", 10) as child:
        acknowledged = child.rest()
        assert child.exit_code() == 0
    assert len(acknowledged) == 1 + 3 * 10
    stored = {memory.id for memory in assert_whole(store_url, "ana").memories}
    assert stored == set(acknowledged)


def test_fork_copies_an_in_memory_store():
    with Child(fork_a_store_in_memory) as child:
        assert child.rest() == [
            {"Said before the fork", "The child said"},
            {"Said before the fork", "The parent said"},
        ]


def test_fork_parent_and_child_both_run_jobs(store_url):
    with Child(fork_while_working, store_url) as child:
        assert child.rest() == ["before", "in the child", "in the parent"]
