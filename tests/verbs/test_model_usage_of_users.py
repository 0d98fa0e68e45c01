"""model users: what language models used for each user of a store, for whom it is run."""

from __future__ import annotations

import pytest

from commonplace.errors import InvalidInput
from support.model_server import model_server


@pytest.fixture
def book(open_book):
    with model_server({"sum": 42}) as server:
        yield open_book(model=server.model(), model_prices="1000/1000", worker="off")


def test_model_users_adds_up_each_users_calls_and_puts_the_greatest_first(book, clock):
    ana, bo = book.user("ana"), book.user("bo")
    book.user("cy").remember("The lamp is green")
    assert book.model_users() == []
    bo.model_check()
    clock.tick(days=2)
    for _ in range(2):
        ana.model_check()
    first, second = book.model_users()
    assert [(each.user_id, each.calls, each.failed) for each in (first, second)] == [
        ("ana", 2, 0),
        ("bo", 1, 0),
    ]
    assert first.tokens_today == first.read + first.written == ana.model_usage().tokens_today
    assert (second.tokens_today, second.read > 0) == (0, True)
    assert first.cost == ana.model_usage().cost
    assert [each.user_id for each in book.model_users(days=2)] == ["ana"]


def test_model_users_refuses_a_span_that_is_none(book):
    with pytest.raises(InvalidInput):
        book.model_users(days=0)
