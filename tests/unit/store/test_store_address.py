"""Where a store is, read from what a user typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.errors import InvalidInput
from commonplace.store.address import StoreAddress, parse_address


@pytest.mark.parametrize(
    ("url", "backend", "target"),
    [
        (":memory:", "sqlite", ":memory:"),
        ("sqlite://", "sqlite", ":memory:"),
        ("sqlite:///:memory:", "sqlite", ":memory:"),
        ("sqlite:////var/data/m.db", "sqlite", "/var/data/m.db"),
        ("/var/data/m.db", "sqlite", "/var/data/m.db"),
        ("sqlite:///m.db", "sqlite", str(Path.cwd() / "m.db")),
        ("~/m.db", "sqlite", str(Path.home() / "m.db")),
        ("postgresql://host/db", "postgresql", "postgresql://host/db"),
        ("postgres://host/db", "postgresql", "postgres://host/db"),
    ],
)
def test_parse_address_returns_backend_and_target(url, backend, target):
    assert parse_address(url) == StoreAddress(backend, target)


@pytest.mark.parametrize("url", ["mysql://host/db", "sqlite:m.db", "http://x"])
def test_parse_address_refuses_unknown_schemes_with_an_example(url):
    with pytest.raises(InvalidInput) as caught:
        parse_address(url)
    assert "sqlite:///" in caught.value.remedy
