"""PrecisionMemBench's rules, as SCORING.md tells them: noise is a failure.

The texts of a persona that some cases mention are constants of its authors' runner, not of a
memory, so they are not scored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from commonplace.bench.quality.metrics import ALL, Numbers, percent
from commonplace.bench.quality.precision import Belief, Case, Ids

ACTIVE, STRUCTURAL, EMPTY = "active", "structural", "empty"


@dataclass(frozen=True, slots=True)
class Found:
    """The three parts of an answer, as ids of beliefs."""

    relevant: Ids
    pinned: Ids = frozenset()
    questions: Ids = frozenset()


@dataclass(frozen=True, slots=True)
class Verdict:
    category: str
    precision: float | None  # None: nothing was to come back, and nothing did
    recall: float | None  # None: nothing was to come back
    passed_as: str | None  # None: failed
    leaks: int
    superseded: int


def judge(case: Case, found: Found, beliefs: Mapping[str, Belief]) -> Verdict:
    expected = case.expected
    wanted = expected.relevant if expected.only is None else expected.only
    wanted = frozenset(id for id in wanted if expected.only is not None or not _pinned(id, beliefs))
    hits = len(wanted & found.relevant)
    precision = _share(hits, len(found.relevant)) if wanted or found.relevant else None
    return Verdict(
        category=case.category,
        precision=precision,
        recall=hits / len(wanted) if wanted else None,
        passed_as=_kind_of_pass(case, precision) if _holds(case, found) else None,
        leaks=_leaks(case, found, beliefs),
        superseded=_superseded(found, beliefs),
    )


def _share(hits: int, of: int) -> float:
    return hits / of if of else 0.0


def _pinned(id: str, beliefs: Mapping[str, Belief]) -> bool:
    return id in beliefs and beliefs[id].pinned


def _holds(case: Case, found: Found) -> bool:
    expected, either = case.expected, found.relevant | found.pinned
    return (
        (expected.only is None or found.relevant == expected.only)
        and expected.relevant <= either
        and not expected.never & either
        and expected.pinned <= found.pinned
        and not expected.not_pinned & found.pinned
        and expected.questions <= found.questions
        and not expected.not_questions & found.questions
    )


def _kind_of_pass(case: Case, precision: float | None) -> str:
    asserts = case.expected.only is not None or case.expected.relevant
    if asserts and precision is not None:
        return ACTIVE
    return STRUCTURAL if case.expected.is_structural else EMPTY


def _leaks(case: Case, found: Found, beliefs: Mapping[str, Belief]) -> int:
    shown = found.relevant | found.pinned | found.questions
    return sum(1 for id in shown if id in beliefs and beliefs[id].user != case.user)


def _superseded(found: Found, beliefs: Mapping[str, Belief]) -> int:
    shown = found.relevant | found.pinned | found.questions
    return sum(1 for id in shown if id in beliefs and beliefs[id].superseded_by)


def drift(case: Case, found: Found) -> float:
    """The share of what came back for a turn of a session that belongs to other turns."""
    wanted = case.expected.relevant if case.expected.only is None else case.expected.only
    if not found.relevant:
        return 0.0
    right = len(wanted & (found.relevant | found.pinned))
    return 1 - min(1.0, right / len(found.relevant))


def summarise(verdicts: Sequence[Verdict], drifts: Sequence[float]) -> dict[str, Numbers]:
    """Percent, but for leaks and superseded ones, which are counted. `all` has every number."""
    told = {ALL: _numbers(verdicts)}
    if drifts:
        told[ALL]["drift"] = percent(sum(drifts) / len(drifts))
    for category in sorted({verdict.category for verdict in verdicts}):
        told[category] = _numbers([each for each in verdicts if each.category == category])
    return told


def _numbers(verdicts: Sequence[Verdict]) -> Numbers:
    means = {
        "precision": _mean(each.precision for each in verdicts),
        "recall": _mean(each.recall for each in verdicts),
    }
    told = {name: percent(mean) for name, mean in means.items() if mean is not None}
    for kind in (ACTIVE, STRUCTURAL, EMPTY):
        passed = sum(each.passed_as == kind for each in verdicts)
        told[kind] = percent(passed / len(verdicts)) if verdicts else 0.0
    told["leaks"] = sum(each.leaks for each in verdicts)
    told["superseded"] = sum(each.superseded for each in verdicts)
    return told


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
