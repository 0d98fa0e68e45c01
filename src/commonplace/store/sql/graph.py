"""Graph on SQL: reads, and the graph steps of a changeset."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager

from commonplace.errors import StaleDecision
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import ImportScope
from commonplace.model.graph.assertion import (
    EdgeAssertion,
    NodeAssertion,
    Note,
    source_weight,
)
from commonplace.model.graph.elements import Artifact, Edge, Node
from commonplace.model.graph.salience import AccessStats
from commonplace.model.graph.snapshot import SourceMention, WholeGraph
from commonplace.model.graph.steps import (
    Extraction,
    GraphStep,
    PutArtifact,
    PutEdge,
    PutNode,
    PutNote,
    RemoveArtifact,
    RemoveEdge,
    RemoveNode,
    RemoveNotes,
    RemoveStories,
    SetExtraction,
)
from commonplace.model.journal import Event
from commonplace.model.sources.source import SourceType
from commonplace.store.queries import (
    AssertionQuery,
    Assertions,
    Counters,
    EndedGraphItems,
    EndedQuery,
    GraphItems,
    GraphPage,
    GraphQuery,
)
from commonplace.store.sql.erasure import note_erased
from commonplace.store.sql.graph_rows import (
    access_stats_from,
    access_stats_values,
    artifact_from,
    artifact_values,
    edge_assertion_from,
    edge_assertion_values,
    edge_from,
    edge_values,
    extraction_from,
    extraction_values,
    node_assertion_from,
    node_assertion_values,
    node_from,
    node_values,
    note_from,
    note_values,
)
from commonplace.store.sql.maintenance.storylines import (
    import_stories,
    macro_from,
    read_macros,
    read_storylines,
    storyline_from,
)
from commonplace.store.sql.memories import delete_logged_items
from commonplace.store.sql.rows import (
    Row,
    Session,
    WriteNumbers,
    checksum,
    instant,
    micros,
)

_FROM_START = -1  # every row has a higher sequence number


class SqlGraph(ABC):
    @abstractmethod
    def _reading(self, scope: Scope) -> AbstractContextManager[Session]:
        """A read transaction on one scope."""

    @abstractmethod
    def _checked_counters(self, session: Session) -> Counters:
        """Raises if the vectors are another embedder's."""

    def graph_items(self, scope: Scope, query: GraphQuery) -> GraphItems:
        if query.is_empty:
            return GraphItems()
        with self._reading(scope) as session:
            return GraphItems(
                _nodes(session, scope, query),
                _edges(session, scope, query.edges),
                _notes(session, query),
                _artifacts(session, scope, query.artifacts),
                _marks(session, query.marks),
                read_storylines(session, scope, query.storylines),
                read_macros(session, scope, query.macros),
            )

    def assertions(self, scope: Scope, query: AssertionQuery) -> Assertions:
        if query.is_empty:
            return Assertions([], [], [])
        with self._reading(scope) as session:
            nodes = _rows_of("node_tellings", session, query.nodes)
            edges = _edge_assertions(session, query.ends, query.types)
            notes: Sequence[Row] = ()
            if query.sources:
                cited = {"sources": list(query.sources)}
                nodes += session.rows("node_tellings_by", **cited)
                edges += map(edge_assertion_from, session.rows("edge_tellings_by", **cited))
                notes = session.rows("notes_by", **cited)
        return Assertions([*map(node_assertion_from, nodes)], edges, [*map(note_from, notes)])

    def ended_graph_items(self, scope: Scope, query: EndedQuery) -> EndedGraphItems:
        by, made_by = query.notes_by, query.artifacts_made_by
        with self._reading(scope) as session:
            forgotten = session.rows("forgotten_of_graph")
            notes = session.rows("notes_ended", by=micros(by), limit=query.limit) if by else ()
            made = session.rows("ephemeral_artifacts", made_by=micros(made_by)) if made_by else ()
        return EndedGraphItems(
            {id: instant(at) for id, at in forgotten},
            [*map(note_from, notes)],
            [str(id) for (id,) in made],
        )

    def extractions(self, scope: Scope, sources: Sequence[str] | None = None) -> list[Extraction]:
        values = {"any": int(sources is None), "sources": list(sources or ())}
        with self._reading(scope) as session:
            return [*map(extraction_from, session.rows("extractions", **values))]

    # ——— the whole graph ———

    def graph_page(self, scope: Scope, after_seq: int, epoch: int) -> GraphPage:
        with self._reading(scope) as session:
            counters = self._checked_counters(session)
            now = (counters.graph, counters.seq, counters.epoch_of_graph, counters.generation)
            if (counters.seq, counters.epoch_of_graph) == (after_seq, epoch):
                return GraphPage(*now)
            is_whole = counters.epoch_of_graph != epoch
            since = {"after_seq": _FROM_START if is_whole else after_seq}
            made_by = {"generation": counters.generation}
            vectors = (
                session.rows("graph_vectors_all", **made_by)
                if is_whole
                else session.rows("graph_vectors_since", **since, **made_by)
            )
            return GraphPage(
                *now,
                nodes=[node_from(scope, r) for r in session.rows("graph_nodes_since", **since)],
                edges=[edge_from(scope, r) for r in session.rows("graph_edges_since", **since)],
                mentions=_mentions_by_node(session.rows("graph_mentions_since", **since)),
                notes=_notes_by_subject(map(note_from, session.rows("graph_notes_since", **since))),
                artifacts=[
                    artifact_from(scope, r) for r in session.rows("graph_artifacts_since", **since)
                ],
                storylines=[
                    storyline_from(scope, r) for r in session.rows("storylines_since", **since)
                ],
                macros=[macro_from(scope, row) for row in session.rows("macros_since", **since)],
                vectors=[(id, bytes(vector)) for id, vector in vectors],
            )

    def whole_graph(self, scope: Scope) -> WholeGraph:
        since = {"after_seq": _FROM_START}
        everything = {"any": 1, "ids": []}
        with self._reading(scope) as session:
            nodes = [node_from(scope, row) for row in session.rows("graph_nodes_since", **since)]
            edges = [edge_from(scope, row) for row in session.rows("graph_edges_since", **since)]
            return WholeGraph(
                nodes=tuple(sorted(nodes, key=lambda node: (node.created_at, node.id))),
                edges=tuple(edges),
                node_assertions=tuple(map(node_assertion_from, session.rows("all_node_tellings"))),
                edge_assertions=tuple(map(edge_assertion_from, session.rows("all_edge_tellings"))),
                notes=tuple(map(note_from, session.rows("graph_notes_since", **since))),
                artifacts=tuple(
                    artifact_from(scope, row) for row in session.rows("artifacts", **everything)
                ),
                storylines=tuple(read_storylines(session, scope)),
                macros=tuple(read_macros(session, scope)),
                extractions=tuple(
                    map(extraction_from, session.rows("extractions", any=1, sources=[]))
                ),
                marks=dict(map(access_stats_from, session.rows("marks", **everything))),
                texts={str(id): str(text) for id, text in session.rows("graph_texts")},
            )


