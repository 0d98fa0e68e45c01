"""What the speaker does not want kept is in no table: no memory, proposal, passage or original."""

from __future__ import annotations

import pytest

from commonplace.engine.memories.candidates import SkipReason

UNWANTED = (
    "I live in Berlin, but don't save that",
    "This is confidential, I'm pregnant",
    "don't remember this: the gate code is 5511",
    "אני גר בברלין, אבל אל תשמור את זה",
    "בינינו, אני בהריון",
)


@pytest.mark.parametrize("turn", UNWANTED)
def test_observe_stores_nothing_of_an_opted_out_turn_and_reports_why(me, turn):
    observed = me.observe(turn, thread="t1")
    assert (observed.stored, observed.proposals, observed.forget) == ((), (), ())
    assert [each.reason for each in observed.skipped] == [SkipReason.ASKED_NOT_TO]
    assert (observed.source_id, observed.passages) == (None, ())
    assert observed.why_not == "asked not to keep it"
    assert [*me.list().memories, *me.proposals(), *me.sources().sources] == []
    assert me.revision == 0


def test_observe_many_skips_only_the_opted_out_turn_of_a_batch(me):
    first, unwanted, last = me.observe_many(
        [
            {"text": "I am allergic to peanuts.", "thread": "t1"},
            {"text": "Off the record, I am allergic to cats.", "thread": "t1"},
            {"text": "I love hiking in the mountains.", "thread": "t1"},
        ]
    )
    assert unwanted.source_id is None
    assert [each.passages for each in (first, last)] == [
        (f"{first.source_id}#1",),
        (f"{first.source_id}#2",),
    ]
    contents = [each.remembered.memory.content for each in (*first.stored, *last.stored)]
    assert contents == [
        "The user is allergic to peanuts.",
        "The user loves hiking in the mountains.",
    ]
    assert last.stored[0].remembered.memory.source_id == last.source_id


def test_observe_omits_only_the_opted_out_sentence_of_a_turn(me):
    observed = me.observe("I am allergic to peanuts. My salary is 5511, don't save that.")
    assert len(observed.stored) == 1
    (passage,) = me.show(observed.source_id).passages
    assert passage.text == "I am allergic to peanuts. […]"
    assert not me.recall("5511", strict=True).hits
    assert me.verify_forget("5511").clean
