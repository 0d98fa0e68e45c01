"""Memories, held values, proposals and the recall log on SQL."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import uuid4

from commonplace.errors import StaleDecision
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import (
    AmendMemory,
    Bookkeeping,
    ChangeMemory,
    CloseProposals,
    HoldValues,
    ImportScope,
    IndexEntry,
    ReleaseHeld,
    RemoveMemory,
    RewriteMemory,
)
from commonplace.model.journal import Event, LoggedHit, LoggedSearch, RecallLogEntry, RecallLogQuery
from commonplace.model.memory.memory import HeldValue, Link, Memory
from commonplace.model.profile.fields import Proposal, Signal, SignalKind
from commonplace.model.sources.source import is_source_id, split_passage_id
from commonplace.store.sql.erasure import note_erased
from commonplace.store.sql.rows import (
    Row,
    RowCodec,
    Session,
    WriteNumbers,
    checksum,
    held_values,
    index_values,
    instant,
    memory_values,
    micros,
    to_json,
    version_values,
)


class SqlRecallLog(ABC):
    @abstractmethod
    def _reading(self, scope: Scope) -> AbstractContextManager[Session]:
        """A read transaction on one scope."""

    def recall_log(self, scope: Scope, query: RecallLogQuery) -> list[RecallLogEntry]:
        with self._reading(scope) as session:
            rows = session.rows(
                "searches",
                thread=query.thread,
                turn=query.turn,
                agent=query.agent,
                newest_turn=int(query.newest_turn),
            )
            hits = session.rows("hits_of_searches", ids=[row[0] for row in rows])
        returned: dict[str, list[LoggedHit]] = {}
        for id, *hit in hits:
            returned.setdefault(id, []).append(_returned_from(hit))
        return [_logged_from(row, returned.get(row[0], ())) for row in rows]


def record_turns(session: Session, bookkeeping: Bookkeeping) -> None:
    """A turn without a number is the next of its thread. The scope's counters are locked by the
    caller, so that no other process takes the same number."""
    for turn in bookkeeping.turns:
        number = turn.number
        if number is None:
            number = _count_logged(session, "last_turn", thread=turn.thread) + 1
        insert_logged(
            session,
            [
                RecallLogEntry(str(uuid4()), turn.thread, number, turn.agent, turn.at, search)
                for search in turn.searches
                if _has_all_items(session, search)
            ],
            _count_logged(session, "searches_in_turn", thread=turn.thread, turn=number),
        )
    if bookkeeping.log_before is not None:
        delete_searches_before(session, bookkeeping.log_before)


def _count_logged(session: Session, statement: str, **of: Any) -> int:
    row = session.one(statement, **of)
    return int(row[0]) if row else 0


def _has_all_items(session: Session, search: LoggedSearch) -> bool:
    """Whether all its hits still exist. Erasing an item deletes its searches from the log, so a
    search with an erased hit must not be added."""
    items = {_split_item(hit.id)[0] for hit in search.returned}
    return len(items) == len(session.rows("items_there", ids=sorted(items)))


def insert_logged(session: Session, logged: Sequence[RecallLogEntry], first: int = 0) -> None:
    session.run_many(
        "insert_search",
        [
            {
                "id": each.id,
                "at": micros(each.at),
                "thread": each.thread,
                "turn": each.turn,
                "place": place,
                "agent": each.agent,
                "verb": each.search.verb,
                "asked": each.search.asked,
            }
            for place, each in enumerate(logged, first)
        ],
    )
    session.run_many("insert_hit", [hit for each in logged for hit in _hit_values(each)])


def delete_searches_before(session: Session, moment: datetime) -> None:
    session.run("delete_old_searches", before=micros(moment))
    session.run("delete_stray_hits")


def delete_logged_items(session: Session, ids: Sequence[str], erased: bool) -> None:
    """Deletes the hits of removed items. For erased ones also the searches that found or quote
    them; this runs before the items are deleted, because it compares their texts."""
    if erased:
        session.run("delete_searches_about", ids=list(ids))
        session.run("delete_stray_hits")
    session.run("delete_hits_of", ids=list(ids))


def _hit_values(logged: RecallLogEntry) -> Iterator[dict[str, Any]]:
    for place, hit in enumerate(logged.search.returned):
        item, number = _split_item(hit.id)
        yield {
            "id": logged.id,
            "place": place,
            "item": item,
            "number": number,
            "score": hit.score,
            "why": hit.why,
            "parts": to_json(dict(hit.parts)),
        }


def _split_item(id: str) -> tuple[str, int | None]:
    """A memory's id; or a source's, with the number of the passage."""
    return split_passage_id(id) if is_source_id(id) else (id, None)


def _returned_from(row: Row) -> LoggedHit:
    item, number, score, why, parts = row
    id = item if number is None else f"{item}#{number}"
    return LoggedHit(id, score, why, json.loads(parts))


def _logged_from(row: Row, returned: Sequence[LoggedHit]) -> RecallLogEntry:
    id, thread, turn, agent, at, verb, asked = row
    return RecallLogEntry(
        id, thread, turn, agent, instant(at), LoggedSearch(verb, asked, tuple(returned))
    )


def add_memories(
    session: Session, items: Sequence[tuple[Memory, IndexEntry]], numbers: WriteNumbers
) -> None:
    placed = [(numbers.take_unit(), memory, index) for memory, index in items]
    session.run_many(
        "insert_memory",
        [{**memory_values(memory), "unit": unit, "seq": numbers.seq} for unit, memory, _ in placed],
    )
    insert_index(session, [(unit, index) for unit, _, index in placed], numbers.generation)


def insert_index(
    session: Session, placed: Sequence[tuple[int, IndexEntry]], generation: int
) -> None:
    session.run_many(
        "insert_terms",
        [{"unit": unit, **index_values(index)} for unit, index in placed],
    )
    session.run_many(
        "insert_vector",
        [
            {
                "unit": unit,
                "vector": index.vector,
                "checksum": checksum(index.vector),
                "generation": generation,
            }
            for unit, index in placed
            if index.vector
        ],
    )


def change_memory(session: Session, step: ChangeMemory, numbers: WriteNumbers) -> None:
    _update(session, step.after, step.before.version, step.index, numbers)
    session.run("close_version", id=step.after.id, at=micros(numbers.at))
    session.run_many("insert_version", [version_values(step.after, numbers.at)])


def amend_memory(session: Session, step: AmendMemory, numbers: WriteNumbers) -> None:
    memory = step.memory
    _update(session, memory, memory.version, None, numbers)
    values = version_values(memory, numbers.at)
    amended = {name: values[name] for name in ("id", "version", "fields", "checksum")}
    session.run("amend_version", **amended)


def _update(
    session: Session,
    memory: Memory,
    expected_version: int,
    index: IndexEntry | None,
    numbers: WriteNumbers,
) -> None:
    """New content gets a new unit: a unit's terms never change, so that caches need not check."""
    values = memory_values(memory)
    del values["arrived_at"]
    unit = None
    if index:
        unit = numbers.take_unit()
        session.run("delete_terms", ids=[memory.id])
        session.run("delete_vectors", ids=[memory.id])
        insert_index(session, [(unit, index)], numbers.generation)
    row: Row | None = session.one(
        "update_memory", **values, unit=unit, seq=numbers.seq, expected_version=expected_version
    )
    if row is None:
        raise StaleDecision("Another writer changed this memory first.")


