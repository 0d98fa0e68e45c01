"""What a query is read into. Values only; nothing here knows how it is spelt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# ——— expressions ———


@dataclass(frozen=True, slots=True)
class Literal:
    value: Any  # text, number, truth, None, or what a parameter stands for: lists and maps of them


@dataclass(frozen=True, slots=True)
class Variable:
    name: str


@dataclass(frozen=True, slots=True)
class Property:
    of: Expression
    key: str


@dataclass(frozen=True, slots=True)
class Index:
    of: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class Slice:
    of: Expression
    first: Expression | None
    last: Expression | None


@dataclass(frozen=True, slots=True)
class Call:
    name: str  # lower case; with a dot where it has one: duration.between
    arguments: tuple[Expression, ...]
    distinct: bool = False
    of_all: bool = False  # count(*)


@dataclass(frozen=True, slots=True)
class ListOf:
    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class MapOf:
    items: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Prefixed:
    sign: str  # NOT, -, +
    of: Expression


@dataclass(frozen=True, slots=True)
class Joined:
    left: Expression
    sign: str  # AND, OR, XOR, =, <>, <, >, <=, >=, =~, IN, CONTAINS, STARTS WITH, …, +, -, *, …
    right: Expression


@dataclass(frozen=True, slots=True)
class IsNull:
    of: Expression
    negated: bool


@dataclass(frozen=True, slots=True)
class HasLabel:
    of: Expression
    labels: tuple[str, ...]
    any_of: bool  # :A|B; else :A:B


@dataclass(frozen=True, slots=True)
class Case:
    subject: Expression | None
    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression | None


@dataclass(frozen=True, slots=True)
class Comprehension:
    variable: str
    items: Expression
    where: Expression | None
    result: Expression | None


@dataclass(frozen=True, slots=True)
class Quantified:
    word: str  # ALL, ANY, NONE, SINGLE
    variable: str
    items: Expression
    where: Expression


@dataclass(frozen=True, slots=True)
class Reduced:
    total: str
    start: Expression
    variable: str
    items: Expression
    step: Expression


@dataclass(frozen=True, slots=True)
class Matching:
    """Whether a pattern is found, or how often: EXISTS { … }, COUNT { … }, (a)-->(b)."""

    paths: tuple[Path, ...]
    where: Expression | None = None
    counted: bool = False


Expression = (
    Literal
    | Variable
    | Property
    | Index
    | Slice
    | Call
    | ListOf
    | MapOf
    | Prefixed
    | Joined
    | IsNull
    | HasLabel
    | Case
    | Comprehension
    | Quantified
    | Reduced
    | Matching
)

# ——— patterns ———


@dataclass(frozen=True, slots=True)
class NodePattern:
    variable: str | None
    labels: tuple[str, ...]  # any of them
    properties: MapOf | None


@dataclass(frozen=True, slots=True)
class Hops:
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class RelationshipPattern:
    variable: str | None
    types: tuple[str, ...]
    hops: Hops | None  # None: one
    properties: MapOf | None
    arrow: str  # ->, <- or -


@dataclass(frozen=True, slots=True)
class Path:
    variable: str | None
    start: NodePattern
    steps: tuple[tuple[RelationshipPattern, NodePattern], ...]
    shortest: str | None = None  # SHORTEST, ALL SHORTEST


# ——— clauses ———


@dataclass(frozen=True, slots=True)
class Match:
    paths: tuple[Path, ...]
    where: Expression | None
    optional: bool


@dataclass(frozen=True, slots=True)
class Unwind:
    items: Expression
    variable: str


@dataclass(frozen=True, slots=True)
class Item:
    expression: Expression
    name: str | None  # AS
    told: str  # how the caller spelt it: the column's name where it has no other


@dataclass(frozen=True, slots=True)
class Projection:
    """WITH or RETURN."""

    items: tuple[Item, ...]
    distinct: bool
    order: tuple[tuple[Expression, bool], ...]  # True: descending
    skip: Expression | None
    limit: Expression | None
    where: Expression | None
    is_return: bool


Clause = Match | Unwind | Projection


@dataclass(frozen=True, slots=True)
class Query:
    parts: tuple[tuple[Clause, ...], ...]
    keeps_doubles: bool = False  # UNION ALL
