"""What comparing two texts can come to."""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How a new text stands to an old one."""

    EQUAL = "equal"  # the same words
    SAME = "same"  # other words that say the same
    MORE = "more"  # all of the old one, and more
    LESS = "less"  # a part of the old one
    CHANGED = "changed"  # the same thing, said otherwise: a frame or an opposite proves it
    MASKED = "masked"  # values differ; changed, if the rest is alike enough
    BOTH = "both"  # both can be true
    APART = "apart"  # about something else
    OPEN = "open"  # words cannot tell; similarity decides


@dataclass(frozen=True, slots=True)
class Comparison:
    """A verdict, why, and what a judge of similarity needs."""

    verdict: Verdict
    reason: str
    masked: tuple[str, str] | None = None
    words_alike: float = 0.0  # share of the words in common outside the differing values


ALIKE = frozenset({Verdict.EQUAL, Verdict.SAME, Verdict.MORE, Verdict.LESS, Verdict.OPEN})
