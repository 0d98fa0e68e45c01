"""The steps of a changeset that are about memories, on any SQL database."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.errors import StaleDecision
from commonplace.model.changes import Amend, Change, Indexing, Remove, Rewrite
from commonplace.model.journal import Event
from commonplace.model.memory import Link, Memory
from commonplace.store.sql.numbers import Numbers
from commonplace.store.sql.recall_log import forget_recalled
from commonplace.store.sql.rows import Row, found_by, memory_values, micros, version_values
from commonplace.store.sql.session import Session


def add_memories(
    session: Session, items: Sequence[tuple[Memory, Indexing]], numbers: Numbers
) -> None:
    placed = [(numbers.take_unit(), memory, index) for memory, index in items]
    session.run_many(
        "insert_memory",
        [{**memory_values(memory), "unit": unit, "seq": numbers.seq} for unit, memory, _ in placed],
    )
    insert_index(session, [(unit, index) for unit, _, index in placed], numbers.generation)


def insert_index(session: Session, placed: Sequence[tuple[int, Indexing]], generation: int) -> None:
    session.run_many(
        "insert_terms",
        [{"unit": unit, **found_by(index)} for unit, index in placed],
    )
    session.run_many(
        "insert_vector",
        [
            {"unit": unit, "vector": index.vector, "generation": generation}
            for unit, index in placed
            if index.vector
        ],
    )


def change_memory(session: Session, step: Change, numbers: Numbers) -> None:
    _update(session, step.after, step.before.version, step.index, numbers)
    session.run("close_version", id=step.after.id, at=micros(numbers.at))
    session.run_many("insert_version", [version_values(step.after, numbers.at)])


def amend_memory(session: Session, step: Amend, numbers: Numbers) -> None:
    memory = step.memory
    _update(session, memory, memory.version, None, numbers)
    fields = version_values(memory, numbers.at)["fields"]
    session.run("amend_version", id=memory.id, version=memory.version, fields=fields)


def _update(
    session: Session,
    memory: Memory,
    expected_version: int,
    index: Indexing | None,
    numbers: Numbers,
) -> None:
    """A unit's terms never change, so that caches need not look twice: new words, new unit."""
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


def connect(session: Session, links: Sequence[Link]) -> None:
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


def remove_memories(session: Session, batch: Sequence[Remove], numbers: Numbers) -> None:
    erased = [step.id for step in batch if step.entry.event is Event.ERASE]
    if erased:  # categories and threads are words of the caller's, too
        session.run("silence_journal", ids=erased)
        forget_recalled(session, erased, erased=True)
        session.run("delete_held_about_nothing", ids=erased)
    ids = [step.id for step in batch]
    forget_recalled(session, ids, erased=False)
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


def rewrite_memory(session: Session, step: Rewrite, numbers: Numbers) -> None:
    _update(session, step.memory, step.memory.version, step.index, numbers)
    session.run("delete_versions", ids=[step.memory.id])
    session.run_many("insert_version", [version_values(step.memory, numbers.at)])
