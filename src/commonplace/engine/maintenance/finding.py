"""A finding of the doctor: one thing that was checked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    what: str
    ok: bool
    detail: str
    remedy: str = ""
