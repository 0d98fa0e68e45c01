"""A misspelt word of a query is put right by the texts that the asker may see, and by no others:
what is forgotten, replaced or hidden does not show in how a question is read."""

from __future__ import annotations

import pytest

from support.sources import chat, turn

MISSPELT = chat(turn("Ilan", "My kettel broke in the harbour"), turn("Noa", "A new kettel?", 1))


@pytest.fixture
def ana(open_book):
    me = open_book(worker="off").user("ana")
    me.ingest(chat(turn("Dana", "The kettle stands on the shelf"), turn("Tal", "So it does", 1)))
    return me


def found_by_words(asker, **more):
    """What the query's words found, with what they were worth."""
    hits = asker.recall("kettel", explain=True, threshold=0.0, **more).hits
    return {hit.text: hit.parts["words"] for hit in hits if hit.parts.get("words", 0) > 0}


def found_anew(asker):
    """The same from an index that is built from the database."""
    asker._engine.index.drop(asker.principal.scope)
    return found_by_words(asker)


def test_recall_does_not_correct_a_word_present_in_the_store(ana):
    ana.ingest(MISSPELT)
    assert all("kettel" in text for text in found_by_words(ana))


def test_recall_spelling_ignores_forgotten_sources(ana):
    gone = ana.ingest(MISSPELT)
    found_by_words(ana)
    ana.forget(gone.id)
    warm = found_by_words(ana)
    assert list(warm) == ["The kettle stands on the shelf"]
    assert warm == found_anew(ana)
    ana.restore(gone.id)
    assert all("kettel" in text for text in found_by_words(ana))


def test_recall_spelling_ignores_replaced_passages(ana):
    ana.ingest(MISSPELT, external_id="edited")
    found_by_words(ana)
    ana.ingest(chat(turn("Ilan", "It broke in the harbour")), external_id="edited")
    warm = found_by_words(ana)
    assert list(warm) == ["The kettle stands on the shelf"]
    assert warm == found_anew(ana)


def test_recall_spelling_suggests_no_word_of_forgotten_sources(ana):
    """The query's word stands nowhere; of two near ones only the living is its right spelling."""
    gone = ana.ingest(chat(turn("Ilan", "Three kettels broke")))
    found_by_words(ana)
    ana.forget(gone.id)
    warm = found_by_words(ana)
    assert list(warm) == ["The kettle stands on the shelf"]
    assert warm == found_anew(ana)


def test_recall_spelling_ignores_sources_hidden_from_the_caller(open_book, ana):
    ana.ingest(MISSPELT, sensitivity="high")
    for asker in (ana, ana.agent("helper")):
        assert list(found_by_words(asker)) == ["The kettle stands on the shelf"]
    cleared = open_book(worker="off").user("ana", cleared=True)
    assert all("kettel" in text for text in found_by_words(cleared))


def test_recall_spelling_is_unaffected_by_filters(ana):
    ana.ingest(MISSPELT, tags=["harbour"])
    ana.ingest(chat(turn("Dana", "The kettle is blue")), external_id="b", tags=["blue"])
    assert found_by_words(ana, filters={"tags": ["harbour"]})
    assert found_by_words(ana, filters={"tags": ["blue"]}) == {}
