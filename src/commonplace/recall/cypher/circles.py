"""Patterns that lead back to a node where they have been: (a)-->(b)-->(c)<--(a).

The engine loses rows of them, or crashes: they are not asked for as they stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from commonplace.recall.cypher.repeats import Place
from commonplace.recall.cypher.tree import Call, Expression, Joined, NodePattern, Path, Variable


def has_circle(paths: Iterable[Path]) -> bool:
    return any(True for _ in _closing(paths))


def opened(
    paths: Sequence[Path], unnamed: Iterator[str]
) -> tuple[Sequence[Path], list[Expression]]:
    """Each circle ends at a node of another name, and on condition that it is the same one."""
    same: list[Expression] = []

    def other(node: NodePattern) -> NodePattern:
        if node.variable is None:
            return node
        name = next(unnamed)
        same.append(Joined(_key(node.variable), "=", _key(name)))
        return replace(node, variable=name)

    closing = set(_closing(paths))
    told = [
        replace(
            path,
            steps=tuple(
                (way, other(node) if (at, step) in closing else node)
                for step, (way, node) in enumerate(path.steps)
            ),
        )
        for at, path in enumerate(paths)
    ]
    return told, same


def _closing(paths: Iterable[Path]) -> Iterator[Place]:
    """Nodes that hang together are in one group: a step within a group closes a circle. Shortest
    paths are looked for by themselves."""
    groups: dict[str, set[str]] = {}
    for at, path in enumerate(paths):
        names = () if path.shortest else _names(at, path)
        for step, (here, there) in enumerate(pairwise(names)):
            one, other = (groups.setdefault(name, {name}) for name in (here, there))
            if one is not other:
                one |= other
                groups.update(dict.fromkeys(other, one))
            elif here != there:
                yield at, step


def _names(at: int, path: Path) -> Iterator[str]:
    """What has none is a node of its own."""
    for step, node in enumerate((path.start, *(node for _, node in path.steps))):
        yield node.variable.lower() if node.variable else f"{at} {step}"


def _key(name: str) -> Expression:
    return Call("id", (Variable(name),))
