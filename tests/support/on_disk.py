"""A folder on the disk, for tests of what a disk holds: others have theirs in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="cp-disk-", ignore_cleanup_errors=True) as name:
        yield Path(name)
