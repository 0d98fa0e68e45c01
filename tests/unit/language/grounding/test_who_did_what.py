"""Who did what to whom: findings that turn it round are dropped, right paraphrases stay."""

from __future__ import annotations

import pytest

from commonplace.language.grounding.values import DropReason
from support.given_passages import contents, edges, found_in, given, memory, relation

LENT = "Mark lent Eva his drill"
TURNED = [
    (LENT, "Eva lent Mark a drill."),
    (LENT, "Mark was lent a drill by Eva."),
    ("mark smith owes eva 20 quid", "Eva owes Mark Smith 20 quid."),
    ("Yusuf is teaching Freya to drive", "Freya teaches Yusuf to drive."),
    ("Yusuf taught Freya to drive", "Freya is teaching Yusuf to drive."),
    ("Mark was fired by Eva", "Eva was fired by Mark."),
    ("Mark's boss is Eva", "Eva's boss is Mark."),
    ("Mark is Eva's new boss", "Eva is the boss of Mark."),
    ("Mark is older than Eva", "Eva is older than Mark."),
    ("Mark lent me his ladder", "The user lent Mark a ladder."),
    ("I miss Mark so much", "Mark misses the user."),
    ("I lent Mark a saw", "Mark lent Vera a saw."),
    ("דני לימד את רותם לנגן", "רותם לימדה את דני לנגן."),
    ("אורי השאיל לדנה את הסולם", "דנה השאילה לאורי את הסולם."),
]
RIGHT = [
    (LENT, "Mark lent Eva a drill."),
    (LENT, "Eva was lent a drill by Mark."),
    (LENT, "Eva borrowed a drill from Mark."),
    ("Mark gave Eva a watch", "Eva got a watch from Mark."),
    ("Mark sold Eva his car", "Eva bought Mark's car."),
    ("Yusuf taught Freya to drive", "Freya learned to drive from Yusuf."),
    ("Sol married Beth in june", "Beth married Sol in June."),
    ("Mark met Eva at the gym", "Eva met Mark at the gym."),
    ("Mark works with Eva", "Eva works with Mark."),
    ("Mark is Tom's brother", "Tom is Mark's brother."),
    ("Mark is Eva's friend", "Eva is Mark's friend."),
    ("Leeds is 40 miles from York", "York is 40 miles from Leeds."),
    ("Mark is the same age as Eva", "Eva is the same age as Mark."),
    ("Mark's sister Eva called", "Eva is Mark's sister."),
    ("Ruth is Dana's mother", "Dana is Ruth's daughter."),
    ("Mark's mum loves Eva", "Eva is loved by Mark's mum."),
    ("Mark owes me 50 quid", "The user is owed 50 quid by Mark."),
    ("Mark lent me his ladder", "The user borrowed a ladder from Mark."),
    ("Mark texted Eva, they text each other a lot", "Eva texted Mark too."),
    ("Mark lent Eva a saw, then she lent Mark a ladder", "Eva lent Mark a ladder."),
    ("Mark lent Eva a saw, she lent him a ladder", "Eva lent Mark a ladder."),
    ("Mark lent Eva a saw. no wait, Eva lent Mark one", "Eva lent Mark a saw."),
    ("דני לימד את רותם לנגן", "רותם למדה מדני לנגן."),
    ("דנה פגשה את אורי", "אורי פגש את דנה."),
    ("סיגל היא בת דודה של רונית", "רונית היא בת דודה של סיגל."),
]


def found(turn, text):
    return found_in(given(f"owner: {turn}"), memories=[memory(text, turn)])


@pytest.mark.parametrize(("turn", "text"), TURNED)
def test_a_deed_told_the_other_way_round_is_dropped(turn, text):
    assert found(turn, text).dropped == {DropReason.SWAPPED_NAMES: 1}


@pytest.mark.parametrize(("turn", "text"), RIGHT)
def test_a_right_paraphrase_is_kept(turn, text):
    assert contents(found(turn, text))


def test_i_is_who_speaks():
    turns = given("Jonas Berg: I lent Mark my ladder")
    kept = found_in(turns, memories=[memory("Jonas lent Mark a ladder.", "I lent Mark my ladder")])
    assert contents(kept)
    turned = memory("Mark lent Jonas a ladder.", "I lent Mark my ladder")
    assert found_in(turns, memories=[turned]).dropped == {DropReason.SWAPPED_NAMES: 1}


def test_what_was_said_before_counts():
    turns = given("*owner: Eva lent Mark a saw in May", f"owner: {LENT}")
    kept = found_in(turns, memories=[memory("Eva lent Mark a saw and he a drill.", LENT, 1)])
    assert contents(kept)


RELATIONS = [
    ("Mark manages Eva", ("Eva", "reports-to", "Mark"), ("Mark", "reports-to", "Eva")),
    ("Mark manages Eva", ("Mark", "manages", "Eva"), ("Eva", "manages", "Mark")),
    ("Eva is managed by Mark", ("Eva", "reports-to", "Mark"), ("Mark", "reports-to", "Eva")),
    ("Eva works for Mark", ("Eva", "reports-to", "Mark"), ("Mark", "reports-to", "Eva")),
    ("Mark is Eva's boss", ("Eva", "reports-to", "Mark"), ("Mark", "reports-to", "Eva")),
    ("Mark's daughter is Eva", ("Eva", "child", "Mark"), ("Mark", "child", "Eva")),
    ("Mark manages me", ("me", "reports-to", "Mark"), ("Mark", "reports-to", "me")),
    ("Mark teaches Eva", ("Mark", "teaches", "Eva"), ("Eva", "teaches", "Mark")),
    ("Mark teaches Eva", ("Eva", "taught-by", "Mark"), ("Mark", "taught-by", "Eva")),
    ("דני מנהל את רותם", ("רותם", "reports-to", "דני"), ("דני", "reports-to", "רותם")),
]


@pytest.mark.parametrize(("turn", "right", "wrong"), RELATIONS)
def test_a_relation_runs_as_its_verb_or_noun_says(turn, right, wrong):
    turns = given(f"owner: {turn}")
    assert len(edges(found_in(turns, relations=[relation(*right, turn)]))) == 1
    turned = found_in(turns, relations=[relation(*wrong, turn)])
    assert edges(turned) == []
    assert turned.dropped == {DropReason.SWAPPED_NAMES: 1}


def test_a_description_that_turns_it_round_is_left_out():
    item = relation("Mark", "knows", "Eva", LENT, description="Eva lent Mark a drill.")
    (edge,) = found_in(given(f"owner: {LENT}"), relations=[item]).graph.edges
    assert edge.description == ""


@pytest.mark.parametrize("ends", [("Mark", "Eva"), ("Eva", "Mark")])
def test_a_mutual_relation_has_no_direction(ends):
    turns = given("owner: Mark married Eva")
    item = relation(ends[0], "spouse", ends[1], "Mark married Eva")
    assert len(edges(found_in(turns, relations=[item]))) == 1
