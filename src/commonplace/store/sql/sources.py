"""Sources and passages on SQL: reads, steps and rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

from commonplace.errors import StaleDecision
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import AddSource, ChangeSource, IndexEntry, RemoveSource
from commonplace.model.journal import Event
from commonplace.model.memory.memory import State
from commonplace.model.sources.source import (
    BLOT,
    Passage,
    ProcessingStatus,
    Source,
)
from commonplace.store.queries import (
    HiddenPassages,
    PassageQuery,
    PassagesByUnit,
    PassagesOf,
    SourceByAlias,
    SourceListing,
    SourceQuery,
    SourcesById,
)
from commonplace.store.sql.erasure import note_erased
from commonplace.store.sql.memories import delete_logged_items
from commonplace.store.sql.rows import Row, RowCodec, Session, WriteNumbers, micros, named_columns

_SOURCE = RowCodec(Source)
_PASSAGE = RowCodec(Passage, ("source_id",))
SOURCE_COLUMNS = _SOURCE.columns("s")
PASSAGE_COLUMNS = named_columns("p", ("unit", "id"), _PASSAGE.names)


def source_from(row: Row) -> Source:
    return Source(**_SOURCE.decode(row))


def source_values(source: Source) -> dict[str, Any]:
    return {**_SOURCE.values(source), "ends_at": micros(source.ends_at)}


def passage_values(passage: Passage, now: datetime) -> dict[str, Any]:
    values = {"id": passage.source_id, **_PASSAGE.values(passage)}
    return {**values, "arrived_at": micros(passage.arrived_at or now)}


def passage_from(row: Row) -> tuple[int, Passage]:
    """With its unit."""
    return row[0], Passage(source_id=row[1], **_PASSAGE.decode(row[2:]))


class SqlSources(ABC):
    @abstractmethod
    def _reading(self, scope: Scope) -> AbstractContextManager[Session]:
        """A read transaction on one scope."""

    def sources(self, scope: Scope, query: SourceQuery) -> list[Source]:
        match query:
            case SourcesById(ids):
                return self._sources_by_id(scope, ids)
            case SourceByAlias(origin, external_id):
                alias = {"origin": origin, "external_id": external_id}
                return self._sources(scope, "source_by_alias", alias)
            case SourceListing(visibility=visibility) if not visibility.sees_sources:
                return []
            case SourceListing():
                return self._sources(scope, "source_page", _listing_values(query))

    def _sources_by_id(self, scope: Scope, ids: Sequence[str]) -> list[Source]:
        wanted = list(dict.fromkeys(ids))
        rows = self._sources(scope, "sources", {"ids": wanted}) if wanted else []
        by_id = {source.id: source for source in rows}
        return [by_id[id] for id in wanted if id in by_id]

    def _sources(self, scope: Scope, statement: str, values: dict[str, Any]) -> list[Source]:
        with self._reading(scope) as session:
            return [source_from(row) for row in session.rows(statement, **values)]

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
                case PassagesOf(id, first, last, hidden):
                    rows = session.rows(
                        "passages_of", id=id, first=first, last=last, hidden=int(hidden)
                    )
                case HiddenPassages(ids, purgeable_by):
                    rows = session.rows(
                        "hidden_passages",
                        anywhere=int(ids is None),
                        ids=list(ids or ()),
                        purgeable_by=micros(purgeable_by),
                        blot=BLOT,
                    )
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


# ——— changeset steps ———


def add_source(
    session: Session, step: AddSource, seq: int, units: Sequence[int], at: datetime
) -> list[tuple[int, IndexEntry]]:
    """Raises if another writer has added the same source: the caller has to decide again."""
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
    """The version is checked first: another writer may have added a part with the same number."""
    after = step.after
    values = source_values(after)
    for fixed in ("origin", "external_id", "created_at"):
        del values[fixed]
    expected = step.before.version
    if session.one("update_source", **values, seq=seq, expected_version=expected) is None:
        raise StaleDecision("Another writer changed this source first.")
    if step.anew:
        _remove_passages(session, [after.id], hidden=after.status is not ProcessingStatus.RAW)
    if step.original is not None:
        if step.anew:
            session.run("delete_originals", ids=[after.id])
        session.run("insert_original", id=after.id, part=after.parts, raw=step.original)
    if step.revised:
        _revise_passages(session, step)
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
    """Returns the index entries by unit. Passages that are only replaced keep their arrival
    time."""
    placed = list(zip(units, passages, strict=True))
    session.run_many(
        "insert_passage",
        [
            {**passage_values(passage, at), "unit": unit, "seq": seq}
            for unit, (passage, _) in placed
        ],
    )
    return [(unit, index) for unit, (_, index) in placed]


def remove_sources(session: Session, steps: Sequence[RemoveSource], numbers: WriteNumbers) -> None:
    erased = [step.id for step in steps if step.entry.event is Event.ERASE]
    if erased:
        note_erased(session, erased, numbers)
        session.run("silence_journal", ids=erased)
        delete_logged_items(session, erased, erased=True)
    ids = [step.id for step in steps]
    delete_logged_items(session, ids, erased=False)
    _remove_passages(session, ids)
    session.run("delete_originals", ids=ids)
    session.run("drop_shares_of", ids=ids)
    session.run("delete_marks", ids=ids)
    session.run("delete_sources", ids=ids)


def _revise_passages(session: Session, step: ChangeSource) -> None:
    """Hide or show passages. Erased ones lose their words, here and in the original."""
    session.run_many(
        "revise_passage",
        [
            {
                "id": passage.source_id,
                "number": passage.number,
                "text": passage.text,
                "purge_at": micros(passage.purge_at),
            }
            for passage in step.revised
        ],
    )
    erased = [passage.number for passage in step.revised if passage.is_erased]
    if erased:
        for statement in ("delete_terms_of_passages", "delete_vectors_of_passages"):
            session.run(statement, id=step.after.id, numbers=erased)
    session.run_many(
        "replace_original",
        [{"id": step.after.id, "part": part, "raw": raw} for part, raw in step.parts],
    )


def _remove_passages(session: Session, ids: list[str], hidden: bool = True) -> None:
    """Hidden ones stay until the source is processed again, which finds them by their texts."""
    for statement in ("delete_passage_terms", "delete_passage_vectors", "delete_passages"):
        session.run(statement, ids=ids, hidden=int(hidden))


def note_erased_passages(session: Session, step: ChangeSource, numbers: WriteNumbers) -> None:
    """Called before their words are removed."""
    erased = [passage for passage in step.revised if passage.is_erased]
    if not erased:
        return
    at = {"id": step.after.id, "numbers": [passage.number for passage in erased]}
    texts = [row[0] for row in session.rows("texts_of_numbered_passages", **at)]
    numbers.erased_texts += [text for text in texts if not text.startswith(BLOT)]
    session.run("silence_journal", ids=[passage.id for passage in erased])
    session.run("delete_searches_about_passages", **at)
    session.run("delete_stray_hits")
    session.run("delete_hits_of_passages", **at)
