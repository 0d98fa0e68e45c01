"""Mentions: a source names nodes that the reader has already, and says nothing of them.

A mention is an assertion without a key: it counts in the node's sources and days, and is hidden and
erased with its source. It makes no node, keeps none, and gives no name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import replace

from commonplace.engine.graph.names import (
    NameIndex,
    ambiguous_first_names,
    name_key,
    resolve_mention,
    spoken_key,
)
from commonplace.engine.graph.unit_of_work import GraphUnitOfWork
from commonplace.language.extract.values import FoundNode, SourceExtraction
from commonplace.model.graph.assertion import CitedSource, EdgeAssertion, NodeAssertion, Note
from commonplace.model.graph.types import NodeType

ReplacedCheck = Callable[[NodeAssertion | EdgeAssertion | Note], bool]


def assert_mentions(
    work: GraphUnitOfWork,
    known: NameIndex,
    cited: CitedSource,
    found: SourceExtraction,
    previous: Sequence[NodeAssertion],
    kept: Set[str],
    replaces: ReplacedCheck,
) -> set[str]:
    """Assert the nodes that the source only names; returns the ids of these assertions. ``known``:
    without the owner. ``previous``: what the source asserted of nodes before. ``kept``: the ids of
    what it asserts now."""
    named = dict(_named_nodes(work, known, found, previous))
    work.load_nodes(named)
    asserted = {
        work.root(each.node)
        for each in work.node_assertions.values()
        if each.source is not None and each.source.id == cited.id
        if each.id in kept or not replaces(each)
    }
    ids: set[str] = set()
    for id, one in named.items():
        if (root := work.root(id)) not in asserted:
            asserted.add(root)
            ids.add(_assert_mention(work, cited, one, id, previous))
    return ids


def _named_nodes(
    work: GraphUnitOfWork,
    known: NameIndex,
    found: SourceExtraction,
    previous: Sequence[NodeAssertion],
) -> Iterator[tuple[str, FoundNode]]:
    people = [n.name for n in (*found.nodes, *found.in_passing) if n.type is NodeType.PERSON]
    unclear = ambiguous_first_names(people)
    for one in found.in_passing:
        if name_key(one.name) in unclear:
            continue
        id = _meant_before(work, one, previous) or resolve_mention(
            known, one.type, one.name, one.subtype, one.addresses
        )
        if id is not None:
            yield id, one


def _meant_before(
    work: GraphUnitOfWork, found: FoundNode, previous: Sequence[NodeAssertion]
) -> str | None:
    """The node that the source meant by this name before: merges and splits since then stay."""
    key = name_key(found.name)
    same = (each for each in previous if each.type is found.type and spoken_key(each) == key)
    nodes = {each.node for each in same if _is_of_another(work, each.node)}
    return nodes.pop() if len(nodes) == 1 else None


def _is_of_another(work: GraphUnitOfWork, id: str) -> bool:
    """Whether the node is there, and not the owner's."""
    node = work.node(work.root(id))
    return node is not None and not node.is_owner


def _assert_mention(
    work: GraphUnitOfWork,
    cited: CitedSource,
    found: FoundNode,
    node: str,
    previous: Sequence[NodeAssertion],
) -> str:
    assertion = NodeAssertion(
        id="",
        node=node,
        source=replace(cited, passage=found.passages[0]),
        by=work.by,
        recorded_at=work.at,
        type=found.type,
        subtype=found.subtype,
        name=found.name,
        key="",
        confidence=found.confidence,
    )
    for known in previous:
        same = replace(assertion, id=known.id, node=known.node, recorded_at=known.recorded_at)
        if same == known and work.root(known.node) == work.root(node):
            return known.id
    assertion = replace(assertion, id=work.engine.new_id())
    work.put_assertion(assertion)
    return assertion.id
