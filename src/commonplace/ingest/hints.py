"""What whoever hands an original over knows of it, and the original does not say itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    name: str | None = None  # of the file
    title: str | None = None
    started_at: datetime | None = None  # recordings count their time from here
