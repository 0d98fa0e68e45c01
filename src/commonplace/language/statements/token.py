"""One piece of a text: a word, a name, a value or a mark."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a token is, as far as its looks tell."""

    WORD = "word"
    NAME = "name"  # capital letter where none is needed, or quoted
    NUMBER = "number"  # a count, a quantity with its unit, an amount of money
    DATE = "date"
    TIME = "time"
    CODE = "code"  # versions, addresses, mixed letters and digits: exact
    MARK = "mark"


VALUES = frozenset({Kind.NUMBER, Kind.DATE, Kind.TIME, Kind.CODE})


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text with what it says: equal terms say the same."""

    text: str  # as written
    word: str  # folded
    kind: Kind
    start: int
    end: int
    role: str = ""  # what it does in the sentence: see grammar.toml
    term: str = ""  # what is compared; empty where a token adds nothing
    bare: str = ""  # a quantity's number without its unit, for "weighs 70" and "weighs 70 kg"

    @property
    def is_value(self) -> bool:
        return self.kind in VALUES

    def but(
        self,
        kind: Kind | None = None,
        role: str | None = None,
        term: str | None = None,
        bare: str | None = None,
    ) -> "Token":
        """The token with something else about it; made for speed, since every word passes here."""
        return Token(
            self.text,
            self.word,
            kind or self.kind,
            self.start,
            self.end,
            self.role if role is None else role,
            self.term if term is None else term,
            self.bare if bare is None else bare,
        )


def join(tokens: list[Token], kind: Kind, term: str, bare: str = "") -> Token:
    """Several tokens as one."""
    first, last = tokens[0], tokens[-1]
    text = " ".join(token.text for token in tokens)
    word = " ".join(token.word for token in tokens)
    return Token(text, word, kind, first.start, last.end, term=term, bare=bare)
