"""What child processes do in the tests of sources."""

from __future__ import annotations

import commonplace
from commonplace.errors import StaleDecision
from support.children import die_at
from support.graph_told import TALKS, take_in
from support.making import changeset
from support.processes import Line
from support.sources import a_source, bringing
from support.stores import open_store
from support.whole import open_plainly

ROUNDS = 3


def bring_in_at_once(line: Line, url: str) -> None:
    """The same names as somebody else, at the same moment."""
    store = open_store(url)
    line.say("ready")
    line.hear()
    for number in range(ROUNDS):
        try:
            store.apply(changeset(bringing(a_source(f"talk {number}"))))
            line.say("first")
        except StaleDecision:
            line.say("late")
    store.close()


def ingest_when_told(line: Line, url: str, user: str, original: str) -> None:
    """The same original as somebody else, at the same moment."""
    with open_plainly(url) as book:
        me = book.user(user)
        line.say("ready")
        line.hear()
        done = me.ingest(original)
        line.say((done.id, str(done.action), done.is_processed, done.source.passages))


def die_while_ingesting(
    line: Line, url: str, user: str, failpoint: str, original: str, wait: bool
) -> None:
    with open_plainly(url) as book:
        die_at(failpoint)
        book.user(user).ingest(original, wait=wait)
        line.say("survived")


def process_what_is_owed(line: Line, url: str, failpoint: str | None = None) -> None:
    """A worker process; killed where it is told to."""
    with open_plainly(url) as book:
        if failpoint:
            die_at(failpoint)
        line.say(book.work(once=True))


def die_while_observing(line: Line, url: str, user: str, failpoint: str, turn: str) -> None:
    with open_plainly(url) as book:
        die_at(failpoint)
        book.user(user).observe(turn)
        line.say("survived")


def observe_many_things(line: Line, url: str, user: str, name: str, count: int, daily: int) -> None:
    """In one thread with somebody else, at the same moment; says how many were stored."""
    with commonplace.open(
        url, embedder="hashing", tidy_on_open=False, worker="off", observe_daily=daily
    ) as book:
        me = book.user(user)
        line.say("ready")
        line.hear()
        turns = [
            f"I am allergic to the plant {name} {number} of the hill." for number in range(count)
        ]
        line.say(sum(len(me.observe(turn).stored) for turn in turns))


def extract_while_owed(line: Line, url: str, user: str, failpoint: str | None) -> None:
    """Takes the talks in and works until nothing is owed; killed where it is told to."""
    with commonplace.open(
        url, embedder="hashing", tidy_on_open=False, worker="off", extraction="auto"
    ) as book:
        for number in range(len(TALKS)):
            take_in(book.user(user), number)
        if failpoint:
            die_at(failpoint)
        while book.work(once=True).done:
            pass


def extract_when_told(line: Line, url: str, user: str) -> None:
    """The same sources as somebody else, at the same moment; says how many it did."""
    with open_plainly(url) as book:
        me = book.user(user)
        line.say("ready")
        line.hear()
        line.say(me.extract().sources)


def relate_when_told(line: Line, url: str, user: str, count: int) -> None:
    with open_plainly(url) as book:
        me = book.user(user)
        line.say("ready")
        line.hear()
        for number in range(count):
            me.relate("me", me.nodes_add(f"Guest {number}").id, "friend")
        line.say(count)
