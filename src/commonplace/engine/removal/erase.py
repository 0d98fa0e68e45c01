"""Erase memories, sources, graph items or a whole user, with all that derives from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.engine.access import can_see
from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.graph.remove import is_graph_id, remove_items
from commonplace.engine.indexing import index_memories
from commonplace.engine.memories.conflicts import (
    find_held_values,
    held_values_from_sources,
    remove_held_values,
)
from commonplace.engine.memories.merge import find_memories, merge_content, summarise_merge
from commonplace.engine.profile.proposals import erase_proposals, find_proposals
from commonplace.engine.provenance.evidence import remove_unsupported_fields
from commonplace.engine.sources.removal import (
    find_sources,
    plan_source_removal,
    rebuilt_entry,
    remaining_mentions,
    resolve_source_ids,
)
from commonplace.engine.transaction import run_transaction_across_scopes
from commonplace.errors import NotAllowed
from commonplace.language.text.terms import extract_keywords
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.access.team import (
    Membership,
    SetGrant,
    SetMember,
    SetMembership,
    SetShare,
    TeamRole,
    next_owner,
)
from commonplace.model.changeset import (
    Changeset,
    ChangesetStep,
    ClearScope,
    Receipt,
    RemoveMemory,
    RewriteMemory,
    WithdrawJobs,
    build_removal,
    build_source_removal,
)
from commonplace.model.filters import Filters, Visibility
from commonplace.model.journal import Entry, Event, JournalNode, Op
from commonplace.model.memory.kinds import MERGED_KIND
from commonplace.model.memory.memory import Memory, State
from commonplace.model.sources.source import Source, is_source_id
from commonplace.store.queries import NO_LIMIT, MemoryListing, SourceListing

_REVOKE_ENTRY = Entry(op=Op.REVOKE, node=JournalNode.API)
_GRANT_ENTRY = Entry(op=Op.GRANT, node=JournalNode.API)


def remove_memberships_and_shares(
    engine: EngineContext, principal: Principal, now: datetime
) -> list[Changeset]:
    """In every team and with every guest the user's name goes. What they brought into a team is
    the team's, and stays; a team that nobody else is in goes with them."""
    steps: dict[Scope, list[ChangesetStep]] = {}
    decided_on: dict[Scope, int] = {}
    for one in engine.store.access(principal.own_scope).memberships:
        decided_on[one.team_scope] = engine.store.counters(one.team_scope).revision
        for scope, step in _leave_team(engine, one):
            steps.setdefault(scope, []).append(step)
    for share in engine.store.access(principal.own_scope).shares:
        if share.owner == principal.own_scope:
            steps.setdefault(share.guest_scope, []).append(
                SetGrant(share, _REVOKE_ENTRY, gone=True)
            )
        else:
            steps.setdefault(share.owner, []).append(SetShare(share, _REVOKE_ENTRY, gone=True))
    return [
        Changeset(scope, now, principal.actor, tuple(each), decided_on.get(scope))
        for scope, each in steps.items()
    ]


def _leave_team(engine: EngineContext, one: Membership) -> Iterator[tuple[Scope, ChangesetStep]]:
    team = one.team_scope
    people = engine.store.access(team).memberships
    others = [each for each in people if each.is_member and each.user_id != one.user_id]
    if one.is_member and not others:
        yield team, ClearScope(Entry(op=Op.DELETE, event=Event.ERASE, node=JournalNode.API))
        for invited in people:
            if invited.user_id != one.user_id:
                yield invited.user_scope, SetMembership(invited, _REVOKE_ENTRY, gone=True)
        return
    yield team, SetMember(one, _REVOKE_ENTRY, gone=True)
    if (heir := next_owner(people, one.user_id)) is not None:
        yield team, SetMember(replace(heir, role=TeamRole.OWNER), _GRANT_ENTRY)
        for mine in engine.store.access(heir.user_scope).memberships:
            if mine.team_scope == team:
                yield (
                    heir.user_scope,
                    SetMembership(replace(mine, role=TeamRole.OWNER), _GRANT_ENTRY),
                )


@dataclass(frozen=True, slots=True)
class Erased:
    receipt: Receipt
    ids: tuple[str, ...]
    rewritten: tuple[str, ...]  # summaries that had contained them, made anew from the rest
    revision: int
    still_in: tuple[str, ...] = ()  # turns and sources where their words can still be recalled

    @property
    def scrub(self) -> str:
        return self.receipt.scrub


Compact = Callable[[], object]  # the store's files, by whoever may: it is for all users


