"""A language model reads sources that are not conversations, in batches of passages."""

from __future__ import annotations

from itertools import pairwise

import pytest

from commonplace.model.graph.snapshot import MODEL_ACTOR
from commonplace.store.queries import AssertionQuery
from support.findings import memory, relation, source
from support.model_server import model_server

NOTES = (
    "Ilka Horak does the bookkeeping at Tarn Mill.\n\n"
    "Pavel Horak repairs the kiln of the pottery.\n"
)


def name(passage, quote, name, type="person", **fields):
    return {
        "passage": passage,
        "quote": quote,
        "name": name,
        "type": type,
        "aliases": [],
        "description": "",
        **fields,
    }


def answer(number=1):
    return source(
        memory(
            number,
            "Ilka Horak does the bookkeeping at Tarn Mill",
            "Ilka Horak does the bookkeeping at Tarn Mill.",
        ),
        relations=[
            relation(
                number,
                "Ilka Horak does the bookkeeping at Tarn Mill",
                "Ilka Horak",
                "works-at",
                "Tarn Mill",
                to_type="organization",
            )
        ],
        names=[name(number, "Pavel Horak repairs the kiln", "Pavel Horak")],
    )


@pytest.fixture
def model():
    with model_server(answer()) as server:
        yield server


@pytest.fixture
def book(open_book, model):
    return open_book(model="openai:stub", model_url=model.url, extraction="auto", worker="off")


def by_model(me, id):
    found = me._engine.store.assertions(me.principal.own_scope, AssertionQuery(sources=[id]))
    return [each for each in (*found.nodes, *found.edges) if each.by == MODEL_ACTOR]


def edge_types(me):
    snapshot = me._engine.graph_cache.of(me.principal.scope).snapshot
    return {edge.type for edge in snapshot.edges.values()}


def names(me):
    return {node.name for page in (me.people(), me.entities()) for node in page.nodes} - {"ana"}


def test_a_source_is_read_once_with_its_findings_and_memories(book, me, model):
    done = me.ingest(NOTES, format="text", external_id="notes", title="Pottery")
    assert book.work(once=True).failed == 0
    assert {"Ilka Horak", "Pavel Horak", "Tarn Mill"} <= names(me)
    assert "works-at" in edge_types(me)
    stored = [item.content for item in me.list().memories]
    assert stored.count("Ilka Horak does the bookkeeping at Tarn Mill.") == 1
    assert len(model.requests) == 1
    assert '"title": "Pottery"' in model.requests[0].user
    me.ingest(NOTES, format="text", external_id="notes", title="Pottery")
    book.work(once=True)
    assert len(model.requests) == 1
    me.erase([done.source.id])
    assert names(me) == set()
    assert me.list().memories == ()
    assert me.verify_forget("Ilka").found_in == ()


def test_a_thing_that_rules_take_for_another_kind_of_thing_is_one_node(book, me, model):
    """Also a concept in other words, and an attitude that was estimated twice."""
    model.answer = source(
        names=[
            name(1, "The project Lanternfish", "Lanternfish", "product"),
            name(1, "I value time with my family", "time with my family", "concept"),
        ],
        relations=[
            relation(
                1,
                "I value time with my family",
                "me",
                "values",
                "time with my family",
                to_type="concept",
                attitude=4,
            )
        ],
    )
    said = "The project Lanternfish starts in May. I value time with my family."
    me.ingest(said, format="text", external_id="notes")
    book.work(once=True)
    named = [node.name for node in me.entities().nodes]
    assert named.count("Lanternfish") == 1
    assert [node.name for node in me.concepts().nodes] == ["time with family"]
    assert len(me.edges(types=["values"], past=True).edges) == 1


def test_a_long_source_is_read_in_batches_with_one_passage_of_context(book, me, model):
    model.answer = source()
    paragraphs = [f"Chapter {n}. " + f"The kiln number {n} is hot. " * 30 for n in range(1, 21)]
    me.ingest("\n\n".join(paragraphs), format="text", external_id="long")
    book.work(once=True)
    users = [each.user for each in model.requests if each.schema_name == "extract_source"]
    assert len(users) >= 3
    assert all(len(user) < 9_500 for user in users)
    numbers = [
        [int(part.split(",")[0]) for part in user.split('"passage": ')[1:]] for user in users
    ]
    for before, after in pairwise(numbers):
        assert after[0] == before[-1]


