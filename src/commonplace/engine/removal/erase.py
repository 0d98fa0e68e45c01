"""Erase memories, sources, graph items or a whole user, with everything derived from them."""

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
    require_no_instruction_from,
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
    """Remove the user from every team and every share. Sources that they added to a team belong to
    the team and stay; a team without other members is deleted."""
    steps: dict[Scope, list[ChangesetStep]] = {}
    decided_on: dict[Scope, int] = {}
    for membership in engine.store.access(principal.own_scope).memberships:
        decided_on[membership.team_scope] = engine.store.counters(membership.team_scope).revision
        for scope, step in _leave_team(engine, membership):
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
    memberships = engine.store.access(team).memberships
    others = [each for each in memberships if each.is_member and each.user_id != one.user_id]
    if one.is_member and not others:
        yield team, ClearScope(Entry(op=Op.DELETE, event=Event.ERASE, node=JournalNode.API))
        for invited in memberships:
            if invited.user_id != one.user_id:
                yield invited.user_scope, SetMembership(invited, _REVOKE_ENTRY, gone=True)
        return
    yield team, SetMember(one, _REVOKE_ENTRY, gone=True)
    if (successor := next_owner(memberships, one.user_id)) is not None:
        yield team, SetMember(replace(successor, role=TeamRole.OWNER), _GRANT_ENTRY)
        for held in engine.store.access(successor.user_scope).memberships:
            if held.team_scope == team:
                yield (
                    successor.user_scope,
                    SetMembership(replace(held, role=TeamRole.OWNER), _GRANT_ENTRY),
                )


@dataclass(frozen=True, slots=True)
class Erased:
    receipt: Receipt
    ids: tuple[str, ...]
    rewritten: tuple[str, ...]  # summaries rebuilt without the erased memories
    revision: int
    still_in: tuple[str, ...] = ()  # turns and sources that still contain their text

    @property
    def scrub(self) -> str:
        return self.receipt.scrub


Compact = Callable[[], object]  # compacts the store's files, for all users


def erase_items(
    engine: EngineContext,
    request: RequestContext,
    ids: Sequence[str],
    compact: Compact | None,
    thread: str | None = None,
) -> Erased:
    """Also erases held values, alternatives and proposals by id."""
    principal = request.principal
    engine.access_log.flush()  # pending log entries are erased as well
    at = engine.clock()
    receipt_id = engine.new_id()

    def decide() -> tuple[list[Changeset], _ErasePlan]:
        revision = engine.store.counters(principal.scope).revision
        plan = _plan_erase(engine, principal, ids)
        receipt = Receipt(receipt_id, at, len(plan.gone))
        changeset = Changeset(
            principal.scope,
            at,
            principal.actor,
            plan.steps,
            revision,
            thread,
            receipt,
            member=principal.member,
        )
        return [changeset, *_changes_elsewhere(engine, principal, plan, at)], plan

    plan = run_transaction_across_scopes(engine, request, decide)
    revision = engine.store.counters(principal.scope).revision
    receipt = _finish_receipt(engine, principal, receipt_id, compact)
    erased, rewritten = _visible_result(principal, plan, ids)
    mentions = remaining_mentions(engine, principal, plan.named)
    return Erased(replace(receipt, items=len(erased)), erased, rewritten, revision, mentions)


@dataclass(frozen=True, slots=True)
class _ErasePlan:
    """Everything that an erasure removes, and what is rebuilt without it."""

    steps: tuple[ChangesetStep, ...]
    gone: tuple[str, ...]
    rewritten: tuple[Memory, ...]
    named: tuple[Memory, ...]  # the requested memories, without dependent ones
    sources: tuple[Source, ...]


def _plan_erase(engine: EngineContext, principal: Principal, ids: Sequence[str]) -> _ErasePlan:
    graph = remove_items(engine, principal, [id for id in ids if is_graph_id(id)], Event.ERASE)
    ids = [id for id in ids if not is_graph_id(id)]
    held_by_id = find_held_values(engine, principal, ids)
    named_proposals = find_proposals(engine, principal, ids)
    pending_ids = {*(each.memory.id for each in held_by_id), *(each.id for each in named_proposals)}
    resolved = resolve_source_ids(engine, principal, [id for id in ids if id not in pending_ids])
    sources = find_sources(engine, principal, list(resolved.values()))
    require_no_instruction_from(engine, principal, sources)
    memories = find_memories(
        engine, principal, [id for id in ids if id not in pending_ids and id not in resolved]
    )
    requested = tuple(memories)
    requested_ids = {memory.id for memory in memories}
    source_ids = [source.id for source in sources]
    held_by_source = held_values_from_sources(engine, principal, source_ids)
    held_values = list({each.memory.id: each for each in (*held_by_id, *held_by_source)}.values())
    held_value_ids = [each.memory.id for each in held_values]
    removal = plan_source_removal(engine, principal, source_ids, requested_ids)
    memories += removal.unsupported
    removals, rewrites = _rebuild_summaries(engine, principal, memories, removal.carried)
    source_removals = [build_source_removal(source, event=Event.ERASE) for source in sources]
    gone = [*(step.id for step in removals), *(step.id for step in source_removals)]
    field_removals, field_rewrites = remove_unsupported_fields(engine, principal, gone)
    gone += [step.id for step in field_removals]
    proposals = erase_proposals(engine, principal, named_proposals, gone)
    jobs = (WithdrawJobs(tuple(source.id for source in sources)),) if sources else ()
    held_removals = remove_held_values(engine, principal, held_values)
    memory_steps = (*removal.steps, *rewrites, *field_rewrites, *removals, *field_removals)
    return _ErasePlan(
        (*memory_steps, *source_removals, *jobs, *held_removals, *proposals, *graph.steps),
        (*gone, *held_value_ids, *(id for step in proposals for id in step.ids), *graph.gone),
        tuple(step.memory for step in (*rewrites, *field_rewrites)),
        requested,
        tuple(sources),
    )


