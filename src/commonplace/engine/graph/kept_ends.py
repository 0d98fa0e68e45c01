"""Kept ends: a relation stays ended when the memory or turn that replaced it is removed.

"I work at Siemens", then "I work at Bosch now": the second ends the first, as a memory and as a
relation. Forgetting or erasing the second does not make the first current again. So the end becomes
an assertion of its own, which cites what it ends and is removed with it. Only what memories and
observed turns say is kept ended: a document leaves the graph as if it had never been ingested.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from commonplace.engine.graph.unit_of_work import GraphUnitOfWork
from commonplace.model.graph.assertion import KEPT_ENDED_BY, CitedSource, EdgeAssertion
from commonplace.model.graph.edge_fold import assertion_threads
from commonplace.model.graph.elements import Edge
from commonplace.model.graph.types import equivalent_types
from commonplace.model.sources.source import THREAD_ORIGIN, is_source_id


@dataclass(slots=True)
class ChangedStatements:
    """Assertions and notes that one decision retracts, hides or shows again, by id."""

    gone: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    restored: list[str] = field(default_factory=list)


def change_statements(
    work: GraphUnitOfWork,
    changed: ChangedStatements,
    rewritten: Collection[str] = (),
    revived: Collection[str] = (),
) -> None:
    """``rewritten``: memories that are told again, and end what they ended. ``revived``: as of
    `keep_ends`."""
    told_again = {
        each.id
        for each in work.edge_assertions.values()
        if each.source and each.source.id in rewritten
    }
    leaving = [id for id in (*changed.gone, *changed.hidden) if id not in told_again]
    keep_ends(work, leaving, revived)
    release_ends(work, changed.restored)
    work.retract(changed.gone)
    work.set_active(changed.hidden, False)
    work.set_active(changed.restored, True)


def keep_ends(
    work: GraphUnitOfWork, leaving: Collection[str], revived: Collection[str] = ()
) -> None:
    """Call it before these assertions are hidden or retracted. ``revived``: memories and passages
    that become current in the same decision."""
    removed = [work.edge_assertions[id] for id in leaving if id in work.edge_assertions]
    removed = [each for each in removed if each.stands and not each.keeps_ended]
    if not removed:
        return
    for each in removed:
        _load_threads(work, each)
    told = _told_by_person(work)
    for each in removed:
        if _cited(each) in told:
            for edge in _ended_by(work, each):
                _keep_ended(work, edge, leaving, told - set(revived))


def release_ends(work: GraphUnitOfWork, restored: Collection[str]) -> None:
    """Call it when these assertions count again: they end what they ended before."""
    back = [work.edge_assertions[id] for id in restored if id in work.edge_assertions]
    for each in back:
        _load_threads(work, each)
    ended = {edge.id for each in back for edge in _ended_by(work, each)}
    kept = [t for t in work.edge_assertions.values() if t.keeps_ended and t.edge in ended]
    dates = {each.valid_from for each in back}
    work.retract([t.id for t in kept if t.valid_from in dates or _is_empty(work, t)])


def release_cited(work: GraphUnitOfWork, revived: Collection[str]) -> None:
    """What these memories and passages say is current again."""
    kept = [t for t in work.edge_assertions.values() if t.keeps_ended and _cited(t) in revived]
    work.retract([t.id for t in kept])


def drop_lone_ends(work: GraphUnitOfWork, source: str) -> None:
    """A source that no longer asserts a relation does not assert its end."""
    cited = [t for t in work.edge_assertions.values() if t.source and t.source.id == source]
    asserted = {_between(work, t) for t in cited if not t.keeps_ended}
    work.retract([t.id for t in cited if t.keeps_ended and _between(work, t) not in asserted])


def _between(work: GraphUnitOfWork, assertion: EdgeAssertion) -> tuple[str, str, str]:
    return work.root(assertion.a), work.root(assertion.b), assertion.type


def _load_threads(work: GraphUnitOfWork, assertion: EdgeAssertion) -> None:
    work.load_edges([assertion.edge])
    edge = work.edges.get(assertion.edge)
    for thread in assertion_threads(edge.a, edge.b, edge.type) if edge else ():
        work.load_relations(thread[:-1], equivalent_types(thread[-1]))


def _ended_by(work: GraphUnitOfWork, assertion: EdgeAssertion) -> Iterator[Edge]:
    """The relations that ended where this one began, or that it says have ended."""
    own = work.edges.get(assertion.edge)
    if own is None:
        return
    threads = {*assertion_threads(own.a, own.b, own.type)}
    for edge in work.edges.values():
        is_other = (edge.id != own.id) is not assertion.ends
        is_ended = edge.valid_to in (assertion.valid_from, edge.valid_from)
        if is_other and is_ended and threads & {*assertion_threads(edge.a, edge.b, edge.type)}:
            yield edge


def _keep_ended(
    work: GraphUnitOfWork, edge: Edge, leaving: Collection[str], told: Collection[str]
) -> None:
    of_edge = [t for t in work.edge_assertions.values() if t.edge == edge.id]
    kept = {_cited(t) for t in of_edge if t.keeps_ended}
    for each in of_edge:
        cited = _cited(each)
        if not each.stands or each.ends or each.id in leaving or cited in kept or cited not in told:
            continue
        kept.add(cited)
        work.put_relation(_end_of(work, edge, each))


def _end_of(work: GraphUnitOfWork, edge: Edge, assertion: EdgeAssertion) -> EdgeAssertion:
    return replace(
        assertion,
        id=work.engine.new_id(),
        by=KEPT_ENDED_BY,
        recorded_at=edge.invalidated_at or work.at,
        valid_from=edge.valid_to or work.at,
        valid_to=None,
        ends=True,
        attitude=None,
        proximity=None,
        description="",
    )


def _is_empty(work: GraphUnitOfWork, end: EdgeAssertion) -> bool:
    """It ends a relation where that begins: what began earlier was said later."""
    edge = work.edges.get(end.edge)
    return edge is not None and edge.valid_from == end.valid_from


def _cited(assertion: EdgeAssertion) -> str:
    """The memory or passage that an assertion cites."""
    return _cited_id(assertion.source) if assertion.source else ""


def _cited_id(source: CitedSource) -> str:
    return (
        source.id
        if source.passage is None or not is_source_id(source.id)
        else (f"{source.id}#{source.passage}")
    )


def _told_by_person(work: GraphUnitOfWork) -> set[str]:
    """Cited memories, and passages of observed conversations."""
    cited = [t.source for t in work.edge_assertions.values() if t.source is not None]
    sources = sorted({each.id for each in cited if is_source_id(each.id)})
    found = work.engine.live_sources(work.scope, sources) if sources else ()
    observed = {each.id for each in found if each.origin == THREAD_ORIGIN}
    return {_cited_id(s) for s in cited if s.id in observed or not is_source_id(s.id)}
