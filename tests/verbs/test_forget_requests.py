"""Requests to forget that a model finds in passing: offered until a person has decided."""

from __future__ import annotations

import pytest

from commonplace.errors import InvalidInput, NotAllowed, NotFound
from commonplace.model.journal import RecallLogQuery
from support.findings import turns
from support.model_server import model_server

SAID = "ok whatever, scrap that thing with the kayak please, embarrassing"
ASKED = {"passage": 1, "quote": "scrap that thing with the kayak please", "what": "the kayak"}


@pytest.fixture
def server():
    with model_server(turns(forget=[ASKED])) as running:
        yield running


@pytest.fixture
def book(open_book, server):
    return open_book(
        model="openai:stub",
        model_url=server.url,
        extraction="auto",
        worker="off",
        tidy_on_open=False,
    )


@pytest.fixture
def me(book):
    return book.user("ana")


@pytest.fixture
def kayak(me):
    return me.remember("The user owns a red kayak.", kind="fact").memory.id


def asked(me, book, text=SAID, **more):
    observed = me.observe(text, thread="t", **more)
    book.work(once=True)
    return observed


def test_a_request_that_a_model_found_is_offered_with_its_candidates(me, book, kayak, clock):
    me.remember("The user's cat is called Tom.", kind="fact")
    observed = asked(me, book)
    assert observed.forget == ()  # the rules have not seen it
    (request,) = me.forget_requests()
    assert request.query == "the kayak"
    assert (request.passage, request.text) == (observed.passages[0], SAID)
    assert (request.ends_at - request.said_at).days == 7
    assert [each.id for each in request.candidates] == [kayak]
    assert me.show(kayak).memory.content == "The user owns a red kayak."  # nothing was forgotten


def test_it_ends_when_a_candidate_is_forgotten(me, book, kayak):
    other = me.remember("The kayak is in the shed.", kind="fact").memory.id
    asked(me, book)
    (request,) = me.forget_requests()
    assert {each.id for each in request.candidates} == {kayak, other}
    me.forget(kayak)
    assert me.forget_requests() == []
    me.restore(kayak)
    assert me.forget_requests() == []


def test_forgetting_something_else_leaves_it_open(me, book, kayak):
    tom = me.remember("The user's cat is called Tom.", kind="fact").memory.id
    asked(me, book)
    me.forget(tom)
    assert len(me.forget_requests()) == 1


def test_it_ends_when_it_is_dismissed(me, book, kayak):
    asked(me, book)
    (request,) = me.forget_requests()
    with pytest.raises(InvalidInput):
        me.resolve(request.id, "override")
    resolved = me.resolve(request.id, "dismiss")
    assert resolved.dropped == (request.id,)
    assert me.forget_requests() == []
    assert me.show(kayak).memory.content
    with pytest.raises(NotFound):
        me.resolve(request.id, "dismiss")
    book.work(once=True)
    assert me.forget_requests() == []


def test_two_requests_are_decided_apart(me, book, kayak, server):
    tent = me.remember("The user owns a green tent.", kind="fact").memory.id
    second = {"passage": 1, "quote": "and the tent as well", "what": "the tent"}
    server.answer = turns(forget=[ASKED, second])
    asked(me, book, f"{SAID}, and the tent as well")
    first, other = sorted(me.forget_requests(), key=lambda each: each.query)
    me.resolve(first.id, "dismiss")
    (left,) = me.forget_requests()
    assert (left.id, [each.id for each in left.candidates]) == (other.id, [tent])


def test_it_is_not_shown_while_it_means_nothing(me, book):
    asked(me, book)
    assert me.forget_requests() == []
    kayak = me.remember("The user owns a red kayak.", kind="fact").memory.id
    assert [each.id for each in me.forget_requests()[0].candidates] == [kayak]


def test_it_ends_after_seven_days(me, book, kayak, clock):
    asked(me, book)
    clock.tick(days=6)
    assert len(me.forget_requests()) == 1
    clock.tick(days=1)
    assert me.forget_requests() == []
    me.tidy()
    assert not me._engine.store.model_readings(me.principal.scope, unsettled=True)


