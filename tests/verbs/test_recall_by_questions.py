"""Questions that a memory answers: it is found by them, and they are not its text."""

from __future__ import annotations

import pytest

import commonplace
from commonplace.errors import InvalidInput, TooLong
from support.findings import memory, turns
from support.model_server import model_server
from support.stores import raw

LANDLORD = "Our landlord is Mr Osei"
ASKED = "Who gets the rent every month?"


@pytest.fixture
def told(me):
    for other in ("The cat is called Miso", "The rent went up", "I play the cello on Mondays"):
        me.remember(other, kind="fact")
    return me.remember(LANDLORD, kind="fact", questions=[ASKED, "To whom do I pay for the flat?"])


def test_recall_finds_a_memory_by_a_question_that_it_answers(me, told):
    assert [hit.id for hit in me.recall("who gets the rent each month?", k=1).hits] == [told.id]
    assert me.recall("To whom do I pay for the flat?", k=1).hits[0].text == LANDLORD


def test_recall_does_not_show_the_questions_as_text(me, told):
    hit = me.recall(ASKED, k=1, explain=True).hits[0]
    assert ASKED not in (hit.text, hit.why)
    assert ASKED not in me.context("who owns our flat?").text


def test_questions_do_not_decide_whether_two_memories_are_the_same(me, told):
    other = me.remember("Mrs Vik plays the organ", kind="fact", questions=[ASKED])
    assert (other.relation, other.action) == ("new", "stored")


def test_a_repeat_adds_its_questions(me, told):
    again = me.remember(LANDLORD, kind="fact", questions=["Whose house is it?"])
    assert again.action == "refreshed"
    assert me.show(told.id).memory.questions == (
        ASKED,
        "To whom do I pay for the flat?",
        "Whose house is it?",
    )
    assert me.recall("Whose house is it?", k=1).hits[0].id == told.id


def test_new_content_leaves_the_questions_of_the_old_behind(me, told):
    changed = me.update(told.id, content="Our landlord is Mrs Brandt")
    assert me.show(changed.id).memory.questions == ()


def test_questions_survive_a_restart_and_another_embedder(me, told, open_book):
    book = open_book()
    assert book.user("ana").recall(ASKED, k=1).hits[0].similarity == pytest.approx(1, abs=0.05)
    book.reembed("wordllama")
    hit = open_book(embedder="wordllama").user("ana").recall(ASKED, k=1).hits[0]
    assert (hit.text, hit.similarity) == (LANDLORD, pytest.approx(1, abs=0.05))


def test_an_erased_memory_leaves_no_question_behind(me, told, store_url):
    assert me.verify_forget(ASKED).found_in
    me.erase(told.id, now=True)
    rows = [raw(store_url, f"SELECT * FROM {table}") for table in ("memories", "versions")]
    assert "gets the rent" not in repr(rows)
    assert not me.verify_forget(ASKED).found_in


@pytest.mark.parametrize(
    ("questions", "error"),
    [(["a?"] * 7, TooLong), (["x" * 201], TooLong), ("who?", InvalidInput), ([7], InvalidInput)],
)
def test_bad_questions_are_refused(me, questions, error):
    with pytest.raises(error, match="questions"):
        me.remember(LANDLORD, questions=questions)
    assert me.list().memories == ()


def test_export_and_import_keep_the_questions(me, told):
    with commonplace.open(":memory:", embedder="hashing") as other:
        other.user("ana").import_(me.export())
        assert other.user("ana").show(told.id).memory.questions[0] == ASKED


def test_verify_forget_names_the_table_of_a_question(me, told):
    assert "memories" in me.verify_forget(ASKED).found_in


def test_a_secret_in_a_question_guards_the_memory(me):
    made = me.remember(LANDLORD, questions=["is my password hunter2-Blue!9 for the landlord?"])
    assert made.memory.sensitivity == "high"


def test_a_models_question_that_another_memory_answers_is_dropped(open_book):
    mug = memory(
        1,
        "my coffee mug is blue",
        text="The user's coffee mug is blue.",
        questions=["when is the birthday of my wife Noa?", "which mug do I drink from?"],
    )
    with model_server(turns(mug)) as server:
        book = open_book(
            embedder="wordllama",
            model="openai:stub",
            model_url=server.url,
            extraction="auto",
            worker="off",
            tidy_on_open=False,
        )
        me = book.user("ana")
        true = me.remember("The birthday of the user's wife Noa is on 3 May.", kind="fact").id
        me.observe("my coffee mug is blue", thread="t")
        book.work(once=True)
        kept = [each for each in me.list().memories if "mug" in each.content]
        assert [each.questions for each in kept] == [("which mug do I drink from?",)]
        assert me.recall("when is the birthday of my wife Noa?", k=1).hits[0].id == true