def test_what_was_removed_by_hand_stays_away_until_a_new_sentence_says_it(book, me, model):
    done = me.ingest(NOTES, format="text", external_id="notes")
    book.work(once=True)
    (ilka,) = [node for node in me.people().nodes if node.name == "Ilka Horak"]
    me.erase([ilka.id])
    model.answer = answer()
    me.ingest(f"A new first line.\n\n{NOTES}", format="text", external_id="notes")
    book.work(once=True)
    assert len(model.requests) == 2
    assert "Ilka Horak" not in names(me)
    assert "Pavel Horak" in names(me)
    model.answer = source(
        names=[name(1, "Ilka Horak came back", "Ilka Horak")],
        relations=[
            relation(
                1,
                "Ilka Horak came back to Tarn Mill",
                "Ilka Horak",
                "visits",
                "Tarn Mill",
                to_type="organization",
            )
        ],
    )
    me.ingest(f"Ilka Horak came back to Tarn Mill.\n\n{NOTES}", format="text", external_id="notes")
    book.work(once=True)
    assert "Ilka Horak" in names(me)
    assert by_model(me, done.source.id)


def test_a_part_that_is_appended_is_read_alone(book, me, model):
    model.answer = source()
    chat = "Ana: My sister Noa works at Intel.\nTal: Does she live in Haifa?\n"
    me.ingest(chat, format="transcript", external_id="talk", date="2026-02-01")
    book.work(once=True)
    me.ingest(
        "Ana: She lives in Akko.\n",
        format="transcript",
        external_id="talk",
        append=True,
        date="2026-02-02",
    )
    book.work(once=True)
    first, second = (each.user for each in model.requests)
    assert "Intel" in first
    assert "Akko" in second
    assert "Intel" not in second  # one passage of context


def test_show_prompt_sends_and_changes_nothing(book, me, model):
    done = me.ingest(NOTES, format="text", external_id="notes")
    revision = me._engine.store.counters(me.principal.scope).revision
    shown = me.extract([done.source.id], show_prompt=True)
    assert (shown.sources, shown.memories) == (0, 0)
    (prompt,) = shown.prompts
    assert prompt.prompt.startswith("extract_source/")
    assert prompt.passages == (f"{done.source.id}#1",)
    assert "Ilka Horak" in prompt.user
    assert prompt.tokens > 0
    assert not model.requests
    assert me._engine.store.counters(me.principal.scope).revision == revision
    assert me.extract(show_prompt=True).prompts == (prompt,)
    book.work(once=True)
    (asked,) = model.requests
    assert (asked.system, asked.user) == (prompt.system, prompt.user)


def test_extract_by_hand_queues_the_reading(open_book, model):
    book = open_book(model="openai:stub", model_url=model.url, extraction="on-demand", worker="off")
    me = book.user("ana")
    done = me.ingest(NOTES, format="text", external_id="notes")
    book.work(once=True)
    assert not model.requests
    me.extract()
    book.work(once=True)
    assert len(model.requests) == 1
    assert by_model(me, done.source.id)


def test_sources_from_before_a_model_are_read_when_asked_for(open_book, model):
    with open_book(extraction="auto", worker="off") as book:
        me = book.user("ana")
        me.ingest(NOTES, format="text", external_id="notes")
        me.observe("btw my cat is called Tom", thread="t")
        book.work(once=True)
    book = open_book(model="openai:stub", model_url=model.url, extraction="auto", worker="off")
    me = book.user("ana")
    me.tidy()
    book.work(once=True)
    assert not model.requests  # it costs money: nobody has asked for it
    shown = me.extract(show_prompt=True).prompts
    assert {each.prompt.partition("/")[0] for each in shown} == {"extract_source", "read_turns"}
    assert me.extract().to_read == 2  # the thread, and the file
    assert book.extract_all().to_read == 0  # they are queued
    book.work(once=True)
    assert len([each for each in model.requests if each.schema_name in READING]) == 2
    assert me.extract().to_read == 0


READING = ("extract_source", "read_turns")


def test_a_members_words_say_nothing_about_the_reader(book, model):
    bob, eve = book.user("bob"), book.user("eve")
    eve.profile_set("preferred_name", "Eve Levi")
    team = bob.teams_create("garden").id
    bob.teams_invite(team, "eve")
    eve.teams_join(team)
    said = "Eve Levi owes me money. The kiln of Tarn Mill is hot."
    model.answer = source(
        memory(1, "Eve Levi owes me money", "Eve Levi owes money."),
        memory(1, "The kiln of Tarn Mill is hot", "The kiln of Tarn Mill is hot."),
    )
    id = bob.ingest(said, format="text", team=team).id
    eve.recall("the kiln of Tarn Mill")  # read for the first time
    book.work(once=True)
    told = [item.content for item in eve.list().memories if not item.id.startswith("profile:")]
    assert told == ["The kiln of Tarn Mill is hot."]
    bob.erase([id])
    assert all(item.id.startswith("profile:") for item in eve.list().memories)
    assert eve.verify_forget("kiln").found_in == ()
