"""PrecisionMemBench through the public API and through the baselines.

Beliefs are memories with their scopes as tags; what replaces a belief is an update of it, and a
question that was resolved is forgotten. What is pinned is listed, as a caller puts it into every
prompt; the rest is recalled. Participants of a relation that was found are added by the player,
for every method alike, because the set's own runner does so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from benchmarks.quality.dataset import Numbers
from benchmarks.quality.methods import Bm25Baseline, DenseBaseline, best
from benchmarks.quality.precision import (
    RELATION,
    Belief,
    BeliefAnswer,
    PrecisionCase,
    PrecisionSet,
    drift,
    judge_case,
    summarise_cases,
)
from commonplace.api import Commonplace, User
from commonplace.engine.memories.update import Updated
from commonplace.errors import InvalidInput
from commonplace.language.embedders.embedder import Embedder

_KIND = "fact"
_LISTED = 200


class PrecisionMethod(Protocol):
    def search(self, case: PrecisionCase) -> Sequence[str]:
        """Beliefs that are not pinned, best first."""
        ...

    def pinned(self, case: PrecisionCase, questions: bool) -> frozenset[str]: ...

    def learn(self, belief: Belief) -> None: ...


def run_cases(
    whole: PrecisionSet, method: PrecisionMethod, step: Callable[[], object] = lambda: None
) -> dict[str, Numbers]:
    beliefs = {belief.id: belief for belief in whole.beliefs}
    verdicts = []
    for case in whole.cases:
        verdicts.append(judge_case(case, _answer(case, method, beliefs), beliefs))
        step()
    drifts = []
    for turn in (turn for session in whole.sessions for turn in session):
        drifts.append(drift(turn, _answer(turn, method, beliefs)))
        for belief in _learned(turn, beliefs):
            beliefs[belief.id] = belief
            method.learn(belief)
        step()
    return summarise_cases(verdicts, drifts)


def _answer(
    case: PrecisionCase, method: PrecisionMethod, beliefs: Mapping[str, Belief]
) -> BeliefAnswer:
    """What is pinned goes first; the rest has the room that is left."""
    pinned = sorted(method.pinned(case, False))[: case.most]
    found = list(method.search(case)) if case.query.strip() and case.most else []
    found += _participants(case, found, pinned, beliefs)
    relevant = found[: max(0, case.most - len(pinned))]
    return BeliefAnswer(frozenset(relevant), frozenset(pinned), method.pinned(case, True))


def _participants(
    case: PrecisionCase, found: Sequence[str], pinned: Sequence[str], beliefs: Mapping[str, Belief]
) -> list[str]:
    relations = [beliefs[id] for id in found if id in beliefs and beliefs[id].type == RELATION]
    named = dict.fromkeys(id for relation in relations for id in relation.participants)
    known = [beliefs[id] for id in named if id in beliefs and id not in {*found, *pinned}]
    return [b.id for b in known if not b.is_question and _within(b, case)]


def _within(belief: Belief, case: PrecisionCase) -> bool:
    return belief.user == case.user and bool(set(belief.scope) & set(case.scope))


def _learned(turn: PrecisionCase, beliefs: Mapping[str, Belief]) -> Iterator[Belief]:
    if turn.created:
        yield turn.created
    if turn.renamed and turn.renamed[0] in beliefs:
        yield beliefs[turn.renamed[0]].called(turn.renamed[1])


class ProductMethod:
    """The store, asked through the verbs that everybody has."""

    def __init__(self, book: Commonplace, beliefs: Sequence[Belief], prefix: str):
        self._book, self._prefix = book, prefix
        self._ids: dict[str, str] = {}  # belief → memory
        self._questions = {belief.id for belief in beliefs if belief.is_question}
        first = {b.id for b in beliefs} - {b.superseded_by for b in beliefs}
        for user in sorted({belief.user for belief in beliefs}):
            self._remember(user, [b for b in beliefs if b.user == user and b.id in first])
        self._supersede(beliefs)
        for belief in beliefs:
            if belief.resolved:
                self._me(belief.user).forget(self._ids[belief.id])

    def _me(self, user: str) -> User:
        return self._book.user(f"{self._prefix}{user}")

    def _remember(self, user: str, beliefs: Sequence[Belief]) -> None:
        items = [{"kind": _KIND, "content": b.content, **_fields(b)} for b in beliefs]
        kept = self._me(user).remember_many(items)
        for belief, each in zip(beliefs, kept, strict=True):
            self._ids[belief.id] = each.id

    def _supersede(self, beliefs: Sequence[Belief]) -> None:
        """Along each chain, from what was first to what stands; of two that have one successor,
        the second is forgotten."""
        by_id = {belief.id: belief for belief in beliefs}
        waiting = [belief for belief in beliefs if belief.superseded_by in by_id]
        while waiting:
            ready = [belief for belief in waiting if belief.id in self._ids]
            if not ready:
                raise InvalidInput("Beliefs supersede each other in a circle.", field="data")
            for belief in ready:
                successor = by_id[str(belief.superseded_by)]
                if successor.id in self._ids:
                    self._me(belief.user).forget(self._ids[belief.id])
                else:
                    self._replace(self._ids[belief.id], successor)
            waiting = [belief for belief in waiting if belief not in ready]

    def _replace(self, id: str, belief: Belief) -> None:
        done = self._me(belief.user).update(id, content=belief.content, **_fields(belief))
        if isinstance(done, Updated):
            self._ids[belief.id] = done.id

    def learn(self, belief: Belief) -> None:
        if belief.id in self._ids:
            self._replace(self._ids[belief.id], belief)
        else:
            self._remember(belief.user, [belief])

    def search(self, case: PrecisionCase) -> list[str]:
        told = self._me(case.user).recall(
            case.query,
            k=case.most,
            filters={"tags": list(case.scope), "pinned": False},
            strict=True,
        )
        self._book.flush()
        return self._beliefs(hit.id for hit in told.hits)

    def pinned(self, case: PrecisionCase, questions: bool) -> frozenset[str]:
        page = self._me(case.user).list(
            filters={"tags": list(case.scope), "pinned": True}, limit=_LISTED
        )
        named = self._beliefs(memory.id for memory in page.memories)
        return frozenset(id for id in named if (id in self._questions) is questions)

    def _beliefs(self, memories: Iterable[str]) -> list[str]:
        """Where the product took two beliefs for one, the first of them was found."""
        named = {memory: belief for belief, memory in reversed(self._ids.items())}
        return [named.get(memory, memory) for memory in memories]


def _fields(belief: Belief) -> dict[str, Any]:
    return {
        "tags": list(belief.scope),
        "pinned": belief.pinned,
        "metadata": {
            "name": belief.name.replace("_", " "),
            "aliases": list(belief.aliases),
            "type": belief.type,
            "why": belief.why,
        },
    }


class BaselineMethod:
    """BM25 or vectors alone: they know whose a belief is and its scope, and nothing else."""

    def __init__(self, beliefs: Sequence[Belief], model: Embedder | None):
        self._beliefs = {belief.id: belief for belief in beliefs}
        self._model = model  # None: BM25

    def learn(self, belief: Belief) -> None:
        self._beliefs[belief.id] = belief

    def search(self, case: PrecisionCase) -> list[str]:
        mine = [b for b in self._beliefs.values() if _within(b, case) and not b.pinned]
        if not mine:
            return []
        texts = [belief.text for belief in mine]
        scores = (
            DenseBaseline(self._model, texts).scores([case.query])[0]
            if self._model
            else Bm25Baseline(texts).scores(case.query)
        )
        return [mine[place].id for place in best(scores, case.most)]

    def pinned(self, case: PrecisionCase, questions: bool) -> frozenset[str]:
        return frozenset(
            b.id
            for b in self._beliefs.values()
            if _within(b, case)
            and b.pinned
            and not (b.superseded_by or b.resolved)
            and b.is_question is questions
        )
