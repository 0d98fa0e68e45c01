"""What a peer has to do to be measured."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol

from commonplace.language.models.embedder import Vectors

TOP = 5
BATCH = 1000


class NotAvailable(Exception):
    """This peer cannot be measured here; the message says why."""


class Peer(Protocol):
    def load(self, texts: Sequence[str], vectors: Vectors) -> None: ...

    def search(self, query: str, vector: Vectors) -> Sequence[str]:
        """The best five, as texts."""
        ...

    def close(self) -> None: ...


def optional(module: str) -> Any:
    """A module of the extra `bench`."""
    try:
        return import_module(module)
    except ImportError as error:
        raise NotAvailable(f"{error}; pip install 'commonplace[bench]'") from error
