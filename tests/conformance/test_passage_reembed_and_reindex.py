"""What passages are found by is made anew like what memories are found by: vectors by another
embedder, words by another version of the analyser."""

from __future__ import annotations

import pytest

from commonplace.engine.maintenance import reembed as verb
from commonplace.language.embedders.hashing import HashingEmbedder
from commonplace.model.changeset import Bookkeeping, IndexEntry
from commonplace.store.queries import PassagesOf
from commonplace.store.sql import generations
from support.embedders import Interrupted
from support.making import ANA
from support.sources import chat, turn
from support.stores import raw

NEW = HashingEmbedder(64)
TALK = chat(*(turn("Dana", f"Heron number {n} sat on the wall.", n) for n in range(5)))


@pytest.fixture(autouse=True)
def small_steps(monkeypatch):
    """So that a handful of passages takes several of them."""
    monkeypatch.setattr(verb, "BATCH_SIZE", 2)
    monkeypatch.setattr(generations, "UNITS_AT_ONCE", 2)


def lengths(url):
    """How many vectors of which length there are."""
    rows = raw(url, "SELECT length(vector), COUNT(*) FROM vectors GROUP BY 1")
    return {size // 4: count for size, count in rows}


def test_reembed_replaces_vectors_of_passages(open_book, store_url):
    book = open_book(worker="off")
    me = book.user("ana")
    me.remember("A heron is grey")
    kept = me.ingest(TALK).id
    forgotten = me.ingest(chat(turn("Ilan", "A stork!"))).id
    me.forget(forgotten)
    assert book.reembed(NEW).memories == 7
    assert lengths(store_url) == {64: 7}
    assert book.reembed(NEW).memories == 0
    after = open_book(embedder=NEW, worker="off").user("ana")
    found = after.recall("Heron number 3 sat on the wall")
    asked = next(hit for hit in found.hits if hit.id == f"{kept}#4")
    assert asked.similarity > 0.8
    assert asked.similarity == max(hit.similarity for hit in found.hits)
    after.restore(forgotten)
    assert after.recall("stork").hits[0].similarity > 0
    assert all(finding.ok for finding in after.doctor())


def test_reembed_includes_passages_ingested_meanwhile(open_book, store_url):
    book, other = open_book(worker="off"), open_book(worker="off")
    book.user("ana").ingest(TALK)
    model = Interrupted(64)
    model.meanwhile = lambda: other.user("ana").ingest(chat(turn("Ilan", "A stork!")))
    assert book.reembed(model).memories == 6
    assert lengths(store_url) == {64: 6}


def test_reindex_replaces_passage_terms_of_another_analyser_version(open_book, clock):
    book = open_book(worker="off")
    me = book.user("ana")
    done = me.ingest(TALK)
    forgotten = me.ingest(chat(turn("Ilan", "A stork!"))).id
    units = [unit for unit, _ in book._engine.store.passages(ANA, PassagesOf(done.id)).items()]
    units += [unit for unit, _ in book._engine.store.passages(ANA, PassagesOf(forgotten)).items()]
    me.forget(forgotten)
    stale = {unit: IndexEntry({"old": 1}, None) for unit in units}
    book._engine.store.record(Bookkeeping(ANA, clock(), passage_terms=stale))
    assert not next(each for each in me.doctor() if each.what == "index").ok
    assert me.tidy(reindex=True).reindexed == 6
    assert all(each.ok for each in me.doctor())
    assert me.recall("heron wall").hits
    me.restore(forgotten)
    assert me.recall("stork").hits
    assert all(each.ok for each in me.doctor())
