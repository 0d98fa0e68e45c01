"""What is sensitive is stored guarded, and the answer says so; a secret is in no passage."""

from __future__ import annotations

from commonplace.model.memory.memory import Sensitivity

CARD = "4111 1111 1111 1111"  # a number that card makers give out for tests


def test_observe_sensitive_statement_is_shown_by_id_and_not_searchable(me):
    (kept,) = me.observe("I'm pregnant.").stored
    assert kept.sensitivity is Sensitivity.HIGH
    assert me.list().memories == ()
    assert me.recall("pregnant", sources="none").hits == ()
    assert me.show(kept.remembered.id).memory.content == "The user is pregnant."


def test_observe_wifi_password_has_normal_sensitivity(me):
    (kept,) = me.observe("The wifi password is tulip42.").stored
    assert kept.sensitivity is Sensitivity.NORMAL
    assert me.recall("wifi password", sources="none").hits[0].id == kept.remembered.id


def test_observe_redacts_a_card_number_outside_the_sensitive_memory(me):
    observed = me.observe(f"Call me Ana. My credit card number is {CARD}.")
    (kept,) = [each for each in observed.stored if each.sensitivity is Sensitivity.HIGH]
    assert kept.remembered.memory.metadata["value"] == CARD
    (passage,) = me.show(observed.source_id).passages
    assert passage.text == "Call me Ana. My credit card number is [secret]."
    assert [hit.id for hit in me.recall("credit card number").hits] == [passage.id]
    me.erase(kept.remembered.id)
    assert me.verify_forget(CARD).clean


def test_observe_proposal_evidence_omits_secrets(me):
    me.observe(f"My name is Ana and my credit card number is {CARD}.")
    (proposal,) = me.proposals()
    assert CARD not in str(proposal)


def test_observe_sensitive_goal_makes_no_profile_proposal(me):
    observed = me.observe("My goal is to get pregnant this year.")
    assert [each.sensitivity for each in observed.stored] == [Sensitivity.HIGH]
    assert observed.proposals == ()
