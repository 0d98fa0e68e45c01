"""observe: what this memory gave out comes back in a turn, and is not stored again."""

from __future__ import annotations

from commonplace.engine.memories.candidates import SkipReason
from commonplace.model.memory.kinds import Action

HIKING = "The user loves hiking in the mountains."


PASTED = (
    "- [preferences] I love hiking in the mountains.\n- [profile] I am allergic to peanuts.",
    "## Memory Context\n\n[fact] I love hiking in the mountains.\n\n[fact] I hate cilantro.",
    "Memory updates since rev 41:\n- +created: [goals] I want to run a marathon. (imp=2)\n"
    "- ↑updated: I love old maps.\n- … and 2 more",
    "> - [preferences] I love hiking in the mountains.",
    "## About the user\n- I love hiking in the mountains.\n- I hate cilantro.",
)


def test_observe_stores_nothing_from_a_pasted_memory_context(me):
    for pasted in PASTED:
        observed = me.observe(pasted)
        assert (observed.stored, observed.proposals) == ((), ())
        assert {each.reason for each in observed.skipped} <= {SkipReason.RECALLED}
        assert observed.why_not == "all of it was recalled"
        assert observed.passages  # the turn itself is kept as it was said
    assert me.list().memories == ()


def test_observe_stores_statements_next_to_a_pasted_memory_context(me):
    observed = me.observe(
        "## Memory Context\n[fact] I love hiking in the mountains.\n\n"
        "That is outdated. I am allergic to peanuts."
    )
    assert [each.trigger for each in observed.stored] == ["I am allergic to peanuts."]


def test_observe_reports_recalled_candidates_as_skipped(me):
    observed = me.observe(
        "I am allergic to peanuts.\n## About the user\n- I love hiking in the mountains."
    )
    assert [each.trigger for each in observed.stored] == ["I am allergic to peanuts."]
    assert [each.reason for each in observed.skipped] == [SkipReason.RECALLED]
    assert "hiking" in observed.skipped[0].content


def test_observe_pasted_memory_does_not_refresh_the_original(me, clock):
    (kept,) = me.observe("I love hiking in the mountains.").stored
    before = me.show(kept.remembered.id).memory
    clock.tick(days=1)
    bullet = f"- [{before.category}] {before.content}"
    assert me.observe(bullet).stored == ()
    assert me.show(kept.remembered.id).memory.updated_at == before.updated_at


def test_observe_stores_nothing_from_an_assistant_repeating_a_memory(me, clock):
    me.observe("I love hiking in the mountains.")
    clock.tick(minutes=1)
    observed = me.observe(f"As you told me: {HIKING}", role="assistant")
    assert observed.stored == ()
    assert len(me.list().memories) == 1


def test_observe_skips_a_statement_contained_in_a_note(me):
    me.remember(f"From the first talk. {HIKING} Noa does not.", kind="note")
    observed = me.observe("I love hiking in the mountains.")
    assert [each.reason for each in observed.skipped] == [SkipReason.REPEAT]
    assert len(me.list().memories) == 1


def test_observe_stores_a_statement_negated_in_a_note(me):
    me.remember(f"It is not true that {HIKING.lower()}", kind="note")
    assert me.observe("I love hiking in the mountains.").stored


def test_observe_stores_the_same_event_on_another_day(me, clock):
    first = me.observe("We decided to move the launch.")
    assert [each.kind for each in first.stored] == ["event"]
    clock.tick(days=3)
    again = me.observe("We decided to move the launch.")
    assert [each.remembered.action for each in again.stored] == [Action.STORED]


def test_observe_stores_one_summary_for_a_job_reported_twice(me, clock):
    report = "Job completed: imported 312 contacts from the address book."
    me.observe(report, role="assistant")
    clock.tick(minutes=1)
    observed = me.observe(report, role="assistant")
    assert [each.reason for each in observed.skipped] == [SkipReason.REPEAT]
    assert len(me.list(kinds=["summary"]).memories) == 1


def test_observe_does_not_reveal_a_hidden_repeat_to_an_agent(me):
    """The answer would tell that the hidden note says so."""
    me.remember(f"{HIKING} Noa does not.", kind="note", sensitivity="high")
    observed = me.agent("helper").observe("I love hiking in the mountains.")
    assert [each.remembered.action for each in observed.stored] == [Action.STORED]
    assert observed.skipped == ()
