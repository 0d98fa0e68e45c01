"""When two terms, or two bags of them, say the same."""

from collections.abc import Iterable, Sequence

from commonplace.language.statements.dates import agree
from commonplace.language.statements.token import Kind, Token

HEBREW_PREFIXES = frozenset("בלמהוכש")


def same_term(one: Token, other: Token) -> bool:
    """Equal, or a date or quantity of which one leaves something out."""
    if one.term == other.term:
        return True
    if one.kind is Kind.WORD and other.kind is Kind.WORD:
        return _prefixed(one.term, other.term) or _prefixed(other.term, one.term)
    if one.kind is Kind.DATE and other.kind is Kind.DATE:
        return (
            one.term.startswith("d:")
            and other.term.startswith("d:")
            and agree(one.term, other.term)
        )
    if one.kind is Kind.NUMBER and other.kind is Kind.NUMBER:
        unitless = one.term == one.bare or other.term == other.bare
        return bool(one.bare) and one.bare == other.bare and unitless
    return False


def _prefixed(longer: str, shorter: str) -> bool:
    """Short Hebrew names keep their prefix in the analyser: לדן is "to Dan"."""
    return len(shorter) > 1 and longer[1:] == shorter and longer[0] in HEBREW_PREFIXES


def missing(these: Iterable[Token], those: Sequence[Token]) -> list[Token]:
    """The tokens of the first that have no partner in the second, each partner used once."""
    left = list(those)
    lacking = []
    for token in these:
        for at, candidate in enumerate(left):
            if same_term(token, candidate):
                del left[at]
                break
        else:
            lacking.append(token)
    return lacking


def told(tokens: Sequence[Token]) -> str:
    """Tokens as a reader wrote them."""
    return " ".join(token.text for token in tokens)[:80]