def insert_links(session: Session, links: Sequence[Link]) -> None:
    session.run_many(
        "insert_link",
        [
            {
                "a": link.a,
                "b": link.b,
                "relation": link.relation,
                "strength": link.strength,
                "created_at": micros(link.created_at),
            }
            for link in links
        ],
    )


def remove_memories(session: Session, batch: Sequence[RemoveMemory], numbers: WriteNumbers) -> None:
    erased = [step.id for step in batch if step.entry.event is Event.ERASE]
    if erased:  # categories and threads are user text, too
        note_erased(session, erased, numbers)
        session.run("silence_journal", ids=erased)
        delete_logged_items(session, erased, erased=True)
        session.run("delete_held_about_nothing", ids=erased)
    ids = [step.id for step in batch]
    delete_logged_items(session, ids, erased=False)
    for statement in (
        "delete_terms",
        "delete_vectors",
        "delete_versions",
        "delete_links",
        "delete_reads",
        "delete_held_beside",
        "silence_held",
        "orphan_successors",
        "delete_memories",
    ):
        session.run(statement, ids=ids)


def rewrite_memory(session: Session, step: RewriteMemory, numbers: WriteNumbers) -> None:
    _update(session, step.memory, step.memory.version, step.index, numbers)
    session.run("delete_versions", ids=[step.memory.id])
    session.run_many("insert_version", [version_values(step.memory, numbers.at)])


