"""No text is too odd: it is stored and found as it was, or refused by name."""

from __future__ import annotations

import unicodedata

import pytest

from commonplace.errors import CommonplaceError
from support.odd_texts import FRAGMENTS, REFUSED
from support.scenarios import survive_odd_texts
from support.whole import assert_whole


def test_remember_stores_or_refuses_odd_texts(me, store_url):
    """Each database gets its own 500 here; the soak tests give 12,000 others to each."""
    seed = 1 if "://" in store_url else 2
    stored, refused = survive_odd_texts(me, count=500, seed=seed, recall_one_in=10)
    assert stored > 380
    assert refused >= len(REFUSED)
    assert len(assert_whole(store_url, "ana").memories) == stored


@pytest.mark.parametrize("text", REFUSED)
def test_remember_refuses_bad_text_without_a_change(me, text):
    with pytest.raises(CommonplaceError) as refused:
        me.remember(text)
    assert refused.value.code == "bad_text"
    assert me.revision == 0


def as_label(text):
    """One line without control characters, which a name may not have."""
    printable = "".join(c if unicodedata.category(c) != "Cc" else " " for c in text)
    return unicodedata.normalize("NFC", printable)[:100].strip()


@pytest.mark.parametrize("text", FRAGMENTS)
def test_memory_verbs_accept_odd_texts_in_every_field(me, book, text):
    """As tag, name, value, thread, category and user; filtered by, updated, exported, erased."""
    label = as_label(text)
    kept = me.remember(
        text,
        evidence=[text],
        tags=[label],
        category=label,
        thread=label,
        source_id=label,
        metadata={label: {"deep": [text]}},
    )
    for filters in ({"tags": [label]}, {"category": label}, {"source_id": label}):
        assert [memory.id for memory in me.list(filters=filters).memories] == [kept.id]
        me.recall(text, filters=filters)
    assert len(me.change_log(label)) == 1
    book.user(label).remember(text)
    assert len(book.user(label).list().memories) == 1
    assert me.verify_forget(text).found_in
    newer = me.update(kept.id, content=f"again {text}")
    copy = book.user("copy")
    copy.import_(me.export())
    assert [m.content for m in copy.list().memories] == [newer.memory.content]
    me.erase([kept.id, newer.id])
    assert me.verify_forget(text).clean
