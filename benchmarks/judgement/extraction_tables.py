"""Tables and targets of the extraction benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from benchmarks.judgement.extraction_score import (
    ExtractionResult,
    PrecisionCount,
    count_edges,
    count_nodes,
    percent,
)
from benchmarks.judgement.extraction_stored import (
    TURNS,
    WORDS,
    StoredExtraction,
    tokens_per_turns,
    tokens_per_words,
    usage_total,
    with_evidence,
)
from benchmarks.judgement.labels import HALVES
from benchmarks.report import Table, Target
from commonplace.language.extract.values import ENTITY_TYPES
from commonplace.model.graph.types import NodeType

LEAST_NODE_PRECISION = LEAST_NODE_RECALL = 90.0
LEAST_EDGE_PRECISION = LEAST_EDGE_RECALL = 80.0
_TOTALS = (
    "talks",
    "nodes",
    "node precision",
    "node recall",
    "edges",
    "edge precision",
    "edge recall",
    "dates",
    "attitudes",
)
_DATES_AND_ATTITUDES = (
    "Dates and attitudes: of the edges that were found and have one, how many have it."
)
SORTS = (str(NodeType.PERSON), str(NodeType.CONCEPT), *ENTITY_TYPES)


def by_language(readings: Sequence[ExtractionResult], half: str) -> Table:
    table = Table(
        f"extract {half}",
        f"What is found in conversations, {_set_title(half)}, %",
        ("language", *_TOTALS),
        notes=[
            f"Wanted: node precision ≥ {LEAST_NODE_PRECISION:.0f}, "
            f"edge precision ≥ {LEAST_EDGE_PRECISION:.0f}.",
            _DATES_AND_ATTITUDES,
        ],
    )
    languages = dict.fromkeys(each.conversation.language for each in readings)
    for language in languages:
        members = [each for each in readings if each.conversation.language == language]
        table.add(language, *_totals(members))
    table.add("all", *_totals(readings))
    return table


def _set_title(part: str) -> str:
    return f"{part} half" if part in HALVES else f"{part} of them, written later"


def _totals(readings: Sequence[ExtractionResult]) -> Iterator[int | float | None]:
    yield len(readings)
    for count in (count_nodes(readings), count_edges(readings)):
        yield from (count.found, count.precision, count.recall)
    for rights in (
        [right for each in readings for right in each.dates_right],
        [right for each in readings for right in each.attitudes_right],
    ):
        yield percent(sum(rights), len(rights))


def by_sort(readings: Sequence[ExtractionResult], half: str) -> Table:
    counts = [(sort, count_nodes(readings, sort)) for sort in SORTS]
    return _counted(f"extract nodes {half}", f"Nodes by type, {_set_title(half)}", counts)


def by_relationship(readings: Sequence[ExtractionResult], half: str) -> Table:
    wanted = {edge.types[0] for each in readings for edge in each.due_edges}
    found = {each.called(told) for each in readings for told in each.edges}
    counts = [(type, count_edges(readings, type)) for type in sorted(wanted | found)]
    return _counted(f"extract edges {half}", f"Edges by relationship, {_set_title(half)}", counts)


def _counted(name: str, title: str, counts: Sequence[tuple[str, PrecisionCount]]) -> Table:
    table = Table(name, title, ("type", "found", "wrong", "due", "missing"))
    for type, count in counts:
        table.add(type, count.found, count.wrong, count.due, count.missing)
    return table


def targets(readings: Sequence[ExtractionResult], half: str) -> list[Target]:
    """As shares that should stay small, since a target is an upper bound."""
    return [
        Target(
            f"{what} found and wrong, {_set_title(half)}, %",
            100 - least,
            None if count.precision is None else 100 - count.precision,
        )
        for what, least, count in (
            ("nodes", LEAST_NODE_PRECISION, count_nodes(readings)),
            ("edges", LEAST_EDGE_PRECISION, count_edges(readings)),
        )
    ]


def mistakes(readings: Sequence[ExtractionResult]) -> Iterator[str]:
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
            where = f" (passage {edge.passage})" if edge.passage else ""
            yield f"    wrong edge: {names[edge.a]} > {names[edge.b]}: {edge.type}{over}{where}"
        for missed in each.missing_edges:
            over = ", over" if missed.ends else ""
            yield f"    missing edge: {missed.a} > {missed.b}: {missed.types[0]}{over}"


# ——— through a store, with a language model ———


def by_reader(readers: Mapping[str, Sequence[StoredExtraction]], half: str) -> Table:
    """``readers``: what was found by whom."""
    table = Table(
        f"extract stored {half}",
        f"What is found through a store, {_set_title(half)}, %",
        ("read by", *_TOTALS),
        notes=[
            f"Wanted: nodes ≥ {LEAST_NODE_PRECISION:.0f} / ≥ {LEAST_NODE_RECALL:.0f}, "
            f"edges ≥ {LEAST_EDGE_PRECISION:.0f} / ≥ {LEAST_EDGE_RECALL:.0f} (precision / recall).",
            _DATES_AND_ATTITUDES,
        ],
    )
    for reader, read in readers.items():
        table.add(reader, *_totals([each.result for each in read]))
    return table


def by_cost(readers: Mapping[str, Sequence[StoredExtraction]], half: str) -> Table:
    table = Table(
        f"extract cost {half}",
        f"Memories and tokens, {_set_title(half)}",
        (
            "read by",
            "memories",
            "with evidence, %",
            "calls",
            "failed",
            "findings kept",
            "dropped",
            f"tokens for {WORDS:,} words",
            f"tokens for {TURNS} turns of chat",
        ),
        notes=[
            "Tokens are those asked and answered, summaries included; words, of what is no chat."
        ],
    )
    for reader, read in readers.items():
        table.add(
            reader,
            sum(len(each.memories) for each in read),
            with_evidence(read),
            *(usage_total(read, field) for field in ("calls", "failed", "kept", "dropped")),
            tokens_per_words(read),
            tokens_per_turns(read),
        )
    return table


def stored_targets(readings: Sequence[ExtractionResult], half: str) -> list[Target]:
    return targets(readings, half) + [
        Target(
            f"{what} missing, {_set_title(half)}, %",
            100 - least,
            None if count.recall is None else 100 - count.recall,
        )
        for what, least, count in (
            ("nodes", LEAST_NODE_RECALL, count_nodes(readings)),
            ("edges", LEAST_EDGE_RECALL, count_edges(readings)),
        )
    ]
