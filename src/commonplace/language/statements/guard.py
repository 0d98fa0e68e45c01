"""The last word: nothing that differs in a number, date, name or negation is the same."""

from dataclasses import replace

from commonplace.language.statements.parse import Parsed
from commonplace.language.statements.terms import missing, told
from commonplace.language.statements.verdict import ALIKE, Comparison, Verdict

# Added to a statement, these do not add detail but limit or turn it.
_TURNING = ("x:limit:", "x:company:", "x:amount:", "x:frequency_word:", "x:seniority:")


def guard(old: Parsed, new: Parsed, found: Comparison) -> Comparison:
    """The comparison itself, or a weaker one where something protected differs."""
    if found.verdict not in ALIKE:
        return found
    # What is only added may give a reason of another time: "because it was too slow".
    before = old.main if found.verdict is Verdict.LESS else (old.negations, old.modes)
    after = new.main if found.verdict is Verdict.MORE else (new.negations, new.modes)
    if before[0] != after[0]:
        return replace(found, verdict=Verdict.BOTH, reason="one of them denies something")
    if before[1] != after[1]:
        return replace(found, verdict=Verdict.BOTH, reason="said of another time")
    lost = missing(old.protected, new.content)
    added = missing(new.protected, old.content)
    if found.verdict is Verdict.MORE:
        added = [token for token in added if token.term.startswith(_TURNING)]
    elif found.verdict is Verdict.LESS:
        lost = [token for token in lost if token.term.startswith(_TURNING)]
    differing = lost or added
    if not differing:
        return found
    # Little in common and another name: not even near.
    verdict = Verdict.BOTH if found.words_alike >= 0.5 else Verdict.APART
    return replace(found, verdict=verdict, reason=f"differs in {told(differing)}")
