"""doctor says how it stands with the language model, without asking it."""

from __future__ import annotations

import pytest

from support.findings import turns
from support.model_server import model_server, refuse


@pytest.fixture
def model():
    with model_server(turns()) as server:
        yield server


def about_the_model(user, **asked):
    return next(each for each in user.doctor(**asked) if each.what == "model")


def test_doctor_says_that_no_model_is_configured(me):
    found = about_the_model(me)
    assert (found.ok, found.detail) == (True, "none is configured: rules alone read")


def test_doctor_counts_calls_tokens_and_unread_sources_of_today(open_book, model, clock):
    book = open_book(model=model.model(), extraction="auto", worker="off")
    me = book.user("ana")
    me.observe("my code word is alpha these days", thread="t")
    assert "0 calls, 0 failed" in about_the_model(me).detail
    assert "to be read: 1" in about_the_model(me).detail
    assert model.requests == []
    book.work(once=True)
    asked = len(model.requests)
    found = about_the_model(me)
    assert found.ok
    assert f"today {asked} calls, 0 failed" in found.detail
    assert f"{me.model_usage().tokens_today:,} of 500,000 tokens" in found.detail
    assert "to be read: 0" in found.detail
    assert about_the_model(me, all_users=True).ok
    clock.tick(days=1)
    assert "today 0 calls" in about_the_model(me).detail
    assert len(model.requests) == asked


def test_doctor_finds_a_model_that_only_fails_and_tokens_that_are_spent(open_book, model):
    model.answer = refuse(401)
    book = open_book(model=model.model(), worker="off")
    me = book.user("ana")
    me.recall("who owns the flat?", mode="deep")
    failing = about_the_model(me)
    assert not failing.ok
    assert "model check" in failing.remedy
    spent = about_the_model(
        open_book(model=model.model(), model_daily_tokens=0, worker="off").user("bo")
    )
    assert not spent.ok
    assert "model_daily_tokens" in spent.remedy


def test_doctor_tells_agents_nothing_of_the_model(open_book, model):
    book = open_book(model=model.model(), worker="off")
    findings = book.user("ana").agent("helper").doctor()
    assert "model" not in {each.what for each in findings}
