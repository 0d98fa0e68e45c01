"""Where a store is, read from what a user typed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from commonplace.errors import InvalidInput

MEMORY = ":memory:"


@dataclass(frozen=True, slots=True)
class Address:
    backend: str  # sqlite or postgresql
    target: str  # a path, :memory:, or a connection URL


def parse(url: str) -> Address:
    if url.startswith(("postgresql://", "postgres://")):
        return Address("postgresql", url)
    if url.startswith("sqlite:"):
        path = url.removeprefix("sqlite:///") if url.startswith("sqlite:///") else ""
        if url in ("sqlite://", "sqlite:///", f"sqlite:///{MEMORY}"):
            return Address("sqlite", MEMORY)
        if not path:
            raise InvalidInput(
                f"{url!r} is not a valid store address.",
                remedy="Write sqlite:///relative/path or sqlite:////absolute/path.",
                field="store",
            )
        return Address("sqlite", _absolute(path))
    if "://" in url:
        raise InvalidInput(
            f"{url.partition('://')[0]!r} is not a supported store.",
            remedy="Use a path, sqlite:///path, :memory: or postgresql://…",
            field="store",
        )
    return Address("sqlite", url if url == MEMORY else _absolute(url))


def _absolute(path: str) -> str:
    return str(Path(path).expanduser().absolute())
