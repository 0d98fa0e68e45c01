"""How far a read goes: which scopes, and how much of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from commonplace.model.scope import Scope


@dataclass(frozen=True, slots=True)
class Reading:
    """One scope that somebody may read: their own, a team's, or as a guest some of another's."""

    scope: Scope
    is_own: bool = True  # else: passages alone, and never what is marked sensitivity high
    sources: frozenset[str] | None = None  # None: all of it; a guest's are named one by one

    @property
    def key(self) -> tuple[str, ...]:
        """Names what is read, whoever reads it, and orders it among others."""
        if self.sources is None:
            return (self.scope.key,)
        return (self.scope.key, "as a guest", *sorted(self.sources))

    @property
    def is_guests(self) -> bool:
        """A guest makes no knowledge of what they read: it would stay when the owners erase it."""
        return self.sources is not None

    def covers(self, source: str) -> bool:
        return self.sources is None or source in self.sources


def each_scope_once(readings: Iterable[Reading]) -> tuple[Reading, ...]:
    """In their order. Read twice, a passage would be found twice and count twice: who reads all of
    a scope is no guest there, and several grants are one."""
    found: dict[Scope, Reading] = {}
    for reading in readings:
        before = found.setdefault(reading.scope, reading)
        if before.sources is None:
            continue
        both = None if reading.sources is None else before.sources | reading.sources
        found[reading.scope] = replace(reading, sources=both)
    return tuple(found.values())
