"""Patterns made up by chance, and what they match by openCypher's own rules: within one MATCH no
relationship twice, and every condition holds. A reference in plain Python, to hold the engine to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from commonplace.model.graph.elements import Edge, Node
from commonplace.model.graph.snapshot import GraphSnapshot
from support.small_graph import CONCEPT, ENTITY, PERSON, edge, node, small_graph

TYPES = ("has_relationship_with", "engages_with", "associated_with", "relates_to", "connected_to")


def tangle(chance: Random, nodes: int = 9, edges: int = 30) -> GraphSnapshot:
    """A few nodes of all types, with very many relationships between them."""
    kinds = (PERSON, PERSON, CONCEPT, ENTITY)
    known = [node(str(each), kinds[each % 4], f"N{each}") for each in range(nodes)]
    ways = [
        edge(str(each), *_pair(chance, known), "knows", attitude=chance.randint(1, 5))
        for each in range(edges)
    ]
    return small_graph(
        nodes={each.id: each for each in known},
        edges={each.id: each for each in ways},
        notes={},
        mentions=(),
        sources={},
        artifacts={},
        teams={},
    )


def _pair(chance: Random, known: Sequence[Node]) -> list[Node]:
    """In the direction in which their types are told: people first, entities last."""
    return sorted(chance.sample(known, 2), key=lambda one: _ORDER.index(one.type))


_ORDER = (PERSON, CONCEPT, ENTITY)


@dataclass(frozen=True)
class Step:
    types: tuple[str, ...]
    arrow: str
    hops: tuple[int, int] | None
    least_attitude: int | None  # of a step of one hop alone
    variable: str

    def spelt(self) -> str:
        types = f":{'|'.join(self.types)}" if self.types else ""
        hops = f"*{self.hops[0]}..{self.hops[1]}" if self.hops else ""
        left, right = ("<-" if self.arrow == "<-" else "-"), ("->" if self.arrow == "->" else "-")
        return f"{left}[{self.variable}{types}{hops}]{right}"


@dataclass(frozen=True)
class Pattern:
    """Some paths that begin at one node."""

    paths: tuple[tuple[Step, ...], ...]
    letter: str  # with which the names of its relationships begin
    start: str

    def spelt(self) -> str:
        return ", ".join(
            f"({self.start})"
            + "".join(
                f"{step.spelt()}({self._end(at, number)})" for number, step in enumerate(path)
            )
            for at, path in enumerate(self.paths)
        )

    def conditions(self) -> list[str]:
        steps = [step for path in self.paths for step in path]
        return [
            f"{step.variable}.attitude >= {step.least_attitude}"
            for step in steps
            if step.least_attitude is not None
        ]

    def ends(self) -> list[str]:
        return [self._end(at, len(path) - 1) for at, path in enumerate(self.paths)]

    def _end(self, path: int, step: int) -> str:
        return f"{self.letter}_{path}_{step}"


def made_up(
    chance: Random, letter: str = "r", start: str = "s", several_hops: float = 0.15
) -> Pattern:
    lengths = chance.choice(((2,), (3,), (3,), (1, 1), (2, 1)))
    numbers = iter(range(9))
    return Pattern(
        tuple(
            tuple(_step(chance, f"{letter}{next(numbers)}", several_hops) for _ in range(length))
            for length in lengths
        ),
        letter,
        start,
    )


def _step(chance: Random, variable: str, several_hops: float) -> Step:
    types = tuple(chance.sample(TYPES, chance.randint(1, 3))) if chance.random() < 0.2 else ()
    arrow = chance.choice(("-", "-", "-", "->", "<-"))
    hops = chance.choice(((1, 2), (2, 2))) if chance.random() < several_hops else None
    attitude = chance.randint(2, 4) if hops is None and chance.random() < 0.5 else None
    named = attitude is not None or chance.random() < 0.5
    return Step(types, arrow, hops, attitude, variable if named else "")


# ——— what they match ———


def matches(snapshot: GraphSnapshot, start: str, pattern: Pattern) -> list[tuple[str, ...]]:
    """The nodes at which the paths end, as often as there is a way to them."""
    return [ends for ends, _ in _all_paths(snapshot, start, pattern.paths, frozenset())]


def _all_paths(
    snapshot: GraphSnapshot, start: str, paths: Sequence[tuple[Step, ...]], used: frozenset[str]
) -> Iterator[tuple[tuple[str, ...], frozenset[str]]]:
    if not paths:
        yield (), used
        return
    for end, now_used in _path(snapshot, start, paths[0], used):
        for ends, all_used in _all_paths(snapshot, start, paths[1:], now_used):
            yield (end, *ends), all_used


def _path(
    snapshot: GraphSnapshot, at: str, steps: Sequence[Step], used: frozenset[str]
) -> Iterator[tuple[str, frozenset[str]]]:
    if not steps:
        yield at, used
        return
    least, most = steps[0].hops or (1, 1)
    for place, now_used in _walk(snapshot, at, steps[0], least, most, used):
        yield from _path(snapshot, place, steps[1:], now_used)


def _walk(
    snapshot: GraphSnapshot, at: str, step: Step, least: int, most: int, used: frozenset[str]
) -> Iterator[tuple[str, frozenset[str]]]:
    if least <= 0:
        yield at, used
    if most == 0:
        return
    for way in snapshot.edges.values():
        if way.id in used or not _fits(way, step):
            continue
        for here, there, arrow in ((way.a, way.b, "->"), (way.b, way.a, "<-")):
            if here == at and step.arrow in ("-", arrow):
                yield from _walk(snapshot, there, step, least - 1, most - 1, used | {way.id})


def _fits(way: Edge, step: Step) -> bool:
    if step.types and way.kind.value not in step.types:
        return False
    return step.least_attitude is None or (way.attitude or 0) >= step.least_attitude
