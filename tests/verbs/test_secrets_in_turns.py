"""A login, a card or a key that is said in a turn is in no passage, context, graph or log."""

from __future__ import annotations

import pytest

from commonplace.model.memory.memory import Sensitivity
from support.settled import settled

SECRETS = {
    "Put DB_PASSWORD=heron99x into the settings of the staging site": "heron99x",
    "My gmail password is Blue-Heron-9917": "Blue-Heron-9917",
    "My social security number is 512-48-7731": "512-48-7731",
    "my national insurance number is JG 12 34 56 C": "JG 12 34 56 C",
    "The staging database is postgres://admin:s3cr3t99@db.example.com:5432/app": "s3cr3t99",
    "Our key is sk-proj-8sHq2Lm4Np6Rs8Tv0Wx2Yz4Bc6Df8Gh, Dana works at Acme with it": "8sHq2Lm4",
    "expiry 04/29 cvc 118 and the visa is 4532 0151 1283 0366": "4532 0151 1283 0366",
    "הסיסמה שלי לבנק היא Tapuz8842": "Tapuz8842",
}


@pytest.mark.parametrize(("said", "secret"), SECRETS.items())
def test_secret_in_a_turn_is_nowhere_but_in_a_guarded_value(open_book, said, secret):
    book = open_book(extraction="auto")
    me = book.user("ana")
    seen = me.observe(said, thread="t")
    settled(book)
    assert secret not in str(me.show(seen.source_id))
    assert secret not in me.context(said).text
    assert secret not in str(me.recall(said).hits)
    assert secret not in str((me.people(), me.entities(), me.edges()))
    for kept in seen.stored:
        memory = kept.remembered.memory
        assert secret not in memory.content or memory.sensitivity is Sensitivity.HIGH
    stored = me.verify_forget(secret).found_in
    assert not {"passages", "sources", "originals", "journal", "nodes", "recall_log"} & {*stored}


def test_connection_string_makes_no_contact(me):
    seen = me.observe("Use postgres://admin:s3cr3t@db.example.com/app for the tests.")
    assert [each.kind for each in seen.stored if each.kind == "contact"] == []
    assert me.verify_forget("s3cr3t").clean


def test_erase_of_an_observed_password_leaves_nothing(me):
    seen = me.observe("My gmail password is Blue-Heron-9917", thread="t")
    (kept,) = seen.stored
    assert kept.sensitivity is Sensitivity.HIGH
    me.erase(kept.remembered.id, now=True)
    assert me.verify_forget("Blue-Heron").clean
    assert me.recall("gmail password").is_empty


def test_remember_stores_a_login_on_purpose_with_high_sensitivity(me):
    kept = me.remember(kind="kv", metadata={"subject": "bank login password", "value": "Plum-88"})
    assert kept.memory.sensitivity is Sensitivity.HIGH
    assert me.remember("The wifi password is crocus44").memory.sensitivity is Sensitivity.NORMAL
    given = me.remember("The Netflix password is Plum-99", sensitivity="normal")
    assert given.memory.sensitivity is Sensitivity.NORMAL


def test_question_with_a_secret_is_logged_without_it(me):
    me.observe("The heron is back.", thread="t")
    me.query("is my ssn 512-48-7731?", thread="t", turn=1)
    assert me.verify_forget("512-48-7731").clean


def test_ingested_conversation_is_searched_without_its_secrets(me):
    said = '{"role": "user", "text": "my bank password is Plum-88 by the way"}\n'
    source = me.ingest(said, format="conversation").id
    assert "Plum-88" not in str(me.show(source))
    assert "Plum-88" not in me.context("bank password").text


def test_answer_to_a_question_for_a_password_is_redacted(me):
    me.observe("What's your gmail password?", role="assistant", thread="t")
    seen = me.observe("Zebra!44", thread="t")
    assert seen.stored == ()
    assert me.verify_forget("Zebra!44").clean


def test_answer_in_one_batch_is_redacted(me):
    asked = {"text": "Tell me the PIN of your card.", "role": "assistant", "thread": "t"}
    me.observe_many([asked, {"text": "2291", "thread": "t"}])
    assert me.verify_forget("2291").clean


def test_answer_to_another_question_is_kept(me):
    me.observe("What's the code of the garage door?", role="assistant", thread="t")
    seen = me.observe("4471x", thread="t")
    assert "4471x" in str(me.show(seen.source_id))


def test_login_with_an_address_makes_no_contact(me):
    seen = me.observe("Netflix: ana@example.com / Zebra!44", thread="t")
    assert seen.stored == ()
    assert me.verify_forget("Zebra!44").clean
