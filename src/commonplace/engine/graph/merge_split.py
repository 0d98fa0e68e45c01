"""Merge two nodes into one, and split one into two.

A node that is merged keeps its id and what was told of it; another one speaks for it. So a merge
can be undone, and whoever knows the old id finds the new one.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from commonplace.engine.graph.names import name_key
from commonplace.engine.graph.unit_of_work import GraphUnitOfWork
from commonplace.engine.graph.user_assertions import NodeInput, create_node
from commonplace.errors import InvalidInput
from commonplace.model.graph.assertion import is_sensitive
from commonplace.model.graph.elements import Node
from commonplace.model.memory.memory import Sensitivity


def mark_merged(work: GraphUnitOfWork, keep: Node, other: Node) -> None:
    """From now on ``keep`` speaks for ``other``."""
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
    """It speaks for itself again."""
    work.load([merged.id])
    work.load_relations([merged.id])
    keeper = work.node(merged.merged_into or "")
    work.put(replace(merged, merged_into=None))
    if keeper is not None:
        work.put(keeper)  # so that it is folded without the other


def split_assertions(
    work: GraphUnitOfWork,
    node: Node,
    name: str,
    *,
    names: Collection[str],
    sources: Collection[str],
) -> Node:
    """What was told of ``node`` under these names, or by these sources, becomes another node's."""
    work.load([node.id])
    work.load_relations([node.id])
    keys = set(map(name_key, names))
    mine = [t for t in work.told.values() if work.root(t.node) == node.id]
    moved = [t for t in mine if t.key in keys or (t.source and t.source.id in sources)]
    if not moved:
        raise InvalidInput(
            "No assertion about this node has these names or sources.",
            remedy="Look at the node: it lists its names and sources. An alias that it only has "
            "beside others is taken away with nodes update and not_aliases.",
            field="names",
        )
    if len(moved) == len(mine):
        raise InvalidInput(
            "Nothing would be left of the node: these are all its assertions.",
            remedy="Give fewer names or sources; to rename a node, update it.",
            field="names",
        )
    guarded = all(map(is_sensitive, moved))
    word = NodeInput(
        type=node.type,
        subtype=node.subtype,
        name=name,
        confidence=node.confidence,
        sensitivity=Sensitivity.HIGH if guarded else Sensitivity.NORMAL,
    )
    other = create_node(work, word)
    for assertion in moved:
        work.tell(replace(assertion, node=other.id))
    _move_relations_and_notes(work, node, other, {t.source.id for t in moved if t.source})
    work.put(node)
    return other


def _move_relations_and_notes(
    work: GraphUnitOfWork, node: Node, other: Node, sources: set[str]
) -> None:
    """Relations and notes of the sources that mean only the other one."""
    told = [t for t in work.told.values() if t.source and work.root(t.node) == node.id]
    only_other = sources - {t.source.id for t in told if t.source}
    for assertion in list(work.related.values()):
        if assertion.source and assertion.source.id in only_other:
            a, b = (
                other.id if work.root(end) == node.id else end for end in (assertion.a, assertion.b)
            )
            work.relate(replace(assertion, a=a, b=b))
    for note in list(work.notes.values()):
        if note.about == node.id and note.source and note.source.id in only_other:
            work.note(replace(note, about=other.id))
