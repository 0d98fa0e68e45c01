"""Store address: backend and target, parsed from a path or URL."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from commonplace.errors import InvalidInput

IN_MEMORY = ":memory:"


@dataclass(frozen=True, slots=True)
class StoreAddress:
    backend: str  # sqlite or postgresql
    target: str  # a path, :memory:, or a connection URL


def parse_address(url: str) -> StoreAddress:
    if url.startswith(("postgresql://", "postgres://")):
        return StoreAddress("postgresql", url)
    if url.startswith("sqlite:"):
        path = url.removeprefix("sqlite:///") if url.startswith("sqlite:///") else ""
        if url in ("sqlite://", "sqlite:///", f"sqlite:///{IN_MEMORY}"):
            return StoreAddress("sqlite", IN_MEMORY)
        if not path:
            raise InvalidInput(
                f"{url!r} is not a valid store address.",
                remedy="Write sqlite:///relative/path or sqlite:////absolute/path.",
                field="store",
            )
        return StoreAddress("sqlite", _absolute(path))
    if "://" in url:
        raise InvalidInput(
            f"{url.partition('://')[0]!r} is not a supported store.",
            remedy="Use a path, sqlite:///path, :memory: or postgresql://…",
            field="store",
        )
    return StoreAddress("sqlite", url if url == IN_MEMORY else _absolute(url))


def _absolute(path: str) -> str:
    return str(Path(path).expanduser().absolute())
