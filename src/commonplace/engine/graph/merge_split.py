"""Merge two nodes into one, and split one into two.

A merged node keeps its id and its assertions; ``merged_into`` names the node that replaces it. So a
merge can be undone, and the old id still resolves.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from commonplace.engine.graph.names import name_key, spoken_key
from commonplace.engine.graph.unit_of_work import GraphUnitOfWork
from commonplace.engine.graph.user_assertions import NodeInput, create_node
from commonplace.errors import InvalidInput
from commonplace.model.graph.assertion import is_sensitive
from commonplace.model.graph.elements import Node
from commonplace.model.memory.memory import Sensitivity


def mark_merged(work: GraphUnitOfWork, keep: Node, other: Node) -> None:
    """Merge ``other`` into ``keep``."""
    if keep.id == other.id:
        raise InvalidInput("These two nodes are merged already.", field="other")
    if other.is_owner:
        raise InvalidInput(
            "The owner's node cannot be merged into another node.",
            remedy="Give the owner's node first.",
            field="other",
        )
    if keep.type is not other.type:
        raise InvalidInput(
            f"A {keep.type} and a {other.type} cannot be merged.",
            remedy="Give them the same node_type first: nodes update.",
            field="other",
        )
    work.load([keep.id, other.id])
    work.load_relations([keep.id, other.id])
    work.put(replace(other, merged_into=keep.id))


def mark_unmerged(work: GraphUnitOfWork, merged: Node) -> None:
    work.load([merged.id])
    work.load_relations([merged.id])
    root = work.node(merged.merged_into or "")
    work.put(replace(merged, merged_into=None))
    if root is not None:
        work.put(root)  # so that it is recomputed without the other


def split_assertions(
    work: GraphUnitOfWork,
    node: Node,
    name: str,
    *,
    names: Collection[str],
    sources: Collection[str],
) -> Node:
    """Move the assertions with these names, or of these sources, to a new node."""
    work.load([node.id])
    work.load_relations([node.id])
    keys = set(map(name_key, names))
    assertions = [t for t in work.node_assertions.values() if work.root(t.node) == node.id]
    moved = [
        t for t in assertions if spoken_key(t) in keys or (t.source and t.source.id in sources)
    ]
    if not moved:
        raise InvalidInput(
            "No assertion about this node has these names or sources.",
            remedy="Show the node: it lists its names and sources. To remove an alias, use nodes "
            "update with not_aliases.",
            field="names",
        )
    if all(t in moved or t.is_mention for t in assertions):
        raise InvalidInput(
            "Nothing would be left of the node: these are all its assertions.",
            remedy="Give fewer names or sources; to rename a node, update it.",
            field="names",
        )
    is_sensitive_only = all(map(is_sensitive, moved))
    node_input = NodeInput(
        type=node.type,
        subtype=node.subtype,
        name=name,
        confidence=node.confidence,
        sensitivity=Sensitivity.HIGH if is_sensitive_only else Sensitivity.NORMAL,
    )
    other = create_node(work, node_input)
    for assertion in moved:
        work.put_assertion(replace(assertion, node=other.id))
    _move_relations_and_notes(work, node, other, {t.source.id for t in moved if t.source})
    work.put(node)
    return other


def _move_relations_and_notes(
    work: GraphUnitOfWork, node: Node, other: Node, sources: set[str]
) -> None:
    """Move relations and notes of sources that mention only the new node."""
    remaining = [
        t for t in work.node_assertions.values() if t.source and work.root(t.node) == node.id
    ]
    only_other = sources - {t.source.id for t in remaining if t.source}
    for assertion in list(work.edge_assertions.values()):
        if assertion.source and assertion.source.id in only_other:
            a, b = (
                other.id if work.root(end) == node.id else end for end in (assertion.a, assertion.b)
            )
            work.put_relation(replace(assertion, a=a, b=b))
    for note in list(work.notes.values()):
        if note.about == node.id and note.source and note.source.id in only_other:
            work.put_note(replace(note, about=other.id))
