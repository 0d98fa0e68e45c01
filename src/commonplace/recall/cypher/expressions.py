"""Reading expressions, loosest first: OR, XOR, AND, NOT, comparisons, sums, products, powers."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from commonplace.errors import BadCypher
from commonplace.recall.cypher.atoms import AtomReader
from commonplace.recall.cypher.tree import (
    Expression,
    HasLabel,
    Index,
    IsNull,
    Joined,
    Prefixed,
    Property,
    Slice,
)

_COMPARISONS = ("=", "<>", "<", ">", "<=", ">=")


class ExpressionReader(AtomReader):
    def expression(self) -> Expression:
        with self.deeper():
            return self._chained(self._xor, "OR")

    def _xor(self) -> Expression:
        return self._chained(self._and, "XOR")

    def _and(self) -> Expression:
        return self._chained(self._not, "AND")

    def _chained(self, tighter: Callable[[], Expression], word: str) -> Expression:
        left = tighter()
        while self.takes_word(word):
            left = Joined(left, word, tighter())
        return left

    def _not(self) -> Expression:
        if self.takes_word("NOT"):
            with self.deeper():
                return Prefixed("NOT", self._not())
        return self._compared()

    def _compared(self) -> Expression:
        """a < b < c means a < b and b < c."""
        left = self._tested()
        comparisons: list[Expression] = []
        while self.sees(*_COMPARISONS):
            sign = self.take().text
            right = self._tested()
            comparisons.append(Joined(left, sign, right))
            left = right
        if not comparisons:
            return left
        return reduce(lambda all, each: Joined(all, "AND", each), comparisons)

    def _tested(self) -> Expression:
        """=~, IN, CONTAINS, STARTS WITH, ENDS WITH, IS [NOT] NULL."""
        left = self._sum()
        while True:
            if self.takes("=~"):
                left = Joined(left, "=~", self._sum())
            elif self.takes_word("IN"):
                left = Joined(left, "IN", self._sum())
            elif self.takes_word("CONTAINS"):
                left = Joined(left, "CONTAINS", self._sum())
            elif self.sees_word("STARTS", "ENDS"):
                word = self.take().text.upper()
                self.need_word("WITH")
                left = Joined(left, f"{word} WITH", self._sum())
            elif self.takes_word("IS"):
                negated = self.takes_word("NOT")
                self.need_word("NULL")
                left = IsNull(left, negated)
            else:
                return left

    def _sum(self) -> Expression:
        left = self._product()
        while self.sees("+", "-"):
            left = Joined(left, self.take().text, self._product())
        return left

    def _product(self) -> Expression:
        left = self._power()
        while self.sees("*", "/", "%"):
            left = Joined(left, self.take().text, self._power())
        return left

    def _power(self) -> Expression:
        left = self._signed()
        while self.takes("^"):
            left = Joined(left, "^", self._signed())
        return left

    def _signed(self) -> Expression:
        if self.sees("-", "+"):
            with self.deeper():
                return Prefixed(self.take().text, self._signed())
        return self._followed(self.atom())

    def _followed(self, of: Expression) -> Expression:
        """.key, [index], [first..last], :Label"""
        while True:
            if self.takes("."):
                of = Property(of, self.key())
                if self.sees("("):
                    self.fail(f"There is no function …{of.key}")
            elif self.takes("["):
                of = self._index(of)
            elif self.sees(":"):
                of = self._labelled(of)
            else:
                return of

    def _index(self, of: Expression) -> Expression:
        first = None if self.sees("..") else self.expression()
        if not self.takes(".."):
            self.need("]")
            if first is None:
                raise BadCypher("An index is missing in [ ].")
            return Index(of, first)
        last = None if self.sees("]") else self.expression()
        self.need("]")
        return Slice(of, first, last)

    def _labelled(self, of: Expression) -> HasLabel:
        self.need(":")
        found = [self.label()]
        sign = "|" if self.sees("|") else ":"
        while self.takes(sign):
            found.append(self.label())
        return HasLabel(of, tuple(found), any_of=sign == "|")
