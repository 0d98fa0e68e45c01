"""Both embedders keep one contract."""

import subprocess
import sys
import threading
from collections.abc import Sequence

import numpy as np
import pytest

from commonplace.language.embedders import wordllama
from commonplace.language.embedders.embedder import Calibration, Embedder, EmbedderDown
from commonplace.language.embedders.hashing import HashingEmbedder
from commonplace.language.embedders.wordllama import WordLlamaEmbedder
from commonplace.language.text.detect import Script

TEXTS = ["Dana moved to Berlin", "", "שלום עולם", "a", "?!", "long text " * 5000, "Dan owes Ana"]


@pytest.fixture(scope="module", params=[HashingEmbedder, WordLlamaEmbedder])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    made: Embedder = request.param()
    return made


def cosine(embedder: Embedder, one: str, other: str) -> float:
    rows = embedder.embed([one, other])
    return float(rows[0] @ rows[1])


def test_embedder_rows_have_unit_length_and_empty_text_is_zero(embedder: Embedder) -> None:
    rows = embedder.embed(TEXTS)
    assert rows.shape == (len(TEXTS), embedder.dimension)
    assert rows.dtype == np.float32
    lengths = np.linalg.norm(rows, axis=1)
    assert lengths[1] == 0
    assert np.allclose(np.delete(lengths, 1), 1, atol=1e-5)


def test_embedder_returns_no_rows_for_no_texts(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.dimension)


def test_embedder_vector_is_independent_of_the_batch(embedder: Embedder) -> None:
    texts = TEXTS * 100
    together = embedder.embed(texts)
    for text, row in zip(TEXTS, together[: len(TEXTS)], strict=True):
        assert np.array_equal(embedder.embed([text])[0], row)
    assert np.array_equal(together[: len(TEXTS)], together[-len(TEXTS) :])


def test_embedder_ranks_similar_text_above_dissimilar(embedder: Embedder) -> None:
    text = "The meeting with Dana moved to Thursday"
    near = cosine(embedder, text, "Meeting with Dana was moved to Thursday")
    far = cosine(embedder, text, "Bananas are rich in potassium")
    assert near > 0.7 > 0.4 > far


@pytest.mark.parametrize("script", Script)
def test_embedder_calibration_covers_latin_script_only(script: Script, embedder: Embedder) -> None:
    known = embedder.calibration.similarity(1.0, script)
    assert known == (1.0 if script is Script.LATIN else None)


def test_embedder_calibration_rises_from_zero_to_one(embedder: Embedder) -> None:
    found = [embedder.calibration.similarity(c, Script.LATIN) for c in np.linspace(-1, 1, 101)]
    values = [value for value in found if value is not None]
    assert len(values) == 101
    assert values == sorted(values)
    assert (values[0], values[50], values[-1]) == (0, 0, 1)


@pytest.mark.parametrize(
    "knots",
    [((0.0, 0.0),), ((0.0, 0.5), (1.0, 0.4)), ((0.5, 0.1), (0.5, 0.2)), ((0.0, 0.0), (1.0, 1.1))],
)
def test_calibration_refuses_knots_that_do_not_rise_within_range(
    knots: tuple[tuple[float, float], ...],
) -> None:
    with pytest.raises(ValueError, match="calibration"):
        Calibration({Script.LATIN: knots})


def test_hashing_embedder_is_deterministic_across_processes() -> None:
    code = (
        "from commonplace.language.embedders.hashing import HashingEmbedder as H;"
        "print(H().embed(['Dana moved'])[0].tobytes().hex())"
    )
    env = {"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": "7"}
    output = subprocess.check_output([sys.executable, "-c", code], env=env, text=True)
    assert output.strip() == HashingEmbedder().embed(["Dana moved"])[0].tobytes().hex()


def test_hashing_embedder_name_contains_the_dimension() -> None:
    embedder = HashingEmbedder(64)
    assert (embedder.name, embedder.embed(["text"]).shape) == ("hashing-64", (1, 64))
    with pytest.raises(ValueError, match="dimension"):
        HashingEmbedder(0)


def test_wordllama_embedder_loads_lazily_without_logging_or_network() -> None:
    code = """
import logging, socket, sys
def refuse(*_, **__): raise AssertionError("no network here")
from commonplace.language.embedders.wordllama import WordLlamaEmbedder
embedder = WordLlamaEmbedder()
assert (embedder.name, embedder.dimension) == ("wordllama-l2-supercat-256", 256)
assert "tokenizers" not in sys.modules
socket.socket.connect = refuse
root = logging.getLogger()
before = (list(root.handlers), root.level)
embedder.embed(["hello"])
assert "tokenizers" in sys.modules and "wordllama" not in sys.modules
assert (list(root.handlers), root.level) == before == ([], logging.WARNING)
"""
    env = {"PYTHONPATH": ":".join(sys.path)}
    run = subprocess.run([sys.executable, "-c", code], env=env, check=False)
    assert run.returncode == 0


def test_wordllama_embedder_missing_package_raises_embedder_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(wordllama, "find_spec", lambda _: None)
    with pytest.raises(EmbedderDown, match="pip install"):
        WordLlamaEmbedder().embed(["text"])


def test_wordllama_embedder_load_failure_raises_embedder_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(_: str) -> None:
        raise ImportError("no such library")

    monkeypatch.setattr(wordllama, "import_module", fail)
    with pytest.raises(EmbedderDown, match="no such library"):
        WordLlamaEmbedder().embed(["text"])


def test_wordllama_embedder_loads_once_for_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[int] = []
    load = wordllama._load

    def counted(dimension: int) -> wordllama._WordLlamaModel:
        loads.append(dimension)
        return load(dimension)

    monkeypatch.setattr(wordllama, "_load", counted)
    embedder = WordLlamaEmbedder()
    _together([threading.Thread(target=embedder.embed, args=(["text"],)) for _ in range(8)])
    assert loads == [256]


def _together(threads: Sequence[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
