"""PostgreSQL: a connection that is lost while committing. What was stored is reported as stored."""

from contextlib import contextmanager

import psycopg
import pytest
from psycopg import conninfo

import commonplace
from commonplace.errors import StoreUnavailable
from commonplace.store import failpoints
from support.lossy_proxy import LossyProxy


@contextmanager
def at_failpoint(name, deed):
    failpoints.install_hook(lambda reached: deed() if reached == name else None)
    try:
        yield
    finally:
        failpoints.install_hook(None)


def test_commit_with_a_lost_reply_is_reported_as_stored_and_not_repeated(postgres):
    url = postgres.database()
    known = conninfo.conninfo_to_dict(url)
    with LossyProxy(f"{known['host']}/.s.PGSQL.5432") as proxy:
        through = f"postgresql://postgres@127.0.0.1:{proxy.port}/{known['dbname']}"
        with commonplace.open(through, embedder="hashing") as book:
            me = book.user("ana")
            me.remember("before")
            with at_failpoint("apply.before_commit", proxy.lose_next_commit.set):
                kept = me.remember("the answer to this commit was lost")
            assert not proxy.lose_next_commit.is_set()
            assert kept.revision == 2
            assert me.revision == 2
            assert next(memory.id for memory in me.list().memories) == kept.id


def test_commit_of_a_killed_backend_leaves_nothing(postgres):
    url = postgres.database()
    with commonplace.open(url, embedder="hashing") as book:
        me = book.user("ana")
        me.remember("before")

        def end_every_other_backend():
            with psycopg.connect(url, autocommit=True) as admin:
                admin.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )

        with (
            at_failpoint("apply.before_commit", end_every_other_backend),
            pytest.raises(StoreUnavailable),
        ):
            me.remember("never stored")
        assert me.revision == 1
        assert [memory.content for memory in me.list().memories] == ["before"]
