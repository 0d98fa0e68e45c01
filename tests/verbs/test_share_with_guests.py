"""Guests read one source of another's, and learn of nothing else."""

from __future__ import annotations

import json

import pytest

from commonplace.errors import InvalidInput, NotAllowed, NotFound

TALK = "We agreed that the narrow boat is painted green."


@pytest.fixture
def ana(book):
    return book.user("ana")


@pytest.fixture
def gil(book):
    """A user of this store, with a memory of his own."""
    gil = book.user("gil")
    gil.remember("Buy bread")
    return gil


def test_guest_named_as_participant_reads_only_that_source(ana, gil):
    kept = ana.ingest(TALK, participants=["gil", "Somebody Else"])
    other = ana.ingest("The narrow boat was very expensive.")
    assert gil.show(kept.id).source.id == kept.id
    assert [each.id for each in gil.sources().sources] == [kept.id]
    hits = gil.recall("what colour is the narrow boat?").hits
    assert [(hit.citation.source, hit.citation.brought_by) for hit in hits] == [(kept.id, "ana")]
    with pytest.raises(NotFound):
        gil.show(other.id)


def test_speaker_name_in_a_conversation_grants_no_guest_access(ana, gil):
    talk = [{"speaker": name, "text": "Green, then."} for name in ("gil", "ana")]
    kept = ana.ingest("\n".join(map(json.dumps, talk)), format="conversation")
    assert "gil" in kept.source.participants
    with pytest.raises(NotFound):
        gil.show(kept.id)


def test_agent_cannot_share_a_source(ana, gil):
    kept = ana.agent("researcher").ingest(TALK, participants=["gil"])
    with pytest.raises(NotFound):
        gil.show(kept.id)
    with pytest.raises(NotAllowed):
        ana.agent("researcher").sources_share(kept.id, "gil")


def test_guest_cannot_forget_erase_restore_or_share(ana, gil):
    kept = ana.ingest(TALK)
    assert ana.sources_share(kept.id, "gil").guests == ("gil",)
    for verb in (gil.forget, gil.erase, gil.restore):
        with pytest.raises(NotAllowed):
            verb(kept.id)
    with pytest.raises(NotAllowed):
        gil.sources_share(kept.id, "eve")


def test_sensitive_source_cannot_be_shared_with_guests(ana, gil):
    kept = ana.ingest(TALK, participants=["gil"], sensitivity="high")
    with pytest.raises(InvalidInput):
        ana.sources_share(kept.id, "gil")
    open_ = ana.ingest("The narrow boat is long.", participants=["gil"])
    ana.ingest("The narrow boat is long.", sensitivity="high")
    for id in (kept.id, open_.id):
        with pytest.raises(NotFound):
            gil.show(id)
    assert gil.recall("narrow boat").is_empty


def test_sources_unshare_ends_guest_access_at_once(ana, gil):
    kept = ana.ingest(TALK, participants=["gil"])
    assert ana.sources_unshare(kept.id, with_user="gil").guests == ()
    with pytest.raises(NotFound):
        gil.show(kept.id)
    assert gil.recall("narrow boat").is_empty


def test_sources_unshare_by_a_guest_blocks_sharing_the_source_again(ana, gil):
    kept = ana.ingest(TALK, participants=["gil"])
    gil.sources_unshare(kept.id)
    ana.ingest(TALK, participants=["gil"])
    ana.sources_share(kept.id, "gil")
    assert gil.sources().sources == ()
    assert gil.recall("narrow boat").is_empty


def test_guest_access_ends_with_forget_and_erase_of_the_source(ana, gil):
    kept = ana.ingest(TALK, participants=["gil"])
    ana.forget(kept.id)
    assert gil.recall("narrow boat").is_empty
    ana.restore(kept.id)
    assert gil.show(kept.id)
    ana.erase(kept.id)
    with pytest.raises(NotFound):
        gil.show(kept.id)
    assert gil.sources().sources == ()


def test_erase_user_removes_all_traces_of_the_owner_from_guests(ana, gil):
    ana.ingest(TALK, participants=["gil"])
    ana.erase_user()
    assert gil.verify_forget("ana").clean
    assert gil.recall("narrow boat").is_empty


def test_erase_user_removes_all_traces_of_a_guest_from_the_owner(ana, gil):
    kept = ana.ingest(TALK)
    ana.sources_share(kept.id, "gil")
    gil.erase_user()
    assert ana.verify_forget("gil").clean


def test_changes_of_a_guest_omit_the_shared_source(ana, gil):
    ana.ingest(TALK, participants=["gil"])
    assert gil.changes("new", since=0).changes == gil.changes("other", since=0).changes
    assert all("boat" not in str(each) for each in gil.changes("third", since=0).changes)
