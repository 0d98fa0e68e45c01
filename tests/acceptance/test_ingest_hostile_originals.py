"""Odd texts as originals of every format: read or refused by name, and the store stays whole."""

from __future__ import annotations

import pytest

from commonplace.errors import InvalidInput
from support.odd_texts import FRAGMENTS, odd_texts
from support.sources import chat, letter, one_of_each, slack, turn
from support.whole import assert_whole

FORMATS = tuple(one_of_each(""))
MADE_UP = 30


def wrapped(text):
    """The text where a well-made original of each format would have it."""
    yield "conversation", chat(turn(text[:60], text, session=text[:60], id=text[:60])).encode()
    yield "slack", slack(("1772355600.0", text[:60], text), channel=text[:60]).encode()
    readable = text.encode("utf-8", "replace")
    yield "email", letter("", subject="x") + readable
    yield "transcript", b"WEBVTT\n\n00:01.000 --> 00:02.000\n<v " + readable + b">" + readable
    yield "markdown", b"# " + readable + b"\n\n" + readable
    yield "html", b"<title>" + readable + b"</title><p>" + readable


def test_ingest_parses_or_refuses_odd_originals_in_every_format(open_book, store_url):
    me = open_book(worker="off").user("ana")
    kept = refused = 0
    for number, text in enumerate(odd_texts(MADE_UP, seed=5)):
        bare = text.encode("utf-8", "surrogatepass")[:4000]
        originals = [*wrapped(text[:2000]), (FORMATS[number % len(FORMATS)], bare)]
        for format, raw in (originals[number % 6], originals[6]):
            try:
                done = me.ingest(raw, format=format, external_id=f"{number} {format} {len(raw)}")
            except InvalidInput:
                refused += 1
                continue
            kept += 1
            assert done.is_processed, (format, raw, done.failure)
            assert me._engine.store.original(me.principal.scope, done.id) == [raw]
            assert len(me.show(done.id).passages) == done.source.passages
    assert kept > 50
    assert refused > 10
    assert_whole(store_url, "ana")


@pytest.mark.parametrize("text", FRAGMENTS[:12:3])
def test_ingest_accepts_odd_labels_in_every_field(open_book, text):
    me = open_book(worker="off").user("ana")
    label = " ".join(text.split())[:60].strip("\x1b\x07\x08\x7f\x80\x9f") or "x"
    label = "".join(c for c in label if c.isprintable())
    done = me.ingest(
        chat(turn(label, f"{text} and a heron")),
        title=label,
        tags=[label],
        external_id=label,
        origin=label.replace(":", ""),
        participants=[label],
        thread=label,
        metadata={label: text},
    )
    assert [source.id for source in me.sources(tags=[label], thread=label).sources] == [done.id]
    assert me.recall("heron", filters={"actor_id": me.show(done.id).passages[0].speaker}).hits
    assert me.forget(done.source.alias).ids == (done.id,)
    assert me.restore(done.source.alias).ids == (done.id,)
    me.erase(done.id)
    assert me.verify_forget("heron").clean
