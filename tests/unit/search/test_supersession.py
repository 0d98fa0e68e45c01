"""One truth as a pure rule: merged hits, outdated passages, what holds now first."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from commonplace.engine.search.pack import Citation, Hit
from commonplace.engine.search.rank import Ranked
from commonplace.engine.search.supersession import Statements, mark_outdated, settle
from commonplace.model.access.principal import ReadableScope, Scope
from commonplace.model.memory.kinds import Kind
from commonplace.model.memory.memory import Memory

MINE = ReadableScope(Scope.of_user("ana"))
DAY = datetime(2026, 3, 1, tzinfo=UTC)
TURN = "source:talk#1"


def ranked(id, score, held=0.5, similarity=0.5):
    return Ranked(id, 1, MINE, id.startswith("source:"), similarity, held, score, {})


def memory(id, content="The user works at Meta."):
    return Memory(
        id=id,
        user_id="ana",
        kind=Kind.FACT,
        content=content,
        summary=content,
        category="profile",
        created_at=DAY,
        updated_at=DAY,
    )


def turn(number, text, day):
    return Hit(
        id=f"source:talk#{number}",
        text=text,
        kind="passage",
        category="history",
        date=DAY + timedelta(days=day),
        similarity=0.5,
        score=1.0 - number / 10,
        citation=Citation("source:talk", position=number, role="user"),
    )


def test_settle_merges_a_passage_into_the_memory_that_says_as_much():
    told = Statements(live={TURN: (memory("m"),)})
    (hit,) = settle([ranked(TURN, 1.0), ranked("m", 0.4)], told, memories=True).ranked
    assert (hit.id, hit.score) == ("m", 1.0)


def test_settle_keeps_a_passage_that_says_more():
    told = Statements(live={TURN: (memory("m"),)})
    hits = settle(
        [ranked(TURN, 1.0, held=1.0), ranked("m", 0.4, 0.2, 0.2)], told, memories=True
    ).ranked
    assert [hit.id for hit in hits] == [TURN, "m"]


def test_settle_adds_what_holds_now_before_an_outdated_passage():
    told = Statements(outdated={TURN: memory("now")})
    hits = settle([ranked("other", 2.0), ranked(TURN, 1.0)], told, memories=True).ranked
    assert [hit.id for hit in hits] == ["other", "now", TURN]
    lifted = settle([ranked(TURN, 1.0), ranked("now", 0.2)], told, memories=True).ranked
    assert [hit.id for hit in lifted] == ["now", TURN]


def test_settle_adds_no_memory_to_a_search_of_passages():
    told = Statements(outdated={TURN: memory("now")})
    assert [hit.id for hit in settle([ranked(TURN, 1.0)], told, memories=False).ranked] == [TURN]


def test_mark_outdated_puts_the_later_of_two_turns_first():
    old, new = turn(1, "I work at Google", 0), turn(2, "I work at Meta now", 9)
    hits = mark_outdated([old, new], Statements())
    assert [hit.id for hit in hits] == [new.id, old.id]
    assert hits[1].outdated.id == new.id
    assert hits[0].outdated is None


def test_mark_outdated_leaves_turns_that_are_both_true():
    hits = [turn(1, "I visited Rome", 0), turn(2, "I visited Paris", 9)]
    assert mark_outdated(hits, Statements()) == hits


def test_mark_outdated_compares_only_turns_of_one_speaker():
    old, new = turn(1, "I work at Google", 0), turn(2, "I work at Meta now", 9)
    other = replace(new, citation=Citation("source:talk", position=2, role="assistant"))
    assert [hit.outdated for hit in mark_outdated([old, other], Statements())] == [None, None]


def test_mark_outdated_needs_a_word_that_says_so():
    """Turns that are alike but for a number are mostly about two things."""
    hits = [turn(1, "Heron number 3 sat on the wall", 0), turn(2, "Heron number 4 sat there", 9)]
    assert mark_outdated(hits, Statements()) == hits
