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


def test_understand_gives_the_reason_for_no_search(me):
    found = me.understand("Why is the sky blue?")
    assert (found.needs_search, found.query) == (False, "Why is the sky blue?")
    assert found.reasons == ("says nothing of the user",)
    assert not found.is_expanded


def test_understand_completes_a_follow_up_from_recent_turns(me):
    as_maps = [
        {"role": "user", "text": "When is Dan's birthday?"},
        {"role": "assistant", "text": "Sarah asked that, too."},
    ]
    for recent in (["When is Dan's birthday?"], as_maps):
        found = me.understand("what about sarah?", recent=recent)
        assert found.needs_search
        assert found.query == "When is sarah's birthday"


def test_understand_expands_abbreviations_in_a_completed_follow_up(me):
    found = me.understand("what about the YC app?", recent=["When is the report due?"])
    assert found.query.endswith("the YC app (Y Combinator application)")
    assert [each.why for each in found.expanded] == [
        "takes up: When is the report due",
        "abbreviation",
    ]


def test_understand_uses_the_thread_when_no_turns_are_given(me):
    me.ingest(CHAT, thread="t1")
    assert me.understand("and sarah?", thread="t1").query == "When is sarah's birthday"
    assert me.understand("and sarah?", thread="t2").query == "What does the user know about sarah"
    assert me.understand("and sarah?", thread="t1", recent=[]).query == (
        "What does the user know about sarah"
    )


def test_understand_ignores_the_message_stored_in_its_own_thread(me):
    asked = json.dumps({"role": "user", "text": "and sarah?"})
    me.ingest(f"{CHAT}\n{asked}", thread="t1")
    assert me.understand("and sarah?", thread="t1").query == "When is sarah's birthday"


def test_understand_ignores_a_thread_hidden_from_the_agent(me):
    me.ingest(CHAT, thread="t1")
    assert me.agent("planner").understand("and sarah?", thread="t1").query == (
        "What does the user know about sarah"
    )
    assert me.agent("supervisor").understand("and sarah?", thread="t1").query == (
        "When is sarah's birthday"
    )


def test_understand_uses_a_sensitive_thread_only_when_cleared(me, book):
    me.ingest(CHAT, thread="t1", sensitivity="high")
    cleared = book.user(me.principal.user_id, cleared=True)
    assert me.understand("and sarah?", thread="t1").query != "When is sarah's birthday"
    assert cleared.understand("and sarah?", thread="t1").query == "When is sarah's birthday"


def test_understand_knows_speakers_of_sources_by_name(me):
    assert not me.understand("is zbynek vegetarian").needs_search
    me.ingest(
        '{"speaker": "Zbynek Novak", "text": "Hello there, how are you?"}', format="conversation"
    )
    assert me.understand("is zbynek vegetarian").reasons == ("names a person: zbynek",)


def test_understand_changes_nothing(me):
    before = me.revision
    me.understand("what about sarah?", recent=["When is Dan's birthday?"])
    assert me.revision == before
    assert not me.list().memories


def test_understand_caches_the_result_per_message(me, monkeypatch):
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


def test_understand_cache_is_separate_per_user(me, book):
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
def test_understand_refuses_invalid_recent_turns(me, recent, error):
    with pytest.raises(error) as refused:
        me.understand("why?", recent=recent)
    assert refused.value.field == "recent" or error is UnknownField


@pytest.mark.parametrize("message", ["", "  ", "a\x00", "\ud800", "x" * 40_000, 7, None])
def test_understand_refuses_an_invalid_message(me, message):
    with pytest.raises(InvalidInput):
        me.understand(message)


def test_understand_ignores_the_stored_message_in_another_spelling(me):
    """However it is spelled."""
    me.observe("What is the best pizza in Boston?", thread="t1")
    me.observe("What about  chicago?", thread="t1")
    turns = load_recent_turns(me._engine, me.principal, "t1", "what about Chicago")
    assert [turn.text for turn in turns] == ["What is the best pizza in Boston?"]


