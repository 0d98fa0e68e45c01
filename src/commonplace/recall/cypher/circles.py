"""Patterns that lead back to a node where they have been: (a)-->(b)-->(c)<--(a).

The engine loses rows of them, or crashes: they are not asked for as they stand.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from commonplace.recall.cypher.tree import Path


def has_circle(paths: Iterable[Path]) -> bool:
    """Nodes that hang together are in one group: a step within a group closes a circle."""
    groups: dict[str, set[str]] = {}
    for at, path in enumerate(paths):
        nodes = [path.start, *(node for _, node in path.steps)]
        names = [
            node.variable.lower() if node.variable else f"{at} {step}"
            for step, node in enumerate(nodes)
        ]
        for here, there in pairwise(names):
            one, other = (groups.setdefault(name, {name}) for name in (here, there))
            if one is other:
                return True
            one |= other
            groups.update(dict.fromkeys(other, one))
    return False
