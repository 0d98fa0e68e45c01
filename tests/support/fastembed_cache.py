"""A model of the real package `fastembed`, in its cache as a download would have left it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType

from support.tiny_onnx import DIMENSION

_REVISION = "0123456789abcdef0123456789abcdef01234567"


def register(model: str) -> str:
    """Make the package know a model; once in a process."""
    if all(known["model"] != model for known in TextEmbedding.list_supported_models()):
        TextEmbedding.add_custom_model(
            model=model,
            pooling=PoolingType.MEAN,
            normalization=True,
            sources=ModelSource(hf=model),
            dim=DIMENSION,
            model_file="model.onnx",
        )
    return model


def downloaded(model: str, folder: Path, cache: Path) -> Path:
    """The cache of the model hub, with the files of a folder in it."""
    place = cache / f"models--{model.replace('/', '--')}"
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text(_REVISION)
    files = shutil.copytree(folder, place / "snapshots" / _REVISION)
    (files / "tokenizer_config.json").write_text(
        json.dumps({"model_max_length": 128, "pad_token": "[PAD]"})
    )
    (files / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    (files / "special_tokens_map.json").write_text("{}")
    return cache
