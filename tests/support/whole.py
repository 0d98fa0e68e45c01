"""Is a user's memory whole? What must hold after any crash, checked from the outside."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import commonplace
from commonplace.api import Commonplace, User
from commonplace.language.embedders.embedder import Embedder
from commonplace.model.export.archive import ScopeExport, from_lines
from commonplace.model.filters import Visibility
from commonplace.model.graph.snapshot import WholeGraph
from commonplace.model.journal import Event, JournalRow, Op
from commonplace.model.memory.memory import VERSIONED_FIELDS, Memory, State, Version
from commonplace.model.sources.source import Source
from commonplace.store.queries import NO_LIMIT, PassagesOf, SourceListing


def open_plainly(url: str, embedder: str | Embedder = "hashing") -> Commonplace:
    """A book for tests in other processes: the fast embedder, and nothing behind their back."""
    return commonplace.open(url, embedder=embedder, tidy_on_open=False, worker="off")


def assert_whole(url: str, user: str) -> ScopeExport:
    """Rows, versions, terms, vectors, links, journal and counters agree; returns what there is."""
    with open_plainly(url) as book:
        me = book.user(user)
        assert_healthy(me)
        belongings = owned_by(me)
        sources = all_sources(me)
        assert_journal_is_complete(belongings, sources)
        assert_originals_are_whole(me, sources)
        assert_versions_are_complete(belongings)
        assert_nothing_dangles(belongings)
        assert_graph_is_whole(belongings.graph)
        assert_questions_are_whole(belongings)
        assert_index_is_complete(me, belongings, sources)
    return belongings


def owned_by(me: User) -> ScopeExport:
    return from_lines(me.export(), me.principal.user_id)


def all_sources(me: User) -> list[Source]:
    """Forgotten and hidden ones, too."""
    listing = SourceListing(
        visibility=Visibility(cleared=True), states=tuple(State), limit=NO_LIMIT
    )
    return me._engine.store.sources(me.principal.scope, listing)


def assert_healthy(me: User) -> None:
    """An erasure that waits for compaction is a promise not yet due, not an ailment."""
    unwell = [finding for finding in me.doctor() if not finding.ok and finding.what != "erasure"]
    assert not unwell, unwell


def assert_journal_is_complete(belongings: ScopeExport, sources: Sequence[Source]) -> None:
    """No number is missing or used twice, and every change of the memory has told of itself."""
    rows = belongings.journal
    seq, revision = _beginning(rows)
    assert [row.seq for row in rows] == list(range(seq, seq + len(rows)))
    assert [row.revision for row in rows] == sorted(row.revision for row in rows)
    changesets = sorted({row.revision for row in rows if row.entry.event})
    assert changesets == list(range(revision, belongings.revision + 1))
    present = {memory.id for memory in belongings.memories} | {each.id for each in sources}
    assert present | _of_graph(belongings.graph) == _left_by_journal(rows)


def _of_graph(graph: WholeGraph) -> set[str]:
    """A note is told of as a change of what it is about."""
    return {each.id for each in (*graph.nodes, *graph.edges, *graph.artifacts)}


def assert_originals_are_whole(me: User, sources: Sequence[Source]) -> None:
    store, scope = me._engine.store, me.principal.scope
    for source in sources:
        assert len(store.original(scope, source.id)) == source.parts
        numbers = [
            passage.number for passage in store.passages(scope, PassagesOf(source.id)).values()
        ]
        assert numbers == list(range(1, source.passages + 1))


def _beginning(rows: Sequence[JournalRow]) -> tuple[int, int]:
    """Numbers start at 1; after everything of a user was erased they go on from that line."""
    if rows and rows[0].entry.event is Event.ERASE and rows[0].entry.subject is None:
        return rows[0].seq, rows[0].revision
    return 1, 1


_ASKING = (Op.HOLD, Op.RESOLVE, Op.PROPOSE)  # told of a memory, which stays as it is


def _left_by_journal(rows: Sequence[JournalRow]) -> set[str]:
    """The ids that must be there, by what the journal says happened."""
    left: set[str] = set()
    for row in rows:
        entry = row.entry
        if entry.event in (None, Event.LINK) or entry.subject is None or entry.op in _ASKING:
            continue  # what has no event tells of no change
        if entry.new_ref is not None:
            left.add(entry.subject)
        elif entry.op is not Op.UPDATE:  # expired, purged or erased
            left.discard(entry.subject)
    return left


def assert_versions_are_complete(belongings: ScopeExport) -> None:
    versions: dict[str, list[Version]] = defaultdict(list)
    for version in belongings.versions:
        versions[version.memory.id].append(version)
    told = {row.entry.new_ref for row in belongings.journal}
    assert set(versions) == {memory.id for memory in belongings.memories}
    present = set(versions)
    for memory in belongings.memories:
        _assert_chain(memory, versions[memory.id], present)
        assert {version.memory.ref for version in versions[memory.id]} <= told


def _assert_chain(memory: Memory, versions: list[Version], present: set[str]) -> None:
    *past, current = versions
    first = versions[0].memory.version
    assert [v.memory.version for v in versions] == list(range(first, first + len(versions)))
    assert all(older.invalidated_at is not None for older in past)
    assert [older.invalidated_at for older in past] == [v.recorded_at for v in versions[1:]]
    assert current.invalidated_at is None
    assert current.memory.version == memory.version
    said = current.memory
    if said.superseded_by not in present:  # what had taken its place was erased since
        said = said.evolve(superseded_by=None)
    differing = [n for n in VERSIONED_FIELDS if getattr(memory, n) != getattr(said, n)]
    assert not differing, (memory.id, differing)


def assert_nothing_dangles(belongings: ScopeExport) -> None:
    present = {memory.id for memory in belongings.memories}
    assert all({link.a, link.b} <= present for link in belongings.links)
    successors = {m.superseded_by for m in belongings.memories if m.superseded_by}
    assert successors <= present


def assert_graph_is_whole(graph: WholeGraph) -> None:
    """Every end, every telling and every note has what it is about."""
    nodes, edges = {node.id for node in graph.nodes}, {edge.id for edge in graph.edges}
    assert all(set(edge.ends) <= nodes for edge in graph.edges)
    assert {told.node for told in graph.node_assertions} <= nodes
    assert {told.edge for told in graph.edge_assertions} <= edges
    assert {note.about for note in graph.notes} <= nodes | edges
    assert len({node.id for node in graph.nodes if node.is_owner}) <= 1


def assert_questions_are_whole(belongings: ScopeExport) -> None:
    """A value waits in a question about something, or beside something; and what is disputed is
    disputed by a value that waits."""
    present = {memory.id for memory in belongings.memories}
    asked = {memory.conflict for memory in belongings.memories if memory.conflict}
    assert {held.conflict for held in belongings.held if held.conflict} == asked
    assert {held.alternative_to for held in belongings.held if held.alternative_to} <= present
    assert all(bool(held.conflict) != bool(held.alternative_to) for held in belongings.held)
    assert not present & {held.memory.id for held in belongings.held}


def assert_index_is_complete(me: User, belongings: ScopeExport, sources: Sequence[Source]) -> None:
    """One row of terms and one vector for each memory and each passage, and none that belongs to
    nobody."""
    page = me._engine.store.index_page(me.principal.scope, 0, -1)
    terms = {unit for unit, *_ in page.terms}
    passages = sum(source.passages for source in sources)
    assert len(terms) == len(belongings.memories) + passages
    assert {unit for unit, _ in page.vectors} == terms
    live = {memory.id for memory in belongings.memories if memory.state is State.ACTIVE}
    assert {row.id for row in page.rows} == live
    shown = {source.id for source in sources if source.state is State.ACTIVE}
    assert {told.id for told in page.sources} == shown
