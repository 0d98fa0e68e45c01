"""A long decision beside many short writes: it ends, and nothing of the others is lost."""

from __future__ import annotations

import threading

import pytest

from commonplace.engine import transaction
from commonplace.engine.transaction import run_transaction
from commonplace.errors import NotFound
from commonplace.model.changeset import Changeset, IndexEntry, build_add
from support.making import a_memory

WRITERS = 4


def overtaken(me, decided, rivals):
    """A decision during which another writer changes the memory, if it can."""

    def decide():
        engine, scope = me._engine, me.principal.scope
        revision = engine.store.counters(scope).revision
        decided.append(revision)
        rival = threading.Thread(target=me.remember, args=(f"Rival note {len(decided)}",))
        rival.start()
        rivals.append(rival)
        rival.join(timeout=0.5)
        memory = a_memory("The slow one")
        step = build_add(memory, IndexEntry({}, None))
        return Changeset(scope, engine.clock(), "user:ana", (step,), revision), memory.id

    return decide


def test_run_transaction_holds_the_scope_after_some_stale_decisions(book, monkeypatch):
    me = book.user("ana")
    me.remember("The first")
    monkeypatch.setattr(transaction, "FREE_DECISIONS", 3)
    decided, rivals = [], []
    _, id = run_transaction(me._engine, None, overtaken(me, decided, rivals))
    for rival in rivals:
        rival.join()
    assert len(decided) == 4
    contents = {memory.content for memory in me.list(limit=100).memories}
    assert contents >= {f"Rival note {n}" for n in range(1, 5)} | {"The slow one"}
    assert me.show(id).memory.content == "The slow one"


def test_run_transaction_that_fails_while_it_holds_the_scope_changes_nothing(book, monkeypatch):
    me = book.user("ana")
    me.remember("The first")
    monkeypatch.setattr(transaction, "FREE_DECISIONS", 1)
    decided, rivals = [], []
    slow = overtaken(me, decided, rivals)

    def decide():
        changeset, id = slow()
        if len(decided) > 1:
            me._engine.store.apply(changeset)
            raise NotFound("It is gone.")
        return changeset, id

    with pytest.raises(NotFound):
        run_transaction(me._engine, None, decide)
    for rival in rivals:
        rival.join()
    contents = {memory.content for memory in me.list().memories}
    assert contents == {"The first", "Rival note 1", "Rival note 2"}
    assert me.recall("rival note").hits, "caches saw nothing of what was rolled back"


def test_extract_ends_beside_several_writers(book):
    me = book.user("ana")
    for n in range(3):
        me.ingest(f"Ben: Dana moved to Town{n}. Carla works at Company{n}.", wait=True)
    stop = threading.Event()

    def write(place):
        for n in range(10_000):
            if stop.is_set():
                return
            me.remember(f"Note {n} of writer {place}", kind="note")

    writers = [threading.Thread(target=write, args=(place,)) for place in range(WRITERS)]
    for writer in writers:
        writer.start()
    try:
        answer = me.extract()
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    assert answer.sources == 3
