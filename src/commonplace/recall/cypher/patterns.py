"""Reading patterns: (a:Person {name: 'x'})-[r:engages_with*1..3]->(b)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

from commonplace.recall.cypher.cursor import Cursor
from commonplace.recall.cypher.schema import LABELS, RELATIONSHIPS, known_name
from commonplace.recall.cypher.tokens import Kind
from commonplace.recall.cypher.tree import (
    Expression,
    Hops,
    MapOf,
    NodePattern,
    Path,
    RelationshipPattern,
)

MOST_HOPS = 8
_SHORTEST = {"SHORTESTPATH": "SHORTEST", "ALLSHORTESTPATHS": "ALL SHORTEST"}


class PatternReader(Cursor, ABC):
    @abstractmethod
    def expression(self) -> Expression: ...

    def paths(self) -> tuple[Path, ...]:
        found = [self.path()]
        while self.takes(","):
            found.append(self.path())
        return tuple(found)

    def path(self) -> Path:
        variable = None
        if self.here.kind in (Kind.NAME, Kind.QUOTED) and self.ahead(1).is_symbol("="):
            variable = self.name("A variable")
            self.need("=")
        if self.sees_word(*_SHORTEST):
            return self._shortest(variable)
        return self._chain(variable)

    def _shortest(self, variable: str | None) -> Path:
        word = self.take().text.upper()
        self.need("(")
        path = self._chain(variable)
        self.need(")")
        if len(path.steps) != 1 or path.steps[0][0].hops is None:
            self.fail("A shortest path is asked for between two nodes, as (a)-[*..5]-(b)")
        return Path(path.variable, path.start, path.steps, _SHORTEST[word])

    def _chain(self, variable: str | None) -> Path:
        start = self.node()
        steps = []
        while self.sees("-") or (self.sees("<") and self.ahead(1).is_symbol("-")):
            relationship = self._relationship()
            steps.append((relationship, self.node()))
        return Path(variable, start, tuple(steps))

    def node(self) -> NodePattern:
        self.need("(")
        variable = self._variable(":", "{", ")")
        labels = self.labels()
        properties = self.properties() if self.sees("{") else None
        self.need(")")
        return NodePattern(variable, labels, properties)

    def labels(self) -> tuple[str, ...]:
        """Any of them. A node has one label: no node has two."""
        if not self.takes(":"):
            return ()
        found = [self.label()]
        while self.takes("|"):
            self.takes(":")
            found.append(self.label())
        if self.sees(":"):
            self.fail("A node has one label", "Write :Person|Entity for either of them.")
        return tuple(found)

    def label(self) -> str:
        name = self.name("A label")
        known = known_name(name, LABELS)
        return known or self.fail(f"There is no label {name}", f"Labels: {', '.join(LABELS)}.")

    def _type(self) -> str:
        name = self.name("A type of relationship")
        known = known_name(name, RELATIONSHIPS)
        return known or self.fail(
            f"There is no relationship {name}",
            f"Relationships: {', '.join(RELATIONSHIPS)}. Words such as 'friend' or 'works-at' are "
            "in their property relationship_type.",
        )

    def _relationship(self) -> RelationshipPattern:
        backwards = self.takes("<")
        self.need("-")
        inner = self._inner() if self.takes("[") else RelationshipPattern(None, (), None, None, "-")
        self.need("-")
        forwards = self.takes(">")
        arrow = "-" if forwards == backwards else "->" if forwards else "<-"
        return replace(inner, arrow=arrow)

    def _inner(self) -> RelationshipPattern:
        variable = self._variable(":", "*", "{", "]")
        types = self._types()
        hops = self._hops() if self.takes("*") else None
        properties = self.properties() if self.sees("{") else None
        self.need("]")
        if hops and properties:
            self.fail(
                "A path of several hops takes no properties",
                "Give the path a name and write all(r IN relationships(p) WHERE …).",
            )
        return RelationshipPattern(variable, types, hops, properties, "-")

    def _types(self) -> tuple[str, ...]:
        if not self.takes(":"):
            return ()
        found = [self._type()]
        while self.takes("|"):
            self.takes(":")
            found.append(self._type())
        return tuple(found)

    def _hops(self) -> Hops:
        """*3, *1..3, *..3. Without an end it would look at everything."""
        least = self._number()
        ranged = self.takes("..")
        most = self._number() if ranged else least
        if most is None:
            self.fail(
                "A path without an end is not allowed",
                f"Say how far it may go, as in *1..{MOST_HOPS}.",
            )
        if most > MOST_HOPS:
            self.fail(f"A path of {most} hops is too long; the limit is {MOST_HOPS}")
        least = 1 if least is None else least
        if least > most:
            self.fail(f"A path from {least} to {most} hops cannot be")
        return Hops(least, most)

    def _number(self) -> int | None:
        return int(self.take().text) if self.here.kind is Kind.INTEGER else None

    def properties(self) -> MapOf:
        self.need("{")
        items: list[tuple[str, Expression]] = []
        while not self.takes("}"):
            if items:
                self.need(",")
            key = self.key()
            self.need(":")
            items.append((key, self.expression()))
        return MapOf(tuple(items))

    def _variable(self, *followers: str) -> str | None:
        return None if self.sees(*followers) else self.name("A variable")

    def begins_a_pattern(self) -> bool:
        """Whether the bracket here is a node's: what closes it is followed by a relationship."""
        depth, steps = 0, 0
        while (token := self.ahead(steps)).kind is not Kind.END:
            depth += token.is_symbol("(", "[", "{") - token.is_symbol(")", "]", "}")
            steps += 1
            if depth == 0:
                break
        first, second, third = (self.ahead(steps + more) for more in range(3))
        if first.is_symbol("<"):
            return second.is_symbol("-") and third.is_symbol("-", "[")
        return first.is_symbol("-") and second.is_symbol("-", "[")
