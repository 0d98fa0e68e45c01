"""Who may decide, and what one who may not see a memory learns of it."""

from __future__ import annotations

import pytest

from commonplace.errors import NotAllowed, NotFound
from support.questions import asked, tell, tell_of, values
from support.stores import all_rows

SECRET = "xylophone"


def test_resolve_and_override_refuse_an_agent_without_the_right(me, store_url):
    tell(me, 1111)
    held = tell(me, 2222)
    helper = me.agent("helper")
    before = all_rows(store_url)
    for attempt in (
        lambda: helper.resolve(held.conflict, "override"),
        lambda: helper.resolve(held.conflict, "insert"),
        lambda: helper.resolve(held.conflict, "dismiss"),
        lambda: tell(helper, 3333, on_conflict="override"),
    ):
        with pytest.raises(NotAllowed):
            attempt()
    assert all_rows(store_url) == before


def test_agent_without_the_right_can_hold_insert_and_list_conflicts(me):
    helper = me.agent("helper")
    there, held = tell(me, 1111), tell(helper, 2222)
    assert (held.action, held.others) == ("pending", (there.id,))
    assert helper.conflicts() == me.conflicts()
    assert asked(me).held[0].told_by == "agent:helper"
    assert tell(helper, 3333, on_conflict="insert").action == "stored"


def test_resolve_and_override_accept_an_agent_with_may_resolve(me):
    trusted = me.agent("secretary", may_resolve=True)
    tell(me, 1111)
    held = tell(me, 2222)
    trusted.resolve(held.conflict, "override")
    assert values(me) == [2222]
    assert tell(trusted, 3333, on_conflict="override").action == "overridden"


def test_may_resolve_cannot_be_granted_by_an_agent(me):
    helper = me.agent("helper")
    with pytest.raises(NotAllowed):
        helper.agent("helper", may_resolve=True)
    trusted = me.agent("secretary", may_resolve=True)
    with pytest.raises(NotAllowed):
        trusted.agent("helper", may_resolve=True)


def test_history_names_the_agent_of_a_resolve(me):
    trusted = me.agent("secretary", may_resolve=True)
    there, held = tell(me, 1111), tell(me, 2222)
    trusted.resolve(held.conflict, "dismiss")
    assert me.history(there.id)[0]["actor"] == "agent:secretary"


# ——— what is sensitive ———


def test_remember_by_an_uncleared_agent_does_not_reveal_sensitive_memories(me):
    """Right or wrong, a guess is answered alike: nothing like it is known."""
    tell_of(me, "Dana Levi", description=SECRET, evidence=["her file"], sensitivity="high")
    tell(me, 4711, sensitivity="high")
    helper = me.agent("helper")
    for guess in (
        tell_of(helper, "Dana Levi", description="a singer"),
        tell_of(helper, "Noa Levi", description=SECRET),
        tell(helper, 1111, "the door code"),
    ):
        assert (guess.relation, guess.action, guess.others, guess.undo) == ("new", "stored", (), ())
    right = tell(me.agent("other"), 4711)
    assert right.others != ()  # of what the helper said, which it may see
    assert SECRET not in repr(helper.conflicts(alternatives=True))


def test_remember_answer_does_not_reveal_a_sensitive_held_value(me):
    tell(me, 1111)
    tell(me, 2222, content=f"the door code is 2222, {SECRET}", sensitivity="high")
    answer = tell(me.agent("helper"), 2222)
    assert answer.action == "pending"
    assert SECRET not in repr(answer)


def test_erase_and_update_refuse_an_agent_bypassing_resolve(me):
    there, held = tell(me, 1111), tell(me, 2222)
    helper = me.agent("helper")
    with pytest.raises(NotAllowed):
        helper.erase([held.id])
    with pytest.raises(NotAllowed, match="override"):
        helper.update(there.id, metadata={"value": 3333})
    own = tell(helper, 4444)
    helper.erase([own.id])
    assert [side.id for side in asked(me).held] == [held.id]


@pytest.mark.parametrize("kind", ["contact", "fact"])
def test_remember_by_an_uncleared_agent_does_not_lower_sensitivity(me, kind):
    given = {"metadata": {"name": "Dana Levi", "description": SECRET}}
    if kind == "fact":
        given = {"content": f"Dana lives in {SECRET}", "metadata": {"street": SECRET}}
    there = me.remember(kind=kind, sensitivity="high", pinned=True, **given)
    helper = me.agent("helper")
    lowered = {"sensitivity": "low", "pinned": False, "ttl_days": 1}
    if kind == "contact":
        tell_of(helper, "Dana Levi", **lowered)
    else:
        helper.remember(f"Dana lives in {SECRET}", kind="fact", **lowered)
    stands = me.show(there.id).memory
    assert (stands.sensitivity, stands.pinned, stands.expires_at) == ("high", True, None)
    with pytest.raises(NotFound):
        helper.show(there.id)


def test_remember_by_an_uncleared_agent_does_not_supersede_a_sensitive_fact(me):
    there = me.remember("Dana lives in Haifa", kind="fact", sensitivity="high")
    new = me.agent("helper").remember("Dana lives in Porto", kind="fact")
    assert (new.relation, new.action) == ("new", "stored")
    assert me.show(there.id).memory.state == "active"


def test_resolve_refuses_an_uncleared_trusted_agent_for_a_sensitive_conflict(me):
    trusted = me.agent("secretary", may_resolve=True)
    tell(me, SECRET, sensitivity="high")
    held = tell(me, 2222)
    with pytest.raises(NotFound):
        trusted.resolve(held.conflict, "override")
    assert trusted.conflicts() == []


def test_resolve_by_the_owner_keeps_sensitivity_without_revealing_the_value(me):
    tell(me, SECRET, sensitivity="high")
    held = tell(me, 2222)
    question = asked(me)
    assert SECRET not in repr(question)
    me.resolve(question.id, "override")
    assert me.show(held.id).memory.sensitivity == "high"


def test_recall_withholds_a_sensitive_held_value_from_an_agent(me):
    there = tell(me, 1111)
    tell(me, SECRET, sensitivity="high")
    helper = me.agent("helper")
    (hit,) = helper.recall("door code").hits
    assert hit.id == there.id
    assert hit.disputed
    assert SECRET not in repr((hit, helper.show(there.id), helper.conflicts()))
