"""Walking along the tokens of a query, and saying where it went wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

from commonplace.errors import BadCypher
from commonplace.recall.cypher.tokens import Kind, Token, place, tokens_of
from commonplace.recall.cypher.words import refused_words, reserved_words

DEEPEST = 25  # brackets within brackets; each takes fifteen of Python's thousand calls


class Cursor:
    def __init__(self, query: str, params: Mapping[str, Any]):
        self._query = query
        self._tokens = tokens_of(query)
        self._at = 0
        self._depth = 0
        self._params = params

    # ——— looking ———

    @property
    def here(self) -> Token:
        return self._tokens[self._at]

    def ahead(self, steps: int) -> Token:
        return self._tokens[min(self._at + steps, len(self._tokens) - 1)]

    def sees(self, *symbols: str) -> bool:
        return self.here.is_symbol(*symbols)

    def sees_word(self, *words: str) -> bool:
        return self.here.is_word(*words)

    def text_since(self, start: int) -> str:
        """How the caller spelt what began at ``start``."""
        return self._query[start : self._tokens[self._at - 1].end]

    # ——— taking ———

    def take(self) -> Token:
        token = self.here
        self._at += token.kind is not Kind.END
        return token

    def takes(self, *symbols: str) -> bool:
        return self.sees(*symbols) and bool(self.take())

    def takes_word(self, *words: str) -> bool:
        return self.sees_word(*words) and bool(self.take())

    def need(self, symbol: str) -> None:
        if not self.takes(symbol):
            self.fail(f"'{symbol}' is missing before {self.here.told}")

    def need_word(self, word: str) -> None:
        if not self.takes_word(word):
            self.fail(f"{word} is missing before {self.here.told}")

    def name(self, what: str) -> str:
        """Of a variable, a column, a label … In backticks it may hold a space, but no more."""
        token = self.here
        if token.kind not in (Kind.NAME, Kind.QUOTED):
            self.fail(f"{what} is missing before {token.told}")
        word = token.text.upper()
        if word in refused_words() or word in reserved_words():
            self.fail(f"{token.told} is a word of the language and names no {what.split()[-1]}")
        return self.take().text

    def key(self) -> str:
        """Of a property or a map: any word will do, since a dot or a colon says what it is."""
        if self.here.kind not in (Kind.NAME, Kind.QUOTED):
            self.fail(f"The name of a property is missing before {self.here.told}")
        return self.take().text

    @contextmanager
    def deeper(self) -> Iterator[None]:
        self._depth += 1
        if self._depth > DEEPEST:
            self.fail(f"The query is nested more than {DEEPEST} deep")
        yield
        self._depth -= 1

    # ——— failing ———

    def fail(self, what: str, remedy: str | None = None) -> NoReturn:
        raise BadCypher(f"{what}, at {place(self._query, self.here.at)}.", remedy=remedy)

    def refuse(self, token: Token) -> NoReturn:
        why = refused_words()[token.text.upper()]
        raise BadCypher(
            f"{token.text.upper()} is not allowed, at {place(self._query, token.at)}. {why}"
        )
