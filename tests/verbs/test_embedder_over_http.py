"""A store whose embedder is a server: configured by settings, opened while it is away, its key
told to nobody."""

from __future__ import annotations

import json
import logging

import pytest

from commonplace.errors import BadSettings, EmbedderUnavailable
from commonplace.language.embedders import openai
from support.embedding_server import embedding_server, refuse

KEY = "sk-very-secret"


@pytest.fixture
def server():
    with embedding_server() as running:
        yield running


@pytest.fixture
def settings(server, monkeypatch):
    monkeypatch.setattr(openai, "ATTEMPTS", 1)  # nobody waits here
    return {
        "embedder": "openai",
        "embedder_url": server.url,
        "embedder_model": "small",
        "embedder_key": KEY,
    }


def test_http_embedder_serves_recall_and_is_named_by_doctor(open_book, settings):
    me = open_book(**settings).user("ana")
    kept = me.remember("The gardener prunes roses")
    found = me.recall("gardener roses")
    assert [hit.id for hit in found.hits] == [kept.id]
    assert found.hits[0].similarity is None  # nobody has measured this model yet
    told = {finding.what: finding for finding in me.doctor()}["embedder"]
    assert "openai:small, 32 dimensions; similarity not calibrated" in told.detail


def test_http_embedder_reports_similarity_after_calibration(open_book, settings):
    book = open_book(**settings)
    pairs = [
        {"a": f"lamp number {n}", "b": text, "similarity": score}
        for n in range(20)
        for text, score in ((f"lamp number {n}!", 1), ("quiet rivers", 0), ("old lamp", 0.4))
    ]
    book.calibrate([json.dumps(pair) for pair in pairs])
    me = open_book(**settings).user("ana")
    me.remember("The gardener prunes roses")
    assert me.recall("the gardener prunes roses").hits[0].similarity == pytest.approx(1, abs=0.01)


def test_open_of_a_known_store_works_while_the_embedder_server_is_down(open_book, settings, server):
    open_book(**settings).user("ana").remember("The lamp is green")
    server.stop()
    me = open_book(**settings).user("ana")
    assert me.remember("The kettle is red").warnings
    assert me.recall("lamp green").degraded


def test_open_of_a_new_store_fails_when_the_embedder_server_refuses(open_book, settings, server):
    server.then = [refuse(401, KEY)]
    with pytest.raises(EmbedderUnavailable, match="embedder_key") as refused:
        open_book(**settings)
    assert KEY not in str(refused.value.as_dict())
    assert open_book(**settings).user("ana").recall("lamp").is_empty


def test_embedder_key_appears_in_no_log_doctor_stats_or_export(open_book, settings, server, caplog):
    caplog.set_level(logging.DEBUG)
    me = open_book(**settings).user("ana")
    server.then = [refuse(401, f"Incorrect API key provided: {KEY}")]
    assert me.remember("The lamp is green").warnings
    told = [str(me.doctor()), *me.export(), caplog.text, str(me.stats(events=True))]
    assert "401" in caplog.text
    assert [text for text in told if KEY in text] == []
    assert "embedder_key=(set)" in told[0]


def test_open_rejects_an_invalid_embedder_url(open_book, settings):
    with pytest.raises(BadSettings) as refused:
        open_book(**{**settings, "embedder_url": "somewhere"})
    assert refused.value.field == "embedder_url"


def test_reembed_moves_a_store_to_an_http_embedder_and_back(open_book, settings, server):
    open_book().user("ana").remember("The lamp is green")
    book = open_book(**{**settings, "embedder": "hashing"})
    assert book.reembed("openai").embedder == "openai:small"
    server.stop()
    away = open_book(**settings)
    assert away.reembed("hashing").memories == 1
    assert open_book().user("ana").recall("lamp green").hits[0].similarity is not None
