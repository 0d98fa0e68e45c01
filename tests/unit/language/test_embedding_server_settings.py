"""What is wrong with an address, a key or a model's name is told before anything is sent."""

from __future__ import annotations

import pytest

from commonplace.errors import BadSettings
from commonplace.language.embedders.embedder import EmbedderServer

KEY = "sk-very-secret"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "host",
        "ftp://host/v1",
        "https://",
        "https://me:pw@host/v1",
        "http://[bad",
        "http://host:abc/v1",
        "http://host:99999/v1",
        "http://host:0/v1",
        "https://host/v1?version=2",
        "https://host/v1#top",
        "https://host/v 1",
        "https://host/v1\n",
        "https://מארח/v1",
    ],
)
def test_embedder_server_refuses_invalid_urls(url):
    with pytest.raises(BadSettings) as refused:
        EmbedderServer(url, "small")
    assert refused.value.field == "embedder_url"
    assert "https://host" in refused.value.remedy


@pytest.mark.parametrize("url", ["http://[::1]:8080/v1", "https://host", "https://host:443/v1/"])
def test_embedder_server_accepts_plain_urls(url):
    assert EmbedderServer(url, "small").url == url


@pytest.mark.parametrize("key", [f"{KEY}\n", "sk-a\r\nHost: elsewhere", "sk-מפתח", "sk very", "é"])
def test_embedder_server_refuses_invalid_keys_without_echoing_them(key):
    with pytest.raises(BadSettings) as refused:
        EmbedderServer("https://host/v1", "small", key)
    assert refused.value.field == "embedder_key"
    assert key.strip() not in str(refused.value.as_dict())


def test_embedder_server_refuses_a_key_over_plain_http_except_loopback():
    for url in ("http://models.example/v1", "HTTP://10.0.0.1/v1"):
        with pytest.raises(BadSettings, match="unencrypted"):
            EmbedderServer(url, "small", KEY)
    for host in ("localhost:11434", "127.0.0.1", "127.1.2.3", "[::1]:80"):
        assert EmbedderServer(f"http://{host}/v1", "small", KEY).key == KEY


@pytest.mark.parametrize("model", ["", "  ", "sm\0all", "\ud800"])
def test_embedder_server_refuses_invalid_model_names(model):
    with pytest.raises(BadSettings) as refused:
        EmbedderServer("https://host/v1", model)
    assert refused.value.field == "embedder_model"


def test_embedder_server_repr_hides_the_key():
    assert KEY not in repr(EmbedderServer("https://host/v1", "small", KEY))
