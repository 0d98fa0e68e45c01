"""Reading a query: only clauses that read. What is read here is all that is ever run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from commonplace.recall.cypher.expressions import ExpressionReader
from commonplace.recall.cypher.scope import columns_of, named_again, names_after
from commonplace.recall.cypher.tokens import Kind
from commonplace.recall.cypher.tree import (
    Clause,
    Expression,
    Item,
    Match,
    Projection,
    Query,
    Unwind,
    Variable,
)
from commonplace.recall.cypher.words import refused_words

CLAUSES = "MATCH, OPTIONAL MATCH, WHERE, WITH, UNWIND, RETURN, ORDER BY, SKIP, LIMIT, UNION"
MOST_CLAUSES = 50


def read(query: str, params: Mapping[str, Any]) -> Query:
    """Raises BadCypher, with what is wrong and where, for anything but one reading query."""
    return Reader(query, params).query()


class Reader(ExpressionReader):
    def query(self) -> Query:
        if self.here.kind is Kind.END:
            self.fail("The query is empty")
        parts = [self._part()]
        all_kept: set[bool] = set()
        while self.takes_word("UNION"):
            all_kept.add(self.takes_word("ALL"))
            parts.append(self._part())
        if len(all_kept) > 1:
            self.fail("UNION and UNION ALL cannot be mixed")
        self._check_columns(parts)
        self._end()
        return Query(tuple(parts), keeps_doubles=True in all_kept)

    def _check_columns(self, parts: Sequence[Sequence[Clause]]) -> None:
        first, *others = map(columns_of, parts)
        for columns in others:
            if columns != first:
                self.fail(
                    f"UNION joins columns of the same names: {', '.join(first)} and "
                    f"{', '.join(columns)} are not",
                    "Name them in each RETURN, in the same order: RETURN p.name AS name.",
                )

    def _end(self) -> None:
        if self.takes(";") and self.here.kind is not Kind.END:
            self.fail("Only one statement at a time is allowed; another follows ';'")
        if self.here.kind is Kind.END:
            return
        if self.here.kind is Kind.NAME and self.here.text.upper() in refused_words():
            self.refuse(self.here)
        self.fail(f"{self.here.told} has no meaning after RETURN")

    def _part(self) -> tuple[Clause, ...]:
        """Clauses up to RETURN, which is the last."""
        clauses: list[Clause] = []
        names: tuple[str, ...] = ()
        while True:
            clause = self._clause(names)
            if (name := named_again(names, clause)) is not None:
                self.fail(
                    f"The relationship {name} has a name that is taken",
                    "A relationship is named once. What was matched before is known: ask of it by "
                    "its name, and of its ends by theirs.",
                )
            names = names_after(names, clause)
            clauses.append(clause)
            if len(clauses) > MOST_CLAUSES:
                self.fail(f"The query has more than {MOST_CLAUSES} clauses")
            if isinstance(clause, Projection) and clause.is_return:
                return tuple(clauses)

    def _clause(self, names: tuple[str, ...]) -> Clause:
        if self.takes_word("MATCH"):
            return self._match(optional=False)
        if self.takes_word("OPTIONAL"):
            self.need_word("MATCH")
            return self._match(optional=True)
        if self.takes_word("UNWIND"):
            return self._unwind()
        if self.sees_word("WITH", "RETURN"):
            return self._projection(names)
        if self.here.kind is Kind.NAME and self.here.text.upper() in refused_words():
            self.refuse(self.here)
        if self.here.kind is Kind.END:
            self.fail("A query ends with RETURN")
        return self.fail(f"{self.here.told} begins no clause", f"Clauses: {CLAUSES}.")

    def _match(self, *, optional: bool) -> Match:
        paths = self.paths()
        if optional and any(path.variable for path in paths):
            self.fail(
                "A path in OPTIONAL MATCH takes no name",
                "Name its nodes and relationships: they are null where it is not found.",
            )
        return Match(paths, self._where(), optional)

    def _where(self) -> Expression | None:
        return self.expression() if self.takes_word("WHERE") else None

    def _unwind(self) -> Unwind:
        items = self.expression()
        self.need_word("AS")
        return Unwind(items, self.name("A variable"))

    def _projection(self, names: tuple[str, ...]) -> Projection:
        is_return = self.take().text.upper() == "RETURN"
        distinct = self.takes_word("DISTINCT")
        items = self._everything(names) if self.sees("*") else self._items()
        order = self._order()
        skip = self.expression() if self.takes_word("SKIP", "OFFSET") else None
        limit = self.expression() if self.takes_word("LIMIT") else None
        where = None if is_return else self._where()
        return Projection(items, distinct, order, skip, limit, where, is_return)

    def _everything(self, names: tuple[str, ...]) -> tuple[Item, ...]:
        """Written out: the engine would add what has no name of the caller's."""
        if not names:
            self.fail("There is no variable that * could stand for")
        self.take()
        everything = tuple(Item(Variable(name), None, name) for name in names)
        return everything + self._items() if self.takes(",") else everything

    def _items(self) -> tuple[Item, ...]:
        found = [self._item()]
        while self.takes(","):
            found.append(self._item())
        return tuple(found)

    def _item(self) -> Item:
        start = self.here.at
        expression = self.expression()
        told = self.text_since(start)
        name = self.name("A column") if self.takes_word("AS") else None
        return Item(expression, name, told)

    def _order(self) -> tuple[tuple[Expression, bool], ...]:
        if not self.takes_word("ORDER"):
            return ()
        self.need_word("BY")
        found = [self._ordered()]
        while self.takes(","):
            found.append(self._ordered())
        return tuple(found)

    def _ordered(self) -> tuple[Expression, bool]:
        expression = self.expression()
        descending = self.takes_word("DESC", "DESCENDING")
        if not descending:
            self.takes_word("ASC", "ASCENDING")
        return expression, descending