def _mentions_by_node(rows: Iterable[Row]) -> dict[str, tuple[SourceMention, ...]]:
    by_node: dict[str, list[SourceMention]] = {}
    for node, source, said_at, scope, source_type, is_sensitive in rows:
        weight = source_weight(SourceType(source_type))
        mention = SourceMention(
            source, node, instant(said_at), scope, weight, is_sensitive=is_sensitive == 1
        )
        by_node.setdefault(node, []).append(mention)
    return {node: tuple(mentions) for node, mentions in by_node.items()}


def _notes_by_subject(notes: Iterable[Note]) -> dict[str, tuple[Note, ...]]:
    by_subject: dict[str, list[Note]] = {}
    for note in notes:
        by_subject.setdefault(note.about, []).append(note)
    return {about: tuple(of_subject) for about, of_subject in by_subject.items()}


def _rows_of(statement: str, session: Session, ids: Sequence[str]) -> list[Row]:
    return [*session.rows(statement, ids=list(dict.fromkeys(ids)))] if ids else []


def _nodes(session: Session, scope: Scope, query: GraphQuery) -> list[Node]:
    by_id = {row.id: row for row in _nodes_from(scope, _rows_of("nodes", session, query.nodes))}
    requested = [by_id[id] for id in dict.fromkeys(query.nodes) if id in by_id]
    merged = _rows_of("merged_into", session, query.merged_into)
    return requested + _nodes_from(scope, merged)


