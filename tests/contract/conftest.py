"""`pytest tests/contract --record` writes the snapshots instead of comparing with them."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", action="store_true", help="write the snapshots of public shapes")
