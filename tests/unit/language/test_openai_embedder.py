"""The embedder over HTTP, against a real server on loopback: what is sent, and what goes wrong."""

from __future__ import annotations

import numpy as np
import pytest

from commonplace.language.embedders.embedder import EmbedderDown, EmbedderServer
from commonplace.language.embedders.openai import ATTEMPTS, COOLDOWN_SECONDS, OpenAiEmbedder
from commonplace.language.text.detect import Script
from support.embedding_server import dawdle, embedding_server, hang_up, refuse, say

KEY = "sk-very-secret"


@pytest.fixture
def server():
    with embedding_server() as running:
        yield running


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def embedder(server, slept):
    """Time passes only while it sleeps."""
    asked = EmbedderServer(server.url, "small", KEY, batch=4)
    return OpenAiEmbedder(asked, slept.append, lambda: sum(slept))


def test_openai_embedder_keeps_text_order_and_unit_length(server, embedder):
    texts = ["Dana moved to Berlin", "", "  ", "Dan owes Ana", "a"]
    rows = embedder.embed(texts)
    assert np.allclose(rows, server.model.embed(texts), atol=1e-6)
    assert np.linalg.norm(rows, axis=1).round(5).tolist() == [1, 0, 0, 1, 1]
    assert embedder.embed([]).shape == (0, 32)


def test_openai_embedder_request_follows_the_protocol(server, embedder):
    embedder.embed(["hello"])
    asked, headers = server.requests[-1], server.headers[-1]
    assert asked == {"model": "small", "input": ["hello"], "encoding_format": "float"}
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert headers["Content-Type"] == "application/json"


def test_openai_embedder_batches_texts_and_cuts_long_ones(server):
    embedder = OpenAiEmbedder(EmbedderServer(server.url, "small", batch=4, max_chars=5))
    embedder.hold_to(32)
    embedder.embed([f"a long text {n}" for n in range(10)])
    assert [len(asked["input"]) for asked in server.requests] == [4, 4, 2]
    assert server.requests[0]["input"][0] == "a lon"
    assert "Authorization" not in server.headers[0]


def test_openai_embedder_caches_vectors_by_text(server, embedder):
    embedder.hold_to(32)
    first = embedder.embed(["lamp", "lamp", "kettle"])
    again = embedder.embed(["kettle", "lamp", "rivers"])
    assert [asked["input"] for asked in server.requests] == [["lamp", "kettle"], ["rivers"]]
    assert np.array_equal(first[[2, 0]], again[:2])


def test_openai_embedder_cache_is_bounded(server, embedder):
    embedder.hold_to(32)
    for n in range(0, 1000, 100):
        embedder.embed([f"lamp {m}" for m in range(n, n + 100)])
    sent = len(server.requests)
    embedder.embed(["lamp 999"])
    assert len(server.requests) == sent
    embedder.embed(["lamp 0"])
    assert len(server.requests) == sent + 1


def test_openai_embedder_name_needs_no_request(server, embedder):
    assert embedder.name == "openai:small"
    assert server.requests == []


def test_openai_embedder_detects_the_dimension_once_and_rejects_others(server, embedder):
    assert embedder.dimension == 32
    assert embedder.dimension == 32
    assert len(server.requests) == 1
    server.then = [say({"data": [{"index": 0, "embedding": [1.0, 2.0]}]})]
    with pytest.raises(EmbedderDown, match="2 dimensions, not 32"):
        embedder.embed(["text"])


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_openai_embedder_retries_transient_errors_with_backoff(server, embedder, slept, status):
    embedder.hold_to(32)
    server.then = [refuse(status), refuse(status)]
    assert embedder.embed(["text"]).any()
    assert slept == [0.5, 1.0]


def test_openai_embedder_obeys_retry_after(server, embedder, slept):
    embedder.hold_to(32)
    server.then = [refuse(429, Retry_After="7"), refuse(503, Retry_After="tomorrow")]
    assert embedder.embed(["text"]).any()
    assert slept == [7.0, 1.0]


def test_openai_embedder_fails_at_once_on_a_retry_after_beyond_the_timeout(server, embedder, slept):
    embedder.hold_to(32)
    server.then = [refuse(429, Retry_After="11")]  # longer than the time-out
    with pytest.raises(EmbedderDown, match="429"):
        embedder.embed(["text"])
    assert slept == []


