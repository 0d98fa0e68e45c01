"""The embedder of the package fastembed: the package is the real one, the model hub is not there.

The model is one that the test makes and puts where a download would have put it."""

from __future__ import annotations

import socket
import subprocess
import sys

import numpy as np
import pytest

from commonplace.errors import BadSettings
from commonplace.language.embedders import fastembed
from commonplace.language.embedders.calibration import calibrate, parse_pairs
from commonplace.language.embedders.embedder import EmbedderDown
from commonplace.language.embedders.fastembed import FastEmbedEmbedder, prefixes_of
from commonplace.language.text.detect import Script
from support.fastembed_cache import downloaded, register
from support.tiny_onnx import DIMENSION, WORDS, rated_pairs, write_model

E5 = "tests/tiny-e5-small"
PLAIN = "tests/tiny-plain"


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    folder = write_model(tmp_path_factory.mktemp("tiny"), WORDS, same={"auto": "car"})
    found = tmp_path_factory.mktemp("cache")
    for model in (E5, PLAIN):
        downloaded(register(model), folder, found)
    return found


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """A hub that is asked all the same does not answer."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def test_fastembed_embedder_gives_unit_rows_and_zeros_for_empty_texts(cache):
    rows = FastEmbedEmbedder(PLAIN, cache).embed_passages(["the red car", "", " ", "rain"])
    assert rows.shape == (4, DIMENSION)
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 0, 0, 1], abs=1e-6)


def test_fastembed_embedder_of_no_texts_gives_no_rows(cache):
    assert FastEmbedEmbedder(PLAIN, cache).embed_queries([]).shape == (0, DIMENSION)


def test_fastembed_embedder_keeps_the_order_of_the_texts(cache):
    embedder = FastEmbedEmbedder(PLAIN, cache)
    texts = [" ".join(WORDS[: 9 - n % 9]) for n in range(70)]
    together = embedder.embed_passages(texts)
    for place in (0, 33, 69):
        alone = embedder.embed_passages([texts[place]])[0]
        assert np.allclose(alone, together[place], atol=1e-6)


def test_fastembed_embedder_prefixes_tell_queries_from_passages(cache):
    """The package leaves the prefixes of most models to its caller."""
    e5, plain = FastEmbedEmbedder(E5, cache), FastEmbedEmbedder(PLAIN, cache)
    query, passage = e5.embed_queries(["red car"]), e5.embed_passages(["red car"])
    assert not np.allclose(query, passage, atol=0.01)
    assert np.allclose(query, plain.embed_queries(["query: red car"]))
    assert np.allclose(passage, plain.embed_passages(["passage: red car"]))


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("intfloat/multilingual-e5-large", "query: ", "passage: "),
        ("nomic-ai/nomic-embed-text-v1.5-Q", "search_query: ", "search_document: "),
        ("sentence-transformers/all-MiniLM-L6-v2", "", ""),
        ("jinaai/jina-embeddings-v3", "", ""),  # the package tells them apart by itself
    ],
)
def test_fastembed_prefixes_are_those_of_the_model(model, query, passage):
    assert prefixes_of(model) == (query, passage)


def test_fastembed_embedder_is_named_after_its_model(cache):
    embedder = FastEmbedEmbedder(E5, cache)
    assert (embedder.name, embedder.dimension) == (f"fastembed:{E5}", DIMENSION)


def test_fastembed_embedder_is_calibrated_by_pairs(cache):
    embedder = FastEmbedEmbedder(E5, cache)
    assert not embedder.calibration.knots
    assert set(calibrate(embedder, parse_pairs(rated_pairs(WORDS))).knots) == {Script.LATIN}


def test_fastembed_unknown_model_error_tells_how_to_list_models(tmp_path):
    embedder = FastEmbedEmbedder("nobody/nothing", tmp_path)
    with pytest.raises(BadSettings, match="nobody/nothing") as refused:
        _ = embedder.dimension
    assert "list_supported_models" in refused.value.remedy


def test_fastembed_missing_package_error_names_the_install_command(tmp_path, monkeypatch):
    monkeypatch.setattr(fastembed, "find_spec", lambda name: None)
    with pytest.raises(BadSettings) as refused:
        FastEmbedEmbedder(E5, tmp_path)
    assert refused.value.remedy == "pip install 'commonplace[fastembed]'"


def test_fastembed_downloaded_model_needs_no_network(cache, monkeypatch):
    def refuse(*_):
        raise AssertionError("no network here")

    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert FastEmbedEmbedder(PLAIN, cache).embed_queries(["car"]).any()


def test_fastembed_model_that_cannot_be_downloaded_is_an_outage(tmp_path, monkeypatch):
    """And is not tried again for each text: every attempt takes long."""
    tried = []
    now = [100.0]
    embedder = FastEmbedEmbedder(register(E5), tmp_path, now=lambda: now[0])
    load = embedder._load
    monkeypatch.setattr(embedder, "_load", lambda: (tried.append(now[0]), load())[1])
    for now[0] in (100.0, 101.0, 100.0 + fastembed.COOLDOWN_SECONDS):
        with pytest.raises(EmbedderDown):
            embedder.embed_passages(["car"])
    assert tried == [100.0, 100.0 + fastembed.COOLDOWN_SECONDS]


def test_fastembed_is_imported_with_the_first_text():
    code = """
import sys
from pathlib import Path
from commonplace.language.embedders.fastembed import FastEmbedEmbedder
embedder = FastEmbedEmbedder("intfloat/multilingual-e5-large", Path("nowhere"))
embedder.hold_to(1024)
assert embedder.dimension == 1024
assert not {"fastembed", "onnxruntime", "huggingface_hub"} & set(sys.modules)
"""
    env = {"PYTHONPATH": ":".join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=env, check=False).returncode == 0
