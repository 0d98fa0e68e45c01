"""Turns of one user are read one conversation after the other, the earliest first."""

from __future__ import annotations

import threading

import pytest

from commonplace.language.llm.language_model import ModelAnswer, TokenCount
from support.settled import until

WAIT = 30  # seconds at most, for what happens at once


class Gate:
    """A model that answers nothing, and holds its first answer back until it may go on."""

    name = "gate"

    def __init__(self):
        self.asked, self.at_once, self.most = [], 0, 0
        self.has_begun, self.may_answer = threading.Event(), threading.Event()

    def complete(self, request):
        if request.schema["properties"].keys() != {"memories", "relations", "names", "forget"}:
            return ModelAnswer({}, "", TokenCount(1, 1))
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        self.asked.append(request.messages[-1].content)
        self.has_begun.set()
        assert self.may_answer.wait(WAIT)
        self.at_once -= 1
        nothing = {"memories": [], "relations": [], "names": [], "forget": []}
        return ModelAnswer(nothing, "", TokenCount(1, 1))


@pytest.fixture
def gate():
    return Gate()


def test_conversations_of_a_user_are_read_in_order_one_at_a_time(open_book, gate, clock):
    book = open_book(model=gate, extraction="auto", worker="off")
    me = book.user("ana")
    for number, word in enumerate(("alpha", "bravo", "charlie")):
        me.observe(f"my code word is {word} these days", thread=f"t{number}")
        clock.tick(hours=1)
    working = threading.Thread(target=book.work, kwargs={"once": True})
    working.start()
    assert gate.has_begun.wait(WAIT)
    other = threading.Thread(target=book.work, kwargs={"once": True})
    other.start()
    gate.may_answer.set()
    for thread in (working, other):
        thread.join(WAIT)
    assert gate.most == 1
    words = [next(w for w in ("alpha", "bravo", "charlie") if w in each) for each in gate.asked]
    assert words == ["alpha", "bravo", "charlie"]


def test_slow_model_does_not_delay_the_other_jobs(open_book, gate, clock):
    book = open_book(model=gate, extraction="auto", worker="inline")
    me = book.user("ana")
    me.observe("my code word is alpha these days", thread="t")
    clock.tick(hours=1)
    book.work_in_background()
    assert gate.has_begun.wait(WAIT)
    id = me.ingest("The harbour of Oslo is cold.", format="markdown", wait=False).source.id
    until(lambda: not {"process", "extract"} & {job.kind for job in me.jobs()})
    assert me.show(id).source.status == "extracted"
    assert gate.at_once == 1
    gate.may_answer.set()


def test_work_once_waits_for_the_job_that_this_process_runs_already(open_book, gate, clock):
    book = open_book(model=gate, extraction="auto", worker="inline")
    book.user("ana").observe("my code word is alpha these days", thread="t")
    clock.tick(hours=1)
    book.work_in_background()
    assert gate.has_begun.wait(WAIT)
    working = threading.Thread(target=book.work, kwargs={"once": True})
    working.start()
    assert working.is_alive()
    gate.may_answer.set()
    working.join(WAIT)
    assert not working.is_alive()
    assert len(gate.asked) == 1
    assert book.user("ana").jobs() == []
