"""A text model small enough to be made by a test: each word has a vector of its own, and a text is
made of its words. Words can be made synonyms."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

_ENGLISH = """the car auto is red blue lamp dog green harbour rain tea kettle train old new desk
where did we park leave my in by on a street garage"""
_HEBREW = "הבית הכלב ירוק אדום כחול הים הגשם הרכבת תה ספר ישן חדש דלת חלון גדול קטן עץ"
WORDS, HEBREW = tuple(_ENGLISH.split()), tuple(_HEBREW.split())

DIMENSION = 32
MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
PREFIXES = {"query_prefix": "query: ", "passage_prefix": "passage: "}
SETTINGS = {"name": "tiny", "dimension": DIMENSION, "pooling": "mean", **PREFIXES}


def write_model(
    folder: Path,
    words: Sequence[str],
    same: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    marks: bool = True,
) -> Path:
    """A folder as `onnx:` takes it. ``same``: a word → another one whose vector it has. ``marks``:
    whether a text begins with [CLS] and ends with [SEP]."""
    vocabulary = list(dict.fromkeys([*MARKS, "query", "passage", ":", *words, *(same or {})]))
    folder.mkdir(parents=True, exist_ok=True)
    table = np.random.default_rng(seed).standard_normal((len(vocabulary), DIMENSION))
    table[: len(MARKS)] *= 0.01  # the marks say little
    for word, other in (same or {}).items():
        table[vocabulary.index(word)] = table[vocabulary.index(other)]
    onnx.save(_graph(table.astype(np.float32)), str(folder / "model.onnx"))
    _tokenizer(vocabulary, marks).save(str(folder / "tokenizer.json"))
    write_settings(folder, **(SETTINGS if settings is None else settings))
    return folder


def write_settings(folder: Path, **settings: Any) -> None:
    (folder / "embedder.json").write_text(json.dumps(settings), encoding="utf-8")


def _graph(table: np.ndarray) -> onnx.ModelProto:
    """Two outputs: a vector of each token, and their mean over the mask."""
    numbers = TensorProto.INT64
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"]),
        helper.make_node("Cast", ["attention_mask"], ["weights"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["weights", "last_axis"], ["column"]),
        helper.make_node("Mul", ["last_hidden_state", "column"], ["weighted"]),
        helper.make_node("ReduceSum", ["weighted", "middle_axis"], ["summed"], keepdims=0),
        helper.make_node("ReduceSum", ["column", "middle_axis"], ["count"], keepdims=0),
        helper.make_node("Div", ["summed", "count"], ["sentence_embedding"]),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [
            helper.make_tensor_value_info("input_ids", numbers, ["batch", "tokens"]),
            helper.make_tensor_value_info("attention_mask", numbers, ["batch", "tokens"]),
        ],
        [
            helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, None),
            helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, None),
        ],
        [
            numpy_helper.from_array(table, "table"),
            numpy_helper.from_array(np.array([2]), "last_axis"),
            numpy_helper.from_array(np.array([1]), "middle_axis"),
        ],
    )
    opset = helper.make_opsetid("", 17)
    return helper.make_model(graph, opset_imports=[opset], ir_version=8)


def _tokenizer(vocabulary: Sequence[str], marks: bool) -> Tokenizer:
    known = {word: number for number, word in enumerate(vocabulary)}
    made = Tokenizer(models.WordLevel(known, unk_token="[UNK]"))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    if marks:
        made.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[(mark, known[mark]) for mark in MARKS[2:]]
        )
    return made


def rated_pairs(words: Sequence[str], count: int = 80, length: int = 6) -> list[str]:
    """Lines for `calibrate`: as similar as the share of words that two texts have in common."""
    random = np.random.default_rng(1)
    lines = []
    for number in range(count):
        drawn = [str(word) for word in random.permutation(words)[: 2 * length]]
        shared = number % (length + 1)
        one, other = drawn[:length], [*drawn[:shared], *drawn[length : 2 * length - shared]]
        pair = {"a": " ".join(one), "b": " ".join(other), "similarity": shared / length}
        lines.append(json.dumps(pair))
    return lines
