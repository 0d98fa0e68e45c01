"""Whether two values that were proposed for one field are the same value.

The same words are. Other words that may say the same are judged by the thresholds of rewordings,
each higher by `STRICTER`; where similarity is unknown they are two values, and the owner is asked
about both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from commonplace.desk import Desk
from commonplace.language.statements.compare import Verdict, compare
from commonplace.model.consent import STRICTER
from commonplace.remember.relate import SAME, SAME_IN_FULL

_NEEDED = {
    Verdict.EQUAL: 0.0,
    Verdict.SAME: SAME_IN_FULL + STRICTER,
    Verdict.OPEN: SAME_IN_FULL + STRICTER,
    Verdict.MORE: SAME + STRICTER,  # to say more is to say something else
    Verdict.LESS: SAME + STRICTER,
}


def is_equal(one: Any, other: Any) -> bool:
    """Without a look at what the words mean."""
    return _verdict(one, other) is Verdict.EQUAL


def is_same_value(verdict: Verdict, similarity: float | None) -> bool:
    if verdict not in _NEEDED:
        return False
    return verdict is Verdict.EQUAL or (similarity or 0.0) >= _NEEDED[verdict]


def the_same_among(desk: Desk, value: Any, others: Sequence[Any]) -> int | None:
    """The place of the first of the others that is the same value, with one call to the embedder
    at most."""
    verdicts = [_verdict(other, value) for other in others]
    if Verdict.EQUAL in verdicts:
        return verdicts.index(Verdict.EQUAL)
    open_ones = [place for place, verdict in enumerate(verdicts) if verdict in _NEEDED]
    if not open_ones:
        return None
    texts = [_text(value), *(_text(others[place]) for place in open_ones)]
    vectors = desk.embed(texts)
    for row, place in enumerate(open_ones, 1):
        cosine = None if vectors is None else float(vectors[0] @ vectors[row])
        if is_same_value(verdicts[place], desk.similarity(cosine, texts[0], texts[row])):
            return place
    return None


def _verdict(old: Any, new: Any) -> Verdict:
    """A number is what it reads like: 5, 5.0 and "5" are one. Yes and no are no words."""
    if isinstance(old, bool) or isinstance(new, bool):
        return Verdict.EQUAL if old is new else Verdict.APART
    return compare(_text(old), _text(new)).verdict


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(value)
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if whole else value)