def hold_values(session: Session, step: HoldValues) -> None:
    for absorbed in step.absorbs:
        session.run("join_held", conflict=step.conflict, absorbed=absorbed)
        session.run("join_disputes", conflict=step.conflict, absorbed=absorbed)
    insert_held(session, step.values)
    if step.conflict:
        session.run("dispute", conflict=step.conflict, ids=list(step.targets))
        session.run("dispute", conflict=None, ids=list(step.releases))


def release_held(session: Session, step: ReleaseHeld, numbers: WriteNumbers) -> None:
    if step.entry.event is Event.ERASE:
        note_erased(session, step.values, numbers)
        delete_logged_items(session, step.values, erased=True)
    session.run("delete_held", ids=list(step.values))
    session.run("end_dispute", conflicts=[step.conflict] if step.conflict else [])
    if step.entry.event is Event.ERASE:
        for id in step.values:
            session.run("silence_holding", id=id)


def insert_held(session: Session, held: Sequence[HeldValue]) -> None:
    session.run_many("insert_held", [held_values(value) for value in held])


def import_held(session: Session, imported: ImportScope) -> None:
    insert_held(session, imported.held)
    targets: dict[str, list[str]] = {}
    for memory, _ in imported.memories:
        if memory.conflict:
            targets.setdefault(memory.conflict, []).append(memory.id)
    for conflict, ids in targets.items():
        session.run("dispute", conflict=conflict, ids=ids)


class SqlProposals(ABC):
    @abstractmethod
    def _reading(self, scope: Scope) -> AbstractContextManager[Session]:
        """A read transaction on one scope."""

    def proposals(self, scope: Scope) -> list[Proposal]:
        with self._reading(scope) as session:
            return [_proposal_from(row) for row in session.rows("proposals")]


def insert_proposals(session: Session, proposals: Sequence[Proposal]) -> None:
    session.run_many("insert_proposal", [_proposal_values(proposal) for proposal in proposals])


def close_proposals(session: Session, step: CloseProposals, numbers: WriteNumbers) -> None:
    if step.entry.event is Event.ERASE:
        _note_erased_proposals(session, step.ids, numbers)
        for id in step.ids:
            session.run("silence_proposal", id=id)
    session.run("delete_proposals", ids=list(step.ids))


def _note_erased_proposals(session: Session, ids: Sequence[str], numbers: WriteNumbers) -> None:
    """The quoted evidence is not sought elsewhere: the source that says it may remain."""
    for row in session.rows("proposals_by_id", ids=list(ids)):
        proposal = _proposal_from(row)
        values = proposal.value if isinstance(proposal.value, list) else [proposal.value]
        numbers.erased_texts += [text for text in (*map(str, values), proposal.reason) if text]
        for signal in proposal.signals:
            numbers.erased_names += signal.evidence


_PROPOSAL = RowCodec(Proposal, ("signals",))
PROPOSAL_COLUMNS = ", ".join(("signals", *_PROPOSAL.names))


def _proposal_values(proposal: Proposal) -> dict[str, Any]:
    signals = to_json([_signal_values(signal) for signal in proposal.signals])
    return {**_PROPOSAL.values(proposal), "signals": signals}


def _signal_values(signal: Signal) -> dict[str, Any]:
    return {**asdict(signal), "at": micros(signal.at)}


def _proposal_from(row: Row) -> Proposal:
    signals = tuple(map(_signal_from, json.loads(row[0])))
    return Proposal(signals=signals, **_PROPOSAL.decode(row[1:]))


def _signal_from(values: dict[str, Any]) -> Signal:
    decoded = {
        "at": instant(values["at"]),
        "kind": SignalKind(values["kind"]),
        "evidence": tuple(values["evidence"]),
    }
    return Signal(**{**values, **decoded})
