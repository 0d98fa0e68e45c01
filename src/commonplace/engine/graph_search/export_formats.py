"""Graph export formats: DOT, GraphML, JSON. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from xml.sax.saxutils import escape, quoteattr

from commonplace.engine.graph_search.listing import (
    EdgeShown,
    NodeShown,
    present_edges,
    present_node,
)
from commonplace.model.graph.snapshot import GraphSnapshot
from commonplace.model.graph.types import NodeType, relationship_type
from commonplace.model.memory.lifecycle import NOW
from commonplace.model.parameters import GraphFormat

_SHAPES = {NodeType.PERSON: "ellipse", NodeType.CONCEPT: "note", NodeType.ENTITY: "box"}


def export_graph(snapshot: GraphSnapshot, format: GraphFormat, now: datetime, *, past: bool) -> str:
    nodes = [present_node(snapshot, node, now) for node in snapshot.nodes.values()]
    edges = [edge for edge in snapshot.edges.values() if past or edge.holds(NOW, now)]
    shown = present_edges(snapshot, edges, now)
    writer = {GraphFormat.DOT: _dot, GraphFormat.JSON: _json, GraphFormat.GRAPHML: _graphml}[format]
    return writer(sorted(nodes, key=_creation_order), sorted(shown, key=lambda e: e.id))


def _creation_order(node: NodeShown) -> tuple[datetime, bool, str]:
    """The owner's node is created with the first node and comes before it."""
    return node.created_at, not node.is_owner, node.id


def _dot(nodes: list[NodeShown], edges: list[EdgeShown]) -> str:
    lines = ["digraph memory {", "  node [fontname=Helvetica];", "  edge [fontname=Helvetica];"]
    for node in nodes:
        bold = ", style=bold" if node.is_owner else ""
        attributes = f"label={_quoted(node.name)}, shape={_SHAPES[node.node_type]}{bold}"
        lines.append(f"  {_quoted(node.id)} [{attributes}];")
    for edge in edges:
        over = ", style=dashed" if edge.valid_to else ""
        both = ", dir=none" if _is_mutual(edge) else ""
        ends = f"{_quoted(edge.from_entity_key)} -> {_quoted(edge.to_entity_key)}"
        lines.append(f"  {ends} [label={_quoted(edge.relationship_type)}{over}{both}];")
    return "\n".join([*lines, "}"]) + "\n"


def _is_mutual(edge: EdgeShown) -> bool:
    """Mutual relations, such as friend, are drawn without an arrow."""
    return relationship_type(edge.relationship_type).is_mutual


def _quoted(text: str) -> str:
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "")
    return f'"{plain}"'


def _json(nodes: list[NodeShown], edges: list[EdgeShown]) -> str:
    whole = {"nodes": list(map(asdict, nodes)), "edges": list(map(asdict, edges))}
    return json.dumps(whole, ensure_ascii=False, indent=2, default=_plain) + "\n"


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


_NODE_FIELDS = ("node_type", "type", "name", "description", "salience", "state")
_EDGE_FIELDS = (
    "relationship_kind",
    "relationship_type",
    "description",
    "attitude",
    "proximity",
    "valid_from",
    "valid_to",
)


def _graphml(nodes: list[NodeShown], edges: list[EdgeShown]) -> str:
    return "\n".join(_graphml_lines(nodes, edges)) + "\n"


def _graphml_lines(nodes: list[NodeShown], edges: list[EdgeShown]) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for kind, names in (("node", _NODE_FIELDS), ("edge", _EDGE_FIELDS)):
        for name in names:
            typed = "double" if name in ("salience", "attitude", "proximity") else "string"
            yield f'  <key id="{kind}.{name}" for="{kind}" attr.name="{name}" attr.type="{typed}"/>'
    yield '  <graph id="memory" edgedefault="directed">'
    for node in nodes:
        yield f"    <node id={quoteattr(node.id)}>{_data('node', node, _NODE_FIELDS)}</node>"
    for edge in edges:
        ends = f"source={quoteattr(edge.from_entity_key)} target={quoteattr(edge.to_entity_key)}"
        ends += ' directed="false"' if _is_mutual(edge) else ""
        yield f"    <edge id={quoteattr(edge.id)} {ends}>{_data('edge', edge, _EDGE_FIELDS)}</edge>"
    yield "  </graph>"
    yield "</graphml>"


def _data(kind: str, shown: NodeShown | EdgeShown, names: tuple[str, ...]) -> str:
    values = [(name, getattr(shown, name)) for name in names]
    return "".join(
        f'<data key="{kind}.{name}">{escape(_legal(_plain(value)))}</data>'
        for name, value in values
        if value is not None
    )


def _legal(text: str) -> str:
    """Drop characters that XML forbids: most control characters, surrogates, noncharacters."""
    return "".join(c for c in text if c in "\t\n\r" or _is_legal(ord(c)))


def _is_legal(code: int) -> bool:
    return code >= 0x20 and not 0xD800 <= code <= 0xDFFF and code not in (0xFFFE, 0xFFFF)
