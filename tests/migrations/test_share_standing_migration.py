"""Shares of a store without invitations: accepted ones stay so, and so do declined ones."""

from commonplace.model.access.principal import Scope
from commonplace.model.access.team import ShareStatus
from commonplace.store.postgres import store as postgres_store
from commonplace.store.sqlite import store as sqlite_store
from support.stores import is_postgres, open_store, raw

ANA, GIL = Scope.of_user("ana"), Scope.of_user("gil")
_SHARE = "INSERT INTO shares VALUES (?, ?, ?, 'ana', 1, ?, ?)"


def test_share_standing_migration_keeps_earlier_answers(url, monkeypatch):
    backend = postgres_store if is_postgres(url) else sqlite_store
    with monkeypatch.context() as older:
        known = [each for each in backend._MIGRATIONS if each.number < 19]
        older.setattr(backend, "_MIGRATIONS", known)
        open_store(url).close()
    for source, declined in (("source:1", 0), ("source:2", 1)):
        raw(url, _SHARE, ANA.key, GIL.key, source, declined, 1)
        raw(url, _SHARE, GIL.key, ANA.key, source, declined, 0)
    store = open_store(url)
    for scope in (ANA, GIL):
        assert {each.source_id: each.standing for each in store.access(scope).shares} == {
            "source:1": ShareStatus.ACCEPTED,
            "source:2": ShareStatus.BLOCKED,
        }
    store.close()
