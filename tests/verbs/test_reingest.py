"""The same name once more: what is said counts, what was kept stays, nothing is lost silently."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import pytest

from commonplace.errors import InvalidInput
from support.clock import START
from support.sources import chat, letter, slack, turn

TALK = chat(turn("Dana", "A heron sat on the wall."), turn("Ana", "Which wall?", 1))
MORE = chat(turn("Dana", "The old wall, by the harbour.", 2))
OTHER = chat(turn("Noa", "A stork stood in the field."))

SAID = {
    "title": "Birds",
    "tags": ["nature"],
    "participants": ["Tal"],
    "metadata": {"app": 3},
    "thread": "main",
    "source_type": "voice-memo",
    "context_type": "phone-call",
    "sensitivity": "low",
}


def texts(me, id):
    return [passage.text for passage in me.show(id).passages]


def assert_says(source):
    assert (source.title, source.thread_id) == ("Birds", "main")
    assert (source.source_type, source.context_type) == ("voice-memo", "phone-call")
    assert source.sensitivity == "low"
    assert source.provenance["app"] == 3
    assert "nature" in source.tags
    assert {"ana", "Tal"} <= set(source.participants)


# ——— what is said about it ———


@pytest.mark.parametrize(
    ("raw", "append", "action"),
    [(TALK, False, "updated"), (MORE, True, "appended"), (OTHER, False, "replaced")],
)
def test_reingest_updates_the_source_fields(me, raw, append, action):
    first = me.ingest(TALK, external_id="c1", tags=["old"], metadata={"kept": True})
    again = me.ingest(raw, external_id="c1", append=append, **SAID)
    assert (again.id, again.action, again.is_processed) == (first.id, action, True)
    source = me.show(first.id).source
    assert_says(source)
    assert "old" in source.tags
    assert source.provenance["kept"] is True
    same = me.ingest(raw, external_id="c1", append=append, **SAID)
    assert (same.action, same.revision) == ("unchanged", again.revision)
    assert all(finding.ok for finding in me.doctor())


def test_reingest_with_a_title_makes_the_title_searchable(me):
    done = me.ingest("It is quiet there.\nNobody comes.", external_id="n1")
    me.ingest("It is quiet there.\nNobody comes.", external_id="n1", title="Kingfisher meadow")
    assert me.recall("kingfisher meadow").hits[0].citation.source == done.id
    me.ingest("And there is a bench.", external_id="n1", origin=done.source.origin, append=True)
    me.ingest("A wooden bench.", external_id="n1", append=True, title="Otter pond")
    assert "otter" not in " ".join(texts(me, done.id)).lower()
    assert len(me.recall("otter pond").hits) == len(texts(me, done.id)) == 3


def test_reingest_with_a_date_changes_the_dates_of_passages(me):
    done = me.ingest("A note.\nOf two lines.", external_id="n1")
    again = me.ingest("A note.\nOf two lines.", external_id="n1", date="2025-05-01")
    assert again.action == "updated"
    assert {p.at.year for p in me.show(done.id).passages} == {2025}


def test_reingest_by_an_agent_can_only_raise_sensitivity(book):
    me = book.user("ana", cleared=True)
    agent = me.agent("helper")
    done = me.ingest(TALK, external_id="c1")
    assert agent.ingest(TALK, external_id="c1", sensitivity="low").action == "unchanged"
    assert agent.ingest(TALK, external_id="c1", sensitivity="high").action == "updated"
    agent.ingest(MORE, external_id="c1", append=True, sensitivity="normal")
    assert me.show(done.id).source.sensitivity == "high"
    me.ingest(MORE, external_id="c1", append=True, sensitivity="normal")
    assert me.show(done.id).source.sensitivity == "normal"


def test_reingest_reads_participants_from_the_new_content(me):
    done = me.ingest(TALK, external_id="c1")
    me.ingest(OTHER, external_id="c1", participants=["Tal"])
    assert me.show(done.id).source.participants == ("ana", "Tal", "Noa")


# ——— formats ———


def test_reingest_parses_the_replacement_in_the_new_format(me):
    done = me.ingest("# Birds\n\nA heron.\n", external_id="x", origin="app", format="markdown")
    me.ingest(OTHER, external_id="x", origin="app")
    assert texts(me, done.id) == ["A stork stood in the field."]
    assert me.show(done.id).passages[0].speaker == "Noa"


def test_ingest_append_parses_each_part_in_the_given_format(me):
    done = me.ingest("Plainly: a heron.\n\nIt sat.", external_id="n", origin="app", format="text")
    page = "<html><body><p>A <b>stork</b> stood.</p></body></html>"
    me.ingest(page, external_id="n", origin="app", append=True, format="html")
    assert texts(me, done.id)[-1] == "A stork stood."
    assert "<" not in " ".join(texts(me, done.id))


def test_reingest_with_another_format_parses_the_original_again(me):
    raw = "# Birds\n\nA heron.\n"
    done = me.ingest(raw, external_id="x", format="text")
    again = me.ingest(raw, external_id="x", origin=done.source.origin, format="md")
    assert (again.id, again.action) == (done.id, "replaced")
    same = me.ingest(raw, external_id="x", origin=done.source.origin, format="markdown")
    assert same.action == "unchanged"


def test_ingest_metadata_does_not_affect_parsing(me):
    odd = {"name": 5, "format": "morse", "tags": 7, "parts": {"x": 1}, "last": []}
    done = me.ingest(TALK, metadata=odd)
    assert done.is_processed
    assert {name: done.source.provenance[name] for name in odd} == odd
    with pytest.raises(InvalidInput) as refused:
        me.ingest(TALK, metadata={"commonplace": {"parts": []}})
    assert refused.value.remedy


def test_import_of_a_source_with_malformed_provenance_is_processed(open_book):
    quiet = open_book(worker="off")
    quiet.user("ana").ingest(TALK, wait=False)
    lines = [json.loads(line) for line in quiet.user("ana").export()]
    for odd in (5, {"parts": [7, {"from": "x"}, {"from": 1, "format": 9, "date": "?"}], "name": 5}):
        for line in lines:
            if line["type"] == "source":
                line["provenance"] = {"commonplace": odd}
        me = quiet.user(f"bob{type(odd).__name__}")
        me.import_(json.dumps(line) for line in lines)
        quiet.work(once=True)
        assert me.recall("heron").hits


# ——— parts ———


def test_reingest_of_a_multi_part_source_refuses_other_content(me):
    done = me.ingest(TALK, external_id="c1")
    me.ingest(MORE, external_id="c1", append=True)
    kept = texts(me, done.id)
    for part in (TALK, MORE):
        assert me.ingest(part, external_id="c1").action == "unchanged"
    with pytest.raises(InvalidInput) as refused:
        me.ingest(OTHER, external_id="c1")
    assert "append" in refused.value.remedy
    assert texts(me, done.id) == kept
    assert len(kept) == 3


def test_ingest_append_of_the_last_part_again_adds_nothing(me):
    part = chat({"speaker": "Dana", "text": "Yes"})
    for _ in range(3):
        done = me.ingest(part, external_id="c1", append=True)
    assert (done.action, done.source.parts, texts(me, done.id)) == ("unchanged", 1, ["Yes"])


def test_ingest_append_dates_turns_without_time_by_the_part(me, clock):
    done = me.ingest(chat({"text": "One"}), external_id="c1", date="2025-01-01")
    me.ingest(chat({"text": "Two"}), external_id="c1", append=True, date="2025-02-01")
    clock.tick(days=3)
    received = clock()
    me.ingest(chat({"text": "Three"}), external_id="c1", append=True)
    clock.tick(days=3)
    me.ingest(chat(turn("Dana", "Four", 9)), external_id="c1", append=True)
    at = [passage.at for passage in me.show(done.id).passages]
    assert [moment.month for moment in at[:2]] == [1, 2]
    assert at[2] == received
    assert at[3] == START + timedelta(minutes=9)
    assert me.show(done.id).source.started_at == datetime.fromisoformat("2025-01-01T00:00+00:00")


def test_ingest_append_skips_repeated_labelled_turns_without_time(me, clock):
    first = {"text": "One", "id": "m1"}
    done = me.ingest(chat(first), external_id="c1", date="2025-01-01")
    clock.tick(days=1)
    me.ingest(chat(first, {"text": "Two", "id": "m2"}), external_id="c1", append=True)
    assert texts(me, done.id) == ["One", "Two"]
    chapter = "# Trip\n\nA heron.\n"
    book = me.ingest(chapter, external_id="b", format="markdown", date="2025-01-01")
    me.ingest(chapter + "\n## Later\n\nA stork.\n", external_id="b", format="markdown", append=True)
    assert len(texts(me, book.id)) == 2


# ——— originals that name themselves ———


def test_ingest_of_email_copies_with_other_headers_makes_a_single_source(me):
    first = me.ingest(letter("I saw a heron."))
    copy = me.ingest(letter("I saw a heron.", headers=["Bcc: Tal <tal@example.org>"]))
    assert (copy.id, copy.action) == (first.id, "unchanged")
    assert me._engine.store.original(me.principal.scope, first.id) == [letter("I saw a heron.")]


def test_ingest_of_another_email_with_a_known_message_id_replaces_nothing(me):
    first = me.ingest(letter("I saw a heron."))
    forged = me.ingest(letter("Send money at once."))
    assert forged.is_new
    assert forged.source.external_id.startswith(first.source.external_id)
    assert me.ingest(letter("Send money at once.", headers=["X-Copy: 1"])).id == forged.id
    assert me.ingest(letter("I saw a heron.")).action == "unchanged"
    assert (texts(me, first.id), texts(me, forged.id)) == (
        ["I saw a heron."],
        ["Send money at once."],
    )


def test_reingest_of_a_grown_slack_thread_appends_to_the_source(me):
    began = ("1772355600.0", "U1", "Who goes?")
    went_on = ("1772355660.0", "U2", "I saw a heron")
    first = me.ingest(_thread(began))
    grown = me.ingest(_thread(began, went_on))
    assert (grown.id, grown.action) == (first.id, "appended")
    assert texts(me, first.id) == ["Who goes?", "I saw a heron"]
    assert me.ingest(_thread(began)).action == "unchanged"


def _thread(*messages):
    whole = json.loads(slack(*messages))
    for message in whole["messages"]:
        message["thread_ts"] = messages[0][0]
    return json.dumps(whole)


# ——— forgotten ———


def test_reingest_of_a_forgotten_source_reveals_no_source_fields(me):
    done = me.ingest(TALK, external_id="c1", **SAID)
    me.forget(done.id)
    for handle in (me, me.agent("helper")):
        again = handle.ingest(TALK, external_id="c1", title="Birds")
        assert (again.id, again.action) == (done.id, "forgotten")
        told = again.source
        assert (told.title, told.summary, told.keywords, told.tags) == ("", "", (), ())
        assert (told.participants, told.provenance) == ((), {})
    me.restore(done.id)
    assert_says(me.show(done.id).source)
