"""What a store promises of proposals: they wait as they are, and go with what decides them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from commonplace.errors import StaleDecision
from commonplace.model.changeset import ClearScope, ImportScope
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.profile.consent import (
    ProposalDecision,
    build_corroboration,
    build_erasure,
    build_proposal,
    build_settlement,
)
from commonplace.model.profile.fields import Signal, SignalKind
from commonplace.store.queries import JournalQuery
from support.clock import START
from support.making import ANA, BOB, a_memory, a_proposal, adding, changeset, updating
from support.stores import all_rows

LATER = START + timedelta(hours=1)


def lines(store):
    return store.journal(ANA, JournalQuery(subject="profile:city"))


@pytest.mark.parametrize("value", ["Haifa — שלום 100%", 41, 0.5, True, ["run", "réad"]])
def test_proposal_round_trips_every_field(store, value):
    heard = Signal(actor="agent:a", at=START, thread="t", evidence=("she said 'so'", "twice"))
    inferred = Signal(
        actor="agent:b",
        at=LATER,
        kind=SignalKind.INSIGHT,
        confidence=0.25,
        source_id="source:1",
        memory_id="m1",
    )
    proposal = a_proposal(value, signals=(heard, inferred), reason="100% sure")
    store.apply(changeset(build_proposal(proposal)))
    assert store.proposals(ANA) == [proposal]
    assert store.proposals(BOB) == []


def test_proposals_are_listed_oldest_first(store):
    late, early = a_proposal("a", proposed_at=LATER), a_proposal("b")
    store.apply(changeset(build_proposal(late), build_proposal(early)))
    assert store.proposals(ANA) == [early, late]


def test_proposal_put_again_updates_signals_in_place(store):
    first = a_proposal()
    store.apply(changeset(build_proposal(first)))
    joined = replace(first, signals=(*first.signals, Signal(actor="agent:b", at=LATER)))
    store.apply(changeset(build_proposal(joined)))
    assert store.proposals(ANA) == [joined]


def test_proposal_decision_removes_the_proposal_and_writes_a_journal_entry(store):
    kept, ended = a_proposal("a"), a_proposal("b")
    store.apply(changeset(build_proposal(kept), build_proposal(ended)))
    applied = store.apply(changeset(build_settlement(ended, ProposalDecision.DECLINED)))
    assert store.proposals(ANA) == [kept]
    assert applied.revision == store.counters(ANA).revision == 2
    assert [(row.entry.op, row.entry.event) for row in lines(store)] == [
        (Op.PROPOSE, Event.CONSENT),
        (Op.PROPOSE, Event.CONSENT),
        (Op.RESOLVE, Event.CONSENT),
    ]


def test_proposal_journal_entry_takes_the_thread_of_the_signal_by_default(store):
    told = Signal(actor="agent:a", at=START, thread="monday")
    store.apply(changeset(build_proposal(a_proposal(signals=(told,)))))
    store.apply(changeset(build_proposal(a_proposal(signals=(told,))), thread_id="sunday"))
    assert [row.thread_id for row in lines(store)] == ["monday", "sunday"]


def test_proposal_erase_removes_the_thread_from_journal_entries(store):
    proposal = a_proposal(signals=(Signal(actor="agent:a", at=START, thread="in the garden"),))
    other = a_proposal("b", signals=proposal.signals)
    store.apply(changeset(build_proposal(proposal), build_proposal(other)))
    store.apply(changeset(build_erasure(proposal)))
    assert store.proposals(ANA) == [other]
    assert [row.thread_id for row in lines(store)] == [None, "in the garden"]


def test_proposal_decision_is_atomic_with_the_changeset(store, store_url):
    memory, proposal = a_memory("One"), a_proposal()
    store.apply(changeset(adding(memory), build_proposal(proposal)))
    before = all_rows(store_url)
    gone_by = updating(memory.evolve(version=7), importance=4)
    with pytest.raises(StaleDecision):
        store.apply(changeset(build_settlement(proposal, ProposalDecision.ACCEPTED), gone_by))
    assert all_rows(store_url) == before


def test_proposal_decision_on_a_stale_revision_is_refused(store):
    proposal = a_proposal()
    store.apply(changeset(build_proposal(proposal)))
    store.apply(changeset(build_settlement(proposal, ProposalDecision.ACCEPTED), decided_on=1))
    with pytest.raises(StaleDecision):
        store.apply(changeset(build_settlement(proposal, ProposalDecision.DECLINED), decided_on=1))
    assert [row.entry.meta.get("decision") for row in lines(store)] == [None, "accepted"]


def test_clear_scope_removes_proposals_of_that_scope_only(store):
    store.apply(changeset(build_proposal(a_proposal("Xanadu"))))
    store.apply(changeset(build_proposal(a_proposal("Xanadu")), scope=BOB))
    everything = ClearScope(Entry(op=Op.DELETE, event=Event.ERASE))
    store.apply(changeset(everything))
    assert (store.proposals(ANA), store.mentions(ANA, "Xanadu")) == ([], [])
    assert len(store.proposals(BOB)) == 1


def test_import_scope_includes_proposals(store):
    proposals = (a_proposal("a"), a_proposal("b"))
    store.apply(changeset(ImportScope((), (), (), (), 1, 0, proposals=proposals)))
    assert set(store.proposals(ANA)) == set(proposals)


@pytest.mark.parametrize("where", ["value", "reason", "evidence", "name"])
def test_mentions_finds_a_text_in_every_field_of_a_proposal(store, where):
    told = Signal(actor="agent:a", at=START, evidence=("Xanadu, said she",))
    proposal = {
        "value": a_proposal("XANADU"),
        "reason": a_proposal(reason="xanadu is far"),
        "evidence": a_proposal(signals=(told,)),
        "name": a_proposal(name="years_in_xanadu"),
    }[where]
    store.apply(changeset(build_proposal(proposal)))
    assert store.mentions(ANA, "Xanadu") == ["proposals"]


def test_corroboration_updates_metadata_in_place_without_a_new_version(store):
    field = a_memory("Tone is warm", metadata={"value": "warm"})
    store.apply(changeset(adding(field)))
    (before,) = store.versions(ANA, [field.id])
    after = field.evolve(metadata={"value": "warm", "rests_on": {"warm": [["source:1"]]}})
    store.apply(changeset(build_corroboration(after), at=LATER))
    (kept,) = store.fetch(ANA, [field.id])
    (version,) = store.versions(ANA, [field.id])
    assert kept.metadata == version.memory.metadata == after.metadata
    assert (kept.version, kept.updated_at) == (field.version, field.updated_at)
    assert (version.recorded_at, version.invalidated_at) == (before.recorded_at, None)
    with pytest.raises(StaleDecision):
        store.apply(changeset(build_corroboration(after.evolve(version=2))))
