"""The graph on a terminal: who and what is known, one node as a tree, and what was said of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from commonplace.graph.saying import MergedNodes, Noted, Related, SaidNode, SplitNode
from commonplace.model.delta import shorten
from commonplace.model.graph.node import Node
from commonplace.recall.graph.contributions import Contribution
from commonplace.recall.graph.nodes import EdgePage, EdgeShown, NodePage, NodeShown, WholeNode
from commonplace.surfaces.cli.draw import as_it_is, drawn, id_line, several

WHOLE_ID = len("node:") + 36


@as_it_is.register
def _text(answer: str) -> str:
    """A graph for another program, or the schema of queries."""
    return answer.rstrip("\n")


@drawn.register
def _nodes(answer: NodePage) -> Any:
    if not answer.nodes:
        return Text("Nobody and nothing of the kind is known yet.", "yellow")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for column in ("name", "what is known", "seen", "state"):
        width = WHOLE_ID if column == "what is known" else None  # so that it can be copied
        table.add_column(column, overflow="fold", min_width=width)
    for node in answer.nodes:
        told = Text.assemble(shorten(node.description), (f"\n{node.id}", "dim"))
        seen = several(node.source_count, "source")
        table.add_row(_name(node), told, seen, Text(str(node.state), "dim"))
    return Group(table, *_more(answer.next))


def _name(node: NodeShown) -> Text:
    of = (f" [{node.type or node.node_type}]", "cyan")
    also = (f"\nalso {', '.join(node.aliases)}", "dim") if node.aliases else ""
    return Text.assemble((node.name, "bold"), " (you)" if node.is_owner else "", of, also)


@drawn.register
def _whole_node(answer: WholeNode) -> Any:
    node = answer.node
    tree = Tree(_name(node), guide_style="dim")
    if node.description:
        tree.add(Text(node.description, "italic"))
    if node.addresses:
        tree.add(Text(", ".join(node.addresses)))
    _branch(tree, "relationships", (_edge_from(node.id, edge) for edge in answer.edges))
    _branch(tree, "before, or to come", (_edge_from(node.id, edge) for edge in answer.others))
    _branch(tree, "notes", (_note(each.content, each.added_by) for each in answer.notes))
    _branch(
        tree,
        "sources",
        (
            Text.assemble((f"{s.said_at:%Y-%m-%d} ", "dim"), shorten(s.title or s.summary))
            for s in answer.sources
        ),
    )
    tree.add(Text(f"{node.state} · salience {node.salience:.2f} · id {node.id}", "dim"))
    return tree


def _branch(tree: Tree, title: str, leaves: Iterable[Text]) -> None:
    branch = [*leaves]
    if branch:
        grown = tree.add(Text(title, "bold"))
        for leaf in branch:
            grown.add(leaf)


def _note(content: str, by: str) -> Text:
    return Text.assemble(shorten(content, 200), (f"  {by}", "dim"))


def _edge_from(id: str, edge: EdgeShown) -> Text:
    """As it reads from one of its ends."""
    is_first = edge.from_entity_key == id
    arrow = f"—{edge.relationship_type}→ " if is_first else f"←{edge.relationship_type}— "
    other = edge.to_name if is_first else edge.from_name
    return Text.assemble((arrow, "cyan"), (other, "bold"), _particulars(edge))


def _particulars(edge: EdgeShown) -> Text:
    words = [edge.attitude_word, edge.proximity_word]
    told = f"  {', '.join(words)} ·{_when(edge.valid_from, edge.valid_to)}"
    said = f"  {shorten(edge.description)}" if edge.description else ""
    return Text.assemble((told, "dim"), said)


def _when(start: datetime, end: datetime | None) -> str:
    """Of what was over when it was told ("I used to live there") only the end is known."""
    until = f" until {end:%Y-%m-%d}" if end else ""
    return until if end and end <= start else f" since {start:%Y-%m-%d}{until}"


@drawn.register
def _edges(answer: EdgePage) -> Any:
    if not answer.edges:
        return Text("No relationships are known here.", "yellow")
    lines: list[Text] = []
    for edge in answer.edges:
        ends = Text.assemble(
            (edge.from_name, "bold"),
            (f" —{edge.relationship_type}→ ", "cyan"),
            (edge.to_name, "bold"),
        )
        lines += [ends.append_text(_particulars(edge)), id_line(edge.id)]
    return Group(*lines, *_more(answer.next))


def _more(next: str | None) -> Sequence[Text]:
    return () if next is None else (Text(f"more: --after {next}", "dim"),)


# ——— what was said ———


@drawn.register
def _said(answer: SaidNode) -> Any:
    word = "✓ in the graph " if answer.is_new else "↑ told anew "
    return Group(Text.assemble((word, "bold green"), _named(answer.node)), id_line(answer.id))


def _named(node: Node) -> Text:
    return Text.assemble((node.name, "bold"), (f" [{node.subtype or node.type}]", "cyan"))


@drawn.register
def _related(answer: Related) -> Any:
    edge = answer.edge
    word = "✓ related " if answer.is_new else "↑ told anew "
    when = _when(edge.valid_from, edge.valid_to)
    lines = [Text.assemble((word, "bold green"), edge.type, when), id_line(answer.id)]
    lines += [Text(f"  over from then on: {id}", "dim") for id in answer.closed]
    return Group(*lines)


@drawn.register
def _noted(answer: Noted) -> Any:
    ends = answer.note.expires_at
    until = f"until {ends:%Y-%m-%d}" if ends else "forever"
    told = Text.assemble(("✓ noted ", "bold green"), until, (f"  on {answer.note.about}", "dim"))
    return Group(told, id_line(answer.id))


@drawn.register
def _merged(answer: MergedNodes) -> Any:
    told = Text.assemble(("✓ one from now on: ", "bold green"), _named(answer.node))
    undo = [Text(f"  undo: split {id}", "dim") for id in answer.merged]
    return Group(told, id_line(answer.id), *undo)


@drawn.register
def _split(answer: SplitNode) -> Any:
    told = Text.assemble(
        ("✓ two: ", "bold green"), _named(answer.node), " and ", _named(answer.rest)
    )
    return Group(told, id_line(answer.id), id_line(answer.rest.id))


@drawn.register
def _contribution(each: Contribution) -> Any:
    at = (f"{each.at:%Y-%m-%d %H:%M}  ", "dim")
    what = (f"{each.what:<5}", "cyan")
    return Text.assemble(at, what, shorten(each.text), (f"  {each.by}  {each.about}", "dim"))
