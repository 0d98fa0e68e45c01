"""When two terms, or two bags of them, say the same."""

from collections import Counter
from collections.abc import Iterable, Sequence

from commonplace.language.statements.dates import agree
from commonplace.language.statements.token import Kind, Token

_FEW = 50
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
    if {one.kind, other.kind} == {Kind.NUMBER, Kind.TIME}:
        number, time = (one, other) if one.kind is Kind.NUMBER else (other, one)
        return number.term == number.bare and time.term == f"t:{number.bare[2:]}:00"
    if one.kind is Kind.NUMBER and other.kind is Kind.NUMBER:
        unitless = one.term == one.bare or other.term == other.bare
        return bool(one.bare) and one.bare == other.bare and unitless
    return False


def _prefixed(longer: str, shorter: str) -> bool:
    """Short Hebrew names keep their prefix in the analyser: לדן is "to Dan"."""
    return len(shorter) > 1 and longer[1:] == shorter and longer[0] in HEBREW_PREFIXES


def missing(these: Iterable[Token], those: Sequence[Token]) -> list[Token]:
    """The tokens of the first that have no partner in the second, each partner used once.

    Equal terms find each other first; only what is then left is compared pair by pair, and only
    where it is little, so that long texts take linear time.
    """
    counts = Counter(token.term for token in those)
    lacking = []
    for token in these:
        if counts[token.term]:
            counts[token.term] -= 1
        else:
            lacking.append(token)
    if not lacking or len(lacking) > _FEW or counts.total() > _FEW:
        return lacking
    left = [token for token in reversed(those) if _take(counts, token.term)]
    return [token for token in lacking if not _partner(token, left)]


def _take(counts: Counter[str], term: str) -> bool:
    """Whether one more of this term is left."""
    counts[term] -= 1
    return counts[term] >= 0


def _partner(token: Token, left: list[Token]) -> bool:
    for at, candidate in enumerate(left):
        if same_term(token, candidate):
            del left[at]
            return True
    return False


def told(tokens: Sequence[Token]) -> str:
    """Tokens as a reader wrote them."""
    return " ".join(token.text for token in tokens)[:80]
