"""The tour is what the commands answer, and the answers are the right ones."""

from pathlib import Path

import pytest

from commonplace.surfaces.cli.month import MEMORY, QUESTIONS, ingest_the_month, opened
from tools import reference
from tools.tour import HITS, tour_page

PAGE = (Path(__file__).parents[2] / "docs/tour.md").read_text()
ANSWERS = ("On the first of March", "to the ninth of March", "5,200 shekels a month", "peanuts")


@pytest.fixture(scope="module")
def me():
    with opened() as book:
        user = book.user("ana")
        for _, answer in ingest_the_month(user):
            assert answer.is_new
            assert answer.is_processed
        user.remember(MEMORY)
        yield user


def test_tour_page_is_current():
    assert reference._MADE + tour_page() == PAGE, "run `make docs`"


@pytest.mark.parametrize(("question", "answer"), list(zip(QUESTIONS[:-1], ANSWERS, strict=True)))
def test_tour_recall_finds_the_answer_to_each_question(me, question, answer):
    assert answer in me.recall(question.query, k=HITS).text


def test_tour_recall_mixes_memories_and_passages(me):
    kinds = {hit.kind for hit in me.recall(QUESTIONS[3].query, k=HITS).hits}
    assert kinds == {"fact", "passage"}


def test_tour_recall_of_an_unknown_topic_is_weak_and_empty_if_strict(me):
    assert all(hit.weak for hit in me.recall(QUESTIONS[-1].query).hits)
    assert me.recall(QUESTIONS[-1].query, strict=True).is_empty


def test_tour_ingest_again_changes_nothing(me):
    assert [answer.action for _, answer in ingest_the_month(me)] == ["unchanged"] * 5
