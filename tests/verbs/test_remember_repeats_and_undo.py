"""The same again, a newer truth, a question: each leaves its own trace, and each is undone."""

from __future__ import annotations

from datetime import timedelta

import pytest

from commonplace.errors import NotFound
from support.questions import tell, tell_of, values

# ——— refreshed ———


def test_remember_repeat_merges_evidence_into_a_new_version(me, clock):
    there = me.remember("Dana lives in Haifa", kind="fact", evidence=["Monday"], confidence=0.8)
    clock.tick(days=2)
    again = me.remember("dana lives in Haifa", kind="fact", evidence=["Monday", "Friday"])
    assert again.memory.evidence == ("Monday", "Friday")
    assert (again.memory.confidence, again.memory.content) == (1.0, "Dana lives in Haifa")
    stands = me.show(there.id)
    assert (stands.memory.version, stands.memory.updated_at) == (2, clock.now)
    assert [version.memory.version for version in stands.versions] == [1, 2]
    assert stands.versions[0].invalidated_at == clock.now


def test_remember_repeat_takes_given_fields_and_keeps_the_rest(me):
    there = me.remember("Dana lives in Haifa", kind="fact", importance=4, pinned=True, tags=["a"])
    me.remember("Dana lives in Haifa", kind="fact", tags=["b"])
    stands = me.show(there.id).memory
    assert (stands.importance, stands.pinned, stands.tags) == (4, True, ("b",))


def test_restore_previous_version_undoes_a_refresh(me):
    there = me.remember("Dana lives in Haifa", kind="fact", evidence=["Monday"])
    again = me.remember("Dana lives in Haifa", kind="fact", evidence=["Friday"], importance=5)
    assert again.undo == (f"{there.id}@1",)
    restored = me.restore(again.undo[0])
    assert (restored.ids, restored.replaced) == ((there.id,), ())
    stands = me.show(there.id).memory
    assert (stands.evidence, stands.importance, stands.version) == (("Monday",), 2, 3)


def test_restore_undoes_a_contact_merge_in_content_and_index(me):
    there = tell_of(me, "Dana Levi", phone="052-111-2233")
    again = tell_of(me, "Dana Levi", role="plumber")
    assert me.recall("plumber").hits
    me.restore(list(again.undo))
    assert me.show(there.id).memory.metadata == there.memory.metadata
    assert me.recall("plumber").is_empty


@pytest.mark.parametrize("asked_for", ["{id}@7", "{id}@0", "nowhere@1"])
def test_restore_refuses_an_unknown_version(me, asked_for):
    there = me.remember("Dana lives in Haifa", kind="fact")
    with pytest.raises(NotFound):
        me.restore(asked_for.format(id=there.id))
    assert me.revision == there.revision


def test_restore_version_of_a_forgotten_memory(me):
    there = me.remember("Dana lives in Haifa", kind="fact", importance=1)
    me.update(there.id, importance=5)
    me.forget(there.id)
    me.restore(f"{there.id}@1")
    assert me.show(there.id).memory.importance == 1


def test_remember_identical_repeat_counts_as_access_without_a_version(me, clock):
    """A thousand repeats are not a thousand versions."""
    there = tell(me, 1111)
    clock.tick(days=1)
    again = [tell(me, 1111) for _ in range(3)]
    assert {(a.relation, a.action, a.id, a.undo) for a in again} == {
        ("repeat", "refreshed", there.id, ())
    }
    assert me.revision == there.revision
    me.events()  # what was written down off the path is there
    stands = me.show(there.id)
    assert len(stands.versions) == 1
    assert (stands.memory.access_count, stands.memory.last_accessed_at) == (3, clock.now)


def test_restore_brings_back_expiry_stability_and_valid_to(me, clock):
    """A refresh that set an end is undone whole; a fact that has an end keeps it."""
    there = me.remember("Dana lives in Haifa", kind="fact", valid_to="2030-01-01")
    again = me.remember("Dana lives in Haifa", kind="fact", ttl_days=1, stability="volatile")
    assert (again.memory.stability, again.memory.expires_at) == (
        "volatile",
        clock.now + timedelta(1),
    )
    me.restore(list(again.undo))
    stands = me.show(there.id).memory
    assert (stands.expires_at, stands.stability) == (None, "stable")
    me.remember("Dana lives in Porto", kind="fact")
    assert me.show(there.id).memory.valid_to == clock.now
    me.restore(there.id)
    assert me.show(there.id).memory.valid_to.year == 2030