def test_openai_embedder_timeout_covers_all_attempts(server, embedder, slept):
    embedder.hold_to(32)
    server.then = [refuse(429, Retry_After="6")] * 3
    with pytest.raises(EmbedderDown, match="429"):
        embedder.embed(["text"])
    assert slept == [6.0]
    assert len(server.requests) == 2


def test_openai_embedder_cools_down_after_an_outage(server, embedder, slept):
    """Else every call would wait for it."""
    embedder.hold_to(32)
    server.then = [refuse(503, Retry_After="60")]
    for _ in range(3):
        with pytest.raises(EmbedderDown):
            embedder.embed(["text"])
    assert len(server.requests) == 1
    slept.append(COOLDOWN_SECONDS)
    assert embedder.embed(["text"]).any()


def test_openai_embedder_rejected_text_starts_no_cooldown(server, embedder):
    embedder.hold_to(32)
    server.then = [refuse(400)]
    with pytest.raises(EmbedderDown, match="400"):
        embedder.embed(["too long a text"])
    assert embedder.embed(["text"]).any()


def test_openai_embedder_limits_the_number_of_attempts(server, embedder, slept):
    embedder.hold_to(32)
    server.then = [refuse(500)] * 10
    with pytest.raises(EmbedderDown, match="500"):
        embedder.embed(["text"])
    assert len(server.requests) == ATTEMPTS == len(slept) + 1


def test_openai_embedder_does_not_retry_after_a_timeout(server, slept):
    embedder = OpenAiEmbedder(EmbedderServer(server.url, "small", timeout=0.1), slept.append)
    embedder.hold_to(32)
    server.then = [dawdle(0.5)] * 2
    for _ in range(2):
        with pytest.raises(EmbedderDown):
            embedder.embed(["text"])
    assert (slept, len(server.requests)) == ([], 1)


def test_openai_embedder_retries_a_broken_connection(server, embedder, slept):
    embedder.hold_to(32)
    server.then = [hang_up]
    assert embedder.embed(["text"]).any()
    assert len(slept) == 1


@pytest.mark.parametrize(
    ("status", "told"), [(401, "embedder_key"), (403, "embedder_key"), (404, "embedder_model")]
)
def test_openai_embedder_setup_error_names_the_setting_and_hides_the_key(
    server, embedder, slept, status, told
):
    embedder.hold_to(32)
    server.then = [refuse(status, f"Incorrect API key provided: {KEY}")]
    with pytest.raises(EmbedderDown, match=told) as refused:
        embedder.embed(["text"])
    assert KEY not in str(refused.value)
    assert refused.value.__cause__ is None
    assert slept == []


def test_openai_embedder_does_not_follow_redirects(server, embedder):
    embedder.hold_to(32)
    server.then = [refuse(302, Location=f"{server.url}/elsewhere")]
    with pytest.raises(EmbedderDown, match="302"):
        embedder.embed(["text"])
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"data": []},
        {"data": [{"index": 1, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": []}]},
        {"data": [{"index": 0, "embedding": "words"}]},
        {"data": [{"index": 0, "embedding": [[1.0]]}]},
        {"data": [{"index": n, "embedding": [1.0]} for n in range(2)]},
        {"data": [{"index": 0, "embedding": [float("nan")] * 32}]},
        {"data": [{"index": 0, "embedding": [float("inf")] * 32}]},
        [1, 2],
        b"<html>busy</html>",
    ],
)
def test_openai_embedder_malformed_answer_raises_embedder_down(server, embedder, answer):
    embedder.hold_to(32)
    server.then = [say(answer)]
    with pytest.raises(EmbedderDown, match="embedder's"):
        embedder.embed(["text"])


def test_openai_embedder_unreachable_server_raises_embedder_down_at_once(slept):
    with embedding_server() as gone:
        url = gone.url
    embedder = OpenAiEmbedder(EmbedderServer(url, "small"), slept.append)
    with pytest.raises(EmbedderDown, match="cannot be reached"):
        embedder.embed(["text"])
    assert slept == []


def test_openai_embedder_bypasses_proxies_for_loopback(server, monkeypatch):
    """The key would leave the machine, and unencrypted."""
    with embedding_server() as proxy:
        for variable in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(variable, proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        assert OpenAiEmbedder(EmbedderServer(server.url, "small", KEY)).embed(["hello"]).any()
        assert proxy.requests == []


def test_openai_embedder_is_uncalibrated_in_every_script(embedder):
    assert all(embedder.calibration.similarity(1.0, script) is None for script in Script)
