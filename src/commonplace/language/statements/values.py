"""When two values mean the same: "1.5 kg" and "1500 g", "3 March 2024" and 2024-03-03."""

import re
import unicodedata

from commonplace.language.contacts import same_phone
from commonplace.language.normalise import fold
from commonplace.language.statements.dates import agree
from commonplace.language.statements.initials import spelt_out
from commonplace.language.statements.parse import parse
from commonplace.language.statements.spoken import language_of

_PHONE = re.compile(r"[+(]?\d[\d\s().+/-]{5,}\d")


def same_value(a: object, b: object, *, secret: bool = False) -> bool:
    """Whether two values mean the same; in a secret every sign and capital counts."""
    one, other = _text(a), _text(b)
    if one == other:
        return True
    if secret:
        return False
    if _PHONE.fullmatch(one) and _PHONE.fullmatch(other):
        return same_phone(one, other)
    one, other = spelt_out(one, other), spelt_out(other, one)
    language = language_of(one, other)
    left, right = parse(one, language), parse(other, language)
    terms, others = left.terms, right.terms
    if not terms or not others:
        return fold(one) == fold(other)
    if left.negations != right.negations or left.modes != right.modes:
        return False
    return len(terms) == len(others) and all(
        x == y or (x.startswith("d:") and y.startswith("d:") and agree(x, y) and _whole(x, y))
        for x, y in zip(terms, others, strict=True)
    )


def _whole(one: str, other: str) -> bool:
    """The same day, month and year; a weekday may be left out."""
    return one.split("-")[:3] == other.split("-")[:3]


def _text(value: object) -> str:
    """One line; digits of all scripts are the same digits."""
    line = " ".join(str(value).split())
    if line.isascii():
        return line
    return "".join(str(unicodedata.digit(c)) if c.isdecimal() else c for c in line)
