"""A MATCH that names nodes again which are known already: `MATCH (a) … MATCH (a:Person), (b)`.

Labels that are told of a known node are conditions. The engine takes them for others that the node
may have as well: (a:Person) … (a:Entity) would be both people and entities. And a known node that
stands for itself is no pattern, since the engine fails on it beside others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from commonplace.recall.cypher.conditions import all_of, properties_of
from commonplace.recall.cypher.tree import (
    Expression,
    HasLabel,
    IsNull,
    Match,
    NodePattern,
    Path,
    Variable,
)


def told_once(match: Match, known: Iterable[str]) -> Match:
    """The same, in other words. It may have no path left: then all that it names is known."""
    before = {name.lower() for name in known}
    seen = set(before)
    asked: list[Expression] = []

    def node(one: NodePattern) -> NodePattern:
        name = one.variable
        if name is None:
            return one
        again = name.lower() in seen
        seen.add(name.lower())
        if not again or not one.labels:
            return one
        asked.append(HasLabel(Variable(name), one.labels, any_of=True))
        return replace(one, labels=())

    paths: list[Path] = []
    for path in match.paths:
        start = node(path.start)
        told = replace(path, start=start, steps=tuple((way, node(end)) for way, end in path.steps))
        if _is_known(told, before) and not match.optional:
            asked += _of_known(told.start)
        else:
            paths.append(told)
    if match.where is not None:
        asked.insert(0, match.where)
    return replace(match, paths=tuple(paths), where=all_of(asked))


def _is_known(path: Path, known: set[str]) -> bool:
    alone = path.variable is None and not path.steps
    return alone and path.start.variable is not None and path.start.variable.lower() in known


def _of_known(node: NodePattern) -> list[Expression]:
    """It is matched where there is one: after an OPTIONAL MATCH there may be none."""
    assert node.variable is not None
    return [IsNull(Variable(node.variable), negated=True), *properties_of(node)]
