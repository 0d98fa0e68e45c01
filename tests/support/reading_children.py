"""What child processes do in the tests of reading by a language model."""

from __future__ import annotations

import commonplace
from commonplace.api import Commonplace, User
from support.children import die_at
from support.processes import Line

OWNER = "ana"
TURNS = (
    "can't talk, picking up my son Ori from judo",
    "btw Ori's coach is Grigory",
    "the gym locker is 0417 now",
)


def open_with_model(url: str, model_url: str) -> Commonplace:
    return commonplace.open(
        url,
        embedder="hashing",
        tidy_on_open=False,
        worker="off",
        extraction="auto",
        model="openai:stub",
        model_url=model_url,
    )


def say_all(me: User) -> None:
    for turn in TURNS:
        me.observe(turn, thread="t")


def read_while_owed(line: Line, url: str, model_url: str, failpoint: str | None) -> None:
    """Says the turns unless they were said, and works until nothing is owed; killed where it is
    told to."""
    with open_with_model(url, model_url) as book:
        me = book.user(OWNER)
        if not me.sources().sources:
            say_all(me)
        if failpoint:
            die_at(failpoint)
        while book.work(once=True).done:
            pass


def read_when_told(line: Line, url: str, model_url: str) -> None:
    """The same turns as another worker, at the same moment; says how many jobs it did."""
    with open_with_model(url, model_url) as book:
        line.say("ready")
        line.hear()
        line.say(book.work(once=True).done)
