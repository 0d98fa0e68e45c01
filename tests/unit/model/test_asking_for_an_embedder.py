"""A remedy names an embedder as `--embedder` takes it, not as the store keeps it."""

from __future__ import annotations

import pytest

from commonplace.api import make_embedder
from commonplace.errors import SHIPPED_EMBEDDERS, embedder_option


@pytest.mark.parametrize(("kept", "setting"), SHIPPED_EMBEDDERS.items())
def test_each_shipped_embedder_is_the_one_that_its_setting_makes(kept, setting):
    assert make_embedder(setting).name == kept
    assert embedder_option(kept) == f"`--embedder {setting}`"


def test_a_model_behind_a_server_is_named_by_its_setting():
    told = embedder_option(make_embedder("openai").name)
    assert told == "`--embedder openai` and the setting embedder_model = text-embedding-3-small"


def test_one_that_no_setting_makes_is_told_by_its_name():
    assert "hashing-64" in embedder_option("hashing-64")
