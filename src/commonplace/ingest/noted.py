"""What is noted about an original as it comes in, to read it the same way later.

It stands in the source's provenance under one name, which metadata cannot take; a caller's own
words beside it never steer how an original is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Self

from commonplace.errors import InvalidInput
from commonplace.ingest.detect import Format
from commonplace.model import check

OURS = "commonplace"  # the name in the provenance
MAX_RUNS = 400
MAX_SAID = check.MAX_KEPT_METADATA // 2  # of metadata, after many calls: the rest is for notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Parts of an original, from one on, that are read alike."""

    first: int
    format: Format | None = None  # None: it is found out
    date: datetime | None = None  # as was said
    received: datetime | None = None  # noted where turns have no time of their own


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    runs: tuple[Run, ...] = ()
    name: str | None = None  # of the file
    tags: tuple[str, ...] = ()  # given, not found
    said: tuple[str, ...] = ()  # the names of metadata
    last: str | None = None  # the digest of the last part
    agent: str | None = None  # that brought it; None: its owner did

    def run_of(self, part: int) -> Run:
        return next((run for run in reversed(self.runs) if run.first <= part), Run(first=1))

    def with_part(self, run: Run, digest: str) -> Self:
        """A talk of very many parts has the later ones dated with the part before them."""
        before = self.run_of(run.first)
        if replace(before, first=run.first) == run:
            return replace(self, last=digest)
        if len(self.runs) < MAX_RUNS:
            return replace(self, runs=(*self.runs, run), last=digest)
        if before.format == run.format and run.date is None:
            return replace(self, last=digest)
        raise InvalidInput(
            f"The format or the date of a source's parts changes at most {MAX_RUNS} times.",
            remedy="Start a new source.",
            field="append",
        )

    def as_map(self) -> dict[str, Any]:
        told = {
            "parts": [_run_map(run) for run in self.runs],
            "name": self.name,
            "tags": list(self.tags),
            "said": list(self.said),
            "last": self.last,
            "agent": self.agent,
        }
        return {name: value for name, value in told.items() if value}


def _run_map(run: Run) -> dict[str, Any]:
    moments = {"date": run.date, "received": run.received}
    told = {name: at.isoformat() for name, at in moments.items() if at}
    return {"from": run.first, **({"format": str(run.format)} if run.format else {}), **told}


def noted_in(provenance: Mapping[str, Any]) -> Noted:
    """Whatever is not as it was written (an import may hold anything) is as if not noted."""
    ours = _map(provenance.get(OURS))
    runs = [run for each in _list(ours.get("parts")) if (run := _run(_map(each)))]
    last, name, agent = (ours.get(each) for each in ("last", "name", "agent"))
    return Noted(
        runs=tuple(sorted(runs, key=lambda run: run.first)),
        name=name if isinstance(name, str) else None,
        tags=_words(ours.get("tags")),
        said=_words(ours.get("said")),
        last=last if isinstance(last, str) else None,
        agent=agent if isinstance(agent, str) else None,
    )


def _run(told: Mapping[str, Any]) -> Run | None:
    first, format = told.get("from"), told.get("format")
    if not isinstance(first, int):
        return None
    known = Format(format) if format in list(Format) else None
    return Run(
        first=first,
        format=known,
        date=_moment(told.get("date")),
        received=_moment(told.get("received")),
    )


def _moment(value: object) -> datetime | None:
    try:
        return check.when(value, "date") if isinstance(value, str) else None
    except InvalidInput:
        return None


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _words(value: object) -> tuple[str, ...]:
    return tuple(word for word in _list(value) if isinstance(word, str))


# ——— the provenance as a whole ———


def provenance_of(read: Mapping[str, Any], said: Mapping[str, Any], noted: Noted) -> dict[str, Any]:
    """What the original says of itself, what its bringer says, and what is noted."""
    if OURS in said:
        raise InvalidInput(
            f"The metadata name {OURS!r} is reserved.",
            remedy="Choose another name.",
            field="metadata",
        )
    check.metadata(said, "metadata", MAX_SAID)
    return {**read, **said, OURS: replace(noted, said=tuple(said)).as_map()}


def said_in(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata that was given with it."""
    said = noted_in(provenance).said
    return {name: provenance[name] for name in said if name in provenance and name != OURS}


def read_in(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """What the original said of itself."""
    said = noted_in(provenance).said
    return {name: value for name, value in provenance.items() if name not in (*said, OURS)}


def noted_anew(provenance: Mapping[str, Any], noted: Noted) -> dict[str, Any]:
    """All the rest as it was."""
    return {**provenance, OURS: noted.as_map()}
