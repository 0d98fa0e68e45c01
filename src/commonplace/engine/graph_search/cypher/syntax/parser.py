"""Parse clauses and patterns. There are only reading clauses."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from commonplace.engine.graph_search.cypher.syntax.expression_parser import ExpressionParser
from commonplace.engine.graph_search.cypher.syntax.tokens import TokenKind
from commonplace.engine.graph_search.cypher.syntax.tree import (
    Clause,
    CypherQuery,
    Expression,
    HopRange,
    LabelGroups,
    MapLiteral,
    MatchClause,
    NodePattern,
    PathPattern,
    ProjectionClause,
    ProjectionItem,
    RelationshipPattern,
    SortItem,
    UnwindClause,
    depth_of,
)

CLAUSES = "MATCH, OPTIONAL MATCH, WHERE, WITH, UNWIND, RETURN, ORDER BY, SKIP, LIMIT, UNION"
MAX_CLAUSES = 50
MAX_TREE_DEPTH = 150  # nested nodes of the tree
MAX_HOPS = 1_000_000
_SHORTEST = {"SHORTESTPATH": "ONE", "ALLSHORTESTPATHS": "ALL"}


@lru_cache(maxsize=256)
def parse(query: str) -> CypherQuery:
    """Parse one reading query. Raises BadCypher with the cause and position."""
    return QueryParser(query).whole_query()


class QueryParser(ExpressionParser):
    def whole_query(self) -> CypherQuery:
        if self.is_at_end:
            self.fail("The query is empty")
        query = self._union(needs_return=True)
        if self.takes(";") and not self.is_at_end:
            self.fail("Only one statement at a time is allowed; another follows ';'")
        self._check_end()
        if depth_of(query) > MAX_TREE_DEPTH:
            self.fail(f"The query is nested more than {MAX_TREE_DEPTH} deep")
        return query

    def _check_end(self) -> None:
        if self.is_at_end:
            return
        if self.sees_refused_word:
            self.refuse(self.here)
        self.fail(f"{self.here.shown} has no meaning after RETURN")

    def subquery(self) -> CypherQuery:
        """The content of EXISTS { }: a pattern, or clauses with or without RETURN."""
        if not self.sees("(") and not self.ahead(1).is_symbol("="):
            return self._union(needs_return=False)
        return CypherQuery(((self._match(optional=False),),))

    def _union(self, *, needs_return: bool) -> CypherQuery:
        parts = [self._part(needs_return)]
        kept: set[bool] = set()
        while self.takes_word("UNION"):
            kept.add(self.takes_word("ALL"))
            parts.append(self._part(needs_return))
        if len(kept) > 1:
            self.fail("UNION and UNION ALL cannot be mixed")
        return CypherQuery(tuple(parts), keeps_duplicates=True in kept)

    def _part(self, needs_return: bool) -> tuple[Clause, ...]:
        """Clauses up to RETURN, the last one."""
        clauses: list[Clause] = []
        while True:
            if clauses and not needs_return and (self.sees("}") or self.sees_word("UNION")):
                return tuple(clauses)
            clause = self._clause()
            clauses.append(clause)
            if len(clauses) > MAX_CLAUSES:
                self.fail(f"The query has more than {MAX_CLAUSES} clauses")
            if isinstance(clause, ProjectionClause) and clause.is_return:
                return tuple(clauses)

    def _clause(self) -> Clause:
        if self.takes_word("MATCH"):
            return self._match(optional=False)
        if self.takes_word("OPTIONAL"):
            self.need_word("MATCH")
            return self._match(optional=True)
        if self.takes_word("UNWIND"):
            items = self.expression()
            self.need_word("AS")
            return UnwindClause(items, self.name("A variable"))
        if self.sees_word("WITH", "RETURN"):
            return self._projection_clause()
        if self.sees_refused_word:
            self.refuse(self.here)
        if self.is_at_end:
            self.fail("A query ends with RETURN")
        return self.fail(f"{self.here.shown} begins no clause", f"Clauses: {CLAUSES}.")

    # ——— clauses ———

    def _match(self, *, optional: bool) -> MatchClause:
        paths = [self.path()]
        while self.takes(","):
            paths.append(self.path())
        return MatchClause(tuple(paths), self._where(), optional)

    def _where(self) -> Expression | None:
        return self.expression() if self.takes_word("WHERE") else None

    def _projection_clause(self) -> ProjectionClause:
        is_return = self.take().text.upper() == "RETURN"
        distinct = self.takes_word("DISTINCT")
        star = self.takes("*")
        items = self._items() if not star or self.takes(",") else ()
        order = self._order()
        skip = self.expression() if self.takes_word("SKIP", "OFFSET") else None
        limit = self.expression() if self.takes_word("LIMIT") else None
        where = None if is_return else self._where()
        return ProjectionClause(items, star, distinct, order, skip, limit, where, is_return)

    def _items(self) -> tuple[ProjectionItem, ...]:
        found = [self._item()]
        while self.takes(","):
            found.append(self._item())
        return tuple(found)

    def _item(self) -> ProjectionItem:
        start = self.here.at
        quoted = self.here.text if self.here.kind is TokenKind.QUOTED else None
        expression = self.expression()
        spelt = self.text_since(start)
        if quoted is not None and spelt == f"`{quoted}`":
            spelt = quoted
        alias = self.name("A column") if self.takes_word("AS") else None
        return ProjectionItem(expression, alias, spelt)

    def _order(self) -> tuple[SortItem, ...]:
        if not self.takes_word("ORDER"):
            return ()
        self.need_word("BY")
        found = [self._sort_item()]
        while self.takes(","):
            found.append(self._sort_item())
        return tuple(found)

    def _sort_item(self) -> SortItem:
        expression = self.expression()
        if self.takes_word("DESC", "DESCENDING"):
            return SortItem(expression, descending=True)
        self.takes_word("ASC", "ASCENDING")
        return SortItem(expression, descending=False)

    # ——— patterns ———

    def path(self) -> PathPattern:
        variable = None
        if self.here.is_name and self.ahead(1).is_symbol("="):
            variable = self.name("A variable")
            self.need("=")
        if self.sees_word(*_SHORTEST):
            return self._shortest(variable)
        if self.sees("(") and self.ahead(1).is_symbol("("):  # a path in brackets
            self.need("(")
            path = self._chain(variable)
            self.need(")")
            return path
        return self._chain(variable)

    def _shortest(self, variable: str | None) -> PathPattern:
        word = self.take().text.upper()
        self.need("(")
        path = self._chain(variable)
        self.need(")")
        if len(path.steps) != 1:
            self.fail("A shortest path is asked for between two nodes, as (a)-[*..5]-(b)")
        return replace(path, shortest=_SHORTEST[word])

    def _chain(self, variable: str | None) -> PathPattern:
        start = self._node()
        steps = []
        while self.sees("-") or (self.sees("<") and self.ahead(1).is_symbol("-")):
            relationship = self._relationship()
            steps.append((relationship, self._node()))
        return PathPattern(variable, start, tuple(steps))

    def _node(self) -> NodePattern:
        self.need("(")
        variable = None if self.sees(":", "{", ")") else self._variable()
        labels = self.label_groups() if self.sees(":") else ()
        properties = self._pattern_properties()
        self.need(")")
        return NodePattern(variable, labels, properties)

    def _variable(self) -> str | None:
        if self.here.kind is TokenKind.PARAMETER:
            return None
        return self.name("A variable")

    def _pattern_properties(self) -> MapLiteral | None:
        if self.here.kind is TokenKind.PARAMETER:
            self.fail(
                "A parameter does not stand for all properties of a pattern",
                "Name each of them: {name: $name}.",
            )
        return self.map_literal() if self.sees("{") else None

    def label_groups(self) -> LabelGroups:
        """:A:B and :A&B ask for both labels, :A|B for either."""
        groups: list[tuple[str, ...]] = []
        while self.takes(":", "&"):
            group = [self.key("A label")]
            while self.takes("|"):
                self.takes(":")
                group.append(self.key("A label"))
            groups.append(tuple(group))
        return tuple(groups)

    def _relationship(self) -> RelationshipPattern:
        backwards = self.takes("<")
        self.need("-")
        inner = self._inner() if self.takes("[") else RelationshipPattern(None, (), None, None, "-")
        self.need("-")
        forwards = self.takes(">")
        arrow = "-" if forwards == backwards else "->" if forwards else "<-"
        return replace(inner, arrow=arrow)

    def _inner(self) -> RelationshipPattern:
        variable = None if self.sees(":", "*", "{", "]") else self._variable()
        types = self._types()
        hops = self._hops() if self.takes("*") else None
        properties = self._pattern_properties()
        self.need("]")
        return RelationshipPattern(variable, types, hops, properties, "-")

    def _types(self) -> tuple[str, ...]:
        if not self.takes(":"):
            return ()
        found = [self.key("A type of relationship")]
        while self.takes("|"):
            self.takes(":")
            found.append(self.key("A type of relationship"))
        return tuple(dict.fromkeys(found))

    def _hops(self) -> HopRange:
        """*, *3, *1..3, *..3, *1.."""
        least = self._number()
        if not self.takes(".."):
            return HopRange(1, None) if least is None else HopRange(least, least)
        most = self._number()
        return HopRange(1 if least is None else least, most)

    def _number(self) -> int | None:
        if self.here.kind is not TokenKind.INTEGER:
            return None
        number = int(self.take().text, 0)
        if number > MAX_HOPS:
            self.fail(f"A path of {number} hops is too long; the limit is {MAX_HOPS:,}")
        return number

    def begins_a_pattern(self) -> bool:
        """Whether the bracket here opens a node: a relationship follows its closing bracket."""
        inside = self.ahead(1)
        if not (inside.is_name or inside.is_symbol(":", "{", ")")):
            return False
        depth, steps = 0, 0
        while (token := self.ahead(steps)).kind is not TokenKind.END:
            depth += token.is_symbol("(", "[", "{") - token.is_symbol(")", "]", "}")
            steps += 1
            if depth == 0:
                break
        first, second, third = (self.ahead(steps + more) for more in range(3))
        if first.is_symbol("<"):
            return second.is_symbol("-") and third.is_symbol("-", "[")
        return first.is_symbol("-") and second.is_symbol("-", "[")
