"""No relationship is matched twice within one MATCH: Cypher says so, and the engine does not.

So whoever asks for the colleagues of Bob's colleagues does not get Bob. The next MATCH may well
match one again, and so may a shortest path, which is looked for by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from commonplace.errors import BadCypher
from commonplace.recall.cypher.tree import Path, RelationshipPattern
from commonplace.recall.cypher.values import quoted

MOST = 20  # relationships of one MATCH: each is compared with each

Place = tuple[int, int]  # which path, and which step of it
Patterns = dict[Place, RelationshipPattern]


def relationships(paths: Sequence[Path]) -> Patterns:
    """Those that are compared."""
    return {
        (at, step): one
        for at, path in enumerate(paths)
        if path.shortest is None
        for step, (one, _) in enumerate(path.steps)
    }


def rivals(met: Patterns) -> list[tuple[Place, Place]]:
    """Every two that might match the same relationship."""
    if len(met) > MOST:
        raise BadCypher(
            f"A MATCH has {len(met)} relationships; the limit is {MOST}.",
            remedy="Write it as several MATCH clauses.",
        )
    return [(a, b) for a, b in combinations(met, 2) if overlap(met[a], met[b])]


def overlap(one: RelationshipPattern, other: RelationshipPattern) -> bool:
    return not (one.types and other.types) or bool(set(one.types) & set(other.types))


def same(one: RelationshipPattern, other: RelationshipPattern) -> str:
    """By the engine's own numbers: it compares no lists of relationships of unlike types."""
    if one.hops and other.hops:
        return f"list_has_any({_numbers(one)}, {_numbers(other)})"
    if one.hops or other.hops:
        several, single = (one, other) if one.hops else (other, one)
        return f"list_contains({_numbers(several)}, {number(single)})"
    return f"{number(one)} = {number(other)}"


def number(one: RelationshipPattern) -> str:
    return f"id({quoted(_name(one))})"


def _numbers(one: RelationshipPattern) -> str:
    return f"properties(rels({quoted(_name(one))}), '_id')"


def _name(one: RelationshipPattern) -> str:
    assert one.variable is not None
    return one.variable
