"""export and import of how far a model has read: what it has read is not paid for again."""

from __future__ import annotations

import json

import pytest

from commonplace.errors import InvalidInput
from commonplace.model.access.principal import Scope
from support.findings import memory, turns
from support.model_server import model_server

ANA, BEN = Scope.of_user("ana"), Scope.of_user("ben")
FOUND = turns(memory(1, "picking up my son Ori from judo", "The user's son Ori does judo."))


@pytest.fixture
def model():
    with model_server(FOUND) as server:
        yield server


@pytest.fixture
def book(open_book, model):
    return open_book(model=model.model(), extraction="auto", worker="off")


@pytest.fixture
def lines(book, me, clock):
    """What Ana exports: a conversation that was read, and near memories that were compared."""
    me.observe("can't talk, picking up my son Ori from judo", thread="t")
    book.work(once=True)
    assert [each.passages for each in readings(book, ANA)] == [1]
    return list(me.export())


def readings(book, scope):
    return book._engine.store.model_readings(scope)


def test_import_into_an_empty_memory_knows_what_was_read(book, lines, model, clock):
    asked = len(model.requests)
    ben = book.user("ben")
    ben.import_(lines)
    assert [(each.source, each.passages) for each in readings(book, BEN)] == [
        (each.source, each.passages) for each in readings(book, ANA)
    ]
    assert {each.source_scope for each in readings(book, BEN)} == {BEN.key}
    ben.extract()
    book.work(once=True)
    assert len(model.requests) == asked
    again = list(ben.export())
    assert readings_of(again) == readings_of(lines) != []


def test_import_into_a_memory_in_use_knows_what_was_read(book, lines, model):
    ben = book.user("ben")
    ben.remember("The lamp is green.")
    asked = len(model.requests)
    assert not ben.import_(lines).whole
    book.work(once=True)
    assert len(model.requests) == asked
    assert [each.passages for each in readings(book, BEN)] == [1]
    ben.import_(lines)  # again: nothing changes
    assert [each.passages for each in readings(book, BEN)] == [1]


def test_import_does_not_take_other_words_for_read(book, lines, model):
    """Two conversations under one name: what was read of one says nothing about the other."""
    ben = book.user("ben")
    ben.observe("my neighbour plays the cello at night", thread="t")
    ben.import_(lines)
    assert readings(book, BEN) == []
    book.work(once=True)
    assert "cello" in model.requests[-1].user


def test_import_of_an_archive_without_readings_reads_anew(book, lines, model):
    ben = book.user("ben")
    ben.remember("The lamp is green.")
    asked = len(model.requests)
    ben.import_([line for line in lines if json.loads(line)["type"] != "reading"])
    book.work(once=True)
    assert len(model.requests) > asked


def test_import_refuses_a_reading_that_is_given_twice(book, lines):
    ben = book.user("ben")
    with pytest.raises(InvalidInput, match="repeats"):
        ben.import_([*lines, readings_of(lines)[0]])
    assert readings(book, BEN) == []


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"passages": 10**12}, "passages"),
        ({"skipped": [{"first": 9, "last": 2, "prompt": "p", "model": "m"}]}, "among those"),
    ],
)
def test_import_refuses_a_reading_that_cannot_be(book, lines, changed, error):
    ben = book.user("ben")
    line = json.dumps({**json.loads(readings_of(lines)[0]), **changed})
    others = [each for each in lines if each not in readings_of(lines)]
    with pytest.raises(InvalidInput, match=error):
        ben.import_([*others, line])
    assert ben.list().memories == ()


def readings_of(lines):
    return [line for line in lines if json.loads(line)["type"] == "reading"]
