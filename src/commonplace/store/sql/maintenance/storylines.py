"""Storylines, macros and archived sources on SQL: reads, and their changeset steps."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from commonplace.errors import StaleDecision
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import UnlinkMemories
from commonplace.model.graph.salience import NEVER_READ
from commonplace.model.graph.snapshot import WholeGraph
from commonplace.model.graph.steps import PutStory, RemoveStories, SetArchived
from commonplace.model.graph.storylines import Macro, Story, Storyline, StorySource
from commonplace.model.journal import Event
from commonplace.store.sql.erasure import note_erased
from commonplace.store.sql.memories import delete_logged_items
from commonplace.store.sql.rows import (
    Row,
    RowCodec,
    Session,
    WriteNumbers,
    checksum,
    exact_micros,
    instant,
    micros,
    to_json,
)

_STORYLINE = RowCodec(Storyline, ("user_id", "sources"))
_MACRO = RowCodec(Macro, ("user_id",))

STORYLINE_COLUMNS = f"{_STORYLINE.columns('y')}, y.sources"
MACRO_COLUMNS = _MACRO.columns("w")


class SqlArchive(ABC):
    @abstractmethod
    def _reading(self, scope: Scope) -> AbstractContextManager[Session]:
        """A read transaction on one scope."""

    def archived_sources(self, scope: Scope) -> frozenset[str]:
        with self._reading(scope) as session:
            return frozenset(str(id) for (id,) in session.rows("archived_sources"))


# ——— rows ———


def storyline_values(storyline: Storyline) -> dict[str, Any]:
    """All columns but seq."""
    sources = [
        [exact_micros(each.said_at), each.id, each.scope, each.weight, int(each.is_sensitive)]
        for each in storyline.sources
    ]
    return {**_STORYLINE.values(storyline), "sources": to_json(sources)}


def storyline_from(scope: Scope, row: Row) -> Storyline:
    sources = tuple(
        StorySource(instant(said_at), id, owner, weight, bool(is_sensitive))
        for said_at, id, owner, weight, is_sensitive in json.loads(row[-1])
    )
    return Storyline(user_id=scope.name, sources=sources, **_STORYLINE.decode(row[:-1]))


def macro_values(macro: Macro) -> dict[str, Any]:
    """All columns but seq."""
    return _MACRO.values(macro)


def macro_from(scope: Scope, row: Row) -> Macro:
    return Macro(user_id=scope.name, **_MACRO.decode(row))


# ——— reads ———


def read_storylines(
    session: Session, scope: Scope, ids: Sequence[str] | None = None
) -> list[Storyline]:
    """Those with these ids, or all; the oldest first."""
    if ids is not None and not ids:
        return []
    rows = session.rows("storylines", any=int(ids is None), ids=list(ids or ()))
    found = [storyline_from(scope, row) for row in rows]
    return sorted(found, key=lambda each: (each.started_at, each.id))


def read_macros(session: Session, scope: Scope, ids: Sequence[str] | None = None) -> list[Macro]:
    if ids is not None and not ids:
        return []
    rows = session.rows("macros", any=int(ids is None), ids=list(ids or ()))
    found = [macro_from(scope, row) for row in rows]
    return sorted(found, key=lambda each: (each.started_at, each.id))


# ——— steps ———


def put_stories(session: Session, batch: Sequence[PutStory], numbers: WriteNumbers) -> None:
    changed = [step for step in batch if step.before is not None]
    storylines = [step.after.id for step in changed if isinstance(step.after, Storyline)]
    if len(batch) > 1:
        session.run("park_storylines", ids=storylines)
    for step in changed:
        assert step.before is not None
        statement, values = _written(step.after, numbers)
        expected = step.before.version
        if session.one(f"update_{statement}", **values, expected_version=expected) is None:
            raise StaleDecision("Another writer changed this storyline first.")
    for step in batch:
        if step.before is None:
            statement, values = _written(step.after, numbers)
            session.run(f"insert_{statement}", **values)
    _put_vectors(session, batch, numbers)


def _written(story: Story, numbers: WriteNumbers) -> tuple[str, dict[str, Any]]:
    if isinstance(story, Storyline):
        return "storyline", {**storyline_values(story), "seq": numbers.seq}
    return "macro", {**macro_values(story), "seq": numbers.seq}


def _put_vectors(session: Session, batch: Sequence[PutStory], numbers: WriteNumbers) -> None:
    """None keeps a vector of its old text."""
    replaced = [
        step.after.id
        for step in batch
        if step.before is not None
        and (step.vector is not None or step.before.search_text != step.after.search_text)
    ]
    if replaced:
        session.run("delete_graph_vectors", ids=replaced)
    session.run_many(
        "put_graph_vector",
        [
            {
                "id": step.after.id,
                "generation": numbers.generation,
                "vector": step.vector,
                "checksum": checksum(step.vector),
            }
            for step in batch
            if step.vector is not None
        ],
    )


def remove_stories(session: Session, batch: Sequence[RemoveStories], numbers: WriteNumbers) -> None:
    ids = [id for step in batch for id in step.ids]
    erased = [id for step in batch if step.entry.event is Event.ERASE for id in step.ids]
    if erased:
        note_erased(session, erased, numbers)
        session.run("silence_journal", ids=erased)
        delete_logged_items(session, erased, erased=True)
    delete_logged_items(session, ids, erased=False)
    for statement in (
        "delete_graph_vectors",
        "delete_marks",
        "delete_storylines",
        "delete_macros",
    ):
        session.run(statement, ids=ids)


def set_archived(session: Session, batch: Sequence[SetArchived], numbers: WriteNumbers) -> None:
    new = {"salience": NEVER_READ.salience, "decay_gradient": NEVER_READ.decay_gradient}
    session.run_many(
        "set_archived",
        [{"id": id, "archived_at": micros(step.at), **new} for step in batch for id in step.ids],
    )


def unlink(session: Session, step: UnlinkMemories) -> None:
    session.run("delete_link", a=step.a, b=step.b)


def import_stories(session: Session, graph: WholeGraph, numbers: WriteNumbers) -> None:
    stories: list[Story] = [*graph.storylines, *graph.macros]
    for story in stories:
        statement, values = _written(story, numbers)
        session.run(f"insert_{statement}", **values)
