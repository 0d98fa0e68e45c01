"""A closed book says so, and closing it again is no trouble."""

import pytest

from commonplace.errors import StoreClosed


def test_closed_store_refuses_every_verb_and_close_is_idempotent(open_book):
    book = open_book()
    me = book.user("ana")
    me.remember("The kettle is red")
    me.recall("kettle")
    book.close()
    for verb in (lambda: me.recall("kettle"), lambda: me.remember("x"), me.list, me.stats):
        with pytest.raises(StoreClosed):
            verb()
    book.close()


def test_access_log_survives_a_failed_record(open_book, monkeypatch):
    book = open_book()
    me = book.user("ana")
    me.remember("The kettle is red")

    def broken(self, bookkeeping):
        raise RuntimeError("a bug")

    with monkeypatch.context() as patched:
        patched.setattr(type(book._engine.store), "record", broken)
        me.recall("kettle")
        book.flush()
    me.recall("kettle")
    book.flush()
    assert me.list().memories[0].access_count == 1
