"""A request to forget is answered with what it may mean, of every kind, and nothing is done yet."""

from __future__ import annotations

import pytest

from support.settled import settled


def offered(choice):
    return {hit.id for hit in choice.candidates}


REQUESTS = [
    "forget what I said about the Garmin, I sold it",
    "Please forget everything I told you about the Garmin because it's wrong",
    "forget about the Garmin – that's private",
    "the Garmin, I sold it",
]


@pytest.mark.parametrize("query", REQUESTS)
def test_forget_by_query_offers_memories_and_turns_without_the_reason(me, query):
    seen = me.observe("I bought a Garmin Fenix watch in Haifa.", thread="t")
    said = me.observe("What a strap that Garmin had!", thread="t")
    choice = me.forget(query=query)
    assert "sold" not in choice.query
    assert "wrong" not in choice.query
    assert {seen.stored[0].remembered.id, said.passages[0]} <= offered(choice)
    assert me.recall("Garmin watch").hits


def test_forget_by_query_in_hebrew_offers_without_the_reason(me):
    seen = me.observe("קניתי שעון גרמין בחיפה", thread="t")
    choice = me.forget(query="תשכח ממה שאמרתי על הגרמין, מכרתי אותו")
    assert seen.stored[0].remembered.id in offered(choice)
    assert "מכרתי" not in choice.query


def test_observe_of_a_forget_request_offers_memories_and_turns(me):
    seen = me.observe("I bought a Garmin Fenix watch in Haifa.", thread="t")
    (choice,) = me.observe("forget what I said about the Garmin, I sold it", thread="t").forget
    assert seen.stored[0].remembered.id in offered(choice)
    gone = me.forget([seen.stored[0].remembered.id, seen.passages[0]])
    assert len(gone.ids) == 2
    assert seen.passages[0] not in {hit.id for hit in me.recall("Garmin watch").hits}


@pytest.mark.parametrize(
    ("said", "request_"),
    [
        ("Rob owes me money since the ski trip.", "can you forget that Rob owes me money?"),
        ("I'm allergic to kiwi.", "delete the thing about my kiwi allergy"),
        ("Dana is thinking of leaving her husband.", "forget I said that about Dana"),
        ("The combo of the safe is behind the mirror.", "pls wipe the safe combo"),
        ("רוב חייב לי כסף מאז הטיול", "אתה יכול לשכוח שרוב חייב לי כסף?"),
    ],
)
def test_observed_request_offers_what_it_names_and_is_no_hit(me, said, request_):
    turn = me.observe(said, thread="t").passages[0]
    seen = me.observe(request_, thread="t")
    (choice,) = seen.forget
    texts = [hit.text for hit in choice.candidates]
    memories = [hit for hit in choice.candidates if turn in hit.evidence]
    assert memories or turn in offered(choice), texts
    assert seen.stored == ()
    for query in (said, request_):
        assert not any(request_ in hit.text for hit in me.recall(query).hits)
    assert seen.passages[0] not in offered(me.forget(query=request_))


def test_request_to_forget_tells_the_graph_nothing(open_book):
    me = open_book(extraction="auto", worker="off").user("ana")
    me.observe("can you forget that Mira works at Kelp Labs?", thread="t")
    me.extract()
    assert me.entities().nodes == ()


def test_forget_by_query_offers_profile_notes_and_graph_items(open_book):
    book = open_book(extraction="auto")
    me = book.user("ana")
    note = me.profile_note("Wears a Garmin on the left wrist").id
    me.ingest("Ana: My brother works at Garmin.", format="transcript", date="2026-01-05")
    settled(book)
    node = next(node.id for node in me.entities().nodes if node.name == "Garmin")
    assert {note, node} <= offered(me.forget(query="Garmin"))


CHAT = [
    "Rob owes me money since the ski trip.",
    "I'm allergic to kiwi.",
    "What a day that was!",
    "The colour of the hallway is blue.",
    "We had pasta with the neighbours.",
    "I run five kilometres every morning.",
    "My running shoes are from Asics.",
]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("Rob", ["Rob"]),
        ("my kiwi allergy", ["kiwi"]),
        ("everything about my running", ["run", "running"]),
        ("what I said about the hallway", ["hallway"]),
    ],
)
def test_forget_by_query_offers_what_says_it_and_no_turn_beside_it(me, query, wanted):
    for turn in CHAT:
        me.observe(turn, thread="t")
    texts = [hit.text for hit in me.forget(query=query).candidates]
    for word in wanted:
        assert any(word in text for text in texts), texts
    assert all(any(word in text for word in wanted) for text in texts), texts


def test_forget_by_query_offers_nothing_without_a_word_in_common(me):
    me.observe("The kettle whistles in the kitchen.", thread="t")
    assert me.forget(query="the Garmin").is_empty