def erase_items(
    engine: EngineContext,
    request: RequestContext,
    ids: Sequence[str],
    compact: Compact | None,
    thread: str | None = None,
) -> Erased:
    """Also what is held back: a value that waits in a conflict, an alternative, a proposal."""
    principal = request.principal
    engine.access_log.flush()  # what was just asked about it is to go with it
    at = engine.clock()
    receipt_id = engine.new_id()

    def decide() -> tuple[list[Changeset], _ErasePlan]:
        revision = engine.store.counters(principal.scope).revision
        fall = _plan_erase(engine, principal, ids)
        receipt = Receipt(receipt_id, at, len(fall.gone))
        changeset = Changeset(
            principal.scope,
            at,
            principal.actor,
            fall.steps,
            revision,
            thread,
            receipt,
            member=principal.member,
        )
        return [changeset, *_changes_elsewhere(engine, principal, fall, at)], fall

    fall = run_transaction_across_scopes(engine, request, decide)
    revision = engine.store.counters(principal.scope).revision
    receipt = _finish_receipt(engine, principal, receipt_id, compact)
    gone, rewritten = _visible_result(principal, fall, ids)
    said = remaining_mentions(engine, principal, fall.named)
    return Erased(replace(receipt, items=len(gone)), gone, rewritten, revision, said)


@dataclass(frozen=True, slots=True)
class _ErasePlan:
    """All that goes with what is erased, and what is made anew without it."""

    steps: tuple[ChangesetStep, ...]
    gone: tuple[str, ...]
    rewritten: tuple[Memory, ...]
    named: tuple[Memory, ...]  # what was asked for, without what goes along
    sources: tuple[Source, ...]


def _plan_erase(engine: EngineContext, principal: Principal, ids: Sequence[str]) -> _ErasePlan:
    drawn = remove_items(engine, principal, [id for id in ids if is_graph_id(id)], Event.ERASE)
    ids = [id for id in ids if not is_graph_id(id)]
    asked_for = find_held_values(engine, principal, ids)
    proposed = find_proposals(engine, principal, ids)
    aside = {*(each.memory.id for each in asked_for), *(each.id for each in proposed)}
    named = resolve_source_ids(engine, principal, [id for id in ids if id not in aside])
    sources = find_sources(engine, principal, list(named.values()))
    doomed = find_memories(
        engine, principal, [id for id in ids if id not in aside and id not in named]
    )
    asked = tuple(doomed)
    met = {memory.id for memory in doomed}
    gone_sources = [source.id for source in sources]
    told_beside = held_values_from_sources(engine, principal, gone_sources)
    waiting = list({each.memory.id: each for each in (*asked_for, *told_beside)}.values())
    held = [each.memory.id for each in waiting]
    fallen = plan_source_removal(engine, principal, gone_sources, met)
    doomed += fallen.unsupported
    removals, rewrites = _rebuild_summaries(engine, principal, doomed, fallen.carried)
    ended = [build_source_removal(source, event=Event.ERASE) for source in sources]
    gone = [*(step.id for step in removals), *(step.id for step in ended)]
    unsaid, reworded = remove_unsupported_fields(engine, principal, gone)
    gone += [step.id for step in unsaid]
    proposals = erase_proposals(engine, principal, proposed, gone)
    owed = (WithdrawJobs(tuple(source.id for source in sources)),) if sources else ()
    held_back = remove_held_values(engine, principal, waiting)
    remembered = (*fallen.steps, *rewrites, *reworded, *removals, *unsaid)
    return _ErasePlan(
        (*remembered, *ended, *owed, *held_back, *proposals, *drawn.steps),
        (*gone, *held, *(id for step in proposals for id in step.ids), *drawn.gone),
        tuple(step.memory for step in (*rewrites, *reworded)),
        asked,
        tuple(sources),
    )


def _changes_elsewhere(
    engine: EngineContext, principal: Principal, fall: _ErasePlan, at: datetime
) -> list[Changeset]:
    """Guests lose what they were given. Whoever brought a source into a team may have an answer
    kept that tells of it."""
    gone = {source.id for source in fall.sources}
    steps: dict[Scope, list[ChangesetStep]] = {
        Scope.of_user(source.user_id): [] for source in fall.sources
    }
    for share in engine.store.access(principal.scope).shares if gone else ():
        if share.owner == principal.scope and share.source_id in gone:
            told = Entry(op=Op.REVOKE)
            steps.setdefault(share.guest_scope, []).append(SetGrant(share, told, gone=True))
    steps.pop(principal.scope, None)
    return [
        Changeset(scope, at, principal.actor, tuple(each), invalidates_answers=True)
        for scope, each in steps.items()
    ]


