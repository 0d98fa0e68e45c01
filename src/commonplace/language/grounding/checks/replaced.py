"""Whether a statement may take the place of an earlier one: a model may call anything obsolete.

One word in common is not enough: "my sister called" does not change where she lives. There must be
a word of change, or another value in the same place. Pure.
"""

from __future__ import annotations

from functools import cache

from commonplace.language.compare.compare import CompareVerdict, compare
from commonplace.language.compare.other_value import says_change
from commonplace.language.grounding.checks.words import content_forms
from commonplace.language.text.lexicon import BilingualPattern, any_pattern, load_patterns
from commonplace.language.text.typed_values import differ, find_typed_values


def may_replace(older: str, newer: str, basis: str) -> bool:
    """``basis``: the sentence that the newer statement rests on."""
    if content_forms(newer, "en").isdisjoint(content_forms(older, "en")):
        return False
    return tells_change(basis) or _has_other_value(older, newer)


def tells_change(words: str) -> bool:
    return _change().search(words) is not None or says_change(words)


def _has_other_value(older: str, newer: str) -> bool:
    """The same kind of value, or the same predicate, with another value."""
    before, after = find_typed_values(older), find_typed_values(newer)
    if any(one.kind is other.kind and differ(one, other) for one in before for other in after):
        return True
    return compare(older, newer).verdict is CompareVerdict.CHANGED


@cache
def _change() -> BilingualPattern:
    return any_pattern(load_patterns("grounding/checks/replaced")["change"])
