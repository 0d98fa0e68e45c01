"""PrecisionMemBench: beliefs and cases as values, and its scoring rules.

Read as values; `precision_score` judges, `precision_play` asks.

The texts of a persona that some cases mention are constants of its authors' runner, not of a
memory, so they are not scored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.quality.dataset import ALL, Numbers, percent, read_json, unreadable

FOLDER = "precisionmembench"
USER = "test-user"  # whom a case is about that names nobody
MOST = 20  # beliefs in an answer, unless the case says otherwise
OPEN_QUESTION, RELATION = "open_question", "relation"
_BELIEFS, _CASES, _SESSIONS = (
    "beliefs.seed.json",
    "retrieval.cases.json",
    "session-retrieval.cases.json",
)

Ids = frozenset[str]


@dataclass(frozen=True, slots=True)
class Belief:
    id: str
    user: str
    type: str
    name: str
    content: str
    aliases: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    why: str = ""
    pinned: bool = False
    superseded_by: str | None = None
    resolved: bool = False
    participants: tuple[str, ...] = ()  # of a relation

    @property
    def text(self) -> str:
        """As it is stored and searched: its name and other names, then what it says."""
        names = ", ".join(dict.fromkeys((self.name.replace("_", " "), *self.aliases)))
        return f"{names}: {self.content}"

    @property
    def is_question(self) -> bool:
        return self.type == OPEN_QUESTION

    def called(self, more: Iterable[str]) -> Belief:
        return replace(self, aliases=(*self.aliases, *more))


@dataclass(frozen=True, slots=True)
class ExpectedBeliefs:
    """Ids that each part of an answer must have or must not have."""

    only: Ids | None = None  # exactly these are relevant; None: not asserted
    relevant: Ids = frozenset()
    never: Ids = frozenset()  # neither relevant nor pinned
    pinned: Ids = frozenset()
    not_pinned: Ids = frozenset()
    questions: Ids = frozenset()
    not_questions: Ids = frozenset()

    @property
    def is_structural(self) -> bool:
        """Asserts more than how many relevant ones come back."""
        parts = (self.relevant, self.never, self.pinned, self.not_pinned)
        return any((*parts, self.questions, self.not_questions))


@dataclass(frozen=True, slots=True)
class PrecisionCase:
    name: str
    category: str
    query: str
    scope: tuple[str, ...]
    expected: ExpectedBeliefs
    user: str = USER
    most: int = MOST
    created: Belief | None = None  # in a session: learned after this turn
    renamed: tuple[str, tuple[str, ...]] | None = None  # (belief, more aliases), after this turn


@dataclass(frozen=True, slots=True)
class PrecisionSet:
    beliefs: tuple[Belief, ...]
    cases: tuple[PrecisionCase, ...]
    sessions: tuple[tuple[PrecisionCase, ...], ...] = field(default=())


def files(data: Path) -> list[Path]:
    wanted = [data / FOLDER / name for name in (_BELIEFS, _CASES)]
    return wanted if all(file.exists() for file in wanted) else []


def load(data: Path) -> PrecisionSet:
    beliefs, cases = files(data)
    sessions = data / FOLDER / _SESSIONS
    try:
        return PrecisionSet(
            tuple(_belief(row) for row in read_json(beliefs)),
            tuple(_case(row) for row in read_json(cases)),
            tuple(_session(row) for row in read_json(sessions)) if sessions.exists() else (),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise unreadable(beliefs.parent, repr(error)) from error


def _belief(row: Mapping[str, Any]) -> Belief:
    return Belief(
        id=row["_id"],
        user=row["user_id"],
        type=row["type"],
        name=row["canonical_name"],
        content=row["content"],
        aliases=tuple(row.get("aliases") or ()),
        scope=tuple(row.get("scope") or ()),
        why=row.get("why_it_matters") or "",
        pinned=bool(row.get("pinned")),
        superseded_by=row.get("superseded_by"),
        resolved=row.get("resolved_at") is not None,
        participants=tuple(row.get("participants") or ()),
    )


def _case(row: Mapping[str, Any]) -> PrecisionCase:
    return PrecisionCase(
        name=row["caseId"],
        category=row["category"],
        query=row["query"],
        scope=tuple(row["scope"]),
        expected=_expected(row["expect"]),
        user=row.get("userId", USER),
        most=(row.get("budget") or {}).get("maxBeliefs", MOST),
    )


def _session(row: Mapping[str, Any]) -> tuple[PrecisionCase, ...]:
    return tuple(_turn(row["caseId"], turn) for turn in row["turns"])


def _turn(session: str, row: Mapping[str, Any]) -> PrecisionCase:
    created, renamed = row.get("createBeliefAtTurn"), row.get("updateBeliefAtTurn")
    return PrecisionCase(
        name=f"{session} {row['turnIndex']}",
        category="session",
        query=row["userMessage"],
        scope=tuple(row["scope"]),
        expected=_expected(row["expect"]),
        created=_belief(created) if created else None,
        renamed=(renamed["beliefId"], tuple(renamed.get("addAliases") or ())) if renamed else None,
    )


def _expected(expect: Mapping[str, Any]) -> ExpectedBeliefs:
    relevant = expect.get("relevantBeliefs") or {}
    pinned, questions = expect.get("pinnedFacts") or {}, expect.get("openQuestions") or {}
    noise = (expect.get("noiseCheck") or {}).get("mustNotSurface", ())
    only = relevant.get("shouldOnlyInclude")
    return ExpectedBeliefs(
        only=None if only is None else frozenset(only),
        relevant=frozenset(relevant.get("mustInclude", ())),
        never=frozenset(relevant.get("mustExclude", ())) | frozenset(noise),
        pinned=frozenset(pinned.get("mustInclude", ())),
        not_pinned=frozenset(pinned.get("mustExclude", ())),
        questions=frozenset(questions.get("mustInclude", ())),
        not_questions=frozenset(questions.get("mustExclude", ())),
    )


ACTIVE, STRUCTURAL, EMPTY = "active", "structural", "empty"


@dataclass(frozen=True, slots=True)
class BeliefAnswer:
    """The three parts of an answer, as ids of beliefs."""

    relevant: Ids
    pinned: Ids = frozenset()
    questions: Ids = frozenset()


@dataclass(frozen=True, slots=True)
class CaseVerdict:
    category: str
    precision: float | None  # None: nothing was to come back, and nothing did
    recall: float | None  # None: nothing was to come back
    passed_as: str | None  # None: failed
    leaks: int
    superseded: int


def judge_case(
    case: PrecisionCase, found: BeliefAnswer, beliefs: Mapping[str, Belief]
) -> CaseVerdict:
    expected = case.expected
    wanted = expected.relevant if expected.only is None else expected.only
    wanted = frozenset(id for id in wanted if expected.only is not None or not _pinned(id, beliefs))
    hits = len(wanted & found.relevant)
    precision = _share(hits, len(found.relevant)) if wanted or found.relevant else None
    return CaseVerdict(
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


def _holds(case: PrecisionCase, found: BeliefAnswer) -> bool:
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


def _kind_of_pass(case: PrecisionCase, precision: float | None) -> str:
    asserts = case.expected.only is not None or case.expected.relevant
    if asserts and precision is not None:
        return ACTIVE
    return STRUCTURAL if case.expected.is_structural else EMPTY


def _leaks(case: PrecisionCase, found: BeliefAnswer, beliefs: Mapping[str, Belief]) -> int:
    shown = found.relevant | found.pinned | found.questions
    return sum(1 for id in shown if id in beliefs and beliefs[id].user != case.user)


def _superseded(found: BeliefAnswer, beliefs: Mapping[str, Belief]) -> int:
    shown = found.relevant | found.pinned | found.questions
    return sum(1 for id in shown if id in beliefs and beliefs[id].superseded_by)


def drift(case: PrecisionCase, found: BeliefAnswer) -> float:
    """The share of what came back for a turn of a session that belongs to other turns."""
    wanted = case.expected.relevant if case.expected.only is None else case.expected.only
    if not found.relevant:
        return 0.0
    right = len(wanted & (found.relevant | found.pinned))
    return 1 - min(1.0, right / len(found.relevant))


def summarise_cases(verdicts: Sequence[CaseVerdict], drifts: Sequence[float]) -> dict[str, Numbers]:
    """Percent, but for leaks and superseded ones, which are counted. `all` has every number."""
    told = {ALL: _numbers(verdicts)}
    if drifts:
        told[ALL]["drift"] = percent(sum(drifts) / len(drifts))
    for category in sorted({verdict.category for verdict in verdicts}):
        told[category] = _numbers([each for each in verdicts if each.category == category])
    return told


def _numbers(verdicts: Sequence[CaseVerdict]) -> Numbers:
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
