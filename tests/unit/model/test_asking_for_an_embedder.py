"""A remedy names an embedder as `--embedder` takes it, not as the store keeps it."""

from __future__ import annotations

import pytest

from commonplace.book import make_embedder
from commonplace.model.embedders import SHIPPED, asked_for


@pytest.mark.parametrize(("kept", "setting"), SHIPPED.items())
def test_each_shipped_embedder_is_the_one_that_its_setting_makes(kept, setting):
    assert make_embedder(setting).name == kept
    assert asked_for(kept) == f"`--embedder {setting}`"


def test_a_model_behind_a_server_is_named_by_its_setting():
    told = asked_for(make_embedder("openai").name)
    assert told == "`--embedder openai` and the setting embedder_model = text-embedding-3-small"


def test_one_that_no_setting_makes_is_told_by_its_name():
    assert "hashing-64" in asked_for("hashing-64")
