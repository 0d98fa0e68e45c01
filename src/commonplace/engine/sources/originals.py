"""Originals: the ingest request, the ingest record in provenance, search in stored bytes.

The ingest record is stored in the source's provenance under a reserved key, so that metadata of the
caller cannot change how an original is parsed.

Originals are stored as received: mail in base64 or quoted-printable and any charset, JSON and HTML
with escapes. `decoded_variants` gives the store's search the texts that a reader sees.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from email import message_from_bytes
from enum import StrEnum
from typing import Any, Self

from commonplace.engine.context import EngineContext
from commonplace.engine.sources.formats.email_encoding import decoded_words, part_text
from commonplace.engine.sources.formats.input import unescape
from commonplace.errors import InvalidInput
from commonplace.model import validation
from commonplace.model.memory.kinds import TtlPolicy
from commonplace.model.memory.memory import Sensitivity
from commonplace.model.parameters import SourceFormat
from commonplace.model.sources.source import ContextType, ParsedSource, SourceType


class IngestAction(StrEnum):
    """The outcome of an ingest."""

    RECEIVED = "received"
    APPENDED = "appended"
    REPLACED = "replaced"  # same alias, other content
    UPDATED = "updated"  # same content, new details
    UNCHANGED = "unchanged"
    FORGOTTEN = "forgotten"  # it was forgotten, and remains so until it is restored


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestRequest:
    """An original and the details given with it."""

    raw: bytes
    name: str | None = None  # of the file
    format: str | None = None
    origin: str | None = None
    external_id: str | None = None
    append: bool = False
    title: str | None = None
    date: datetime | None = None
    source_type: SourceType | None = None
    context_type: ContextType | None = None
    participants: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sensitivity: Sensitivity | None = None
    ttl_policy: TtlPolicy | None = None
    thread_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ParsedOriginal:
    """A parsed original."""

    original: IngestRequest
    reading: ParsedSource
    format: SourceFormat
    at: datetime
    day: datetime | None = None  # the document's own date, if none was given

    @property
    def is_named_by_itself(self) -> bool:
        """True if the alias comes from the content, where its author could write any."""
        return self.original.external_id is None and self.reading.external_id is not None


@contextmanager
def offer_parsed(engine: EngineContext, id: str, parsed: ParsedOriginal) -> Iterator[None]:
    """Pass a parsed original to the job that processes it while the caller waits. Other jobs parse
    the stored original."""
    engine.caches.parsed_originals.put(id, parsed)
    try:
        yield
    finally:
        engine.caches.parsed_originals.drop(lambda key: key == id)


RECORD_KEY = "commonplace"  # in the provenance
MAX_RUNS = 400
MAX_CALLER_METADATA = validation.MAX_KEPT_METADATA // 2  # the rest is reserved for the record


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRun:
    """Consecutive parts of an original that are parsed alike."""

    first: int
    format: SourceFormat | None = None  # None: detected
    date: datetime | None = None  # as given
    received: datetime | None = None  # set if turns have no time of their own


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestRecord:
    runs: tuple[PartRun, ...] = ()
    name: str | None = None  # of the file
    tags: tuple[str, ...] = ()  # given by the caller
    said: tuple[str, ...] = ()  # the names of the caller's metadata
    last: str | None = None  # the digest of the last part
    agent: str | None = None  # the agent that ingested it; None: the owner

    def run_of(self, part: int) -> PartRun:
        return next((run for run in reversed(self.runs) if run.first <= part), PartRun(first=1))

    def with_part(self, run: PartRun, digest: str) -> Self:
        """Beyond MAX_RUNS, a part without a date gets that of the part before it."""
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
        fields = {
            "parts": [_part_run_map(run) for run in self.runs],
            "name": self.name,
            "tags": list(self.tags),
            "said": list(self.said),
            "last": self.last,
            "agent": self.agent,
        }
        return {name: value for name, value in fields.items() if value}


def _part_run_map(run: PartRun) -> dict[str, Any]:
    moments = {"date": run.date, "received": run.received}
    dates = {name: at.isoformat() for name, at in moments.items() if at}
    return {"from": run.first, **({"format": str(run.format)} if run.format else {}), **dates}


def ingest_record_in(provenance: Mapping[str, Any]) -> IngestRecord:
    """Ignores malformed values: an import may contain anything."""
    recorded = _map(provenance.get(RECORD_KEY))
    runs = [run for each in _list(recorded.get("parts")) if (run := _part_run(_map(each)))]
    last, name, agent = (recorded.get(each) for each in ("last", "name", "agent"))
    return IngestRecord(
        runs=tuple(sorted(runs, key=lambda run: run.first)),
        name=name if isinstance(name, str) else None,
        tags=_words(recorded.get("tags")),
        said=_words(recorded.get("said")),
        last=last if isinstance(last, str) else None,
        agent=agent if isinstance(agent, str) else None,
    )


def _part_run(recorded: Mapping[str, Any]) -> PartRun | None:
    first, format = recorded.get("from"), recorded.get("format")
    if not isinstance(first, int):
        return None
    known = SourceFormat(format) if format in list(SourceFormat) else None
    return PartRun(
        first=first,
        format=known,
        date=_moment(recorded.get("date")),
        received=_moment(recorded.get("received")),
    )


def _moment(value: object) -> datetime | None:
    try:
        return validation.when(value, "date") if isinstance(value, str) else None
    except InvalidInput:
        return None


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _words(value: object) -> tuple[str, ...]:
    return tuple(word for word in _list(value) if isinstance(word, str))


# ——— the provenance as a whole ———


def build_provenance(
    read: Mapping[str, Any], metadata: Mapping[str, Any], record: IngestRecord
) -> dict[str, Any]:
    """Combine parsed metadata, the caller's metadata and the ingest record."""
    if RECORD_KEY in metadata:
        raise InvalidInput(
            f"The metadata name {RECORD_KEY!r} is reserved.",
            remedy="Choose another name.",
            field="metadata",
        )
    validation.metadata(metadata, "metadata", MAX_CALLER_METADATA)
    return {**read, **metadata, RECORD_KEY: replace(record, said=tuple(metadata)).as_map()}


