"""A source whose passages are replaced does not make caches start anew: they hear of its first unit
and know that all before it are dead."""

from __future__ import annotations

import pytest

from commonplace.store.cache import scope_index as index_module
from commonplace.store.cache.scope_index import ScopeIndex
from support.making import ANA
from support.sources import chat, slack, turn

QUERY = "Where is the grey heron?"


def talk(word, speaker="Dana", turns=4):
    said = [turn(speaker, f"The grey {word} is at lake {n}.", n, session="1") for n in range(turns)]
    return chat(*said)


def caught_up(book, index=None):
    """The index after it heard of everything that is new, and how many passages it was told."""
    store = book._engine.store
    index = ScopeIndex(book._engine.embedder.dimension) if index is None else index
    known = index.counters
    page = store.index_page(ANA, known.seq, known.epoch)
    if page.counters != known:
        index.absorb(page)
    return index, len(page.passages)


def alive(index):
    return sorted(index.ids[slot] for slot in index.live[: index.size].nonzero()[0])


@pytest.fixture
def quiet_book(open_book):
    return open_book(worker="off")


@pytest.fixture
def ana(quiet_book):
    me = quiet_book.user("ana")
    me.ingest(talk("stork", "Ilan"), external_id="other")
    me.ingest(talk("heron"), external_id="edited", tags=["birds"])
    return me


def test_index_page_after_a_replacement_holds_only_new_passages(quiet_book, ana):
    index, told = caught_up(quiet_book)
    assert told == 8
    ana.ingest(talk("crane", "Noa", 2), external_id="edited")
    index, told = caught_up(quiet_book, index)
    assert told == 2
    assert len(alive(index)) == 6
    assert index.fingerprint() == caught_up(quiet_book)[0].fingerprint()


def test_index_page_after_a_late_slack_message_holds_only_that_thread(quiet_book, ana):
    written = [(f"177235560{n}.000100", "U1", f"A heron, number {n}") for n in range(1, 4)]
    ana.ingest(slack(*written), external_id="thread")
    index, _ = caught_up(quiet_book)
    late = ("1772355600.000100", "U2", "Who saw a heron?")
    ana.ingest(slack(late), external_id="thread", append=True)
    index, told = caught_up(quiet_book, index)
    assert told == 4
    assert index.fingerprint() == caught_up(quiet_book)[0].fingerprint()


def test_index_cache_equals_a_rebuild_after_several_missed_replacements(quiet_book, ana):
    early, _ = caught_up(quiet_book)
    ana.ingest(talk("crane", "Noa", 2), external_id="edited")
    between, _ = caught_up(quiet_book)
    ana.ingest(talk("ibis", "Dana", 6), external_id="edited")
    ana.ingest(talk("gull", "Tal", 3), external_id="edited")
    fresh, _ = caught_up(quiet_book)
    for index in (early, between):
        index, told = caught_up(quiet_book, index)
        assert told == 3
        assert index.fingerprint() == fresh.fingerprint()


def test_index_has_no_passages_between_replacement_and_processing(quiet_book, ana, clock):
    index, _ = caught_up(quiet_book)
    ana.ingest(talk("crane"), external_id="edited", wait=False)
    index, _ = caught_up(quiet_book, index)
    assert len(alive(index)) == 4
    assert index.fingerprint() == caught_up(quiet_book)[0].fingerprint()
    clock.tick(hours=1)
    quiet_book.work(once=True)
    index, _ = caught_up(quiet_book, index)
    assert len(alive(index)) == 8
    assert index.fingerprint() == caught_up(quiet_book)[0].fingerprint()


def test_restore_does_not_revive_passages_replaced_before_forget(quiet_book, ana):
    index, _ = caught_up(quiet_book)
    done = ana.ingest(talk("crane", turns=3), external_id="edited")
    ana.forget(done.id)
    without, _ = caught_up(quiet_book)
    ana.restore(done.id)
    fresh, _ = caught_up(quiet_book)
    for each in (index, without):
        each, _ = caught_up(quiet_book, each)
        assert len(alive(each)) == 7
        assert each.fingerprint() == fresh.fingerprint()


def test_recall_filters_do_not_reach_replaced_passages(quiet_book, ana):
    assert ana.recall(QUERY, filters={"tags": ["birds"]}).hits
    ana.ingest(talk("bridge"), external_id="edited", tags=["plans"])
    for filters in ({"tags": ["birds"]}, None):
        assert not any("heron" in hit.text for hit in ana.recall(QUERY, filters=filters).hits)


def test_index_cache_drops_dead_passages_of_repeated_replacements(quiet_book, ana, monkeypatch):
    monkeypatch.setattr(index_module, "_FEW_DEAD", 16)
    sizes = []
    for n in range(30):
        ana.ingest(talk(f"heron of day {n}"), external_id="edited")
        found = [hit.text for hit in ana.recall(QUERY).hits if "heron" in hit.text]
        assert found
        assert all(f"day {n} " in text for text in found)
        with quiet_book._engine.index.reading(ANA) as index:
            sizes.append(index.size)
    assert max(sizes) <= 40
    assert sizes != sorted(sizes)
