"""A remedy names an embedder as `--embedder` takes it, not as the store keeps it."""

from __future__ import annotations

import pytest

from commonplace.api import make_embedder
from commonplace.errors import SHIPPED_EMBEDDERS, embedder_option


@pytest.mark.parametrize(("kept", "setting"), SHIPPED_EMBEDDERS.items())
def test_embedder_option_names_the_setting_of_each_shipped_embedder(kept, setting):
    assert make_embedder(setting).name == kept
    assert embedder_option(kept) == f"`--embedder {setting}`"


def test_embedder_option_names_the_model_setting_of_a_server():
    told = embedder_option(make_embedder("openai").name)
    assert told == "`--embedder openai` and the setting embedder_model = text-embedding-3-small"


def test_embedder_option_falls_back_to_the_embedder_name():
    assert "hashing-64" in embedder_option("hashing-64")
