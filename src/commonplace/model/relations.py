"""How a new memory relates to what is there, and what each kind does about it: one table."""

from __future__ import annotations

from enum import StrEnum

from commonplace.model.kinds import Kind


class Relation(StrEnum):
    REPEAT = "repeat"  # the same again
    REWORDING = "rewording"  # the same in other words, or with more detail
    CHANGED = "changed"  # the same subject, another value
    NEAR = "near"  # about the same, and both are true
    NEW = "new"


class Action(StrEnum):
    STORED = "stored"
    REFRESHED = "refreshed"  # the old one stands, seen again
    SUPERSEDED = "superseded"  # the new one took the old one's place; undo with restore
    PENDING = "pending"  # held until a person decides
    OVERRIDDEN = "overridden"  # a person decided: delete + insert
    ALTERNATIVE = "alternative"  # kept beside the old one, which stands


class OnConflict(StrEnum):
    """What to do where a person decides."""

    ASK = "ask"
    OVERRIDE = "override"
    INSERT = "insert"
    ALTERNATIVE = "alternative"  # for importers: never asks, never replaces


_FREE = (Kind.NOTE, Kind.LOG, Kind.SUMMARY, Kind.SOUL)
_ASKING = (Kind.CONTACT, Kind.KV)
_REPLACING = (Kind.FACT, Kind.INSIGHT, Kind.RULE, Kind.PROCEDURE)

_STORED, _REFRESHED = Action.STORED, Action.REFRESHED
_SUPERSEDED, _PENDING = Action.SUPERSEDED, Action.PENDING

# relation                 notes …   contact, kv   facts …       event
_ROWS: dict[Relation, tuple[Action, Action, Action, Action]] = {
    Relation.REPEAT: (_STORED, _REFRESHED, _REFRESHED, _REFRESHED),
    Relation.REWORDING: (_STORED, _REFRESHED, _SUPERSEDED, _REFRESHED),
    Relation.CHANGED: (_STORED, _PENDING, _SUPERSEDED, _STORED),
    Relation.NEAR: (_STORED, _STORED, _STORED, _STORED),
    Relation.NEW: (_STORED, _STORED, _STORED, _STORED),
}
_COLUMNS = (_FREE, _ASKING, _REPLACING, (Kind.EVENT,))

TABLE: dict[tuple[Relation, Kind], Action] = {
    (relation, kind): action
    for relation, actions in _ROWS.items()
    for kinds, action in zip(_COLUMNS, actions, strict=True)
    for kind in kinds
}


def asks(kind: Kind) -> bool:
    """Another value of such a memory is for a person to decide about."""
    return TABLE[Relation.CHANGED, kind] is Action.PENDING


def action_for(relation: Relation, kind: Kind, *, same_day: bool) -> Action:
    """What the table says. The same event on another day is another event."""
    if kind is Kind.EVENT and not same_day:
        return Action.STORED
    return TABLE[relation, kind]
