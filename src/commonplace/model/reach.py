"""How far a read goes: which scopes, and how much of each."""

from __future__ import annotations

from dataclasses import dataclass

from commonplace.model.scope import Scope


@dataclass(frozen=True, slots=True)
class Reading:
    """One scope that somebody may read: their own, a team's, or as a guest some of another's."""

    scope: Scope
    is_own: bool = True  # else: passages alone, and never what is marked sensitivity high
    sources: frozenset[str] | None = None  # None: all of it; a guest's are named one by one
