"""A transaction on one scope, as the shared behaviour sees it: named statements, rows back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from commonplace.model.scope import Scope
from commonplace.store.sql.rows import Row


class Session(Protocol):
    """Every statement runs with ``scope`` bound; a list parameter is given as a Python list."""

    def rows(self, statement: str, **values: Any) -> Sequence[Row]: ...

    def one(self, statement: str, **values: Any) -> Row | None: ...

    def run(self, statement: str, **values: Any) -> None: ...

    def run_many(self, statement: str, values: Sequence[Mapping[str, Any]]) -> None: ...

    def at(self, scope: Scope) -> Session:
        """The same transaction on another scope. From then on this session is not to be used."""
        ...
