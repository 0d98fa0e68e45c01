"""Open requests to forget, which a model found in the owner's words: list, close, dismiss.

Nothing is forgotten by itself. A request ends when what it means is forgotten, when it is
dismissed, when its days are over, and with its turn; while it means nothing it is not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.engine.access import can_see_source
from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.memories.conflicts import Resolved
from commonplace.engine.removal.offers import SURELY_ABOUT, offer_to_forget
from commonplace.engine.search.pack import Choice, Hit
from commonplace.engine.transaction import run_transaction
from commonplace.errors import InvalidInput, NotAllowed, NotFound
from commonplace.language.text.terms import analyse
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.changeset import Changeset
from commonplace.model.journal import Entry, JournalNode, Op
from commonplace.model.memory.memory import ConflictResolution, State
from commonplace.model.model_calls import AskedToForget, ModelReading, SetReading
from commonplace.model.paging import take_page
from commonplace.model.sources.source import Passage
from commonplace.store.queries import PassagesOf


@dataclass(frozen=True, slots=True)
class OpenForgetRequest:
    """Something that the owner asked to forget in a conversation. Forget one or several of the
    candidates, or dismiss the request with resolve."""

    id: str
    query: str
    said_at: datetime
    ends_at: datetime
    passage: str  # the turn that says it
    text: str  # of the turn
    candidates: tuple[Hit, ...]


def list_forget_requests(
    engine: EngineContext, principal: Principal, limit: int, after: str | None = None
) -> list[OpenForgetRequest]:
    """Oldest first. Those in conversations that the caller may see, with what the caller may
    forget."""
    found = sorted(_visible_requests(engine, principal), key=lambda each: each[1].at)
    shown = [
        OpenForgetRequest(
            asked.id,
            asked.query,
            passage.at,
            asked.ends_at,
            passage.id,
            passage.text,
            choice.candidates,
        )
        for asked, passage in found
        if not (choice := _offer(engine, principal, asked, passage)).is_empty
    ]
    return take_page(shown, after, limit)


def choices_of_passages(
    engine: EngineContext, principal: Principal, passages: Collection[str]
) -> tuple[Choice, ...]:
    """What is asked in these turns."""
    choices = (
        _offer(engine, principal, asked, passage)
        for asked, passage in _visible_requests(engine, principal)
        if passage.id in passages
    )
    return tuple(choice for choice in choices if not choice.is_empty)


def requests_about(engine: EngineContext, principal: Principal, ids: Sequence[str]) -> list[str]:
    """The requests that are answered by forgetting one of these items: to be asked before it is
    forgotten. Candidates are offered generously; one that is only remotely meant leaves its request
    open."""
    named = set(ids)
    return [
        asked.id
        for asked, passage in _visible_requests(engine, principal)
        if _is_answered_by(_offer(engine, principal, asked, passage), named)
    ]


def _is_answered_by(choice: Choice, ids: Collection[str]) -> bool:
    """By the best candidate, if it is surely meant, or one with most words of the request."""
    words = frozenset(analyse(choice.query))
    return any(
        (place == 0 and (hit.similarity or 0) >= SURELY_ABOUT)
        or 2 * len(words & {*analyse(hit.text)}) > len(words)
        for place, hit in enumerate(choice.candidates)
        if hit.id in ids
    )


def dismiss_forget_request(
    engine: EngineContext,
    request: RequestContext,
    id: str,
    choice: ConflictResolution,
    thread: str | None,
) -> Resolved:
    principal = request.principal
    if not principal.decides:
        raise NotAllowed(
            f"{principal.agent} may not dismiss this request.",
            remedy="Ask the owner, or act as an agent that may resolve.",
        )
    if choice is not ConflictResolution.DISMISS:
        raise InvalidInput(
            "A request to forget is dismissed, or answered with forget.",
            remedy="Forget one or several of its candidates by id, or give dismiss.",
            field="choice",
        )
    if all(asked.id != id for asked, _ in _visible_requests(engine, principal)):
        raise NotFound(
            f"No open request {id!r}.",
            remedy="Look it up: forget-requests.",
            field="conflict",
        )
    revision = close_forget_requests(engine, request, [id], thread)
    return Resolved(id, choice, (), (), (id,), revision)


def close_forget_requests(
    engine: EngineContext,
    request: RequestContext,
    ids: Collection[str],
    thread: str | None = None,
) -> int:
    scope = request.principal.own_scope
    actor = request.principal.actor

    def decide() -> tuple[Changeset, None]:
        steps = _without_requests(engine, scope, lambda asked: asked.id in ids, JournalNode.HOTPATH)
        return Changeset(scope, engine.clock(), actor, steps, thread_id=thread), None

    return run_transaction(engine, request, decide)[0]


def expire_forget_requests(engine: EngineContext, scope: Scope, actor: str) -> None:
    def decide() -> tuple[Changeset, None]:
        now = engine.clock()
        steps = _without_requests(
            engine, scope, lambda asked: asked.ends_at <= now, JournalNode.WORKER
        )
        return Changeset(scope, now, actor, steps), None

    run_transaction(engine, None, decide)


def _without_requests(
    engine: EngineContext,
    scope: Scope,
    is_over: Callable[[AskedToForget], bool],
    node: JournalNode,
) -> tuple[SetReading, ...]:
    """A reading is changed under a new date: who decided on the old one decides again."""
    steps = []
    for reading in engine.store.model_readings(scope, unsettled=True):
        left = tuple(asked for asked in reading.requests if not is_over(asked))
        if left != reading.requests:
            after = replace(reading, requests=left, at=engine.clock())
            closed = len(reading.requests) - len(left)
            entry = Entry(
                op=Op.RESOLVE, node=node, subject=reading.source, meta={"forget_requests": closed}
            )
            steps.append(SetReading(after, entry, before=reading))
    return tuple(steps)


def _visible_requests(
    engine: EngineContext, principal: Principal
) -> Iterator[tuple[AskedToForget, Passage]]:
    now = engine.clock()
    if not principal.is_in_own_scope:
        return
    with engine.store.read_session():
        for reading in engine.store.model_readings(principal.own_scope, unsettled=True):
            open_ = [asked for asked in reading.requests if asked.ends_at > now]
            yield from _with_passages(engine, principal, reading, open_) if open_ else ()


def _with_passages(
    engine: EngineContext,
    principal: Principal,
    reading: ModelReading,
    requests: Sequence[AskedToForget],
) -> Iterator[tuple[AskedToForget, Passage]]:
    """Without those whose turn is forgotten."""
    scope = Scope(reading.source_scope)
    sources = engine.live_sources(scope, [reading.source])
    if not any(s.state is State.ACTIVE and can_see_source(principal, s) for s in sources):
        return
    for asked in requests:
        query = PassagesOf(reading.source, asked.passage, asked.passage)
        for passage in engine.store.passages(scope, query).values():
            yield asked, passage


def _offer(
    engine: EngineContext, principal: Principal, asked: AskedToForget, passage: Passage
) -> Choice:
    """The turn itself is no candidate: it says what is to be forgotten."""
    choice = offer_to_forget(engine, principal, asked.query, is_logged=False)
    others = tuple(each for each in choice.candidates if each.id != passage.id)
    return Choice(asked.query, others)
