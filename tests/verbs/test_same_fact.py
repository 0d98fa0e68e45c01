"""A language model says whether near memories are one; words and people have the last word."""

from __future__ import annotations

import pytest

from commonplace.engine.follow_up_jobs import SAME_FACT_JOB
from commonplace.engine.reading.pair_checks import ComparedPair, PairVerdict, replaceable
from commonplace.store.queries import JobQuery
from support.findings import pairs, turns
from support.model_server import model_server


def compared(earlier, later, verdict):
    (may,) = replaceable([ComparedPair(earlier, later, PairVerdict(verdict))])
    return may


@pytest.mark.parametrize(
    ("earlier", "later", "verdict", "may"),
    [
        ("The choir meets on Mondays.", "On Mondays the choir has its meeting.", "same", True),
        ("The code is 0388.", "The code is 0417.", "same", False),
        ("The user's son is Ori.", "The user's son is called Noam.", "same", False),
        ("The user likes Dana.", "The user does not like Dana.", "same", False),
        ("Yesterday Dana paid Tom.", "Yesterday Tom paid Dana.", "same", False),
        ("The choir meets on Mondays.", "The choir meets on Thursdays.", "newer_replaces", True),
        ("Dana lives in Haifa.", "Noa lives in Jaffa.", "newer_replaces", False),
        ("The choir meets on Mondays.", "The choir meets on Mondays.", "both_true", False),
        ("The choir meets on Mondays.", "The choir meets on Mondays.", "unrelated", False),
    ],
)
def test_the_words_have_to_allow_it(earlier, later, verdict, may):
    assert compared(earlier, later, verdict) is may


def test_of_likes_several_hold():
    pair = ComparedPair(
        "The user likes jazz.",
        "The user likes the blues.",
        PairVerdict.NEWER_REPLACES,
        "preferences",
    )
    assert replaceable([pair]) == [False]


def test_a_model_that_calls_everything_out_of_date_is_not_believed():
    pair = ComparedPair(
        "The choir meets on Mondays.",
        "The choir meets on Thursdays.",
        PairVerdict.NEWER_REPLACES,
    )
    assert replaceable([pair] * 2) == [True] * 2
    assert replaceable([pair] * 3) == [False] * 3


EARLIER = "The choir sings in the old mill by the river every summer."
LATER = "Every summer by the river the choir sings in the old mill."


@pytest.fixture
def model():
    def answer(asked):
        return pairs("same", "same", "same") if asked.schema_name == "same_fact" else turns()

    with model_server(answer) as server:
        yield server


@pytest.fixture
def book(open_book, model):
    return open_book(model="openai:stub", model_url=model.url, extraction="auto", worker="off")


def asked(model):
    return [each for each in model.requests if each.schema_name == "same_fact"]


def contents(me):
    return sorted(item.content for item in me.list(limit=100).memories)


def _observed(me, clock):
    for text in (EARLIER, LATER):
        me.observe(text, thread="t", facts=[text])
        clock.tick(days=1)


def test_near_memories_of_turns_become_one(book, me, model, clock):
    _observed(me, clock)
    assert contents(me) == sorted([EARLIER, LATER])
    book.work(once=True)
    assert len(asked(model)) == 1
    assert contents(me) == [LATER]
    assert EARLIER in asked(model)[0].user
    book.work(once=True)
    assert len(asked(model)) == 1


def test_what_a_person_told_stays(book, me, model, clock):
    me.remember(EARLIER, kind="fact")
    clock.tick(days=1)
    me.remember(LATER, kind="fact")
    book.work(once=True)
    assert contents(me) == sorted([EARLIER, LATER])
    assert not asked(model)
    jobs = me._engine.store.jobs(me.principal.scope, JobQuery(kinds=[SAME_FACT_JOB]))
    assert not jobs
