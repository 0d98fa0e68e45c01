"""PrecisionMemBench: thirty-five beliefs and cases that say what must come back and what must not.

Read as values; `precision_score` judges, `precision_play` asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from commonplace.bench.quality.values import read_json, unreadable

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
class Expected:
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
class Case:
    name: str
    category: str
    query: str
    scope: tuple[str, ...]
    expected: Expected
    user: str = USER
    most: int = MOST
    created: Belief | None = None  # in a session: learned after this turn
    renamed: tuple[str, tuple[str, ...]] | None = None  # (belief, more aliases), after this turn


@dataclass(frozen=True, slots=True)
class PrecisionSet:
    beliefs: tuple[Belief, ...]
    cases: tuple[Case, ...]
    sessions: tuple[tuple[Case, ...], ...] = field(default=())


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


def _case(row: Mapping[str, Any]) -> Case:
    return Case(
        name=row["caseId"],
        category=row["category"],
        query=row["query"],
        scope=tuple(row["scope"]),
        expected=_expected(row["expect"]),
        user=row.get("userId", USER),
        most=(row.get("budget") or {}).get("maxBeliefs", MOST),
    )


def _session(row: Mapping[str, Any]) -> tuple[Case, ...]:
    return tuple(_turn(row["caseId"], turn) for turn in row["turns"])


def _turn(session: str, row: Mapping[str, Any]) -> Case:
    created, renamed = row.get("createBeliefAtTurn"), row.get("updateBeliefAtTurn")
    return Case(
        name=f"{session} {row['turnIndex']}",
        category="session",
        query=row["userMessage"],
        scope=tuple(row["scope"]),
        expected=_expected(row["expect"]),
        created=_belief(created) if created else None,
        renamed=(renamed["beliefId"], tuple(renamed.get("addAliases") or ())) if renamed else None,
    )


def _expected(expect: Mapping[str, Any]) -> Expected:
    relevant = expect.get("relevantBeliefs") or {}
    pinned, questions = expect.get("pinnedFacts") or {}, expect.get("openQuestions") or {}
    noise = (expect.get("noiseCheck") or {}).get("mustNotSurface", ())
    only = relevant.get("shouldOnlyInclude")
    return Expected(
        only=None if only is None else frozenset(only),
        relevant=frozenset(relevant.get("mustInclude", ())),
        never=frozenset(relevant.get("mustExclude", ())) | frozenset(noise),
        pinned=frozenset(pinned.get("mustInclude", ())),
        not_pinned=frozenset(pinned.get("mustExclude", ())),
        questions=frozenset(questions.get("mustInclude", ())),
        not_questions=frozenset(questions.get("mustExclude", ())),
    )
