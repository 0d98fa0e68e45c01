"""Parse expressions by precedence: OR, XOR, AND, NOT, comparisons, tests, sums, products."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from commonplace.engine.graph_search.cypher.syntax.tokens import TokenCursor, TokenKind
from commonplace.engine.graph_search.cypher.syntax.tree import (
    BinaryOperation,
    CaseExpression,
    ComparisonChain,
    CypherLiteral,
    CypherQuery,
    Expression,
    FunctionCall,
    IndexAccess,
    LabelGroups,
    LabelTest,
    ListComprehension,
    ListLiteral,
    MapLiteral,
    MapProjection,
    NullTest,
    ParameterRef,
    PathPattern,
    PatternComprehension,
    PatternPredicate,
    PropertyAccess,
    QuantifierExpression,
    ReduceExpression,
    SliceAccess,
    SubqueryExpression,
    UnaryOperation,
    VariableRef,
)

_LARGEST = 2**63
_COMPARISONS = ("=", "<>", "<", ">", "<=", ">=")
_CONSTANTS: dict[str, bool | None] = {"TRUE": True, "FALSE": False, "NULL": None}
_QUANTIFIERS = ("ALL", "ANY", "NONE", "SINGLE")
_OR, _XOR, _AND, _NOT, _COMPARISON, _TEST, _SUM, _PRODUCT, _POWER = range(1, 10)
_WORDS = {"OR": _OR, "XOR": _XOR, "AND": _AND}
_SIGNS = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "%": _PRODUCT, "^": _POWER}


class ExpressionParser(TokenCursor, ABC):
    @abstractmethod
    def path(self) -> PathPattern: ...

    @abstractmethod
    def subquery(self) -> CypherQuery: ...

    @abstractmethod
    def label_groups(self) -> LabelGroups: ...

    @abstractmethod
    def begins_a_pattern(self) -> bool: ...

    def expression(self) -> Expression:
        with self.deeper():
            return self._binary(_OR)

    # ——— operators ———

    def _binary(self, loosest: int) -> Expression:
        """Operators that bind at least as tightly as ``loosest``."""
        left = self._prefixed(loosest)
        while True:
            level = self._level()
            if level < loosest or not level:
                return left
            if level == _COMPARISON:
                left = self._comparison(left)
            elif level == _TEST:
                left = self._test(left)
            else:
                sign = self.take().text.upper()
                left = BinaryOperation(left, sign, self._binary(level + 1))

    def _prefixed(self, loosest: int) -> Expression:
        if loosest <= _NOT and self.takes_word("NOT"):
            with self.deeper():
                return UnaryOperation("NOT", self._binary(_NOT))
        return self._signed()

    def _level(self) -> int:
        """The precedence of the operator here; 0 if there is none."""
        token = self.here
        if token.kind is TokenKind.SYMBOL:
            if token.text in _COMPARISONS:
                return _COMPARISON
            return _TEST if token.text == "=~" else _SIGNS.get(token.text, 0)
        if token.kind is not TokenKind.NAME:
            return 0
        word = token.text.upper()
        if word in ("IN", "CONTAINS", "STARTS", "ENDS", "IS"):
            return _TEST
        return _WORDS.get(word, 0)

    def _comparison(self, left: Expression) -> Expression:
        operands, signs = [left], []
        while self.sees(*_COMPARISONS):
            signs.append(self.take().text)
            operands.append(self._binary(_TEST))
        return ComparisonChain(tuple(operands), tuple(signs))

    def _test(self, left: Expression) -> Expression:
        sign = self.take().text.upper()
        if sign == "IS":
            negated = self.takes_word("NOT")
            self.need_word("NULL")
            return NullTest(left, negated)
        if sign in ("STARTS", "ENDS"):
            self.need_word("WITH")
            sign = f"{sign} WITH"
        return BinaryOperation(left, sign, self._binary(_SUM))

    def _signed(self) -> Expression:
        if not self.sees("-", "+"):
            return self._postfixed(self.atom())
        with self.deeper():
            sign = self.take().text
            if sign == "-" and self.here.kind is TokenKind.INTEGER:
                return self._postfixed(CypherLiteral(self._integer("-")))
            return UnaryOperation(sign, self._signed())

    def _postfixed(self, of: Expression) -> Expression:
        """.key, [index], [first..last], :Label"""
        while True:
            if self.takes("."):
                of = PropertyAccess(of, self.key())
            elif self.takes("["):
                of = self._index(of)
            elif self.sees(":") and self.ahead(1).is_name:
                of = LabelTest(of, self.label_groups())
            else:
                return of

    def _index(self, of: Expression) -> Expression:
        first = None if self.sees("..") else self.expression()
        if not self.takes(".."):
            self.need("]")
            if first is None:
                self.fail("An index is missing in [ ]")
            return IndexAccess(of, first)
        last = None if self.sees("]") else self.expression()
        self.need("]")
        return SliceAccess(of, first, last)

    # ——— atoms ———

    def atom(self) -> Expression:
        token = self.here
        if token.is_name:
            return self._named()
        if token.kind is TokenKind.PARAMETER:
            return ParameterRef(self.take().text)
        if token.kind is TokenKind.STRING:
            return CypherLiteral(self.take().text)
        if token.kind is TokenKind.INTEGER:
            return CypherLiteral(self._integer(""))
        if token.kind is TokenKind.FLOAT:
            return CypherLiteral(self._float())
        if self.sees("("):
            return self._bracketed()
        if self.sees("["):
            return self._list()
        if self.sees("{"):
            return self.map_literal()
        return self.fail(f"A value is missing before {token.shown}")

    def _integer(self, sign: str) -> int:
        text = self.here.text
        base = {"0x": 16, "0o": 8}.get(text[:2].lower(), 10)
        value = int(sign + text, base)
        if not -_LARGEST <= value < _LARGEST:
            self.fail(f"The number {sign}{text[:40]} is too large")
        self.take()
        return value

    def _float(self) -> float:
        value = float(self.here.text)
        if value == float("inf"):
            self.fail(f"The number {self.here.text[:40]} is too large")
        self.take()
        return value

    def _bracketed(self) -> Expression:
        if self.begins_a_pattern():
            return PatternPredicate(self.path())
        self.need("(")
        inner = self.expression()
        self.need(")")
        return inner

    def _named(self) -> Expression:
        token, following = self.here, self.ahead(1)
        if token.kind is TokenKind.NAME:
            word = token.text.upper()
            if word in _CONSTANTS:
                self.take()
                return CypherLiteral(_CONSTANTS[word])
            if word == "CASE":
                return self._case()
            if word in ("EXISTS", "COUNT") and following.is_symbol("{"):
                return self._subquery(counted=word == "COUNT")
            if following.is_symbol("("):
                return self._called(word)
            if self._sees_dotted_call():
                return self._arguments(".".join(self._dotted()))
            if self.sees_refused_word and following.kind is not TokenKind.SYMBOL:
                self.refuse(token)
        variable = VariableRef(self.name("A value"))
        return self._projection(variable) if self.sees("{") else variable

    def _sees_dotted_call(self) -> bool:
        steps = 1
        while self.ahead(steps).is_symbol(".") and self.ahead(steps + 1).is_name:
            steps += 2
        return steps > 1 and self.ahead(steps).is_symbol("(")

    def _dotted(self) -> list[str]:
        names = [self.take().text]
        while self.takes("."):
            names.append(self.take().text)
        return names

    def _called(self, word: str) -> Expression:
        if word in _QUANTIFIERS and self.ahead(3).is_word("IN"):
            return self._quantifier()
        if word == "REDUCE" and self.ahead(3).is_symbol("="):
            return self._reduce()
        return self._arguments(self.take().text)

    def _arguments(self, name: str) -> FunctionCall:
        self.need("(")
        if name.upper() == "COUNT" and self.takes("*"):
            self.need(")")
            return FunctionCall("count", (), star=True)
        distinct = self.takes_word("DISTINCT")
        arguments: list[Expression] = []
        while not self.takes(")"):
            if arguments:
                self.need(",")
            arguments.append(self.expression())
        return FunctionCall(name.lower(), tuple(arguments), distinct)

    def _case(self) -> CaseExpression:
        self.need_word("CASE")
        subject = None if self.sees_word("WHEN") else self.expression()
        branches = []
        while self.takes_word("WHEN"):
            condition = self.expression()
            self.need_word("THEN")
            branches.append((condition, self.expression()))
        if not branches:
            self.fail("CASE has no WHEN")
        otherwise = self.expression() if self.takes_word("ELSE") else None
        self.need_word("END")
        return CaseExpression(subject, tuple(branches), otherwise)

    def _subquery(self, *, counted: bool) -> SubqueryExpression:
        self.take()
        self.need("{")
        with self.deeper():
            query = self.subquery()
        self.need("}")
        return SubqueryExpression(query, counted)

    # ——— lists ———

    def _quantifier(self) -> QuantifierExpression:
        word = self.take().text.upper()
        self.need("(")
        variable = self.name("A variable")
        self.need_word("IN")
        items = self.expression()
        where = self.expression() if self.takes_word("WHERE") else None
        self.need(")")
        return QuantifierExpression(word, variable, items, where)

    def _reduce(self) -> ReduceExpression:
        self.take()
        self.need("(")
        total = self.name("A variable")
        self.need("=")
        start = self.expression()
        self.need(",")
        variable = self.name("A variable")
        self.need_word("IN")
        items = self.expression()
        self.need("|")
        step = self.expression()
        self.need(")")
        return ReduceExpression(total, start, variable, items, step)

    def _list(self) -> Expression:
        if self.ahead(1).is_name and self.ahead(2).is_word("IN"):
            return self._list_comprehension()
        if self._sees_pattern_comprehension():
            return self._pattern_comprehension()
        self.need("[")
        items: list[Expression] = []
        while not self.takes("]"):
            if items:
                self.need(",")
            items.append(self.expression())
        return ListLiteral(tuple(items))

    def _list_comprehension(self) -> Expression:
        self.need("[")
        variable = self.name("A variable")
        self.need_word("IN")
        items = self.expression()
        where = self.expression() if self.takes_word("WHERE") else None
        result = self.expression() if self.takes("|") else None
        self.need("]")
        return ListComprehension(variable, items, where, result)

    def _sees_pattern_comprehension(self) -> bool:
        if self.ahead(1).is_name and self.ahead(2).is_symbol("="):
            return self.ahead(3).is_symbol("(")
        if not self.ahead(1).is_symbol("("):
            return False
        before, self._at = self._at, self._at + 1
        is_pattern = self.begins_a_pattern()
        self._at = before
        return is_pattern

    def _pattern_comprehension(self) -> PatternComprehension:
        self.need("[")
        path = self.path()
        where = self.expression() if self.takes_word("WHERE") else None
        self.need("|")
        result = self.expression()
        self.need("]")
        return PatternComprehension(path, where, result)

    # ——— maps ———

    def map_literal(self) -> MapLiteral:
        self.need("{")
        items: list[tuple[str, Expression]] = []
        while not self.takes("}"):
            if items:
                self.need(",")
            key = self.key()
            self.need(":")
            items.append((key, self.expression()))
        return MapLiteral(tuple(items))

    def _projection(self, of: VariableRef) -> MapProjection:
        self.need("{")
        items: list[tuple[str | None, Expression]] = []
        while not self.takes("}"):
            if items:
                self.need(",")
            items.append(self._projected(of))
        return MapProjection(of, tuple(items))

    def _projected(self, of: VariableRef) -> tuple[str | None, Any]:
        if self.takes("."):
            if self.takes("*"):
                return None, of
            key = self.key()
            return key, PropertyAccess(of, key)
        key = self.key()
        return key, self.expression() if self.takes(":") else VariableRef(key)
