"""What is kept of calls of language models: answers, usage, and how far each source was read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from commonplace.model.journal import Entry


@dataclass(frozen=True, slots=True)
class KeptModelAnswer:
    """An answer, so that the same input is not asked twice. The prompt itself is not kept."""

    digest: str  # of the prompt's version, the model and the messages
    source: str | None  # that it is about; None: about memories, so any erasure deletes it
    prompt: str
    model: str
    answer: str  # JSON
    read: int  # tokens of the prompt
    written: int  # tokens of the answer
    at: datetime

    @property
    def value(self) -> Any:
        return json.loads(self.answer)


@dataclass(frozen=True, slots=True)
class KeepModelAnswer:
    """``erasures``: the scope's, when the texts of the prompt were read. The answer is not kept if
    something was erased since, because it may contain it."""

    answer: KeptModelAnswer
    erasures: int


@dataclass(frozen=True, slots=True)
class ModelUsageRow:
    """A user's usage of one day, prompt and model. Bookkeeping adds it to what was counted."""

    day: str  # UTC, such as 2026-03-01
    prompt: str
    model: str  # empty: of the caller, who hands over what it found
    calls: int = 0
    cached: int = 0  # answered from what is kept, without a call
    failed: int = 0  # calls without a usable answer
    read: int = 0  # tokens, also those of failed calls
    written: int = 0
    kept: int = 0  # findings
    dropped: int = 0  # findings that did not stand the check

    @property
    def tokens(self) -> int:
        return self.read + self.written


@dataclass(frozen=True, slots=True)
class SkippedWindow:
    """Passages, by number, of which this model gave no usable answer to this prompt."""

    first: int
    last: int
    prompt: str
    model: str

    def without(self, first: int, last: int) -> Iterator[SkippedWindow]:
        """What is left of it when these passages were read."""
        if self.first < first:
            yield replace(self, last=min(self.last, first - 1))
        if self.last > last:
            yield replace(self, first=max(self.first, last + 1))


REQUEST_PREFIX = "request:"


@dataclass(frozen=True, slots=True)
class AskedToForget:
    """A request to forget that a model found in the owner's words. What it means is looked up when
    it is shown; a person decides."""

    id: str
    query: str  # what it is about, in the words of the passage
    passage: int
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class ModelReading:
    """How far a model has read a source for one user; the source may be a team's."""

    source_scope: str  # the key of the source's owner
    source: str
    passages: int  # how many have been read
    digest: str  # of the original when it was read
    prompt: str
    at: datetime
    # Digests of its sentences and of what was found, as of an `Extraction`; of a conversation none.
    heard: tuple[str, ...] = ()
    skipped: tuple[SkippedWindow, ...] = ()  # among those that have been read
    requests: tuple[AskedToForget, ...] = ()  # that nobody has decided


@dataclass(frozen=True, slots=True)
class SetReading:
    """A changeset step. It belongs in the changeset of the findings, so that nothing is read twice:
    the changeset is refused (StaleDecision) if the reading is not ``before`` any more. ``gone``:
    the reading is deleted, whatever it was."""

    reading: ModelReading
    entry: Entry
    before: ModelReading | None = None
    gone: bool = False
