"""What is told of matters that do harm in the wrong hands, and what no conversation should hold.

Patterns are in sensitive.toml. A memory can be guarded by itself, a passage only with its whole
conversation. So what others could pay, sign or enter with is left out of the passage and stands in
the guarded memory alone; a statement, which is no key to anything, stays in the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from commonplace.language.observing.candidate import Candidate, Observed
from commonplace.language.observing.patterns import any_of, data
from commonplace.model.kinds import Kind
from commonplace.model.memory import Sensitivity

SECRET = "[secret]"  # where a value was left out

_DATA = data("sensitive")
_CREDENTIAL = any_of(_DATA["credential"])
_STATEMENT = any_of(_DATA["statement"])
_IN_TRUST = any_of(_DATA["in_trust"])
_KEY = re.compile("|".join(f"(?:{pattern})" for pattern in _DATA["key"]))  # case counts
# Thirteen to nineteen figures that begin as cards do, in groups or not.
_CARD = re.compile(r"(?<![\d.-])(?:[3-6]\d{3}|2[2-7]\d\d)(?:[ -]?\d){9,15}(?![\d.]\d|\d)")
_STATED = frozenset({Kind.FACT, Kind.EVENT, Kind.LOG, Kind.INSIGHT})


def guarded(found: Observed) -> Observed:
    """With high sensitivity where what it says needs it."""
    if isinstance(found, Candidate) and _is_guarded(found):
        return replace(found, sensitivity=Sensitivity.HIGH)
    return found


def without_credentials(text: str, found: Iterable[Observed]) -> str:
    """A turn as its conversation may keep it: with a mark for what others could misuse."""
    for each in found:
        if isinstance(each, Candidate) and is_credential(each):
            text = text.replace(each.metadata["value"], SECRET)
    text = _KEY.sub(SECRET, text)
    return _CARD.sub(lambda number: SECRET if _is_card(number[0]) else number[0], text)


def is_credential(candidate: Candidate) -> bool:
    """A value with which others could pay, sign or enter in one's name."""
    if candidate.kind is not Kind.KV:
        return False
    value = candidate.metadata["value"]
    card = _CARD.fullmatch(value)
    if _KEY.fullmatch(value) or (card and _is_card(value)):
        return True
    # "My credit card is from Leumi" tells nothing that could be misused.
    return bool(_CREDENTIAL.search(candidate.metadata["subject"]) and re.search(r"\d", value))


def _is_guarded(candidate: Candidate) -> bool:
    if is_credential(candidate) or _IN_TRUST.search(candidate.trigger):
        return True
    said = candidate.content
    if _KEY.search(said) or any(_is_card(card[0]) for card in _CARD.finditer(said)):
        return True
    return candidate.kind in _STATED and bool(_STATEMENT.search(said))


def _is_card(number: str) -> bool:
    """By the check digit that every card has (ISO/IEC 7812)."""
    figures = [int(figure) for figure in reversed(number) if figure.isdigit()]
    doubled = [divmod(2 * figure, 10) for figure in figures[1::2]]
    return (sum(figures[::2]) + sum(map(sum, doubled))) % 10 == 0
