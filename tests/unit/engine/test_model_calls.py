"""Asking a language model: kept answers, budget, concurrency, failures, and what is counted."""

from __future__ import annotations

import logging
import threading
from datetime import timedelta

import pytest

from commonplace.engine.llm.model_calls import (
    ModelOutcome,
    ModelReply,
    ask_model,
    count_findings,
)
from commonplace.errors import StoreFull
from commonplace.language.llm.language_model import (
    BadModelAnswer,
    ModelDown,
    ModelFailure,
    ModelRefused,
    ModelSlots,
    TokenCount,
)
from support.making import ANA, BOB
from support.models import ToldModel, a_prompt, failing, saying, with_model

VALUE = {"says": "The lamp is green"}


@pytest.fixture
def model():
    return ToldModel(saying(VALUE))


def ask(engine, text="The lamp is green", scope=ANA, **more):
    return ask_model(engine, scope, more.pop("prompt", a_prompt()), {"text": text}, **more)


def used(engine, scope=ANA):
    return [
        (row.calls, row.cached, row.failed, row.tokens) for row in engine.store.model_usage(scope)
    ]


def in_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


# ——— answers ———


def test_ask_model_asks_once_for_the_same_input(book, model):
    engine = with_model(book, model)
    first, second = ask(engine), ask(engine)
    assert first == ModelReply(ModelOutcome.ANSWERED, VALUE, model.name, TokenCount(100, 20))
    assert second == ModelReply(ModelOutcome.CACHED, VALUE, model.name)
    assert first.has_answer
    assert second.has_answer
    assert len(model.asked) == 1
    assert used(engine) == [(1, 1, 0, 120)]


def test_ask_model_asks_again_for_another_text_prompt_model_or_user(book, model):
    engine = with_model(book, model)
    ask(engine)
    ask(engine, "The lamp is red")
    ask(engine, prompt=a_prompt(2))
    ask(engine, scope=BOB)
    model.name = "python:other"
    ask(engine)
    assert len(model.asked) == 5


def test_ask_model_asks_again_when_the_answer_is_too_old(book, model, clock):
    engine = with_model(book, model, cache_days=2)
    ask(engine)
    clock.tick(days=1)
    assert ask(engine).outcome is ModelOutcome.CACHED
    clock.tick(days=2)
    assert ask(engine).outcome is ModelOutcome.ANSWERED


def test_ask_model_keeps_nothing_when_no_days_are_set(book, model):
    engine = with_model(book, model, cache_days=0)
    assert [ask(engine).outcome for _ in range(2)] == [ModelOutcome.ANSWERED] * 2


def test_ask_model_without_a_model_says_so(book):
    assert ask(book._engine).outcome is ModelOutcome.NO_MODEL
    engine = with_model(book, None)
    assert ask(engine).outcome is ModelOutcome.NO_MODEL
    assert used(engine) == []


@pytest.mark.parametrize("value", [{"says": "\ud800"}, {"says": {1, 2}}])
def test_ask_model_returns_an_answer_that_cannot_be_stored(book, value):
    engine = with_model(book, ToldModel(saying(value)))
    assert [ask(engine).value for _ in range(2)] == [value] * 2
    assert used(engine) == [(2, 0, 0, 240)]


# ——— the budget ———


def test_ask_model_is_refused_when_the_tokens_of_the_day_are_spent(book, model, clock):
    engine = with_model(book, model, daily_tokens=240)
    replies = [ask(engine, f"Text {number}") for number in range(3)]
    answered, over = ModelOutcome.ANSWERED, ModelOutcome.OVER_BUDGET
    assert [reply.outcome for reply in replies] == [answered, answered, over]
    assert not replies[-1].has_answer
    assert ask(engine, "Text 0").outcome is ModelOutcome.CACHED
    assert ask(engine, "Text 2", BOB).outcome is answered
    clock.tick(days=1)
    assert ask(engine, "Text 2").outcome is answered


def test_ask_model_with_a_budget_of_none_asks_nothing(book, model):
    assert ask(with_model(book, model, daily_tokens=0)).outcome is ModelOutcome.OVER_BUDGET
    assert model.asked == []


# ——— failures ———


@pytest.mark.parametrize(
    ("failure", "outcome"),
    [
        (ModelDown("no answer in 60 seconds"), ModelOutcome.DOWN),
        (ModelRefused("401"), ModelOutcome.REFUSED),
        (BadModelAnswer("not JSON"), ModelOutcome.MALFORMED),
        (ModelFailure("something else"), ModelOutcome.DOWN),
    ],
)
def test_ask_model_counts_a_failure_with_its_tokens(book, failure, outcome):
    failure.tokens = TokenCount(30, 4)
    engine = with_model(book, ToldModel(failing(failure)))
    reply = ask(engine)
    assert (reply.outcome, reply.value, reply.tokens.total) == (outcome, None, 34)
    assert used(engine) == [(1, 0, 1, 34)]
    ask(engine)
    assert used(engine) == [(2, 0, 2, 68)]


