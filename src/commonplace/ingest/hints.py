"""What whoever hands an original over knows of it, and the original does not say itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from commonplace.ingest.lenient import clean_word
from commonplace.model.titles import title_of_file


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    name: str | None = None  # of the file, with its path
    title: str | None = None
    started_at: datetime | None = None  # recordings count their time from here

    @property
    def readable_name(self) -> str | None:
        """The title of a file that has no other."""
        return clean_word(title_of_file(self.name)) if self.name else None
