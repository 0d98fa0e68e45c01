"""understand: whether to search, for what, and why; from the turns that are given or a thread's."""

from __future__ import annotations

import json

import pytest

import commonplace.engine.understanding as room
from commonplace.engine.understanding import load_recent_turns
from commonplace.errors import BadText, InvalidInput, TooLong, UnknownField

CHAT = "\n".join(
    json.dumps({"role": role, "text": text})
    for role, text in (
        ("user", "Where did we stay in Porto?"),
        ("assistant", "At the Casa Azul."),
        ("user", "When is Dan's birthday?"),
        ("assistant", "On 3 May."),
    )
)


def test_a_message_that_needs_no_search_says_why(me):
    found = me.understand("Why is the sky blue?")
    assert (found.needs_search, found.query) == (False, "Why is the sky blue?")
    assert found.reasons == ("says nothing of the user",)
    assert not found.is_expanded


def test_a_follow_up_from_turns_in_either_form(me):
    as_maps = [
        {"role": "user", "text": "When is Dan's birthday?"},
        {"role": "assistant", "text": "Sarah asked that, too."},
    ]
    for recent in (["When is Dan's birthday?"], as_maps):
        found = me.understand("what about sarah?", recent=recent)
        assert found.needs_search
        assert found.query == "When is sarah's birthday"


def test_abbreviations_of_the_whole_question_are_written_out(me):
    found = me.understand("what about the YC app?", recent=["When is the report due?"])
    assert found.query.endswith("the YC app (Y Combinator application)")
    assert [each.why for each in found.expanded] == [
        "takes up: When is the report due",
        "abbreviation",
    ]


def test_without_turns_the_threads_conversation_is_taken_up(me):
    me.ingest(CHAT, thread="t1")
    assert me.understand("and sarah?", thread="t1").query == "When is sarah's birthday"
    assert me.understand("and sarah?", thread="t2").query == "What does the user know about sarah"
    assert me.understand("and sarah?", thread="t1", recent=[]).query == (
        "What does the user know about sarah"
    )


def test_a_message_that_was_kept_already_is_not_its_own_conversation(me):
    asked = json.dumps({"role": "user", "text": "and sarah?"})
    me.ingest(f"{CHAT}\n{asked}", thread="t1")
    assert me.understand("and sarah?", thread="t1").query == "When is sarah's birthday"


def test_a_conversation_that_an_agent_may_not_see_is_not_taken_up(me):
    me.ingest(CHAT, thread="t1")
    assert me.agent("planner").understand("and sarah?", thread="t1").query == (
        "What does the user know about sarah"
    )
    assert me.agent("supervisor").understand("and sarah?", thread="t1").query == (
        "When is sarah's birthday"
    )


def test_a_sensitive_conversation_is_taken_up_by_those_who_are_cleared(me, book):
    me.ingest(CHAT, thread="t1", sensitivity="high")
    cleared = book.user(me.principal.user_id, cleared=True)
    assert me.understand("and sarah?", thread="t1").query != "When is sarah's birthday"
    assert cleared.understand("and sarah?", thread="t1").query == "When is sarah's birthday"


def test_people_of_the_users_sources_are_known_by_name(me):
    assert not me.understand("is zbynek vegetarian").needs_search
    me.ingest(
        '{"speaker": "Zbynek Novak", "text": "Hello there, how are you?"}', format="conversation"
    )
    assert me.understand("is zbynek vegetarian").reasons == ("names a person: zbynek",)


def test_nothing_is_remembered_of_it(me):
    before = me.revision
    me.understand("what about sarah?", recent=["When is Dan's birthday?"])
    assert me.revision == before
    assert not me.list().memories


def test_the_same_message_is_read_once(me, monkeypatch):
    read = []
    whole = room.build_understanding
    monkeypatch.setattr(
        room, "build_understanding", lambda *asked: read.append(asked) or whole(*asked)
    )
    first = me.understand("in chicago", recent=["Where did we eat in Rome?"])
    assert me.understand("in chicago", recent=["Where did we eat in Rome?"]) == first
    assert len(read) == 1
    me.understand("in chicago", recent=["Where did we eat in Paris?"])
    assert len(read) == 2


def test_what_is_kept_for_one_user_is_not_served_to_another(me, book):
    ben = book.user("ben")
    me.abbreviate("TFN", "tax form number")
    ben.abbreviate("TFN", "the friendly neighbours")
    for _ in range(2):
        assert me.understand("TFN").query == "TFN (tax form number)"
        assert ben.understand("TFN").query == "TFN (the friendly neighbours)"
        assert book.user("cleo").understand("TFN").query == "TFN"


@pytest.mark.parametrize(
    ("recent", "error"),
    [
        ("in one text", InvalidInput),
        ({"role": "user", "text": "a map"}, InvalidInput),
        (7, InvalidInput),
        ([7], InvalidInput),
        ([None], InvalidInput),
        ([{"role": "user"}], InvalidInput),
        ([{"role": 3, "text": "x"}], InvalidInput),
        ([{"text": "x", "when": "now"}], UnknownField),
        ([""], BadText),
        (["a\x00b"], BadText),
        (["x" * 40_000], TooLong),
        (["x"] * 1001, TooLong),
    ],
)
def test_recent_of_another_kind_is_refused(me, recent, error):
    with pytest.raises(error) as refused:
        me.understand("why?", recent=recent)
    assert refused.value.field == "recent" or error is UnknownField


@pytest.mark.parametrize("message", ["", "  ", "a\x00", "\ud800", "x" * 40_000, 7, None])
def test_a_message_that_is_no_text_is_refused(me, message):
    with pytest.raises(InvalidInput):
        me.understand(message)


def test_the_question_that_was_just_kept_is_no_conversation_of_its_own(me):
    """However it is spelled."""
    me.observe("What is the best pizza in Boston?", thread="t1")
    me.observe("What about  chicago?", thread="t1")
    turns = load_recent_turns(me._engine, me.principal, "t1", "what about Chicago")
    assert [turn.text for turn in turns] == ["What is the best pizza in Boston?"]
