"""A query as tokens. Comments end here; look-alike letters do not get further."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import Enum, auto

from commonplace.errors import BadCypher

LONGEST_QUERY = 20_000  # characters
MOST_TOKENS = 4_000
MOST_DIGITS = 30


class Kind(Enum):
    NAME = auto()
    QUOTED = auto()  # a name in backticks: never a word of the language
    STRING = auto()
    INTEGER = auto()
    FLOAT = auto()
    PARAMETER = auto()
    SYMBOL = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class Token:
    kind: Kind
    text: str  # a string's and a quoted name's own text, without quotes and escapes
    at: int
    end: int

    def is_word(self, *words: str) -> bool:
        return self.kind is Kind.NAME and self.text.upper() in words

    def is_symbol(self, *symbols: str) -> bool:
        return self.kind is Kind.SYMBOL and self.text in symbols

    @property
    def told(self) -> str:
        return "the end of the query" if self.kind is Kind.END else f"'{self.text[:40]}'"


_SKIPPED = re.compile(r"(?:[ \t\r\n]+|//[^\n\r]*|/\*.*?\*/)+", re.S)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PARAMETER = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")
_FLOAT = re.compile(r"[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+")
_INTEGER = re.compile(r"[0-9]+")
_QUOTED = re.compile(r"`([A-Za-z_][A-Za-z0-9_ ]*)`")
_SYMBOL = re.compile(r"<>|<=|>=|=~|\.\.|[()\[\]{},.:;|=<>+\-*/%^]")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\\": "\\", "'": "'", '"': '"'}
_UNICODE = re.compile(r"u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})")


def tokens_of(query: str) -> list[Token]:
    """All of it, with an END after the last."""
    _check_text(query)
    found: list[Token] = []
    at = 0
    while True:
        skipped = _SKIPPED.match(query, at)
        at = skipped.end() if skipped else at
        if at >= len(query):
            return [*found, Token(Kind.END, "", len(query), len(query))]
        found.append(_token(query, at))
        at = found[-1].end
        if len(found) > MOST_TOKENS:
            raise BadCypher(f"The query has more than {MOST_TOKENS:,} words and signs.")


def _check_text(query: str) -> None:
    if len(query) > LONGEST_QUERY:
        raise BadCypher(f"The query has {len(query):,} characters; the limit is {LONGEST_QUERY:,}.")
    if "\0" in query or any("\ud800" <= char <= "\udfff" for char in query):
        raise BadCypher("The query holds a NUL or half a surrogate pair.")


def _token(query: str, at: int) -> Token:
    if query[at] in "'\"":
        return _string(query, at)
    if query.startswith("/*", at):
        raise BadCypher(f"The comment that begins at {place(query, at)} does not end.")
    for kind, pattern in (
        (Kind.NAME, _NAME),
        (Kind.PARAMETER, _PARAMETER),
        (Kind.FLOAT, _FLOAT),
        (Kind.INTEGER, _INTEGER),
        (Kind.QUOTED, _QUOTED),
        (Kind.SYMBOL, _SYMBOL),
    ):
        if found := pattern.match(query, at):
            text = found[1] if pattern.groups else found[0]
            token = Token(kind, text, at, found.end())
            return _checked_number(query, token) if kind in _NUMBERS else token
    raise BadCypher(
        f"{_odd(query, at)} at {place(query, at)} has no meaning here.",
        remedy=_OF_WORDS if query[at] == "`" else None,
    )


_OF_WORDS = (
    "Words such as 'friend' or 'works-at' are no types of relationship: they are in the property "
    "relationship_type, as in -[r]- WHERE r.relationship_type = 'works-at'."
)


_NUMBERS = (Kind.FLOAT, Kind.INTEGER)


def _checked_number(query: str, token: Token) -> Token:
    follower = query[token.end : token.end + 1]
    if len(token.text) > MOST_DIGITS or follower.isalnum() or follower == "_":
        raise BadCypher(f"'{token.text[:40]}{follower}' at {place(query, token.at)} is no number.")
    return token


def _string(query: str, at: int) -> Token:
    quote = query[at]
    pieces: list[str] = []
    place_in = at + 1
    while place_in < len(query):
        char = query[place_in]
        if char == quote:
            return Token(Kind.STRING, "".join(pieces), at, place_in + 1)
        if char == "\\":
            char, place_in = _escape(query, place_in)
        else:
            place_in += 1
        pieces.append(char)
    raise BadCypher(f"The text that begins at {place(query, at)} does not end.")


def _escape(query: str, at: int) -> tuple[str, int]:
    """The character that is meant, and where the query goes on."""
    sign = query[at + 1 : at + 2]
    if sign in _ESCAPES:
        return _ESCAPES[sign], at + 2
    if found := _UNICODE.match(query, at + 1):
        number = int(found[1] or found[2], 16)
        if 0 < number < 0xD800 or 0xDFFF < number <= 0x10FFFF:
            return chr(number), found.end()
    raise BadCypher(
        f"The escape at {place(query, at)} has no meaning.",
        remedy="Write a backslash in a text twice: '\\\\'.",
    )


def _odd(query: str, at: int) -> str:
    char = query[at]
    if char == "`":
        return "A name in backticks that is more than letters, digits, _ and spaces"
    name = unicodedata.name(char, f"U+{ord(char):04X}")
    return f"'{char}'" if char.isascii() and char.isprintable() else f"The character {name}"


def place(query: str, at: int) -> str:
    before = query[:at]
    return f"line {before.count(chr(10)) + 1}, column {at - before.rfind(chr(10))}"
