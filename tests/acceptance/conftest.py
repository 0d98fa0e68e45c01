"""These tests are about what is on the disk after kills, erasures and full disks."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

import pytest

from support.on_disk import tmp_path as tmp_path
from support.stored_bytes import files_holding


@pytest.fixture
def secret() -> str:
    """A word that stands nowhere else."""
    return f"zq{uuid4().hex}"


@pytest.fixture
def holding(store_url: str, request: pytest.FixtureRequest) -> Callable[[str], list[str]]:
    """Looks for a text in the bytes of the store's files."""
    server = request.getfixturevalue("postgres") if "://" in store_url else None
    return lambda text: files_holding(text, store_url, server)