def _visible_result(
    principal: Principal, fall: _ErasePlan, asked: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is gone and what was made anew. What went along may be of categories that an agent
    does not see: it is told of what it named."""
    gone = [id for id in fall.gone if principal.is_owner or id in asked or is_source_id(id)]
    rewritten = [memory.id for memory in fall.rewritten if can_see(principal, memory)]
    return tuple(gone), tuple(rewritten)


def erase_source_memories(
    engine: EngineContext, principal: Principal, sources: Sequence[str]
) -> tuple[ChangesetStep, ...]:
    """Of a reader of sources that another owner takes away: the memories that only they carry go,
    others rest on what is left; and what waits because they told it."""
    held_back = remove_held_values(
        engine, principal, held_values_from_sources(engine, principal, sources)
    )
    fallen = plan_source_removal(engine, principal, sources)
    removals, rewrites = _rebuild_summaries(engine, principal, fallen.unsupported, fallen.carried)
    unsaid, reworded = remove_unsupported_fields(
        engine, principal, [*(step.id for step in removals), *sources]
    )
    return (*fallen.steps, *rewrites, *reworded, *removals, *unsaid, *held_back)


def erase_user(engine: EngineContext, request: RequestContext, compact: Compact | None) -> Erased:
    principal = request.principal
    if not principal.is_owner:
        raise NotAllowed("Only the owner may erase a whole memory.")
    at = engine.clock()
    receipt_id = engine.new_id()
    everything = MemoryListing(
        states=tuple(State), visibility=Visibility(cleared=True), limit=NO_LIMIT
    )
    ids = [memory.id for memory in engine.store.page(principal.scope, everything)]
    all_sources = SourceListing(
        states=tuple(State), visibility=Visibility(cleared=True), limit=NO_LIMIT
    )
    ids += [source.id for source in engine.store.sources(principal.scope, all_sources)]
    entry = Entry(op=Op.DELETE, event=Event.ERASE, meta={"items": len(ids)})
    receipt = Receipt(receipt_id, at, len(ids))
    changeset = Changeset(
        principal.scope, at, principal.actor, (ClearScope(entry),), receipt=receipt
    )
    run_transaction_across_scopes(
        engine,
        request,
        lambda: ([changeset, *remove_memberships_and_shares(engine, principal, at)], None),
    )
    revision = engine.store.counters(principal.scope).revision
    engine.index.drop(principal.scope)
    return Erased(_finish_receipt(engine, principal, receipt_id, compact), tuple(ids), (), revision)


def _finish_receipt(
    engine: EngineContext, principal: Principal, receipt_id: str, compact: Compact | None
) -> Receipt:
    """The receipt as it stands; after the compaction that completes it, where that is wanted. If
    it cannot be had now, it is erased all the same, and the receipt says what waits."""
    if compact:
        engine.access_log.flush()
        compact()
    return next(r for r in engine.store.statistics(principal.scope).receipts if r.id == receipt_id)


def _rebuild_summaries(
    engine: EngineContext,
    principal: Principal,
    doomed: Sequence[Memory],
    carried: Mapping[str, Memory],
) -> tuple[list[RemoveMemory], list[RewriteMemory]]:
    """Summaries merged from a doomed item are made anew from what survives, or go with it; those
    of one that is made anew, too."""
    gone = {memory.id: memory for memory in doomed}
    rewritten = dict(carried)
    summaries = _merged_summaries(engine, principal)
    turns: Counter[str] = Counter()
    queue = [*doomed, *carried.values()]
    while queue:
        memory = queue.pop()
        for summary in summaries:
            if summary.id in gone or memory.id not in _merged_from(summary):
                continue
            sources = [id for id in _merged_from(summary) if id not in gone]
            fetched = engine.store.fetch(principal.scope, sources)
            # A summary of summaries is made from those as they will be, not as they were.
            survivors = [rewritten.get(source.id, source) for source in fetched]
            remade = _rebuild_summary(summary, survivors) if survivors else None
            if remade and remade == rewritten.get(summary.id):
                continue
            turns[summary.id] += 1
            # Summaries that name each other in a circle never come to rest: they go as well.
            if remade and turns[summary.id] <= len(summaries):
                rewritten[summary.id] = remade
            else:
                rewritten.pop(summary.id, None)
                gone[summary.id] = summary
            queue.append(summary)
    memories = list(rewritten.values())
    indexes, _ = index_memories(engine, memories)
    rewrites = [
        RewriteMemory(memory, index, rebuilt_entry(memory))
        for memory, index in zip(memories, indexes, strict=True)
    ]
    return [build_removal(memory, event=Event.ERASE) for memory in gone.values()], rewrites


def _merged_summaries(engine: EngineContext, principal: Principal) -> list[Memory]:
    """All that were merged from others. An original does not know for sure: restoring it, or
    replacing it after that, has made it forget which summary it went into."""
    listing = MemoryListing(
        filters=Filters(kinds=(MERGED_KIND,)),
        states=tuple(State),
        visibility=Visibility(cleared=True),
        limit=NO_LIMIT,
    )
    return [m for m in engine.store.page(principal.scope, listing) if _merged_from(m)]


def _merged_from(summary: Memory) -> list[str]:
    sources = summary.metadata.get("merged_from")
    return sources if isinstance(sources, list) else []


def _rebuild_summary(summary: Memory, survivors: Sequence[Memory]) -> Memory:
    content = merge_content(survivors)
    return summary.evolve(
        content=content,
        summary=summarise_merge(survivors),
        tags=extract_keywords(content),
        metadata={**summary.metadata, "merged_from": [memory.id for memory in survivors]},
    )
