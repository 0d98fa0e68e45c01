"""What a person decided: no model, and nothing that rests on one, replaces it."""

from __future__ import annotations

from commonplace.engine.context import EngineContext
from commonplace.engine.provenance.evidence import OWNER_EVIDENCE
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.graph.snapshot import MODEL_ACTORS
from commonplace.model.journal import Event, JournalRow, Op
from commonplace.model.memory.kinds import Stability
from commonplace.model.memory.memory import Memory
from commonplace.model.profile.fields import is_profile_item
from commonplace.model.sources.source import is_source_id
from commonplace.store.queries import JournalQuery

_BY_WORKERS = "worker:"  # the beginning of their names in the journal


def is_decided(engine: EngineContext, scope: Scope, memory: Memory) -> bool:
    """Whether somebody set it, pinned it, chose it or still has to choose: told by remember,
    changed by update, decided by resolve, brought back by restore. What came from a turn and was
    not touched since is not decided."""
    return _is_set_by_hand(memory) or any(map(_is_a_persons, _history(engine, scope, memory.id)))


def is_found_by_rules(engine: EngineContext, scope: Scope, id: str) -> bool:
    """Whether anybody but a model stored it."""
    created = [row for row in _history(engine, scope, id) if row.entry.op is Op.CREATE]
    return bool(created) and created[0].actor not in MODEL_ACTORS


def may_replace_value(engine: EngineContext, principal: Principal, old: Memory) -> bool:
    """Whether a later turn may change this contact or key-value without a question: for the owner
    always. An agent could make up the owner's words, so it changes only what came from turns that
    it brought itself."""
    if principal.decides:
        return True
    if old.role is None or not is_source_id(old.source_id or ""):
        return False
    query = JournalQuery(subject=old.source_id, events_only=True)
    rows = engine.store.journal(principal.own_scope, query)
    brought = {row.actor for row in rows if "turns" in row.entry.meta}
    return brought == {principal.actor}


def _is_set_by_hand(memory: Memory) -> bool:
    return (
        memory.pinned
        or memory.stability is Stability.PERMANENT
        or memory.conflict is not None
        or is_profile_item(memory.id)
        or OWNER_EVIDENCE in memory.evidence
        or not is_source_id(memory.source_id or "")
    )


def _history(engine: EngineContext, scope: Scope, id: str) -> list[JournalRow]:
    return engine.store.journal(scope, JournalQuery(subject=id, events_only=True))


def _is_a_persons(row: JournalRow) -> bool:
    entry = row.entry
    if (row.actor or "").startswith(_BY_WORKERS):
        return False
    match entry.op:
        case Op.CREATE:
            is_successor = entry.event in (Event.UPDATE, Event.OVERRIDE)
            return "choice" in entry.meta or (is_successor and "relation" not in entry.meta)
        case Op.UPDATE:
            return "fields" in entry.meta
        case Op.RESTORE | Op.MERGE:
            return True
        case _:
            return False