def caller_metadata_in(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """The caller's metadata."""
    names = ingest_record_in(provenance).said
    return {name: provenance[name] for name in names if name in provenance and name != RECORD_KEY}


def parsed_metadata_in(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata parsed from the original."""
    names = ingest_record_in(provenance).said
    return {name: value for name, value in provenance.items() if name not in (*names, RECORD_KEY)}


def with_ingest_record(provenance: Mapping[str, Any], record: IngestRecord) -> dict[str, Any]:
    return {**provenance, RECORD_KEY: record.as_map()}


_MAIL = re.compile(rb"^(?:content-[a-z-]+|mime-version|from|subject):", re.I | re.M)
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|([nrtbf"/\\]))')
_SHORT_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


def decoded_variants(raw: bytes) -> Iterator[str]:
    """The texts that these bytes can be decoded to."""
    yield from _unescaped(_decoded(raw))
    if _MAIL.search(raw):
        yield from _mail_variants(raw)


def _decoded(raw: bytes) -> str:
    wide = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
    return raw.decode("utf-16" if wide else "utf-8", "replace")


def _unescaped(text: str) -> Iterator[str]:
    yield text
    if "\\" in text:
        yield (
            _ESCAPE.sub(_letter, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        )
    if "&" in text:
        yield unescape(text)


def _letter(escape: re.Match[str]) -> str:
    code, short = escape.groups()
    return chr(int(code, 16)) if code else _SHORT_ESCAPES.get(short, short)


def _mail_variants(raw: bytes) -> Iterator[str]:
    """Headers, bodies and attachments, with quotations and signatures."""
    try:
        parts = list(message_from_bytes(raw.lstrip(b"\r\n")).walk())
    except RecursionError:  # such a mail is rejected at ingest
        return
    for part in parts:
        yield " ".join(decoded_words(str(value)) for value in part.values())
        if not part.is_multipart():
            yield from _unescaped(part_text(part))