def _nodes_from(scope: Scope, rows: Iterable[Row]) -> list[Node]:
    return [node_from(scope, row) for row in rows]


def _edges(session: Session, scope: Scope, ids: Sequence[str]) -> list[Edge]:
    rows = _rows_of("edges", session, ids)
    by_id = {edge.id: edge for edge in (edge_from(scope, row) for row in rows)}
    return [by_id[id] for id in dict.fromkeys(ids) if id in by_id]


def _notes(session: Session, query: GraphQuery) -> list[Note]:
    by_id = _rows_of("notes_called", session, query.notes)
    return [*map(note_from, [*by_id, *_rows_of("notes", session, query.notes_about)])]


def _artifacts(session: Session, scope: Scope, ids: Sequence[str] | None) -> list[Artifact]:
    if ids is not None and not ids:
        return []
    rows = session.rows("artifacts", any=int(ids is None), ids=list(ids or ()))
    return [artifact_from(scope, row) for row in rows]


def _marks(session: Session, ids: Sequence[str] | None) -> dict[str, AccessStats]:
    if ids is not None and not ids:
        return {}
    rows = session.rows("marks", any=int(ids is None), ids=list(ids or ()))
    return dict(map(access_stats_from, rows))


def _edge_assertions(
    session: Session, ends: Sequence[str], types: Collection[str] | None
) -> list[EdgeAssertion]:
    if not ends:
        return []
    if types is None:
        rows = session.rows("edge_tellings", ids=list(ends))
    else:
        rows = session.rows("edge_tellings_of", ids=list(ends), types=list(types))
    assertions = map(edge_assertion_from, rows)
    return sorted(assertions, key=lambda each: (each.recorded_at, each.id))


REMOVAL_STEPS = (RemoveNode, RemoveEdge, RemoveNotes, RemoveArtifact, RemoveStories)


def is_erasure(step: GraphStep) -> bool:
    """Erasures invalidate every cache, other removals only those of the graph."""
    return isinstance(step, REMOVAL_STEPS) and step.entry.event is Event.ERASE


def put_nodes(session: Session, batch: Sequence[PutNode], numbers: WriteNumbers) -> None:
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
    session.run("delete_node_tellings", ids=_replaced_assertions(batch))
    _insert_node_assertions(session, [each for step in batch for each in step.assertions])


def put_edges(session: Session, batch: Sequence[PutEdge], numbers: WriteNumbers) -> None:
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
    session.run("delete_edge_tellings", ids=_replaced_assertions(batch))
    _insert_edge_assertions(session, [each for step in batch for each in step.assertions])


def _replaced_assertions(batch: Sequence[PutNode] | Sequence[PutEdge]) -> list[str]:
    put = [each.id for step in batch for each in step.assertions]
    return put + [id for step in batch for id in step.removed_assertions]


def _put_vectors(
    session: Session, batch: Sequence[PutNode] | Sequence[PutEdge], numbers: WriteNumbers
) -> None:
    """Replaces the vectors of items whose text changed, so that none keeps a vector of old text."""
    changed = [step for step in batch if step.text is not None or step.vector is not None]
    known = [step.after.id for step in changed if step.before is not None]
    if known:
        session.run("delete_graph_vectors", ids=known)
    session.run_many(
        "put_graph_vector",
        [
            {
                "id": step.after.id,
                "generation": numbers.generation,
                "vector": step.vector,
                "checksum": checksum(step.vector),
            }
            for step in changed
            if step.vector is not None
        ],
    )


def _insert_node_assertions(session: Session, assertions: Iterable[NodeAssertion]) -> None:
    session.run_many("insert_node_telling", [node_assertion_values(each) for each in assertions])


def _insert_edge_assertions(session: Session, assertions: Iterable[EdgeAssertion]) -> None:
    session.run_many("insert_edge_telling", [edge_assertion_values(each) for each in assertions])


def remove_nodes(session: Session, batch: Sequence[RemoveNode], numbers: WriteNumbers) -> None:
    """Fails while a node still has edges, by the foreign keys."""
    ids = _redact_erased(session, batch, numbers)
    for statement in (
        "delete_tellings_of_nodes",
        "delete_tellings_of_ends",
        "delete_notes_about",
        "delete_graph_vectors",
        "delete_marks",
        "delete_nodes",
    ):
        session.run(statement, ids=ids)


