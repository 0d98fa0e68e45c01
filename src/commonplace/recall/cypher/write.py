"""A query that was read, written anew in the engine's dialect.

Every name stands in backticks and every text between our own quotes, so that nothing which the
caller wrote can mean anything but a name or a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import singledispatchmethod
from itertools import count

from commonplace.errors import BadCypher
from commonplace.recall.cypher import rewrite
from commonplace.recall.cypher.again import told_once
from commonplace.recall.cypher.apart import must_part, told_apart
from commonplace.recall.cypher.kinds import (
    DAY,
    FRACTION,
    MOMENT,
    SPAN,
    TEXT,
    WHOLE,
    Kind,
    items_of,
    kind_of,
    kinds_after,
    kinds_in,
)
from commonplace.recall.cypher.lambdas import check_reduced, check_within
from commonplace.recall.cypher.ordering import with_names_for_sums
from commonplace.recall.cypher.schema import MOMENTS
from commonplace.recall.cypher.scope import (
    may_be_missing,
    missing_after,
    names_after,
    names_of_paths,
    ways_of,
)
from commonplace.recall.cypher.stepwise import Step, goes_stepwise, stepwise
from commonplace.recall.cypher.times import PARTS
from commonplace.recall.cypher.tree import (
    Call,
    Case,
    Clause,
    Comprehension,
    Expression,
    HasLabel,
    Index,
    IsNull,
    Joined,
    ListOf,
    Literal,
    MapOf,
    Match,
    Matching,
    NodePattern,
    Path,
    Prefixed,
    Projection,
    Property,
    Quantified,
    Query,
    Reduced,
    RelationshipPattern,
    Slice,
    Unwind,
    Variable,
)
from commonplace.recall.cypher.values import quoted, text, written

_DEEPEST = 120
_LONGEST = 200_000  # characters


def write(query: Query, now: datetime) -> str:
    return _Writer(now).query(query)


class _Writer:
    def __init__(self, now: datetime):
        self._now = now
        self._depth = 0
        self._unnamed = map(str, count(1))
        self._ways: frozenset[str] = frozenset()
        self._kinds: dict[str, Kind] = {}
        self._missing: frozenset[str] = frozenset()
        self._within: tuple[str, ...] = ()  # variables of the lists that are gone through

    def query(self, query: Query) -> str:
        union = " UNION ALL " if query.keeps_doubles else " UNION "
        return union.join(" ".join(self._part(part)) for part in query.parts)

    def _part(self, clauses: Sequence[Clause]) -> Iterator[str]:
        names: tuple[str, ...] = ()
        self._kinds, self._missing = {}, frozenset()
        run: list[Match] = []  # which the engine looks at together
        for clause in clauses:
            if not isinstance(clause, Match):
                run.clear()
                yield self.clause(clause)
            elif (match := told_once(clause, names)).paths:
                if names and must_part(run, match):
                    run.clear()
                    yield _passing_on(names)
                run.append(match)
                yield from self._match(match, names)
            else:
                run.clear()
                yield _passing_on(names) + self._where(match.where)
            self._missing = missing_after(self._missing, names, clause)
            self._kinds = kinds_after(self._kinds, clause)
            names = names_after(names, clause)

    # ——— clauses ———

    def _match(self, match: Match, names: tuple[str, ...]) -> Iterator[str]:
        self._ways |= ways_of(match.paths)
        self._kinds |= kinds_in(match.paths)
        if not goes_stepwise(match, self._ways):
            word = "OPTIONAL MATCH" if match.optional else "MATCH"
            yield f"{word} {self._matched(match.paths, match.where)}"
            return
        known = {name.lower(): name for name in names}
        for number, step in enumerate(stepwise(match, names, self._unnamed)):
            if number:
                yield _passing_on(known.values())
            yield self._step(step)
            known |= {name.lower(): name for name in names_of_paths([step.path])}

    def _step(self, step: Step) -> str:
        conditions = [self.of(condition) for condition in step.conditions]
        if step.repeats:
            conditions.append(f"NOT ({' OR '.join(step.repeats)})")
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return f"MATCH {self._path(step.path)}{where}"

    @singledispatchmethod
    def clause(self, clause: Clause) -> str:
        raise TypeError(clause)

    @clause.register
    def _(self, clause: Unwind) -> str:
        return f"UNWIND {self.of(clause.items)} AS {quoted(clause.variable)}"

    @clause.register
    def _(self, clause: Projection) -> str:
        clause = with_names_for_sums(clause, self._unnamed)
        pieces = ["RETURN" if clause.is_return else "WITH"]
        if clause.distinct:
            pieces.append("DISTINCT")
        listed = []
        for item in clause.items:
            name = f" AS {quoted(item.name)}" if item.name else ""
            listed.append(f"{self.of(item.expression)}{name}")
        pieces.append(", ".join(listed))
        self._kinds |= kinds_after(self._kinds, clause)  # what follows knows both
        self._missing |= missing_after(self._missing, (), clause)
        if clause.order:
            keys = (f"{self.of(e)}{' DESC' if down else ''}" for e, down in clause.order)
            pieces.append(f"ORDER BY {', '.join(keys)}")
        if clause.skip is not None:
            pieces.append(f"SKIP {self._count(clause.skip)}")
        elif clause.order and clause.limit is None and not clause.is_return:
            pieces.append("SKIP 0")  # without one, the engine refuses to order what WITH passes on
        if clause.limit is not None:
            pieces.append(f"LIMIT {self._count(clause.limit)}")
        return " ".join(pieces) + self._where(clause.where)

    def _where(self, where: Expression | None) -> str:
        return "" if where is None else f" WHERE {self.of(where)}"

    def _count(self, expression: Expression) -> str:
        value = expression.value if isinstance(expression, Literal) else None
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise BadCypher("SKIP and LIMIT take a whole number that is not negative.")
        return str(value)

    # ——— patterns ———

    def _matched(self, paths: Sequence[Path], where: Expression | None) -> str:
        self._ways |= ways_of(paths)
        self._kinds |= kinds_in(paths)
        asked = told_apart(paths, where, self._ways, self._unnamed)
        conditions = [self.of(asked.early)] if asked.early else []
        repeats = " OR ".join(asked.repeats)
        if asked.late:
            conditions.append(f"CASE WHEN {repeats} THEN FALSE ELSE {self.of(asked.late)} END")
        elif repeats:
            conditions.append(f"NOT ({repeats})")
        patterns = ", ".join(self._path(path) for path in asked.paths)
        return f"{patterns} WHERE {' AND '.join(conditions)}" if conditions else patterns

    def _path(self, path: Path) -> str:
        pieces = [f"{quoted(path.variable)} = " if path.variable else "", self._node(path.start)]
        for relationship, node in path.steps:
            pieces += [self._relationship(relationship, path.shortest), self._node(node)]
        return "".join(pieces)

    def _node(self, node: NodePattern) -> str:
        name = quoted(node.variable) if node.variable else ""
        labels = ":" + "|".join(quoted(label) for label in node.labels) if node.labels else ""
        properties = f" {self.of(node.properties)}" if node.properties else ""
        return f"({name}{labels}{properties})"

    def _relationship(self, one: RelationshipPattern, shortest: str | None) -> str:
        name = quoted(one.variable) if one.variable else ""
        types = ":" + "|".join(quoted(type) for type in one.types) if one.types else ""
        hops = ""
        if one.hops:
            least = max(1, one.hops.least) if shortest else one.hops.least
            how = shortest or "TRAIL"  # no relationship twice, as Cypher has it
            hops = f"* {how} {least}..{one.hops.most}"
        properties = f" {self.of(one.properties)}" if one.properties else ""
        left, right = ("<-" if one.arrow == "<-" else "-"), ("->" if one.arrow == "->" else "-")
        return f"{left}[{name}{types}{hops}{properties}]{right}"

    # ——— expressions ———

    def of(self, expression: Expression) -> str:
        """Some expressions are written several times in another: so it has a length, too."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise BadCypher(f"The query joins more than {_DEEPEST} things in one expression.")
        written = self._of(expression)
        self._depth -= 1
        if len(written) > _LONGEST:
            raise BadCypher("The query is too long, once its expressions are written out.")
        return written

    @singledispatchmethod
    def _of(self, expression: Expression) -> str:
        raise TypeError(expression)

    @_of.register
    def _(self, it: Literal) -> str:
        return written(it.value)

    @_of.register
    def _(self, it: Variable) -> str:
        return quoted(it.name)

    @_of.register
    def _(self, it: Property) -> str:
        of = self.of(it.of)
        if it.key.lower() in PARTS and self._is_moment(it.of):
            return rewrite.part_of(it.key.lower(), of)
        if self._kind(it.of) == SPAN:
            return rewrite.days_of(it, of)
        if isinstance(it.of, Variable | Property):
            return f"{of}.{quoted(it.key)}"
        return f"struct_extract({of}, {text(it.key)})"

    @_of.register
    def _(self, it: Index) -> str:
        if isinstance(it.index, Literal) and isinstance(it.index.value, str):
            return self.of(Property(it.of, it.index.value))
        if _is_null(it.of):
            return "NULL"
        return rewrite.item(self.of(it.of), self.of(it.index))

    @_of.register
    def _(self, it: Slice) -> str:
        """From 0 and without the last here, from 1 and with it there."""
        items = self.of(it.of)
        first = f"{self._bound(it.first)} + 1" if it.first is not None else "1"
        last = self._bound(it.last) if it.last is not None else f"size({items})"
        return f"list_slice({items}, {first}, {last})"

    def _bound(self, bound: Expression) -> str:
        negative = isinstance(bound, Prefixed) or (
            isinstance(bound, Literal) and isinstance(bound.value, int) and bound.value < 0
        )
        if negative:
            raise BadCypher("A slice of a list counts from its beginning: [0..3].")
        return self.of(bound)

    @_of.register
    def _(self, it: Call) -> str:
        arguments = [self.of(each) for each in it.arguments]
        if it.name == "size" and len(it.arguments) == 1 and isinstance(it.arguments[0], Matching):
            return self.of(Matching(it.arguments[0].paths, it.arguments[0].where, counted=True))
        kinds = [self._kind(each) for each in it.arguments]
        missing = not it.arguments or may_be_missing(it.arguments[0], self._missing)
        return rewrite.call(rewrite.Asked(it, arguments, kinds, self._now, missing))

    @_of.register
    def _(self, it: ListOf) -> str:
        return f"[{', '.join(self.of(each) for each in it.items)}]"

    @_of.register
    def _(self, it: MapOf) -> str:
        return f"{{{', '.join(f'{quoted(key)}: {self.of(each)}' for key, each in it.items)}}}"

    @_of.register
    def _(self, it: Prefixed) -> str:
        return f"({it.sign} {self.of(it.of)})" if it.sign != "+" else self.of(it.of)

    @_of.register
    def _(self, it: Joined) -> str:
        left, right = self.of(it.left), self.of(it.right)
        if it.sign in ("=~", "+") and (_is_null(it.left) or _is_null(it.right)):
            return "NULL"
        if it.sign == "+" and self._kind(it) == TEXT:
            return self._strung(it)
        if it.sign == "CONTAINS" and not (isinstance(it.right, Literal) and it.right.value):
            # to the engine, nothing holds the empty text
            return f"({left} CONTAINS {right} OR ({right} = '' AND {left} IS NOT NULL))"
        return f"({left} {it.sign} {right})"

    @_of.register
    def _(self, it: IsNull) -> str:
        return f"({self.of(it.of)} IS {'NOT ' if it.negated else ''}NULL)"

    @_of.register
    def _(self, it: HasLabel) -> str:
        of = self.of(it.of)
        tests = [f"label({of}) = {text(label)}" for label in it.labels]
        told = f"({(' OR ' if it.any_of else ' AND ').join(tests)})"
        return rewrite.if_there(of, told, may_be_missing(it.of, self._missing))

    @_of.register
    def _(self, it: Case) -> str:
        subject = f" {self.of(it.subject)}" if it.subject is not None else ""
        told = [(c, v) for c, v in it.branches if not _is_null(c)]  # nothing is, or equals, null
        branches = "".join(f" WHEN {self.of(c)} THEN {self.of(v)}" for c, v in told)
        if not told:
            return self.of(it.otherwise) if it.otherwise is not None else "NULL"
        otherwise = f" ELSE {self.of(it.otherwise)}" if it.otherwise is not None else ""
        return f"(CASE{subject}{branches}{otherwise} END)"

    @_of.register
    def _(self, it: Comprehension) -> str:
        if _is_null(it.items):
            return "NULL"
        items, variable = self.of(it.items), quoted(it.variable)
        with self._going_through(it.items, it.variable, it.where, it.result):
            if it.where is not None:
                items = f"list_filter({items}, {variable} -> {self.of(it.where)})"
            if it.result is not None:
                items = f"list_transform({items}, {variable} -> {self.of(it.result)})"
        return items

    @_of.register
    def _(self, it: Quantified) -> str:
        if _is_null(it.items):
            return "NULL"
        items = self.of(it.items)
        with self._going_through(it.items, it.variable, it.where):
            return f"{it.word}({quoted(it.variable)} IN {items} WHERE {self.of(it.where)})"

    @_of.register
    def _(self, it: Reduced) -> str:
        """The engine begins with the first item: the start is put before it."""
        if _is_null(it.items):
            return "NULL"
        check_reduced(it.items)
        start, items = self.of(it.start), self.of(it.items)
        kinds = self._kind(it.start), items_of(self._kind(it.items))
        if kinds == (FRACTION, WHOLE):
            items = f"cast({items} AS DOUBLE[])"
        elif kinds == (WHOLE, FRACTION):
            start = f"cast({start} AS DOUBLE)"
        names = f"({quoted(it.total)}, {quoted(it.variable)})"
        with self._going_through(it.items, it.variable, it.step):
            self._kinds |= {it.total.lower(): self._kind(it)}
            step = self.of(it.step)
        return f"list_reduce(list_concat([{start}], {items}), {names} -> {step})"

    @_of.register
    def _(self, it: Matching) -> str:
        word = "COUNT" if it.counted else "EXISTS"
        return f"({word} {{ MATCH {self._matched(it.paths, it.where)} }})"

    def _strung(self, it: Joined) -> str:
        """Texts one after another: null if one of them is. The engine would leave that one out."""
        strung = _strung_in(it)
        texts = [self.of(each) for each in strung]
        unsure = [text for text, each in zip(texts, strung, strict=True) if not _is_given(each)]
        joined = f"({' + '.join(texts)})"
        if not unsure:
            return joined
        there = " AND ".join(f"{each} IS NOT NULL" for each in dict.fromkeys(unsure))
        return f"(CASE WHEN {there} THEN {joined} END)"

    # ——— what is known of expressions ———

    def _kind(self, expression: Expression) -> Kind:
        return kind_of(expression, self._kinds)

    def _is_moment(self, expression: Expression) -> bool:
        if isinstance(expression, Property) and expression.key in MOMENTS:
            return True
        return self._kind(expression) in (MOMENT, DAY)

    @contextmanager
    def _going_through(
        self, items: Expression, variable: str, *asked: Expression | None
    ) -> Iterator[None]:
        """``variable`` is each item in turn, in what is asked of it."""
        check_within(self._within, variable, asked)
        kinds, within, missing = self._kinds, self._within, self._missing
        self._kinds = {**kinds, variable.lower(): items_of(self._kind(items))}
        self._within, self._missing = (*within, variable.lower()), missing - {variable.lower()}
        yield
        self._kinds, self._within, self._missing = kinds, within, missing


def _passing_on(names: Iterable[str]) -> str:
    return f"WITH {', '.join(quoted(name) for name in names)}"


def _strung_in(it: Expression) -> list[Expression]:
    """a + b + c, one by one. Not by recursion: a chain may be long."""
    found: list[Expression] = []
    while isinstance(it, Joined) and it.sign == "+":
        found.append(it.right)
        it = it.left
    return [it, *reversed(found)]


def _is_given(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.value is not None


def _is_null(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.value is None
