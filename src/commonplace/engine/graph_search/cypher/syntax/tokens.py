"""Tokens of a query, and the cursor that a parser reads them with."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from typing import NoReturn

from commonplace.errors import BadCypher

MAX_QUERY_LENGTH = 20_000  # characters
MAX_TOKENS = 6_000
MAX_DIGITS = 400


class TokenKind(Enum):
    NAME = auto()
    QUOTED = auto()  # a name in backticks: never a keyword
    STRING = auto()
    INTEGER = auto()
    FLOAT = auto()
    PARAMETER = auto()
    SYMBOL = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class CypherToken:
    kind: TokenKind
    text: str  # of a string or a quoted name: its value, without quotes and escapes
    at: int
    end: int

    def is_word(self, *words: str) -> bool:
        return self.kind is TokenKind.NAME and self.text.upper() in words

    def is_symbol(self, *symbols: str) -> bool:
        return self.kind is TokenKind.SYMBOL and self.text in symbols

    @property
    def is_name(self) -> bool:
        return self.kind in (TokenKind.NAME, TokenKind.QUOTED)

    @property
    def shown(self) -> str:
        return "the end of the query" if self.kind is TokenKind.END else f"'{self.text[:40]}'"


# Words that begin an unsupported construct, with the reason.
REFUSED_WORDS: dict[str, str] = {
    word: reason
    for reason, words in {
        "Queries only read.": "CREATE MERGE SET DELETE DETACH REMOVE FOREACH INSERT",
        "Labels and properties are fixed; `traverse --schema` lists them.": (
            "DROP ALTER CONSTRAINT INDEX"
        ),
        "No file, address or other database can be reached.": (
            "LOAD COPY IMPORT EXPORT ATTACH USE INSTALL"
        ),
        "No procedure can be called, and no setting changed.": (
            "CALL YIELD PRAGMA START SHOW TERMINATE"
        ),
        "Each query stands alone, and changes nothing.": "BEGIN COMMIT ROLLBACK",
        "Plans are not shown.": "EXPLAIN PROFILE",
    }.items()
    for word in words.split()
}
# Words that need backticks as a variable or column.
RESERVED_WORDS = frozenset(
    [
        "MATCH",
        "OPTIONAL",
        "WHERE",
        "WITH",
        "UNWIND",
        "RETURN",
        "ORDER",
        "BY",
        "SKIP",
        "LIMIT",
        "UNION",
        "DISTINCT",
        "AS",
        "AND",
        "OR",
        "XOR",
        "NOT",
        "IN",
        "IS",
        "NULL",
        "TRUE",
        "FALSE",
        "CASE",
        "WHEN",
        "THEN",
        "ELSE",
        "END",
        "STARTS",
        "ENDS",
        "CONTAINS",
        "ASC",
        "DESC",
        "ASCENDING",
        "DESCENDING",
        "EXISTS",
        "CREATE",
        "MERGE",
        "SET",
        "DELETE",
        "DETACH",
        "REMOVE",
        "FOREACH",
        "CALL",
        "DROP",
    ]
)

_SKIPPED = re.compile(r"(?:\s+|//[^\n\r]*|/\*.*?\*/)+", re.S)
_NAME = re.compile(r"[^\W\d]\w*")
_PARAMETER = re.compile(r"\$(?:`([^`]+)`|(\w+))")
_FLOAT = re.compile(r"(?:[0-9]+\.[0-9]+|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+")
_INTEGER = re.compile(r"0[xX][0-9A-Fa-f]+|0[oO][0-7]+|[0-9]+")
_QUOTED = re.compile(r"`((?:[^`]|``)+)`")
_SYMBOL = re.compile(r"<>|<=|>=|=~|\.\.|\+=|[()\[\]{},.:;|=<>+\-*/%^&!]")
_NUMBERS = (TokenKind.FLOAT, TokenKind.INTEGER)
_PATTERNS = (
    (TokenKind.NAME, _NAME),
    (TokenKind.FLOAT, _FLOAT),
    (TokenKind.INTEGER, _INTEGER),
    (TokenKind.SYMBOL, _SYMBOL),
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\\": "\\", "'": "'", '"': '"'}
_UNICODE = re.compile(r"u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})")
_PLAIN = re.compile(r"[^'\"\\]+")


def tokens_of(query: str) -> list[CypherToken]:
    """All tokens, with an END after the last."""
    if len(query) > MAX_QUERY_LENGTH:
        raise BadCypher(
            f"The query has {len(query):,} characters; the limit is {MAX_QUERY_LENGTH:,}."
        )
    if "\0" in query or any("\ud800" <= char <= "\udfff" for char in query):
        raise BadCypher("The query holds a NUL or half a surrogate pair.")
    found: list[CypherToken] = []
    at = 0
    while True:
        skipped = _SKIPPED.match(query, at)
        at = skipped.end() if skipped else at
        if at >= len(query):
            return [*found, CypherToken(TokenKind.END, "", len(query), len(query))]
        found.append(_token(query, at))
        at = found[-1].end
        if len(found) > MAX_TOKENS:
            raise BadCypher(f"The query has more than {MAX_TOKENS:,} words and signs.")


def _token(query: str, at: int) -> CypherToken:
    first = query[at]
    if first in "'\"":
        return _string(query, at)
    if first == "`" and (found := _QUOTED.match(query, at)):
        return CypherToken(TokenKind.QUOTED, found[1].replace("``", "`"), at, found.end())
    if first == "$" and (found := _PARAMETER.match(query, at)):
        return CypherToken(TokenKind.PARAMETER, found[1] or found[2], at, found.end())
    if query.startswith("/*", at):
        raise BadCypher(f"The comment that begins at {place(query, at)} does not end.")
    for kind, pattern in _PATTERNS:
        if found := pattern.match(query, at):
            token = CypherToken(kind, found[0], at, found.end())
            return _checked_number(query, token) if kind in _NUMBERS else token
    raise BadCypher(f"{_unexpected(query, at)} at {place(query, at)} has no meaning here.")


def _checked_number(query: str, token: CypherToken) -> CypherToken:
    follower = query[token.end : token.end + 1]
    if len(token.text) > MAX_DIGITS or follower.isalnum() or follower == "_":
        shown = f"'{token.text[:40]}{follower}'"
        raise BadCypher(f"{shown} at {place(query, token.at)} is no number.")
    return token


def _string(query: str, at: int) -> CypherToken:
    quote = query[at]
    pieces: list[str] = []
    here = at + 1
    while here < len(query):
        char = query[here]
        if char == quote:
            return CypherToken(TokenKind.STRING, "".join(pieces), at, here + 1)
        if char == "\\":
            char, here = _escape(query, here)
        elif found := _PLAIN.match(query, here):
            char, here = found[0], found.end()
        else:
            here += 1
        pieces.append(char)
    raise BadCypher(f"The string that begins at {place(query, at)} does not end.")


def _escape(query: str, at: int) -> tuple[str, int]:
    """The escaped character, and the position after the escape."""
    sign = query[at + 1 : at + 2]
    if sign and sign in _ESCAPES:
        return _ESCAPES[sign], at + 2
    if found := _UNICODE.match(query, at + 1):
        number = int(found[1] or found[2], 16)
        if 0 < number < 0xD800 or 0xDFFF < number <= 0x10FFFF:
            return chr(number), found.end()
    raise BadCypher(
        f"The escape at {place(query, at)} has no meaning.",
        remedy="Write a backslash in a string twice: '\\\\'.",
    )


def _unexpected(query: str, at: int) -> str:
    char = query[at]
    if char == "`":
        return "A backtick without a second one"
    name = unicodedata.name(char, f"U+{ord(char):04X}")
    return f"'{char}'" if char.isascii() and char.isprintable() else f"The character {name}"


def place(query: str, at: int) -> str:
    before = query[:at]
    return f"line {before.count(chr(10)) + 1}, column {at - before.rfind(chr(10))}"


MAX_NESTING = 40  # nested brackets


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
        """A variable, a column, a label …; keywords only in backticks."""
        token = self.here
        if not token.is_name:
            self.fail(f"{what} is missing before {token.shown}")
        if token.kind is TokenKind.NAME and token.text.upper() in RESERVED_WORDS:
            self.fail(f"{token.shown} is a word of the language and names no {what.split()[-1]}")
        return self.take().text

    def key(self, what: str = "The name of a property") -> str:
        """Any word, also a keyword: the dot or colon before it makes it a name."""
        if not self.here.is_name:
            self.fail(f"{what} is missing before {self.here.shown}")
        return self.take().text

    @contextmanager
    def deeper(self) -> Iterator[None]:
        self._depth += 1
        if self._depth > MAX_NESTING:
            self.fail(f"The query is nested more than {MAX_NESTING} deep")
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
