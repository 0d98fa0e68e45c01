"""The steps of a changeset that are about the graph, on any SQL database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from commonplace.errors import StaleDecision
from commonplace.model.changes import Copy
from commonplace.model.graph.note import Note
from commonplace.model.graph.steps import (
    GraphStep,
    PutArtifact,
    PutEdge,
    PutNode,
    PutNote,
    RemoveArtifact,
    RemoveEdge,
    RemoveNode,
    RemoveNotes,
    SetExtracted,
)
from commonplace.model.graph.telling import EdgeTelling, NodeTelling
from commonplace.model.journal import Event
from commonplace.store.sql.graph_rows import (
    artifact_values,
    edge_telling_values,
    edge_values,
    extraction_values,
    marks_values,
    node_telling_values,
    node_values,
    note_values,
)
from commonplace.store.sql.numbers import Numbers
from commonplace.store.sql.recall_log import forget_recalled
from commonplace.store.sql.session import Session

REMOVING = (RemoveNode, RemoveEdge, RemoveNotes, RemoveArtifact)


def erases(step: GraphStep) -> bool:
    """Then every cache starts anew, as after any erasure; else those of the graph alone."""
    return isinstance(step, REMOVING) and step.entry.event is Event.ERASE


def put_nodes(session: Session, batch: Sequence[PutNode], numbers: Numbers) -> None:
    new = [step for step in batch if step.before is None]
    changed = [step for step in batch if step.before is not None]
    if len(batch) > 1:
        session.run("park_nodes", ids=[step.after.id for step in changed])
    for step in changed:
        assert step.before is not None
        values = {**node_values(step.after), "seq": numbers.seq, "text": step.text}
        expected = step.before.version
        if session.one("update_node", **values, expected_version=expected) is None:
            raise StaleDecision("Another writer changed this node first.")
    session.run_many(
        "insert_node",
        [{**node_values(step.after), "seq": numbers.seq, "text": step.text or ""} for step in new],
    )
    _put_vectors(session, batch, numbers)
    session.run("delete_node_tellings", ids=_replaced(batch))
    _insert_node_tellings(session, [told for step in batch for told in step.told])


def put_edges(session: Session, batch: Sequence[PutEdge], numbers: Numbers) -> None:
    for step in batch:
        if step.before is None:
            continue
        values = {**edge_values(step.after), "seq": numbers.seq, "text": step.text}
        expected = step.before.version
        if session.one("update_edge", **values, expected_version=expected) is None:
            raise StaleDecision("Another writer changed this edge first.")
    session.run_many(
        "insert_edge",
        [
            {**edge_values(step.after), "seq": numbers.seq, "text": step.text or ""}
            for step in batch
            if step.before is None
        ],
    )
    _put_vectors(session, batch, numbers)
    session.run("delete_edge_tellings", ids=_replaced(batch))
    _insert_edge_tellings(session, [told for step in batch for told in step.told])


def _replaced(batch: Sequence[PutNode] | Sequence[PutEdge]) -> list[str]:
    told = [each.id for step in batch for each in step.told]
    return told + [id for step in batch for id in step.untold]


def _put_vectors(
    session: Session, batch: Sequence[PutNode] | Sequence[PutEdge], numbers: Numbers
) -> None:
    """A new text has no vector but its own."""
    anew = [step for step in batch if step.text is not None or step.vector is not None]
    known = [step.after.id for step in anew if step.before is not None]
    if known:
        session.run("delete_graph_vectors", ids=known)
    session.run_many(
        "put_graph_vector",
        [
            {"id": step.after.id, "generation": numbers.generation, "vector": step.vector}
            for step in anew
            if step.vector is not None
        ],
    )


def _insert_node_tellings(session: Session, told: Iterable[NodeTelling]) -> None:
    session.run_many("insert_node_telling", [node_telling_values(each) for each in told])


def _insert_edge_tellings(session: Session, told: Iterable[EdgeTelling]) -> None:
    session.run_many("insert_edge_telling", [edge_telling_values(each) for each in told])


def remove_nodes(session: Session, batch: Sequence[RemoveNode], numbers: Numbers) -> None:
    """An edge that is still there holds its ends: the database refuses."""
    ids = _silenced(session, batch)
    for statement in (
        "delete_tellings_of_nodes",
        "delete_tellings_of_ends",
        "delete_notes_about",
        "delete_graph_vectors",
        "delete_marks",
        "delete_nodes",
    ):
        session.run(statement, ids=ids)


def remove_edges(session: Session, batch: Sequence[RemoveEdge], numbers: Numbers) -> None:
    ids = _silenced(session, batch)
    for statement in (
        "delete_tellings_of_edges",
        "delete_notes_about",
        "delete_graph_vectors",
        "delete_marks",
        "delete_edges",
    ):
        session.run(statement, ids=ids)


def _silenced(
    session: Session, batch: Sequence[RemoveNode | RemoveEdge | RemoveArtifact]
) -> list[str]:
    """The ids of what goes. Of what is erased the journal keeps no word of anybody's."""
    erased = [step.id for step in batch if erases(step)]
    if erased:
        session.run("silence_journal", ids=erased)
        forget_recalled(session, erased, erased=True)
    return [step.id for step in batch]