# ——— superseded ———


def test_remember_changed_fact_supersedes_and_sets_valid_to(me, clock):
    old = me.remember("Dana lives in Haifa", kind="fact", evidence=["Monday"], importance=4)
    clock.tick(days=2)
    new = me.remember("Dana lives in Porto", kind="fact", evidence=["Friday"])
    history = me.show(old.id).memory
    assert (history.state, history.superseded_by) == ("superseded", new.id)
    assert history.valid_to == clock.now
    assert new.memory.evidence == ("Friday",)  # another truth has its own
    assert new.memory.importance == 4
    assert [memory.id for memory in me.list().memories] == [new.id]
    assert [hit.id for hit in me.recall("Where does Dana live?").hits] == [new.id]


def test_remember_reworded_fact_supersedes_with_merged_evidence(me):
    old = me.remember("Dana lives in Haifa", kind="fact", evidence=["Monday"])
    new = me.remember("Dana lives in Haifa with her cats", kind="fact", evidence=["Friday"])
    assert (new.relation, new.action, new.others) == ("rewording", "superseded", (old.id,))
    assert new.memory.evidence == ("Monday", "Friday")


def test_remember_changed_fact_ends_the_old_one_at_its_own_valid_from(me, clock):
    old = me.remember("Dana lives in Haifa", kind="fact", valid_from="2025-01-01")
    me.remember("Dana lives in Porto", kind="fact", valid_from="2025-06-01")
    assert me.show(old.id).memory.valid_to.isoformat() == "2025-06-01T00:00:00+00:00"


def test_restore_undoes_a_supersede_in_both_directions(me):
    old = me.remember("Dana lives in Haifa", kind="fact")
    new = me.remember("Dana lives in Porto", kind="fact")
    assert new.undo == (old.id,)
    assert me.restore(old.id).replaced == (new.id,)
    back = me.show(old.id).memory
    assert (back.state, back.superseded_by, back.valid_to) == ("active", None, None)
    me.restore(new.id)
    assert [memory.id for memory in me.list().memories] == [new.id]


def test_remember_ended_fact_does_not_supersede(me, clock):
    now = me.remember("Dana lives in Haifa", kind="fact", valid_from="2026-01-01")
    over = me.remember(
        "Dana lives in Lima",
        kind="fact",
        valid_from="2010-01-01",
        valid_to=clock.now - timedelta(days=99),
    )
    assert over.action == "stored"
    assert me.show(now.id).memory.state == "active"


def test_remember_newer_statement_with_an_earlier_start_supersedes(me, clock):
    old = me.remember("Dana lives in Haifa", kind="fact").memory
    clock.tick(days=5)
    start = old.valid_from - timedelta(days=11)
    new = me.remember("Dana lives in Lisbon", kind="fact", valid_from=start)
    assert (new.action, new.others) == ("superseded", (old.id,))
    assert [memory.id for memory in me.list().memories] == [new.id]
    assert [hit.id for hit in me.recall("Where does Dana live?").hits] == [new.id]
    assert me.show(old.id).memory.valid_to == old.valid_from  # no time is left for it
    then = old.valid_from + timedelta(days=1)
    assert [memory.id for memory in me.list(as_of=then).memories] == [new.id]
    assert [memory.id for memory in me.list(known_at=then).memories] == [old.id]


def test_remember_after_the_clock_was_set_back_supersedes(me, clock):
    old = me.remember("Dana lives in Haifa", kind="fact").memory
    clock.tick(days=-1)
    new = me.remember("Dana lives in Lisbon", kind="fact")
    assert new.action == "superseded"
    assert [memory.id for memory in me.list().memories] == [new.id]
    clock.tick(days=-1)
    newest = me.update(new.id, content="Dana lives in Porto")
    assert [memory.content for memory in me.list().memories] == ["Dana lives in Porto"]
    for id in (old.id, new.id, newest.id):
        shown = me.show(id).memory
        assert shown.valid_to is None or shown.valid_to >= shown.valid_from


def test_observe_after_the_clock_was_set_back_supersedes(me, clock):
    me.observe("I work at Acme.")
    clock.tick(days=-1)
    me.observe("I work at Globex.")
    assert [m.content for m in me.list(kinds=["fact"]).memories] == ["The user works at Globex."]