def test_ask_model_survives_whatever_a_model_raises_and_logs_no_text(book, caplog):
    engine = with_model(book, ToldModel(failing(RuntimeError("cannot read: The lamp is green"))))
    with caplog.at_level(logging.DEBUG, "commonplace"):
        assert ask(engine).outcome is ModelOutcome.DOWN
    assert "RuntimeError" in caplog.text
    assert "lamp" not in caplog.text


def test_ask_model_answers_and_keeps_the_budget_while_the_store_fails(book, model, monkeypatch):
    engine = with_model(book, model, daily_tokens=200)

    def full(bookkeeping):
        raise StoreFull("The disk is full.")

    monkeypatch.setattr(engine.store, "record", full)
    assert [ask(engine).value for _ in range(2)] == [VALUE] * 2
    assert ask(engine).outcome is ModelOutcome.OVER_BUDGET


# ——— transactions and erasures ———


def test_ask_model_ends_the_read_transaction_before_the_call(book, me):
    seen = []

    def answer(request):
        in_thread(lambda: me.remember("The door is blue"))
        seen.append(engine.store.counters(ANA).revision)
        return saying(VALUE)(request)

    engine = with_model(book, ToldModel(answer))
    with engine.store.read_session():
        assert engine.store.counters(ANA).revision == 0
        ask(engine)
    assert seen == [1]


def test_ask_model_does_not_keep_an_answer_about_what_was_erased_meanwhile(book, me):
    id = me.remember("The lamp is green").memory.id

    def answer(request):
        me.erase(id)
        return saying(VALUE)(request)

    engine = with_model(book, ToldModel(answer))
    assert ask(engine).has_answer
    assert me.verify_forget("lamp is green").clean
    assert used(engine) == [(1, 0, 0, 120)]


def test_ask_model_does_not_keep_an_answer_about_what_was_erased_since_it_was_read(book, me, model):
    id = me.remember("The lamp is green").memory.id
    engine = with_model(book, model)
    with engine.store.read_session():
        (memory,) = engine.store.fetch(ANA, [id])
        in_thread(lambda: me.erase(id))
        ask(engine, memory.content)
    assert me.verify_forget("lamp is green").clean


# ——— several at once ———


class OneSlot(threading.Semaphore):
    """Says when somebody begins to wait."""

    def __init__(self):
        super().__init__(1)
        self.waited_for = threading.Event()

    def acquire(self, blocking=True, timeout=None):
        if blocking:
            self.waited_for.set()
        return super().acquire(blocking, timeout)


def test_ask_model_by_two_threads_with_the_same_input_makes_one_call(book):
    slots = ModelSlots(1)
    slots._for_jobs = one = OneSlot()

    def answer(request):
        assert one.waited_for.wait(60)
        return saying(VALUE)(request)

    model = ToldModel(answer)
    engine = with_model(book, model, slots=slots)
    replies = []
    threads = [threading.Thread(target=lambda: replies.append(ask(engine))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(reply.outcome for reply in replies) == ["answered", "cached"]
    assert len(model.asked) == 1


def test_call_that_somebody_waits_for_does_not_wait_for_those_of_jobs(book):
    begun, go_on = threading.Semaphore(0), threading.Event()

    def answer(request):
        if "of a job" in request.messages[-1].content:
            begun.release()
            assert go_on.wait(60)
        return saying(VALUE)(request)

    engine = with_model(book, ToldModel(answer), slots=ModelSlots(2))
    jobs = [
        threading.Thread(target=lambda n=n: ask(engine, f"of a job, {n}", BOB)) for n in range(2)
    ]
    for job in jobs:
        job.start()
    assert begun.acquire(timeout=60)
    assert ask(engine, awaited=True).outcome is ModelOutcome.ANSWERED
    assert not begun.acquire(blocking=False)  # the other job waits for the first
    go_on.set()
    for job in jobs:
        job.join(60)
    assert used(engine, BOB) == [(2, 0, 0, 240)]


def test_single_slot_serves_jobs_and_those_who_wait(book, model):
    engine = with_model(book, model, slots=ModelSlots(1))
    outcomes = [ask(engine, text, awaited=text == "b").outcome for text in "abc"]
    assert outcomes == [ModelOutcome.ANSWERED] * 3


# ——— what is counted ———


def test_count_findings_adds_to_the_usage_of_the_day(book, model, clock):
    engine = with_model(book, model)
    reply = ask(engine)
    count_findings(engine, ANA, a_prompt(), 3, 1, reply.model)
    count_findings(engine, ANA, a_prompt(), 2, 5)
    clock.tick(days=1)
    count_findings(engine, ANA, a_prompt(), 1, 0, reply.model)
    rows = [
        (row.day, row.model, row.calls, row.kept, row.dropped)
        for row in engine.store.model_usage(ANA)
    ]
    today, tomorrow = clock() - timedelta(days=1), clock()
    assert rows == [
        (today.date().isoformat(), "", 0, 2, 5),
        (today.date().isoformat(), model.name, 1, 3, 1),
        (tomorrow.date().isoformat(), model.name, 0, 1, 0),
    ]
