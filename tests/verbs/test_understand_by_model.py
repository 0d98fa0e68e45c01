"""understand asks a model where no rule is sure, and only there; nothing else waits for it."""

from __future__ import annotations

import pytest

from support.model_server import hang_up, model_server, refuse, text

UNSURE = "what would be nice to cook with fennel on thursday"
FOREIGN = "wie schwer ist die sonne denn"


@pytest.fixture
def server():
    with model_server({"needed": True, "about": "thursday"}) as running:
        yield running


@pytest.fixture
def me(open_book, server):
    book = open_book(model=server.model(), worker="off")
    return book.user("ana")


def test_understand_asks_the_model_where_no_rule_is_sure(me, server):
    found = me.understand(UNSURE)
    assert found.needs_search
    assert found.reasons == (
        "is about the user, says a language model: thursday",
        "says nothing of the user",
    )
    assert server.requests[-1].schema_name == "needs_search"


def test_understand_believes_a_model_that_says_no(me, server):
    server.answer = {"needed": False, "about": ""}
    found = me.understand(FOREIGN)
    assert not found.needs_search
    assert found.reasons[0] == "is not about the user, says a language model"


@pytest.mark.parametrize(
    "message", ["hello", "what is 3 + 4", "what did I say about the boiler?", "translate: hola"]
)
def test_understand_asks_nobody_where_a_rule_is_sure(me, server, message):
    me.understand(message)
    assert server.requests == []


def test_understand_asks_once_for_the_same_message(me, server):
    assert me.understand(UNSURE) == me.understand(UNSURE)
    assert len(server.requests) == 1


def test_understand_gives_the_turns_before_as_data(me, server):
    me.understand("is it worth it", recent=["The ticket is 90 euros", "Hm."])
    assert '"text": "The ticket is 90 euros"' in server.requests[-1].user


@pytest.mark.parametrize(
    "misbehaves",
    [
        refuse(401),
        hang_up(),
        text("yes"),
        {"needed": "yes", "about": ""},
        [],
    ],
)
def test_understand_says_what_the_rules_say_when_the_model_fails(me, server, misbehaves):
    server.answer = misbehaves
    found = me.understand(UNSURE)
    assert (found.needs_search, found.reasons) == (False, ("says nothing of the user",))


@pytest.mark.parametrize("about", ["Linda Park's salary", "<b>thursday</b>", "x" * 900, "", 5])
def test_understand_repeats_only_words_of_the_conversation(me, server, about):
    server.then = [{"needed": True, "about": about}] * 2
    reasons = me.understand(UNSURE).reasons
    assert reasons[0] in ("is about the user, says a language model", "says nothing of the user")


def test_context_recall_and_query_never_wait_for_the_model(me, server):
    me.remember("The train to Ulm leaves at 7")
    me.context(UNSURE)
    me.recall(UNSURE)
    me.query(UNSURE)
    me.context_pack(UNSURE)
    assert server.requests == []


def test_understand_uses_the_small_model(open_book, server):
    book = open_book(
        model="openai:large", model_small="openai:small", model_url=server.url, worker="off"
    )
    book.user("ana").understand(UNSURE)
    assert server.requests[-1].body["model"] == "small"
