"""Sources and passages on SQL: reads, steps and rows."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import fields
from datetime import datetime
from typing import Any

from commonplace.errors import StaleDecision
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import AddSource, ChangeSource, IndexEntry, RemoveSource
from commonplace.model.journal import Event
from commonplace.model.memory.kinds import TtlPolicy
from commonplace.model.memory.memory import Sensitivity, State
from commonplace.model.sources.source import (
    ContentType,
    ContextType,
    Passage,
    ProcessingStatus,
    Source,
    SourceType,
)
from commonplace.store.queries import (
    PassageQuery,
    PassagesByUnit,
    PassagesOf,
    SourceByAlias,
    SourceListing,
    SourceQuery,
    SourcesById,
)
from commonplace.store.sql.memories import delete_logged_items
from commonplace.store.sql.rows import Row, Session, exact_micros, instant, micros, moment, to_json

_SOURCE_COLUMN_NAMES = tuple(f.name for f in fields(Source))
_MOMENTS = tuple(name for name in _SOURCE_COLUMN_NAMES if name.endswith("_at"))
_LISTS = ("keywords", "tags", "participants")
_PASSAGE_COLUMNS = (
    "unit",
    "id",
    "number",
    "turn",
    "text",
    "speaker",
    "role",
    "at",
    "session",
    "label",
)

SOURCE_COLUMNS = ", ".join(f"s.{name}" for name in _SOURCE_COLUMN_NAMES)
PASSAGE_COLUMNS = ", ".join(f"p.{name}" for name in (*_PASSAGE_COLUMNS, "suspicious", "arrived_at"))

_DECODERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_MOMENTS, moment),
    **dict.fromkeys(_LISTS, lambda text: tuple(json.loads(text))),
    "provenance": json.loads,
    "source_type": SourceType,
    "content_type": ContentType,
    "context_type": lambda word: ContextType(word) if word else None,
    "sensitivity": Sensitivity,
    "ttl_policy": TtlPolicy,
    "status": ProcessingStatus,
    "state": State,
}


def source_from(row: Row) -> Source:
    named = zip(_SOURCE_COLUMN_NAMES, row, strict=True)
    return Source(**{n: _DECODERS[n](value) if n in _DECODERS else value for n, value in named})


def source_values(source: Source) -> dict[str, Any]:
    values: dict[str, Any] = {name: getattr(source, name) for name in _SOURCE_COLUMN_NAMES}
    for name in _MOMENTS:
        values[name] = micros(values[name])
    for name in (*_LISTS, "provenance"):
        values[name] = to_json(values[name])
    for name in ("source_type", "content_type", "sensitivity", "ttl_policy", "status", "state"):
        values[name] = str(values[name])
    values["context_type"] = str(source.context_type) if source.context_type else None
    values["ends_at"] = micros(source.ends_at)
    return values


def passage_values(passage: Passage, now: datetime) -> dict[str, Any]:
    return {
        "id": passage.source_id,
        "number": passage.number,
        "turn": passage.turn,
        "text": passage.text,
        "speaker": passage.speaker,
        "role": passage.role,
        "at": exact_micros(passage.at),
        "session": passage.session,
        "label": passage.label,
        "suspicious": int(passage.suspicious),
        "arrived_at": micros(passage.arrived_at or now),
    }


def passage_from(row: Row) -> tuple[int, Passage]:
    """With the unit it is found by."""
    unit, source_id, number, turn, text, speaker, role, at, session, label, *rest = row
    suspicious, arrived_at = rest
    return unit, Passage(
        source_id=source_id,
        number=number,
        turn=turn,
        text=text,
        speaker=speaker,
        role=role,
        at=instant(at),
        session=session,
        label=label,
        suspicious=bool(suspicious),
        arrived_at=moment(arrived_at),
    )


class SqlSources(ABC):
    @abstractmethod
    def _reading(self, scope: Scope) -> AbstractContextManager[Session]:
        """One consistent view of one scope."""

    def sources(self, scope: Scope, query: SourceQuery) -> list[Source]:
        match query:
            case SourcesById(ids):
                return self._sources_by_id(scope, ids)
            case SourceByAlias(origin, external_id):
                asked = {"origin": origin, "external_id": external_id}
                return self._sources(scope, "source_by_alias", asked)
            case SourceListing(visibility=visibility) if not visibility.sees_sources:
                return []
            case SourceListing():
                return self._sources(scope, "source_page", _listing_values(query))

    def _sources_by_id(self, scope: Scope, ids: Sequence[str]) -> list[Source]:
        wanted = list(dict.fromkeys(ids))
        rows = self._sources(scope, "sources", {"ids": wanted}) if wanted else []
        found = {source.id: source for source in rows}
        return [found[id] for id in wanted if id in found]

    def _sources(self, scope: Scope, statement: str, asked: dict[str, Any]) -> list[Source]:
        with self._reading(scope) as session:
            return [source_from(row) for row in session.rows(statement, **asked)]

    def original(self, scope: Scope, id: str) -> list[bytes]:
        with self._reading(scope) as session:
            return [bytes(raw) for (raw,) in session.rows("original", id=id)]

    def passages(self, scope: Scope, query: PassageQuery) -> dict[int, Passage]:
        if isinstance(query, PassagesByUnit) and not query.units:
            return {}
        with self._reading(scope) as session:
            match query:
                case PassagesByUnit(units):
                    rows = session.rows("passages_by_unit", units=list(units))
                case PassagesOf(id, first, last):
                    rows = session.rows("passages_of", id=id, first=first, last=last)
        return dict(map(passage_from, rows))


def _listing_values(listing: SourceListing) -> dict[str, Any]:
    return {
        "states": list(listing.states),
        "cleared": int(listing.visibility.cleared),
        "any_type": int(not listing.types),
        "types": list(listing.types),
        "any_status": int(not listing.statuses),
        "statuses": list(listing.statuses),
        "any_tag": int(not listing.tags),
        "tags": list(listing.tags),
        "thread_id": listing.thread_id,
        "origin": listing.origin,
        "said_after": micros(listing.said_after),
        "said_before": micros(listing.said_before),
        "purgeable_by": micros(listing.purgeable_by),
        "restorable_at": micros(listing.restorable_at),
        "live_at": micros(listing.live_at),
        "ended_by": micros(listing.ended_by),
        "now": int(listing.then.is_now),
        "as_of": micros(listing.then.as_of),
        "known_at": micros(listing.then.known_at),
        "after_at": micros(listing.after[0]) if listing.after else None,
        "after_id": listing.after[1] if listing.after else None,
        "brought_by": listing.brought_by,
        "anybody": int(listing.among is None),
        "among": sorted(listing.among or ()),
        "limit": listing.limit,
    }


# ——— the steps of a changeset ———


def add_source(
    session: Session, step: AddSource, seq: int, units: Sequence[int], at: datetime
) -> list[tuple[int, IndexEntry]]:
    """Whoever was faster with the same original has it: decide again."""
    source = step.source
    if session.one("insert_source", **source_values(source), seq=seq) is None:
        raise StaleDecision("Another writer ingested this source first.")
    session.run_many(
        "insert_original",
        [
            {"id": source.id, "part": part, "raw": raw}
            for part, raw in enumerate((step.original, *step.further), 1)
        ],
    )
    return _insert_passages(session, step.passages, seq, units, at)


def change_source(
    session: Session,
    step: ChangeSource,
    seq: int,
    units: Sequence[int],
    at: datetime,
) -> list[tuple[int, IndexEntry]]:
    """Whether it is still the same is asked first: a part of the same number may be there since."""
    after = step.after
    values = source_values(after)
    for fixed in ("origin", "external_id", "created_at"):
        del values[fixed]
    expected = step.before.version
    if session.one("update_source", **values, seq=seq, expected_version=expected) is None:
        raise StaleDecision("Another writer changed this source first.")
    if step.anew:
        _remove_passages(session, [after.id])
    if step.original is not None:
        if step.anew:
            session.run("delete_originals", ids=[after.id])
        session.run("insert_original", id=after.id, part=after.parts, raw=step.original)
    if step.before.state is not State.ACTIVE and after.state is State.ACTIVE:
        session.run("bump_passages_of", id=after.id, seq=seq)
    return _insert_passages(session, step.passages, seq, units, at)


def _insert_passages(
    session: Session,
    passages: Sequence[tuple[Passage, IndexEntry]],
    seq: int,
    units: Sequence[int],
    at: datetime,
) -> list[tuple[int, IndexEntry]]:
    """Returns what they are found by, for the index of all. Those that were here before, and are
    only placed anew, keep the moment they arrived at."""
    placed = list(zip(units, passages, strict=True))
    session.run_many(
        "insert_passage",
        [
            {**passage_values(passage, at), "unit": unit, "seq": seq}
            for unit, (passage, _) in placed
        ],
    )
    return [(unit, index) for unit, (_, index) in placed]


def remove_sources(session: Session, steps: Sequence[RemoveSource]) -> None:
    erased = [step.id for step in steps if step.entry.event is Event.ERASE]
    if erased:
        session.run("silence_journal", ids=erased)
        delete_logged_items(session, erased, erased=True)
    ids = [step.id for step in steps]
    delete_logged_items(session, ids, erased=False)
    _remove_passages(session, ids)
    session.run("delete_originals", ids=ids)
    session.run("drop_shares_of", ids=ids)
    session.run("delete_marks", ids=ids)
    session.run("delete_sources", ids=ids)


def _remove_passages(session: Session, ids: list[str]) -> None:
    for statement in ("delete_passage_terms", "delete_passage_vectors", "delete_passages"):
        session.run(statement, ids=ids)
