"""Whether words only suppose, dream, advise or nearly do what a text states as a fact."""

from __future__ import annotations

import re
from functools import cache

from commonplace.language.grounding.checks.words import content_forms
from commonplace.language.text.lexicon import BilingualPattern, any_pattern, load_patterns

_CLAUSE_END = re.compile(
    r"(?<![,;:.!?؟()\n])[,;:.!?؟()\n]++(?:\s|$)|\s[–—-]++\s|\s(?:but|so|because|cause|cos|bc|although|though|אבל|כי|ולכן)\s",
    re.IGNORECASE,
)


def is_supposed(text: str, basis: str) -> bool:
    """``basis``: the clauses that the text rests on. Of these, the one that shares most words with
    the text decides; between equals, one that states it."""
    if not _unsure().search(basis) or _admits().search(text):
        return False
    wanted = content_forms(text, "en")
    clauses = [clause for clause in _CLAUSE_END.split(basis) if clause.strip()]
    ranked = [
        (len(wanted & content_forms(clause, "en")), not _unsure().search(clause))
        for clause in clauses
    ]
    return bool(ranked) and not max(ranked)[1]


@cache
def _unsure() -> BilingualPattern:
    return any_pattern(load_patterns("grounding/checks/certainty")["unsure"])


@cache
def _admits() -> BilingualPattern:
    return any_pattern(load_patterns("grounding/checks/certainty")["admits"])
