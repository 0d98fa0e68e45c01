"""export and import of what waits for the profile."""

from __future__ import annotations

import json

import pytest

from commonplace.errors import InvalidInput


@pytest.fixture
def waiting(me, clock):
    """A field, two values that wait for another, and a goal."""
    helper, coach = me.agent("helper"), me.agent("coach")
    me.profile_set("tone", "brief")
    helper.propose("city", "Berlin", reason="A flat", evidence=["I moved"], thread="t")
    clock.tick(hours=1)
    coach.propose("city", "Berlin", confidence=0.5)
    coach.propose("city", "Jaffa")
    clock.tick(hours=1)
    helper.propose("goals_add", "run")
    return me


def test_import_into_an_empty_memory_keeps_all_proposals(waiting, book):
    ben = book.user("ben")
    imported = ben.import_(list(waiting.export()))
    assert (imported.whole, imported.proposals) == (True, 3)
    assert ben.proposals() == waiting.proposals()
    assert list(ben.export())[1:] == list(waiting.export())[1:]
    assert all(finding.ok for finding in ben.doctor())


def test_accept_works_on_an_imported_proposal(waiting, book):
    ben = book.user("ben")
    ben.import_(list(waiting.export()))
    berlin, jaffa, _ = ben.proposals()
    assert ben.accept(berlin.id).declined == (jaffa.id,)
    assert ben.profile().fields == {"city": "Berlin", "tone": "brief"}
    assert len(waiting.proposals()) == 3


def test_import_into_a_nonempty_memory_adds_only_new_proposals(waiting, book):
    ben = book.user("ben")
    ben.profile_set("goals", ["run"])
    ben.agent("helper").propose("city", "Jaffa")
    assert ben.import_(list(waiting.export())).proposals == 2
    assert sorted(each.value for each in ben.proposals()) == ["Berlin", "Jaffa"]
    assert ben.import_(list(waiting.export())).proposals == 0
    assert len(ben.proposals()) == 2


def test_import_merges_signals_into_an_equal_pending_proposal(waiting, book):
    ben = book.user("ben")
    own = ben.agent("writer").propose("city", "berlin")
    ben.import_(list(waiting.export()))
    (berlin,) = [each for each in ben.proposals() if each.id == own.id]
    assert (berlin.value, berlin.signals) == ("berlin", 3)
    assert sorted(berlin.by) == ["agent:coach", "agent:helper", "agent:writer"]
    assert berlin.evidence == ("I moved",)


def test_import_maps_a_proposals_source_to_the_local_source_id(me, book):
    ben = book.user("ben")
    mails = {"source_type": "text-import", "external_id": "letter-1", "origin": "post"}
    there, here = me.ingest("A letter", **mails).id, ben.ingest("A letter", **mails).id
    me.agent("helper").propose("city", "Berlin", source_id=there)
    ben.import_(list(me.export()))
    ben.erase(here)
    assert (there != here, ben.proposals()) == (True, [])


def test_import_treats_a_memory_with_only_a_proposal_as_nonempty(waiting, book):
    ben = book.user("ben")
    ben.agent("helper").propose("city", "Porto")
    assert not ben.import_(list(waiting.export())).whole
    assert {each.value for each in ben.proposals()} == {"Porto", "Berlin", "Jaffa", "run"}


def test_import_drops_expired_proposals(waiting, book, clock):
    lines = list(waiting.export())
    clock.tick(days=8)
    ben = book.user("ben")
    ben.remember("Something")
    ben.import_(lines)
    assert ben.proposals() == []
    assert ben.verify_forget("Berlin").clean


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("name", "0"),  # that of a note
        ("name", "time_zone"),  # which a city is not
        ("id", "profile:city"),
        ("id", "1"),
        ("value", []),
        ("value", {"a": 1}),
        ("value", None),
        ("signals", []),
        ("signals", [{"actor": "agent:a"}]),
        ("ends_at", "2001-01-01"),
        ("proposed_at", "soon"),
        ("colour", "red"),
    ],
)
def test_import_rejects_an_invalid_proposal_and_changes_nothing(waiting, book, name, value):
    lines = [json.loads(line) for line in waiting.export()]
    proposal = next(line for line in lines if line["type"] == "proposal")
    proposal[name] = value
    ben = book.user("ben")
    with pytest.raises(InvalidInput):
        ben.import_([json.dumps(line) for line in lines])
    assert (ben.revision, ben.proposals()) == (0, [])
