"""A migration happens once and whole: with several processes at the door, and after a crash."""

import signal

import pytest

from support.making import ANA, a_memory, put
from support.schema import schema_of
from support.stores import open_store, raw

WAIT = 60


def test_migration_by_two_concurrent_processes_runs_once(new_url, url, opener):
    processes = [opener(url) for _ in range(2)]
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    answers = [process.communicate(timeout=WAIT)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    [(newest, recorded)] = raw(url, "SELECT MAX(number), COUNT(*) FROM migrations")
    assert answers == [f"{newest}\n"] * 2
    assert recorded == newest
    assert schema_of(url) == whole_schema(new_url())


@pytest.mark.parametrize("failpoint", ["migration.statements", "migration.before_commit"])
def test_migration_killed_midway_is_completed_by_the_next_open(new_url, url, opener, failpoint):
    killed = opener(url, failpoint)
    killed.communicate("go\n", timeout=WAIT)
    assert killed.returncode == -signal.SIGKILL
    store = open_store(url)
    mine = a_memory()
    put(store, [mine])
    assert store.fetch(ANA, [mine.id]) == [mine]
    assert store.health().integrity == ()
    store.close()
    assert schema_of(url) == whole_schema(new_url())


def whole_schema(url):
    open_store(url).close()
    return schema_of(url)
