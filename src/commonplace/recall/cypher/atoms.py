"""Reading the smallest expressions: values, names, calls, lists, maps, CASE, comprehensions."""

from __future__ import annotations

from typing import Any

from commonplace.recall.cypher.patterns import PatternReader
from commonplace.recall.cypher.tokens import Kind
from commonplace.recall.cypher.tree import (
    Call,
    Case,
    Comprehension,
    Expression,
    ListOf,
    Literal,
    MapOf,
    Matching,
    Property,
    Quantified,
    Reduced,
    Variable,
)
from commonplace.recall.cypher.values import checked_parameter, integer
from commonplace.recall.cypher.words import functions, refused_words

_CONSTANTS: dict[str, Any] = {"TRUE": True, "FALSE": False, "NULL": None}
_QUANTIFIERS = ("ALL", "ANY", "NONE", "SINGLE")


class AtomReader(PatternReader):
    def atom(self) -> Expression:
        token = self.here
        if token.kind in (Kind.NAME, Kind.QUOTED):
            return self._named()
        if token.kind is Kind.PARAMETER:
            return self._parameter()
        if token.kind is Kind.STRING:
            return Literal(self.take().text)
        if token.kind is Kind.INTEGER:
            return Literal(integer(self.take().text))
        if token.kind is Kind.FLOAT:
            return Literal(float(self.take().text))
        if self.sees("("):
            return self._bracketed()
        if self.sees("["):
            return self._list()
        if self.sees("{"):
            return self.properties()
        return self.fail(f"A value is missing before {token.told}")

    def _parameter(self) -> Literal:
        name = self.take().text
        if name not in self._params:
            self.fail(f"The parameter ${name} is not given", f"Give params={{'{name}': …}}.")
        return Literal(checked_parameter(name, self._params[name]))

    def _bracketed(self) -> Expression:
        if self.begins_a_pattern():
            return Matching((self.path(),))
        self.need("(")
        inner = self.expression()
        self.need(")")
        return inner

    # ——— what begins with a word ———

    def _named(self) -> Expression:
        token, following = self.here, self.ahead(1)
        if token.kind is Kind.NAME:
            word = token.text.upper()
            if word in _CONSTANTS:
                self.take()
                return Literal(_CONSTANTS[word])
            if word == "CASE":
                return self._case()
            if word in ("EXISTS", "COUNT") and following.is_symbol("{"):
                return self._counted(counted=word == "COUNT")
            if word in refused_words():
                self.refuse(token)
            if following.is_symbol("("):
                return self._call_of(word)
            if following.is_symbol(".") and self.ahead(3).is_symbol("("):
                return self._call_in(word)
        variable = Variable(self.name("A value"))
        return self._projected(variable) if self.sees("{") else variable

    def _call_of(self, word: str) -> Expression:
        if word in _QUANTIFIERS:
            return self._quantified()
        if word == "REDUCE":
            return self._reduced()
        return self._call(self.take().text)

    def _call_in(self, word: str) -> Expression:
        """duration.between(…)"""
        self.take()
        self.need(".")
        return self._call(f"{word}.{self.key()}")

    def _call(self, name: str) -> Call:
        function = functions().get(name.lower())
        if function is None:
            self.fail(f"There is no function {name}", "Functions: " + ", ".join(_function_names()))
        self.need("(")
        if name.lower() == "count" and self.takes("*"):
            self.need(")")
            return Call("count", (), of_all=True)
        distinct = self.takes_word("DISTINCT")
        if distinct and not function.is_aggregate:
            self.fail(f"DISTINCT has no meaning in {name}()")
        arguments: list[Expression] = []
        while not self.takes(")"):
            if arguments:
                self.need(",")
            arguments.append(self.expression())
        return Call(name.lower(), tuple(arguments), distinct)

    def _case(self) -> Case:
        self.need_word("CASE")
        subject = None if self.sees_word("WHEN") else self.expression()
        branches = []
        while self.takes_word("WHEN"):
            condition = self.expression()
            self.need_word("THEN")
            branches.append((condition, self.expression()))
        if not branches:
            self.fail("CASE without WHEN")
        otherwise = self.expression() if self.takes_word("ELSE") else None
        self.need_word("END")
        return Case(subject, tuple(branches), otherwise)

    def _counted(self, *, counted: bool) -> Matching:
        """EXISTS { [MATCH] … [WHERE …] }"""
        self.take()
        self.need("{")
        self.takes_word("MATCH")
        paths = self.paths()
        where = self.expression() if self.takes_word("WHERE") else None
        self.need("}")
        return Matching(paths, where, counted)

    # ——— lists ———

    def _quantified(self) -> Quantified:
        word = self.take().text.upper()
        self.need("(")
        variable = self.name("A variable")
        self.need_word("IN")
        items = self.expression()
        self.need_word("WHERE")
        where = self.expression()
        self.need(")")
        return Quantified(word, variable, items, where)

    def _reduced(self) -> Reduced:
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
        return Reduced(total, start, variable, items, step)

    def _list(self) -> Expression:
        if self.ahead(1).kind in (Kind.NAME, Kind.QUOTED) and self.ahead(2).is_word("IN"):
            return self._comprehension()
        if self.ahead(1).is_symbol("("):
            self._fail_of_pattern_comprehension()
        self.need("[")
        items: list[Expression] = []
        while not self.takes("]"):
            if items:
                self.need(",")
            items.append(self.expression())
        return ListOf(tuple(items))

    def _comprehension(self) -> Expression:
        """[x IN xs WHERE … | …]. A list whose only item asks whether x is in xs needs brackets."""
        self.need("[")
        variable = self.name("A variable")
        self.need_word("IN")
        items = self.expression()
        where = self.expression() if self.takes_word("WHERE") else None
        result = self.expression() if self.takes("|") else None
        self.need("]")
        return Comprehension(variable, items, where, result)

    def _fail_of_pattern_comprehension(self) -> None:
        self.take()
        is_pattern = self.begins_a_pattern()
        self._at -= 1
        if is_pattern:
            self.fail(
                "A list made of a pattern is not offered",
                "Use OPTIONAL MATCH and collect(…) instead.",
            )

    # ——— maps ———

    def _projected(self, of: Variable) -> MapOf:
        """n {.name, .salience, known: …}"""
        self.need("{")
        items: list[tuple[str, Expression]] = []
        while not self.takes("}"):
            if items:
                self.need(",")
            items.append(self._projected_item(of))
        return MapOf(tuple(items))

    def _projected_item(self, of: Variable) -> tuple[str, Expression]:
        if self.takes("."):
            if self.sees("*"):
                self.fail("All properties in a map are not offered", "Write properties(n).")
            key = self.key()
            return key, Property(of, key)
        key = self.key()
        if not self.takes(":"):
            return key, Variable(key)
        return key, self.expression()


def _function_names() -> list[str]:
    return sorted((one.name for one in functions().values()), key=str.lower)
