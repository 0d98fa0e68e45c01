"""What exploring, following and extracting came to, on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from commonplace.answers import as_data
from commonplace.book.extracting import Extracted
from commonplace.book.extracting_all import ExtractedOfAll
from commonplace.graph.artifacts import ArtifactPage, Produced, ShownArtifact
from commonplace.model.delta import shorten
from commonplace.recall.explore.explanation import Explanation
from commonplace.recall.explore.result import (
    ExploreResult,
    RelationshipHit,
    SemanticNodeHit,
    SourceHit,
)
from commonplace.recall.graph.traversing import Traversed
from commonplace.surfaces.cli.draw import SUSPICIOUS, drawn, id_line, plain, several

_CELL = 200  # characters


@drawn.register
def _explored(answer: ExploreResult) -> Any:
    semantic, episodic = answer.semantic, answer.episodic
    sections = [
        _section("people", map(_node, semantic.people)),
        _section("concepts", map(_node, semantic.concepts)),
        _section("things", map(_node, semantic.entities)),
        _section("relationships", _relationships(answer)),
        _section("sources", map(_source, episodic.sources)),
        _section("artifacts", (_titled(a.name, a.description, a) for a in episodic.artifacts)),
    ]
    beside = ", ".join(node.name for node in semantic.neighbors)
    shown = [line for section in sections for line in section]
    if not shown:
        return Text("Nothing is known about that.", "yellow")
    return Group(*shown, *([Text(f"beside them: {beside}", "dim")] if beside else []))


def _section(title: str, rows: Iterable[Text]) -> Sequence[Text]:
    found = [*rows]
    return [Text(title, "bold underline"), *found] if found else []


def _node(hit: SemanticNodeHit) -> Text:
    notes = "".join(f"\n    · {shorten(note)}" for note in hit.notes_snippets[:2])
    return _titled(hit.name, hit.description, hit).append(notes, "dim")


def _titled(name: str, told: str, hit: Any) -> Text:
    return Text.assemble(
        "  ",
        (name, "bold"),
        f"  {shorten(told)}",
        _warning(hit),
        _why(hit.explanation),
        _id(hit.entity_key),
    )


def _relationships(answer: ExploreResult) -> Iterator[Text]:
    semantic = answer.semantic
    hits = (*semantic.people, *semantic.concepts, *semantic.entities)
    names = {node.entity_key: node.name for node in semantic.neighbors}
    names |= {node.entity_key: node.name for node in hits}
    for hit in semantic.relationships:
        yield _relationship(hit, names)


def _relationship(hit: RelationshipHit, names: Mapping[str, str]) -> Text:
    first = names.get(hit.from_entity_key, hit.from_entity_key)
    other = names.get(hit.to_entity_key, hit.to_entity_key)
    ends = Text.assemble(
        "  ", (first, "bold"), (f" —{hit.relationship_type}→ ", "cyan"), (other, "bold")
    )
    return ends.append(f"  {shorten(hit.description)}").append_text(
        Text.assemble(_warning(hit), _why(hit.explanation), _id(hit.entity_key))
    )


def _source(hit: SourceHit) -> Text:
    of = (f"  {hit.started_at:%Y-%m-%d} [{hit.source_type}] ", "cyan")
    who = ", ".join(node.name for node in hit.mentioned_nodes)
    names = (f"\n    speaks of {shorten(who)}" if who else "", "dim")
    return Text.assemble(
        of, shorten(hit.summary), _warning(hit), _why(hit.explanation), names, _id(hit.entity_key)
    )


def _id(id: str) -> tuple[str, str]:
    return f"\n    {id}", "dim"


def _warning(hit: Any) -> tuple[str, str]:
    return (f"\n    ! {SUSPICIOUS}" if hit.suspicious else ""), "yellow"


def _why(explanation: Explanation | None) -> tuple[str, str]:
    if explanation is None:
        return "", "dim"
    parts = explanation.parts
    met = ", ".join(f"{match.by} {match.asked!r}".strip() for match in explanation.matches[:2])
    told = f"fits {parts.semantic:.2f} + recent {parts.time:.2f} + present {parts.salience:.2f}"
    return f"\n    {explanation.score:.2f} = {told}  {met}", "green"


# ——— following connections ———


@drawn.register
def _traversed(answer: Traversed) -> Any:
    if answer.mode == "cypher":
        return _rows(answer)
    if not answer.reached:
        return Text("Nothing hangs on it.", "yellow")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for column in ("score", "what", "by which way"):
        table.add_column(column, overflow="fold")
    for place in answer.reached:
        name = Text.assemble((place.name, "bold"), (f" [{place.node_type}]", "cyan"))
        way = Text.assemble(" ".join(place.path), (f"\n{place.entity_key}", "dim"))
        table.add_row(f"{place.score:.3f}", name, way)
    return table


def _rows(answer: Traversed) -> Any:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for column in answer.columns:
        table.add_column(column, overflow="fold")
    for row in answer.rows:
        table.add_row(*(Text(shorten(plain(as_data(value)), _CELL)) for value in row))
    told = several(len(answer.rows), "row") + (", and there are more" * answer.truncated)
    return Group(table, Text(told, "dim"))


# ——— extraction, and what agents made ———


@drawn.register
def _extracted(answer: Extracted) -> Any:
    return _made(answer, "")


@drawn.register
def _extracted_of_all(answer: ExtractedOfAll) -> Any:
    told = _made(answer, f" of {several(answer.users, 'user')}")
    if answer.failed:
        told.append(f"\n! of {several(answer.failed, 'user')} it has to wait", "yellow")
    return told


def _made(answer: Extracted | ExtractedOfAll, whose: str) -> Text:
    counts = (
        several(answer.nodes, "new node"),
        several(answer.edges, "relationship"),
        several(answer.notes, "note"),
        f"{answer.memories} memories" if answer.memories != 1 else "1 memory",
    )
    told = f"{several(answer.sources, 'source')}{whose} → {', '.join(counts)}"
    waits = f"; {answer.left} wait for another run" if answer.left else ""
    return Text.assemble(("✓ extracted ", "bold green"), told, waits)


@drawn.register
def _artifacts(answer: ArtifactPage) -> Any:
    if not answer.artifacts:
        return Text("Nothing was made for you yet.", "yellow")
    lines: list[Text] = []
    for each in answer.artifacts:
        of = (f"[{each.content_type}] ", "cyan")
        lines.append(Text.assemble(of, (each.name, "bold"), f"  {shorten(each.description)}"))
        lines.append(
            Text(f"  {each.created_at:%Y-%m-%d} · {each.created_by} · id {each.id}", "dim")
        )
    if answer.next is not None:
        lines.append(Text(f"more: --after {answer.next}", "dim"))
    return Group(*lines)


@drawn.register
def _artifact(answer: ShownArtifact) -> Any:
    each = answer.artifact
    about = ", ".join(node.name for node in answer.related_nodes)
    lines = [
        Text.assemble((f"[{each.content_type}] ", "cyan"), (each.name, "bold")),
        Text(f"{each.created_at:%Y-%m-%d} · {each.created_by}", "dim"),
        Text(plain(each.output)),
    ]
    return Group(*lines, *([Text(f"about {about}", "dim")] if about else []))


@drawn.register
def _produced(answer: Produced) -> Any:
    told = Text.assemble(("✓ kept ", "bold green"), (answer.artifact.name, "bold"))
    return Group(told, id_line(answer.id))