def test_remember_near_facts_are_stored_and_linked(me):
    one = me.remember("Dana used to live in the old town of Porto", kind="fact")
    other = me.remember("Dana will live in the old town of Porto", kind="fact")
    assert (other.relation, other.action) == ("near", "stored")
    (link,) = me.show(one.id).links
    assert {link.a, link.b} == {one.id, other.id}


# ——— the traces ———


def happenings(me):
    """One of each, in thread t: what the delta header and the journal tell of it."""
    me.remember("Dana lives in Haifa", kind="fact")
    me.remember("Omer works at Intel", kind="fact")
    tell(me, 1, "door code")
    tell(me, 1, "alarm code")
    me.changes()
    return {
        "superseded": me.remember("Dana lives in Porto", kind="fact", thread="t").id,
        "stated again": me.remember(
            "Omer works at Intel", kind="fact", evidence=["his badge"], thread="t"
        ).id,
        "overridden": tell(me, 2, "door code", on_conflict="override", thread="t").id,
        "disputed": tell(me, 2, "alarm code", thread="t").others[0],
    }


def test_changes_distinguish_supersede_repeat_override_and_dispute(me):
    ids = happenings(me)
    delta = me.changes(since=4)
    bullets = {change.id: change.bullet for change in delta.changes}
    assert set(bullets) == set(ids.values())
    assert bullets[ids["superseded"]].startswith("- ↑updated: [")
    assert "(supersedes an earlier one)" in bullets[ids["superseded"]]
    assert "(stated again)" in bullets[ids["stated again"]]
    assert "(overrides an earlier one)" in bullets[ids["overridden"]]
    assert bullets[ids["disputed"]].startswith("- ?disputed: [")
    assert "alarm code is 1" in bullets[ids["disputed"]]
    assert "alarm code is 2" not in delta.header


def test_changes_omit_a_conflict_resolved_since(me):
    tell(me, 1)
    me.changes()
    held = tell(me, 2)
    me.resolve(held.conflict, "dismiss")
    assert me.changes().header == ""
    held = tell(me, 3)
    me.resolve(held.conflict, "override")
    assert "overrides an earlier one" in me.changes().header
    assert "disputed" not in me.changes(since=0).header


def test_remember_alternative_is_journalled_and_absent_from_changes(me):
    there = tell(me, 1)
    me.changes()
    other = tell(me, 2, on_conflict="alternative")
    assert me.changes().header == ""
    assert me.history(there.id)[0]["meta"] == {"alternative": other.id}


def test_history_distinguishes_supersede_repeat_override_and_dispute(me):
    ids = happenings(me)

    def newest(what):
        row = me.history(ids[what])[0]
        return row["event"], row["meta"]

    assert newest("superseded")[0] == "UPDATE"
    assert newest("superseded")[1]["relation"] == "changed"
    assert newest("stated again") == ("UPDATE", {"relation": "repeat"})
    assert newest("overridden")[0] == "OVERRIDE"
    event, meta = newest("disputed")
    assert (event, set(meta)) == ("UPDATE", {"conflict", "held"})
    question = me.conflicts()[0]
    me.resolve(question.id, "override", thread="t")
    told = [row["meta"].get("choice") for row in me.change_log("t")]
    assert "override" in told


def test_change_log_lists_every_change_of_a_thread(me):
    happenings(me)
    log = me.change_log("t")
    assert {row["rev"] for row in log} == {5, 6, 7, 8}


def test_journal_holds_no_text(me):
    tell(me, "xylophone")
    held = tell(me, "glockenspiel")
    tell(me, "marimba", on_conflict="alternative")
    me.resolve(held.conflict, "override")
    me.remember("Dana plays the vibraphone", kind="fact")
    me.remember("dana plays the vibraphone.", kind="fact")
    me._engine.access_log.flush()
    told = repr(me.events(limit=100)) + repr(me.change_log("main", limit=100))
    told += "".join(repr(me.history(memory.id)) for memory in me.list().memories)
    for word in ("xylophone", "glockenspiel", "marimba", "vibraphone"):
        assert word not in told
        assert "journal" not in me.verify_forget(word).found_in


def test_held_value_is_not_linked(me):
    friend = me.remember("The door code is 2222", kind="note")
    tell(me, 1111)
    held = tell(me, 2222)
    tell(me, 3333, on_conflict="alternative")
    for memory in me.list().memories:
        linked = {id for link in me.show(memory.id).links for id in (link.a, link.b)}
        assert held.id not in linked
    assert friend.id in {memory.id for memory in me.list().memories}
    assert values(me) == [1111]
