"""A store without storylines gets them empty; what readings left on items stays."""

from commonplace.model.graph.salience import AccessStats
from commonplace.store.postgres import store as postgres_store
from commonplace.store.queries import GraphQuery
from commonplace.store.sqlite import store as sqlite_store
from support.making import ANA
from support.stores import is_postgres, open_store, raw


def test_storylines_migration_keeps_marks_and_archives_nothing(url, monkeypatch):
    backend = postgres_store if is_postgres(url) else sqlite_store
    with monkeypatch.context() as older:
        known = [each for each in backend._MIGRATIONS if each.number < 28]
        older.setattr(backend, "_MIGRATIONS", known)
        open_store(url).close()
    raw(url, "INSERT INTO marks VALUES (?, 'source:1', 0.6, 1, 2, 3, 4.5, 1.1)", ANA.key)
    store = open_store(url)
    found = store.graph_items(ANA, GraphQuery(marks=None, storylines=None, macros=None))
    kept = AccessStats(
        salience=0.6,
        touched_at=found.marks["source:1"].touched_at,
        access_count=2,
        recall_frequency=3,
        last_recall_interval=4.5,
        decay_gradient=1.1,
    )
    assert found.marks == {"source:1": kept}
    assert (found.storylines, found.macros) == ([], [])
    assert store.archived_sources(ANA) == frozenset()
    store.close()