def remove_edges(session: Session, batch: Sequence[RemoveEdge], numbers: WriteNumbers) -> None:
    ids = _redact_erased(session, batch, numbers)
    for statement in (
        "delete_tellings_of_edges",
        "delete_notes_about",
        "delete_graph_vectors",
        "delete_marks",
        "delete_edges",
    ):
        session.run(statement, ids=ids)


def _redact_erased(
    session: Session,
    batch: Sequence[RemoveNode | RemoveEdge | RemoveArtifact],
    numbers: WriteNumbers,
) -> list[str]:
    """Returns the ids of the batch, which leave the recall log. For erased items all user text in
    the journal is redacted."""
    erased = [step.id for step in batch if is_erasure(step)]
    if erased:
        note_erased(session, erased, numbers)
        session.run("silence_journal", ids=erased)
        delete_logged_items(session, erased, erased=True)
    delete_logged_items(session, [step.id for step in batch], erased=False)
    return [step.id for step in batch]


def put_notes(session: Session, batch: Sequence[PutNote], numbers: WriteNumbers) -> None:
    session.run("delete_notes", ids=[step.note.id for step in batch])
    _insert_notes(session, [step.note for step in batch], numbers)


def _insert_notes(session: Session, notes: Iterable[Note], numbers: WriteNumbers) -> None:
    session.run_many("insert_note", [{**note_values(note), "seq": numbers.seq} for note in notes])


def remove_notes(session: Session, batch: Sequence[RemoveNotes], numbers: WriteNumbers) -> None:
    erased = [id for step in batch if is_erasure(step) for id in step.ids]
    if erased:
        note_erased(session, erased, numbers)
        session.run("silence_journal", ids=erased)
    session.run("delete_notes", ids=[id for step in batch for id in step.ids])


def put_artifacts(session: Session, batch: Sequence[PutArtifact], numbers: WriteNumbers) -> None:
    session.run("delete_artifacts", ids=[step.artifact.id for step in batch])
    session.run_many(
        "insert_artifact",
        [{**artifact_values(step.artifact), "seq": numbers.seq} for step in batch],
    )


def remove_artifacts(
    session: Session, batch: Sequence[RemoveArtifact], numbers: WriteNumbers
) -> None:
    session.run("delete_artifacts", ids=_redact_erased(session, batch, numbers))


def set_extractions(
    session: Session, batch: Sequence[SetExtraction], numbers: WriteNumbers
) -> None:
    for step in batch:
        values = extraction_values(step.extraction)
        if step.gone:
            source, source_scope = values["source"], values["source_scope"]
            session.run("delete_extraction", source=source, source_scope=source_scope)
            session.run("delete_marks_of_elsewhere", source=source)
        else:
            session.run("put_extraction", **values)


def import_graph(session: Session, imported: ImportScope, numbers: WriteNumbers) -> None:
    graph, seq = imported.graph, {"seq": numbers.seq}
    texts = graph.texts
    session.run_many(
        "insert_node",
        [{**node_values(each), **seq, "text": texts.get(each.id, "")} for each in graph.nodes],
    )
    session.run_many(
        "insert_edge",
        [{**edge_values(each), **seq, "text": texts.get(each.id, "")} for each in graph.edges],
    )
    _insert_node_assertions(session, graph.node_assertions)
    _insert_edge_assertions(session, graph.edge_assertions)
    _insert_notes(session, graph.notes, numbers)
    session.run_many(
        "insert_artifact", [{**artifact_values(each), **seq} for each in graph.artifacts]
    )
    import_stories(session, graph, numbers)
    session.run_many("put_extraction", [extraction_values(each) for each in graph.extractions])
    session.run_many(
        "put_marks", [access_stats_values(id, marks) for id, marks in graph.marks.items()]
    )
    made_by = {"generation": numbers.generation}
    session.run_many(
        "put_graph_vector",
        [
            {"id": id, "vector": vector, "checksum": checksum(vector), **made_by}
            for id, vector in imported.graph_vectors.items()
        ],
    )