def _changes_elsewhere(
    engine: EngineContext, principal: Principal, plan: _ErasePlan, at: datetime
) -> list[Changeset]:
    """Guests lose their shares. Users who added an erased source to a team may have a stored answer
    that quotes it: those answers are invalidated."""
    gone = {source.id for source in plan.sources}
    steps: dict[Scope, list[ChangesetStep]] = {
        Scope.of_user(source.user_id): [] for source in plan.sources
    }
    for share in engine.store.access(principal.scope).shares if gone else ():
        if share.owner == principal.scope and share.source_id in gone:
            entry = Entry(op=Op.REVOKE)
            steps.setdefault(share.guest_scope, []).append(SetGrant(share, entry, gone=True))
    steps.pop(principal.scope, None)
    return [
        Changeset(scope, at, principal.actor, tuple(each), invalidates_answers=True)
        for scope, each in steps.items()
    ]


def _visible_result(
    principal: Principal, plan: _ErasePlan, requested: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The erased and rebuilt ids that the caller may see. Dependent items may be of categories
    hidden from an agent: it gets only the ids that it named."""
    gone = [id for id in plan.gone if principal.is_owner or id in requested or is_source_id(id)]
    rewritten = [memory.id for memory in plan.rewritten if can_see(principal, memory)]
    return tuple(gone), tuple(rewritten)


def erase_source_memories(
    engine: EngineContext, principal: Principal, sources: Sequence[str]
) -> tuple[ChangesetStep, ...]:
    """For a reader of sources that another owner removes: memories that only these sources support
    are erased, others keep their remaining support, and values held from these sources are
    removed."""
    held_removals = remove_held_values(
        engine, principal, held_values_from_sources(engine, principal, sources)
    )
    removal = plan_source_removal(engine, principal, sources)
    removals, rewrites = _rebuild_summaries(engine, principal, removal.unsupported, removal.carried)
    field_removals, field_rewrites = remove_unsupported_fields(
        engine, principal, [*(step.id for step in removals), *sources]
    )
    return (*removal.steps, *rewrites, *field_rewrites, *removals, *field_removals, *held_removals)


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
    """The stored receipt, after compaction if that was requested. If compaction is not possible
    now, the items are erased all the same, and the receipt says so."""
    if compact:
        engine.access_log.flush()
        compact()
    return next(r for r in engine.store.statistics(principal.scope).receipts if r.id == receipt_id)


def _rebuild_summaries(
    engine: EngineContext,
    principal: Principal,
    erased: Sequence[Memory],
    rebuilt: Mapping[str, Memory],
) -> tuple[list[RemoveMemory], list[RewriteMemory]]:
    """Summaries that were merged from erased or rebuilt memories are rebuilt from the remaining
    ones, or erased if none remains."""
    gone = {memory.id: memory for memory in erased}
    rewritten = dict(rebuilt)
    summaries = _merged_summaries(engine, principal)
    attempts: Counter[str] = Counter()
    queue = [*erased, *rebuilt.values()]
    while queue:
        memory = queue.pop()
        for summary in summaries:
            if summary.id in gone or memory.id not in _merged_from(summary):
                continue
            original_ids = [id for id in _merged_from(summary) if id not in gone]
            originals = engine.store.fetch(principal.scope, original_ids)
            # A summary of summaries uses their rebuilt content.
            survivors = [rewritten.get(source.id, source) for source in originals]
            summary_after = _rebuild_summary(summary, survivors) if survivors else None
            if summary_after and summary_after == rewritten.get(summary.id):
                continue
            attempts[summary.id] += 1
            # Summaries that refer to each other in a cycle never converge: they are erased.
            if summary_after and attempts[summary.id] <= len(summaries):
                rewritten[summary.id] = summary_after
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
    """All summaries that were merged from other memories. The originals' own references are not
    reliable: restoring or replacing an original clears them."""
    listing = MemoryListing(
        filters=Filters(kinds=(MERGED_KIND,)),
        states=tuple(State),
        visibility=Visibility(cleared=True),
        limit=NO_LIMIT,
    )
    return [m for m in engine.store.page(principal.scope, listing) if _merged_from(m)]


def _merged_from(summary: Memory) -> list[str]:
    ids = summary.metadata.get("merged_from")
    return ids if isinstance(ids, list) else []


def _rebuild_summary(summary: Memory, survivors: Sequence[Memory]) -> Memory:
    content = merge_content(survivors)
    return summary.evolve(
        content=content,
        summary=summarise_merge(survivors),
        tags=extract_keywords(content),
        metadata={**summary.metadata, "merged_from": [memory.id for memory in survivors]},
    )
