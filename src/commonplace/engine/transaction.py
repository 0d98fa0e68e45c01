"""Decide and apply: optimistic transactions on one scope or several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.follow_up_jobs import with_follow_up_jobs
from commonplace.errors import StaleDecision
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import Applied, Changeset, merge_changesets

AnswerT = TypeVar("AnswerT")
DecidedT = TypeVar("DecidedT")

MAX_DECISIONS = 64  # how often a verb decides again before it gives up


def run_transaction(
    engine: EngineContext,
    request: RequestContext | None,
    decision: Callable[[], tuple[Changeset, AnswerT]],
) -> tuple[int, AnswerT]:
    """Decide and apply; decide again when another writer was faster.

    Returns the revision after the change. A changeset without steps changes nothing. Work that
    nobody waits for has no request.
    """
    for _ in range(MAX_DECISIONS):
        changeset, answer = _decide(request, decision)
        if not changeset.steps:
            return engine.store.counters(changeset.scope).revision, answer
        try:
            whole, *elsewhere = (_with_jobs(engine, each) for each in engine.cascade(changeset))
            return apply_changeset(engine, request, whole, elsewhere).revision, answer
        except StaleDecision:
            continue
    raise StaleDecision("Other writers changed the memory meanwhile, on every try.")


def run_transaction_across_scopes(
    engine: EngineContext,
    request: RequestContext | None,
    decision: Callable[[], tuple[list[Changeset], AnswerT]],
) -> AnswerT:
    """The same for what changes several scopes at once."""
    for _ in range(MAX_DECISIONS):
        changesets, answer = _decide(request, decision)
        try:
            whole = [each for changeset in changesets for each in engine.cascade(changeset)]
            if whole:
                with_jobs = [_with_jobs(engine, each) for each in _merge_by_scope(whole)]
                apply_changesets(engine, request, with_jobs)
            return answer
        except StaleDecision:
            continue
    raise StaleDecision("Other writers changed the memory meanwhile, on every try.")


def _decide(request: RequestContext | None, decision: Callable[[], DecidedT]) -> DecidedT:
    """The precondition is checked after the decision has read the revision that it rests on: a
    change by another after that makes the changeset stale, and both are asked again."""
    try:
        return decision()
    finally:
        if request is not None:
            request.precondition()


def _with_jobs(engine: EngineContext, changeset: Changeset) -> Changeset:
    return with_follow_up_jobs(changeset, engine.new_id, extracts=engine.extracts)


def apply_changeset(
    engine: EngineContext,
    request: RequestContext | None,
    changeset: Changeset,
    elsewhere: Iterable[Changeset] = (),
) -> Applied:
    carried = _with_claim(request, _with_revision_checks([changeset, *elsewhere]))
    return engine.store.apply(*carried)


def apply_changesets(
    engine: EngineContext, request: RequestContext | None, changesets: Sequence[Changeset]
) -> None:
    engine.store.apply(*_with_claim(request, _with_revision_checks(changesets)))


def _with_claim(request: RequestContext | None, changesets: Sequence[Changeset]) -> list[Changeset]:
    """With the note that a request was done, where it is to be done once: it is stored in the
    caller's scope, also where the change is elsewhere."""
    claim = request.claim if request else None
    if claim is None:
        return list(changesets)
    carried = [
        replace(each, claim=claim) if each.scope == claim.scope else each for each in changesets
    ]
    if any(each.claim is not None for each in carried):
        return carried
    return [*carried, Changeset(claim.scope, carried[0].at, carried[0].actor, (), claim=claim)]


def _with_revision_checks(changesets: Sequence[Changeset]) -> list[Changeset]:
    """A changeset without steps changes nothing, and is refused where its scope has changed."""
    unchanged = [
        Changeset(scope, each.at, each.actor, (), revision)
        for each in changesets
        for scope, revision in each.rests_on
    ]
    return _merge_by_scope([*changesets, *unchanged])


def _merge_by_scope(changesets: Iterable[Changeset]) -> list[Changeset]:
    """What several parts of a decision mean for one scope is one change of it."""
    found: dict[Scope, Changeset] = {}
    for each in changesets:
        before = found.get(each.scope)
        found[each.scope] = each if before is None else merge_changesets(before, each)
    return list(found.values())