@pytest.mark.parametrize(
    "message",
    [
        "What's the vet's phone number?",
        "how is Biscuit doing?",
        "how is biscuit doing",
        "which nursery does jonah go to?",
        "What is Stride Physio?",
        "tell me about Stride Physio",
        "איפה נועה עובדת",
    ],
)
def test_understand_needs_a_search_for_what_the_memory_knows(me, message):
    before = me.understand(message)
    me.remember("the vet's phone number is 0117 496 0288")
    me.remember("biscuit is a four year old whippet")
    me.remember("jonah goes to acorns nursery")
    me.remember("stride physio is on mill lane")
    me.remember("נועה עובדת באינטל")
    found = me.understand(message)
    assert found.needs_search
    if not before.needs_search:
        assert any(reason.startswith("names what the memory knows: ") for reason in found.reasons)


@pytest.mark.parametrize(
    "message",
    ["what is a whippet?", "how many days are in february?", "write a haiku about a whippet"],
)
def test_understand_needs_no_search_for_a_known_word_alone(me, message):
    me.remember("biscuit is a four year old whippet")
    me.remember("the car insurance runs out on 9 February")
    assert not me.understand(message).needs_search


@pytest.mark.parametrize(
    "message",
    [
        "what have you got on pickle?",
        "how is otis related to me?",
        "which suburb is home?",
        "What's the vet's phone number?",
        "biscit ok?",
        "is sid reliable?",
        "how do i ring the farrier?",
        "how long should your replies to me be?",
        "מי זו עליזה במשפחה?",
        "על מה להתריע לי בתחילת כל חודש?",
    ],
)
def test_understand_needs_a_search_for_what_a_turn_mentions(me, message):
    for turn in (
        "the neighbours left us pickle the cat for a week, what a monster",
        "my nephew otis starts kindy soon",
        "biscuit ate a sock so we rang the vet, phone is 0117 496 0288",
        "sid the farrier was late again",
        "הסבתא של בעלי עליזה באה לשבת",
    ):
        me.observe(turn, thread="t1")
    assert me.understand(message).needs_search


def test_understand_needs_a_search_for_a_node_that_no_text_mentions(me):
    assert not me.understand("is zbynek ok?").needs_search
    me.nodes_add("Zbynek Novak")
    for message in ("is zbynek ok?", "is zbinek ok?", "zbyneks birthday?"):
        assert me.understand(message).needs_search


@pytest.mark.parametrize(
    "message",
    [
        "what is a photon?",
        "write a python function to sort a list",
        "what's 17 * 23",
        "thanks!",
        "hello",
        "why do cats purr?",
        "how does car insurance work?",
        "When did the Berlin Wall fall?",
        "מתי נגמרה מלחמת העולם השנייה?",
    ],
)
def test_understand_needs_no_search_for_a_general_message_with_known_words(me, message):
    me.observe("the cats broke the wall clock, a list of car insurance firms is on the desk")
    me.observe("השנייה הזאת חזרתי, העולם קטן")
    assert not me.understand(message).needs_search


def test_understand_knows_only_words_that_the_caller_may_see(me):
    me.remember("the vault is behind the blue painting", category="health")
    me.remember("the safe is under the stairs", sensitivity="high")
    agent = me.agent("planner")
    assert not agent.understand("where is the vault?").needs_search
    assert not me.understand("where is the safe?").needs_search
    assert me.understand("where is the vault?").needs_search


def test_context_finds_no_less_than_the_bare_words(me):
    me.remember("we stored the skis at the cabin near Chicago", kind="note")
    hits = me.recall("What does the user know about chicago").hits
    assert [hit.text for hit in hits] == [hit.text for hit in me.recall("chicago").hits]
    assert "near Chicago" in me.context("in chicago").volatile_text


def test_recall_of_two_wordings_gives_each_hit_once(me):
    me.remember("we ate in Chicago in May", kind="fact")
    hits = me.recall("What does the user know about chicago", k=3).hits
    assert len({hit.id for hit in hits}) == len(hits) == 1
