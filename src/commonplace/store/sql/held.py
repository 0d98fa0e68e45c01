"""Held values on any SQL database: the steps of a changeset that are about them."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.model.changes import Copy, Hold, LetGo
from commonplace.model.conflict import Held
from commonplace.model.journal import Event
from commonplace.store.sql.recall_log import forget_recalled
from commonplace.store.sql.rows import held_values
from commonplace.store.sql.session import Session


def hold(session: Session, step: Hold) -> None:
    for absorbed in step.absorbs:
        session.run("join_held", conflict=step.conflict, absorbed=absorbed)
        session.run("join_disputes", conflict=step.conflict, absorbed=absorbed)
    insert_held(session, step.values)
    if step.conflict:
        session.run("dispute", conflict=step.conflict, ids=list(step.targets))
        session.run("dispute", conflict=None, ids=list(step.releases))


def let_go(session: Session, step: LetGo) -> None:
    if step.entry.event is Event.ERASE:
        forget_recalled(session, step.values, erased=True)
    session.run("delete_held", ids=list(step.values))
    session.run("end_dispute", conflicts=[step.conflict] if step.conflict else [])
    if step.entry.event is Event.ERASE:
        for id in step.values:
            session.run("silence_holding", id=id)


def insert_held(session: Session, held: Sequence[Held]) -> None:
    session.run_many("insert_held", [held_values(value) for value in held])


def copy_held(session: Session, copy: Copy) -> None:
    insert_held(session, copy.held)
    targets: dict[str, list[str]] = {}
    for memory, _ in copy.memories:
        if memory.conflict:
            targets.setdefault(memory.conflict, []).append(memory.id)
    for conflict, ids in targets.items():
        session.run("dispute", conflict=conflict, ids=ids)
