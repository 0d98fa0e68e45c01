"""Where two texts differ: their words side by side."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from commonplace.language.statements.terms import same_term
from commonplace.language.statements.token import Kind, Token

_ALIGNED = 150  # tokens; longer texts are compared by their ends only, to stay linear
_LONGEST_VALUE = 5


@dataclass(frozen=True, slots=True)
class Span:
    """A place where two texts differ: tokens of the one against tokens of the other."""

    old: tuple[Token, ...]
    new: tuple[Token, ...]
    at_old: int
    at_new: int


def align(old: Sequence[Token], new: Sequence[Token]) -> tuple[list[Span], int]:
    """Where two texts differ, and how many tokens they share."""
    spans: list[Span] = []
    common = 0
    if len(old) > _ALIGNED or len(new) > _ALIGNED:
        return _ends(old, new)
    matcher = SequenceMatcher(None, [t.term for t in old], [t.term for t in new], autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal" or (j - i == m - k and all(map(same_term, old[i:j], new[k:m]))):
            common += j - i
        else:
            spans.append(Span(tuple(old[i:j]), tuple(new[k:m]), i, k))
    return spans, common


def _ends(old: Sequence[Token], new: Sequence[Token]) -> tuple[list[Span], int]:
    """Long texts: a common beginning, a common end, and one span between them."""
    shortest = min(len(old), len(new))
    start = 0
    while start < shortest and old[start].term == new[start].term:
        start += 1
    end = 0
    while end < shortest - start and old[-1 - end].term == new[-1 - end].term:
        end += 1
    span = Span(
        tuple(old[start : len(old) - end]), tuple(new[start : len(new) - end]), start, start
    )
    shared = Counter(t.term for t in span.old) & Counter(t.term for t in span.new)
    return [span], start + end + shared.total() // 2


def share_alike(spans: Sequence[Span], common: int) -> float:
    """The share of common words, values left out."""
    apart = sum(
        len([t for t in side if not t.is_value and t.kind is not Kind.NAME])
        for span in spans
        if not (span.old and span.new and is_value(span))
        for side in (span.old, span.new)
    )
    return 2 * common / (2 * common + apart) if common else 0.0


def is_value(span: Span) -> bool:
    """Short on both sides: something in the place of something else."""
    return 0 < len(span.old) <= _LONGEST_VALUE and 0 < len(span.new) <= _LONGEST_VALUE
