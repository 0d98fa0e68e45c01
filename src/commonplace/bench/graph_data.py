"""Graphs to measure with: one made up, of any size, and one of the triples of a published set."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from commonplace.bench.data import Writer
from commonplace.bench.quality.values import Original, read_json
from commonplace.model.graph.edge import Edge
from commonplace.model.graph.node import Node
from commonplace.model.graph.picture import Mention, Picture
from commonplace.model.graph.words import NodeType, kind_between
from commonplace.model.source import ContentType, Source, SourceType
from commonplace.recall.explore.spelled import folded

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
_SEED = 7
_TYPES = ("friend", "works-at", "part-of", "uses", "located-in", "colleague")

Triple = tuple[str, str, str]


def made_up(nodes: int, edges: int, sources: int, mentions: int) -> Picture:
    chance = np.random.default_rng(_SEED)
    kinds = tuple(NodeType)
    known = [
        _node(number, name.title(), kinds[number % 3])
        for number, name in enumerate(Writer(_SEED).names(nodes))
    ]
    heads = (nodes * chance.random(edges) ** 2).astype(int).tolist()  # a few have very many
    tails = chance.integers(0, nodes, edges).tolist()
    days = chance.integers(0, 700, edges).tolist()
    ways = [
        _edge(number, known[a], known[b], _TYPES[number % len(_TYPES)], days=day)
        for number, (a, b, day) in enumerate(zip(heads, tails, days, strict=True))
    ]
    told = [_source(f"source:{number:06}") for number in range(sources)]
    pairs = zip(
        chance.integers(0, sources, mentions).tolist(),
        chance.integers(0, nodes, mentions).tolist(),
        strict=True,
    )
    return Picture(
        revision=1,
        nodes={node.id: node for node in known},
        edges={edge.id: edge for edge in ways},
        sources={source.id: source for source in told},
        mentions=tuple(Mention(told[s].id, known[n].id, NOW) for s, n in pairs),
    )


def triples_file(data: Path, owner: str) -> Path | None:
    """Beside a corpus of several hops, as HippoRAG publishes them."""
    return next(iter(sorted((data / "multihop").glob(f"openie_{owner}_*.json"))), None)


def of_triples(file: Path, originals: Mapping[str, Original]) -> Picture:
    """Entities are nodes, triples are edges, and a paragraph mentions what it was read to speak
    of. ``originals``: by the ids of the sources that they became."""
    places = {_key(each.title, each.units[0].text): id for id, each in originals.items()}
    nodes: dict[str, Node] = {}
    edges: list[Edge] = []
    mentions: dict[tuple[str, str], None] = {}
    for entry in read_json(file)["docs"]:
        source = places.get(_key(entry["title"], entry["text"]))
        if source is None:
            continue
        for name in (*entry["extracted_entities"], *_ends(entry)):
            mentions[source, _known(nodes, name).id] = None
        for a, type, b in _triples(entry):
            one, other = _known(nodes, a), _known(nodes, b)
            if one is not other:
                edges.append(_edge(len(edges), one, other, type, f"{a} {type} {b}"))
    return Picture(
        revision=1,
        nodes={node.id: node for node in nodes.values()},
        edges={edge.id: edge for edge in edges},
        sources={id: _source(id) for id in originals},
        mentions=tuple(Mention(source, node, NOW) for source, node in mentions),
    )


def _key(title: str, text: str) -> tuple[str, str]:
    return title, re.sub(r"\s+", "", text)


def _triples(entry: Mapping[str, Any]) -> Iterator[Triple]:
    for triple in entry["extracted_triples"]:
        if len(triple) == 3:
            a, type, b = map(str, triple)
            yield a, type, b


def _ends(entry: Mapping[str, Any]) -> Sequence[str]:
    return [end for a, _, b in _triples(entry) for end in (a, b)]


def _known(nodes: dict[str, Node], name: str) -> Node:
    key = folded(name)
    if key not in nodes:
        nodes[key] = _node(len(nodes), name, NodeType.ENTITY)
    return nodes[key]


def _node(number: int, name: str, type: NodeType) -> Node:
    return Node(
        id=f"node:{number:06}",
        user_id="bench",
        type=type,
        name=name,
        key=folded(name),
        created_by="bench",
        created_at=NOW,
        updated_at=NOW,
    )


def _edge(number: int, a: Node, b: Node, type: str, description: str = "", days: int = 0) -> Edge:
    since = NOW - timedelta(days=days)
    return Edge(
        id=f"edge:{number:06}",
        user_id="bench",
        a=a.id,
        b=b.id,
        kind=kind_between(a.type, b.type),
        type=type,
        description=description or f"{a.name} and {b.name} since {since:%B %Y}.",
        valid_from=since,
        recorded_at=since,
        recorded_by="bench",
        created_at=since,
        updated_at=since,
    )


def _source(id: str) -> Source:
    return Source(
        id=id,
        user_id="bench",
        origin="file",
        external_id=id,
        source_type=SourceType.TEXT_IMPORT,
        content_type=ContentType.TEXT_NOTE,
        created_at=NOW,
        updated_at=NOW,
    )