def put_notes(session: Session, batch: Sequence[PutNote], numbers: Numbers) -> None:
    session.run("delete_notes", ids=[step.note.id for step in batch])
    _insert_notes(session, [step.note for step in batch], numbers)


def _insert_notes(session: Session, notes: Iterable[Note], numbers: Numbers) -> None:
    session.run_many("insert_note", [{**note_values(note), "seq": numbers.seq} for note in notes])


def remove_notes(session: Session, batch: Sequence[RemoveNotes], numbers: Numbers) -> None:
    erased = [id for step in batch if erases(step) for id in step.ids]
    if erased:
        session.run("silence_journal", ids=erased)
    session.run("delete_notes", ids=[id for step in batch for id in step.ids])


def put_artifacts(session: Session, batch: Sequence[PutArtifact], numbers: Numbers) -> None:
    session.run("delete_artifacts", ids=[step.artifact.id for step in batch])
    session.run_many(
        "insert_artifact",
        [{**artifact_values(step.artifact), "seq": numbers.seq} for step in batch],
    )


def remove_artifacts(session: Session, batch: Sequence[RemoveArtifact], numbers: Numbers) -> None:
    session.run("delete_artifacts", ids=_silenced(session, batch))


def set_extracted(session: Session, batch: Sequence[SetExtracted], numbers: Numbers) -> None:
    for step in batch:
        values = extraction_values(step.extraction)
        if step.gone:
            source, source_scope = values["source"], values["source_scope"]
            session.run("delete_extraction", source=source, source_scope=source_scope)
            session.run("delete_marks_of_elsewhere", source=source)
        else:
            session.run("put_extraction", **values)


def copy_graph(session: Session, copy: Copy, numbers: Numbers) -> None:
    graph, place = copy.graph, {"seq": numbers.seq}
    texts = graph.texts
    session.run_many(
        "insert_node",
        [{**node_values(each), **place, "text": texts.get(each.id, "")} for each in graph.nodes],
    )
    session.run_many(
        "insert_edge",
        [{**edge_values(each), **place, "text": texts.get(each.id, "")} for each in graph.edges],
    )
    _insert_node_tellings(session, graph.node_tellings)
    _insert_edge_tellings(session, graph.edge_tellings)
    _insert_notes(session, graph.notes, numbers)
    session.run_many(
        "insert_artifact", [{**artifact_values(each), **place} for each in graph.artifacts]
    )
    session.run_many("put_extraction", [extraction_values(each) for each in graph.extractions])
    session.run_many("put_marks", [marks_values(id, marks) for id, marks in graph.marks.items()])
    made_by = {"generation": numbers.generation}
    session.run_many(
        "put_graph_vector",
        [{"id": id, "vector": vector, **made_by} for id, vector in copy.graph_vectors.items()],
    )
