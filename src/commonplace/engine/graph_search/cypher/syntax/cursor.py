"""A position in the tokens of a query, and error messages that name it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from commonplace.engine.graph_search.cypher.syntax.tokens import (
    REFUSED_WORDS,
    RESERVED_WORDS,
    CypherToken,
    TokenKind,
    place,
    tokens_of,
)
from commonplace.errors import BadCypher

DEEPEST = 40  # brackets within brackets


class TokenCursor:
    def __init__(self, query: str) -> None:
        self._query = query
        self._tokens = tokens_of(query)
        self._at = 0
        self._depth = 0

    # ——— looking ———

    @property
    def here(self) -> CypherToken:
        return self._tokens[self._at]

    @property
    def is_at_end(self) -> bool:
        return self.here.kind is TokenKind.END

    def ahead(self, steps: int) -> CypherToken:
        return self._tokens[min(self._at + steps, len(self._tokens) - 1)]

    def sees(self, *symbols: str) -> bool:
        return self.here.is_symbol(*symbols)

    def sees_word(self, *words: str) -> bool:
        return self.here.is_word(*words)

    def text_since(self, start: int) -> str:
        """The text of the query from ``start`` to the last token taken."""
        return self._query[start : self._tokens[self._at - 1].end]

    # ——— taking ———

    def take(self) -> CypherToken:
        token = self.here
        self._at += token.kind is not TokenKind.END
        return token

    def takes(self, *symbols: str) -> bool:
        return self.sees(*symbols) and bool(self.take())

    def takes_word(self, *words: str) -> bool:
        return self.sees_word(*words) and bool(self.take())

    def need(self, symbol: str) -> None:
        if not self.takes(symbol):
            self.fail(f"'{symbol}' is missing before {self.here.shown}")

    def need_word(self, word: str) -> None:
        if not self.takes_word(word):
            self.fail(f"{word} is missing before {self.here.shown}")

    def name(self, what: str) -> str:
        """A variable, a column, a label … Words of the language only in backticks."""
        token = self.here
        if not token.is_name:
            self.fail(f"{what} is missing before {token.shown}")
        if token.kind is TokenKind.NAME and token.text.upper() in RESERVED_WORDS:
            self.fail(f"{token.shown} is a word of the language and names no {what.split()[-1]}")
        return self.take().text

    def key(self, what: str = "The name of a property") -> str:
        """Any word: a dot or a colon before it says what it is."""
        if not self.here.is_name:
            self.fail(f"{what} is missing before {self.here.shown}")
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

    def refuse(self, token: CypherToken) -> NoReturn:
        word = token.text.upper()
        where = place(self._query, token.at)
        raise BadCypher(f"{word} is not allowed, at {where}. {REFUSED_WORDS[word]}")

    @property
    def sees_refused_word(self) -> bool:
        return self.here.kind is TokenKind.NAME and self.here.text.upper() in REFUSED_WORDS
