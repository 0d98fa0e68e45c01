"""Edges of a store in which a child was "child-of"."""

import commonplace
from commonplace.store.postgres import store as postgres_store
from commonplace.store.sqlite import store as sqlite_store
from support.stores import is_postgres, open_store, raw

_NUMBER = 25


def test_child_relation_migration_renames_stored_edges(url, monkeypatch):
    with commonplace.open(url, embedder="hashing") as book:
        me = book.user("ana")
        me.nodes_add("Edda")
        me.relate("me", "Edda", "child")
    raw(url, "UPDATE edges SET type = 'child-of'")
    raw(url, "UPDATE edge_tellings SET type = 'child-of'")
    _migrate_again(url, monkeypatch)
    with commonplace.open(url, embedder="hashing") as book:
        me = book.user("ana")
        assert [each.relationship_type for each in me.edges(node="Edda").edges] == ["child"]
        assert len(me.edges(types=["child-of"]).edges) == 1  # the word of before finds it
        me.relate("me", "Edda", "child-of", description="Edda is my mother.")
        assert [each.relationship_type for each in me.edges(node="Edda").edges] == ["child"]


def _migrate_again(url, monkeypatch):
    """This migration alone: later ones have changed the schema already."""
    later = raw(url, "SELECT * FROM migrations WHERE number > ?", _NUMBER)
    raw(url, "DELETE FROM migrations WHERE number >= ?", _NUMBER)
    backend = postgres_store if is_postgres(url) else sqlite_store
    with monkeypatch.context() as of_then:
        known = [each for each in backend._MIGRATIONS if each.number <= _NUMBER]
        of_then.setattr(backend, "_MIGRATIONS", known)
        open_store(url).close()
    for row in later:
        raw(url, "INSERT INTO migrations VALUES (?, ?, ?)", *row)
