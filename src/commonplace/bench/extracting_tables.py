"""What extraction finds in labelled conversations, as tables and targets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from commonplace.bench.extracting import Count, Reading, count_edges, count_nodes, percent
from commonplace.bench.labels import HALVES
from commonplace.bench.report import Table, Target
from commonplace.language.extracting.found import ENTITY_TYPES
from commonplace.model.graph.words import NodeType

LEAST_NODE_PRECISION = 90.0
LEAST_EDGE_PRECISION = 80.0
SORTS = (str(NodeType.PERSON), str(NodeType.CONCEPT), *ENTITY_TYPES)


def by_language(readings: Sequence[Reading], half: str) -> Table:
    table = Table(
        f"extract {half}",
        f"What is found in conversations, {_called(half)}, %",
        (
            "language",
            "talks",
            "nodes",
            "node precision",
            "node recall",
            "edges",
            "edge precision",
            "edge recall",
            "dates",
            "attitudes",
        ),
        notes=[
            f"Wanted: node precision ≥ {LEAST_NODE_PRECISION:.0f}, "
            f"edge precision ≥ {LEAST_EDGE_PRECISION:.0f}.",
            "Dates and attitudes: of the edges that were found and have one, how many have it.",
        ],
    )
    languages = dict.fromkeys(each.conversation.language for each in readings)
    for language in languages:
        members = [each for each in readings if each.conversation.language == language]
        table.add(language, *_totals(members))
    table.add("all", *_totals(readings))
    return table


def _called(part: str) -> str:
    return f"{part} half" if part in HALVES else f"{part} of them, written later"


def _totals(readings: Sequence[Reading]) -> Iterator[int | float | None]:
    yield len(readings)
    for count in (count_nodes(readings), count_edges(readings)):
        yield from (count.found, count.precision, count.recall)
    for rights in (
        [right for each in readings for right in each.dates_right],
        [right for each in readings for right in each.attitudes_right],
    ):
        yield percent(sum(rights), len(rights))


def by_sort(readings: Sequence[Reading], half: str) -> Table:
    counts = [(sort, count_nodes(readings, sort)) for sort in SORTS]
    return _counted(f"extract nodes {half}", f"Nodes by type, {_called(half)}", counts)


def by_relationship(readings: Sequence[Reading], half: str) -> Table:
    wanted = {edge.types[0] for each in readings for edge in each.due_edges}
    found = {each.called(told) for each in readings for told in each.edges}
    counts = [(type, count_edges(readings, type)) for type in sorted(wanted | found)]
    return _counted(f"extract edges {half}", f"Edges by relationship, {_called(half)}", counts)


def _counted(name: str, title: str, counts: Sequence[tuple[str, Count]]) -> Table:
    table = Table(name, title, ("type", "found", "wrong", "due", "missing"))
    for type, count in counts:
        table.add(type, count.found, count.wrong, count.due, count.missing)
    return table


def targets(readings: Sequence[Reading], half: str) -> list[Target]:
    """As shares that should stay small, since a target is an upper bound."""
    return [
        Target(
            f"{what} found and wrong, {_called(half)}, %",
            100 - least,
            None if count.precision is None else 100 - count.precision,
        )
        for what, least, count in (
            ("nodes", LEAST_NODE_PRECISION, count_nodes(readings)),
            ("edges", LEAST_EDGE_PRECISION, count_edges(readings)),
        )
    ]


def mistakes(readings: Sequence[Reading]) -> Iterator[str]:
    for each in readings:
        yield each.conversation.id
        for node in each.wrong_nodes:
            also = f" = {', '.join(node.aliases)}" if node.aliases else ""
            yield f"    wrong node: {node.type} {node.subtype} {node.name!r}{also}"
        for gold in each.missing_nodes:
            yield f"    missing node: {gold.type} {'/'.join(sorted(gold.subtypes))} {gold.name!r}"
        names = [node.name for node in each.extracted.nodes]
        for told in each.wrong_edges:
            edge = each.edges[told][0]
            over = ", over" if told[3] else ""
            yield (
                f"    wrong edge: {names[edge.a]} > {names[edge.b]}: {edge.type}{over}"
                f" (passage {edge.passage})"
            )
        for missed in each.missing_edges:
            over = ", over" if missed.ends else ""
            yield f"    missing edge: {missed.a} > {missed.b}: {missed.types[0]}{over}"
