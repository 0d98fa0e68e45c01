"""Optimistic transactions on one scope or several: decide, apply, and decide again if stale."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.follow_up_jobs import with_follow_up_jobs
from commonplace.errors import StaleDecision
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import Applied, Changeset, merge_changesets
from commonplace.model.graph.story_steps import join_story_steps

AnswerT = TypeVar("AnswerT")
DecidedT = TypeVar("DecidedT")

MAX_DECISIONS = 64  # attempts before a verb gives up
FREE_DECISIONS = 8  # attempts without a lock; later ones hold the scope, so that nobody is faster
MAX_PAUSE = 0.1  # seconds between attempts


def run_transaction(
    engine: EngineContext,
    request: RequestContext | None,
    decision: Callable[[], tuple[Changeset, AnswerT]],
) -> tuple[int, AnswerT]:
    """Decide and apply; decide again if another writer was faster.

    Returns the revision after the change. A changeset without steps changes nothing. Background
    work has no request.
    """

    def attempt(decided_for: list[Scope]) -> tuple[int, AnswerT]:
        changeset, answer = _decide(request, decision)
        decided_for[:] = [changeset.scope]
        if changeset.is_empty:
            return engine.store.counters(changeset.scope).revision, answer
        own, *others = (_with_jobs(engine, each) for each in engine.cascade(changeset))
        return apply_changeset(engine, request, own, others).revision, answer

    return _until_applied(engine, attempt)


def run_transaction_across_scopes(
    engine: EngineContext,
    request: RequestContext | None,
    decision: Callable[[], tuple[list[Changeset], AnswerT]],
) -> AnswerT:
    """The same for changes of several scopes at once."""

    def attempt(decided_for: list[Scope]) -> AnswerT:
        changesets, answer = _decide(request, decision)
        decided_for[:] = [each.scope for each in changesets[:1]]
        cascaded = [each for changeset in changesets for each in engine.cascade(changeset)]
        if cascaded:
            with_jobs = [_with_jobs(engine, each) for each in _merge_by_scope(cascaded)]
            apply_changesets(engine, request, with_jobs)
        return answer

    return _until_applied(engine, attempt)


def _until_applied(engine: EngineContext, attempt: Callable[[list[Scope]], AnswerT]) -> AnswerT:
    """Long decisions lose against many short ones: they pause for a random time, and then hold the
    scope while they decide."""
    decided_for: list[Scope] = []
    for number in range(MAX_DECISIONS):
        try:
            if number >= FREE_DECISIONS and decided_for:
                with engine.store.read_session(decided_for[0], exclusive=True):
                    return attempt(decided_for)
            if number:
                time.sleep(random.uniform(0, min(MAX_PAUSE, 0.001 * 2**number)))
            return attempt(decided_for)
        except StaleDecision:
            continue
    raise StaleDecision("Other writers changed the memory meanwhile, on every try.")


def _decide(request: RequestContext | None, decision: Callable[[], DecidedT]) -> DecidedT:
    """Check the precondition after the decision has read its revision: a later change by another
    writer makes the changeset stale, and both run again."""
    try:
        return decision()
    finally:
        if request is not None:
            request.precondition()


def _with_jobs(engine: EngineContext, changeset: Changeset) -> Changeset:
    has_model = engine.model is not None
    changeset = replace(changeset, steps=join_story_steps(changeset.steps))
    return with_follow_up_jobs(
        changeset, engine.new_id, extracts=engine.extracts, has_model=has_model
    )


def apply_changeset(
    engine: EngineContext,
    request: RequestContext | None,
    changeset: Changeset,
    others: Iterable[Changeset] = (),
) -> Applied:
    carried = _with_claim(request, _with_revision_checks([changeset, *others]))
    return engine.store.apply(*carried)


def apply_changesets(
    engine: EngineContext, request: RequestContext | None, changesets: Sequence[Changeset]
) -> None:
    engine.store.apply(*_with_claim(request, _with_revision_checks(changesets)))


def _with_claim(request: RequestContext | None, changesets: Sequence[Changeset]) -> list[Changeset]:
    """Add the idempotency claim, which is stored in the caller's scope even if the change is in
    another scope."""
    claim = request.claim if request else None
    if claim is None:
        return list(changesets)
    claimed = [
        replace(each, claim=claim) if each.scope == claim.scope else each for each in changesets
    ]
    if any(each.claim is not None for each in claimed):
        return claimed
    return [*claimed, Changeset(claim.scope, claimed[0].at, claimed[0].actor, (), claim=claim)]


def _with_revision_checks(changesets: Sequence[Changeset]) -> list[Changeset]:
    """A changeset without steps changes nothing, but is refused if its scope has changed."""
    checks = [
        Changeset(scope, each.at, each.actor, (), revision)
        for each in changesets
        for scope, revision in each.rests_on
    ]
    return _merge_by_scope([*changesets, *checks])


def _merge_by_scope(changesets: Iterable[Changeset]) -> list[Changeset]:
    """One changeset per scope."""
    by_scope: dict[Scope, Changeset] = {}
    for each in changesets:
        before = by_scope.get(each.scope)
        by_scope[each.scope] = each if before is None else merge_changesets(before, each)
    return list(by_scope.values())