def test_an_old_turn_asks_for_nothing(me, book, kayak, clock):
    asked(me, book, at="2026-02-01T10:00:00")
    assert me.forget_requests() == []


@pytest.mark.parametrize("verb", ["forget", "erase"])
@pytest.mark.parametrize("whole", [False, True])
def test_it_goes_with_its_turn(me, book, kayak, verb, whole):
    observed = asked(me, book)
    getattr(me, verb)([observed.source_id if whole else observed.passages[0]])
    assert me.forget_requests() == []
    if verb == "erase":
        kept = me._engine.store.model_readings(me.principal.scope, unsettled=True)
        assert not any(each.requests for each in kept)
        assert "model_readings" not in me.verify_forget("the kayak").found_in


def test_its_words_are_found_by_verify_forget(me, book, kayak):
    asked(me, book)
    assert "model_readings" in me.verify_forget("the kayak").found_in


def test_what_the_rules_have_offered_is_not_offered_twice(me, book, kayak, server):
    quote = "Please forget what I told you about the kayak."
    server.answer = turns(forget=[{"passage": 1, "quote": quote, "what": "the kayak"}])
    observed = asked(me, book, quote)
    assert [choice.query for choice in observed.forget]
    assert me.forget_requests() == []


def test_waiting_for_the_model_gives_them_in_the_answer(me, kayak):
    observed = me.observe(SAID, thread="t", wait=True)
    (choice,) = observed.forget
    assert (choice.query, [each.id for each in choice.candidates]) == ("the kayak", [kayak])
    assert len(me.forget_requests()) == 1  # until somebody decides


def test_reading_on_keeps_it(me, book, kayak, server):
    asked(me, book)
    server.answer = turns()
    me.observe("btw my cat is called Tom", thread="t")
    book.work(once=True)
    assert len(me.forget_requests()) == 1


def test_only_who_may_see_the_conversation_sees_it(me, book, kayak):
    asked(me, book)
    agent = me.agent("helper")
    assert [each.id for each in agent.forget_requests()] == [
        each.id for each in me.forget_requests()
    ]
    with pytest.raises(NotAllowed):
        agent.resolve(me.forget_requests()[0].id, "dismiss")
    assert book.user("ben").forget_requests() == []


def test_looking_at_them_leaves_no_search_behind(me, book, kayak):
    asked(me, book)
    me.forget_requests()
    me._engine.access_log.flush()
    assert not me._engine.store.recall_log(me.principal.scope, RecallLogQuery())


def test_forgetting_what_is_only_remotely_meant_leaves_it_open(me, book, server):
    rome = me.remember("The user's trip to Rome is in May.", kind="fact").memory.id
    crete = me.remember("The user took a boat trip to Crete.", kind="fact").memory.id
    server.answer = turns(forget=[{**ASKED, "what": "the kayak trip"}])
    asked(me, book, "ok whatever, scrap that thing with the kayak please, and the kayak trip")
    (request,) = me.forget_requests()
    assert {rome, crete} & {each.id for each in request.candidates}
    me.forget(rome)
    assert len(me.forget_requests()) == 1


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("ok the kayak is lovely, my sister Ilka phoned", "the kayak is lovely"),
        ("we sold the kayak on monday", "we sold the kayak"),
    ],
)
def test_nobody_asked_to_forget_without_a_word_for_it(me, book, kayak, server, text, quote):
    server.answer = turns(forget=[{"passage": 1, "quote": quote, "what": "the kayak"}])
    asked(me, book, text)
    assert me.forget_requests() == []


def test_a_conversation_has_at_most_twenty_open_requests(me, book, kayak, server):
    words = [f"delete the kayak note {n} please" for n in range(40)]
    server.answer = turns(
        forget=[
            {"passage": 1, "quote": each, "what": f"the kayak note {n}"}
            for n, each in enumerate(words)
        ]
    )
    asked(me, book, " ok so ".join(words))
    assert len(me.forget_requests()) <= 20
