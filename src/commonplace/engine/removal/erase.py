"""Erase memories, sources, graph items or a whole user, with everything derived from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.engine.access import can_see
from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.graph.remove import is_graph_id, remove_items
from commonplace.engine.indexing import index_memories
from commonplace.engine.memories.conflicts import (
    find_held_values,
    held_values_about,
    held_values_from_sources,
    remove_held_values,
)
from commonplace.engine.memories.merge import find_memories, merge_content, summarise_merge
from commonplace.engine.profile.proposals import erase_proposals, find_proposals
from commonplace.engine.provenance.evidence import (
    remove_unsupported_fields,
    source_of_evidence,
    supporting_passages,
)
from commonplace.engine.removal.memberships import remove_memberships_and_shares
from commonplace.engine.sources.passages import (
    SourcePassages,
    erase_passages,
    find_passages,
    is_passage_id,
)
from commonplace.engine.sources.removal import (
    find_sources,
    insights_resting_on,
    memories_from_sources,
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
    SetGrant,
    TeamAccess,
)
from commonplace.model.changeset import (
    AmendMemory,
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
from commonplace.model.graph.assertion import NOTE_PREFIX
from commonplace.model.graph.elements import EDGE_PREFIX, NODE_PREFIX
from commonplace.model.graph.steps import NamedGraphItems
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.memory.kinds import MERGED_KIND, MemoryRelation
from commonplace.model.memory.memory import HeldValue, Memory, State
from commonplace.model.profile.fields import Proposal
from commonplace.model.sources.source import Source, is_source_id
from commonplace.store.queries import NO_LIMIT, JournalQuery, MemoryListing, SourceListing


@dataclass(frozen=True, slots=True)
class ErasedAlong:
    """What went along with the named items, by ids, which hold no text."""

    memories: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()
    held_values: tuple[str, ...] = ()  # of open conflicts, and alternatives
    proposals: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    edges: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    links: int = 0  # between memories


@dataclass(frozen=True, slots=True)
class Erased:
    receipt: Receipt
    ids: tuple[str, ...]
    rewritten: tuple[str, ...]  # summaries rebuilt without the erased memories
    revision: int
    # Turns and sources that still contain their text, and earlier facts that they had replaced.
    still_in: tuple[str, ...] = ()
    along: ErasedAlong = ErasedAlong()

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
    keep_evidence: bool = False,
) -> Erased:
    """Also erases held values, alternatives and proposals by id. A memory takes along the passages
    that state it, unless ``keep_evidence``."""
    principal = request.principal
    engine.access_log.flush()  # pending log entries are erased as well
    at = engine.clock()
    receipt_id = engine.new_id()

    def decide() -> tuple[list[Changeset], _ErasePlan]:
        revision = engine.store.counters(principal.scope).revision
        plan = _plan_erase(engine, principal, ids, at, keep_evidence)
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
            named=plan.graph,
        )
        return [changeset, *_changes_elsewhere(engine, principal, plan, at)], plan

    plan = run_transaction_across_scopes(engine, request, decide)
    revision = engine.store.counters(principal.scope).revision
    receipt = _finish_receipt(engine, principal, receipt_id, compact)
    erased, rewritten = _visible_result(principal, plan, ids)
    mentions = remaining_mentions(engine, principal, plan.named)
    along = _erased_along(engine, principal, plan, ids, at)
    still_in = (*mentions, *plan.earlier)
    return Erased(replace(receipt, items=len(erased)), erased, rewritten, revision, still_in, along)


@dataclass(frozen=True, slots=True)
class _ErasePlan:
    """Everything that an erasure removes, and what is rebuilt without it."""

    steps: tuple[ChangesetStep, ...]
    gone: tuple[str, ...]
    rewritten: tuple[Memory, ...]
    named: tuple[Memory, ...]  # the requested memories, without dependent ones
    sources: tuple[Source, ...]
    held_values: tuple[str, ...] = ()  # those that go, and those about memories that go
    proposals: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()
    links: int = 0
    earlier: tuple[str, ...] = ()  # facts that the requested memories replaced; they stay
    graph: NamedGraphItems | None = None


@dataclass(frozen=True, slots=True)
class _NamedItems:
    """What the ids of a request name, items of the graph excepted."""

    held: list[HeldValue]
    proposals: list[Proposal]
    sources: list[Source]
    passage_ids: list[str]
    memories: list[Memory]  # with their earlier wordings
    facts: list[Memory]  # that these replaced; they stay

    @property
    def source_ids(self) -> list[str]:
        return [source.id for source in self.sources]

    @property
    def ended(self) -> list[str]:
        """Sources and passages that lose their words."""
        return [*self.source_ids, *self.passage_ids]


def _find_named(engine: EngineContext, principal: Principal, ids: Sequence[str]) -> _NamedItems:
    held = find_held_values(engine, principal, ids)
    proposals = find_proposals(engine, principal, ids)
    pending_ids = {*(each.memory.id for each in held), *(each.id for each in proposals)}
    resolved = resolve_source_ids(engine, principal, [id for id in ids if id not in pending_ids])
    sources = find_sources(engine, principal, list(resolved.values()))
    passage_ids = [id for id in ids if is_passage_id(id)]
    source_ids = [source.id for source in sources]
    require_no_instruction_from(engine, principal, [*source_ids, *passage_ids])
    others = {*pending_ids, *resolved, *passage_ids}
    memories = find_memories(engine, principal, [id for id in ids if id not in others])
    wordings, facts = _find_predecessors(engine, principal, memories)
    return _NamedItems(held, proposals, sources, passage_ids, [*memories, *wordings], facts)


@dataclass(frozen=True, slots=True)
class _ErasedMemories:
    """The named memories and those that only ended sources support."""

    memories: list[Memory]
    removals: list[RemoveMemory]
    rewrites: list[RewriteMemory]
    before: tuple[ChangesetStep, ...]  # to apply before the removals


def _plan_memories(
    engine: EngineContext, principal: Principal, named: _NamedItems
) -> _ErasedMemories:
    decided = {memory.id for memory in named.memories}
    removal = plan_source_removal(engine, principal, named.ended, decided)
    memories = [*named.memories, *removal.unsupported]
    ended = {*named.ended, *(each for m in memories for each in supporting_passages(m))}
    memories += insights_resting_on(engine, principal, ended)
    memories = list({memory.id: memory for memory in memories}.values())
    removals, rewrites = _rebuild_summaries(engine, principal, memories, removal.carried)
    return _ErasedMemories(memories, removals, rewrites, removal.steps)


@dataclass(frozen=True, slots=True)
class _ErasedHeldValues:
    ids: list[str]
    about: tuple[str, ...]  # with those that are about memories that go
    steps: list[ChangesetStep]


def _plan_held_values(
    engine: EngineContext, principal: Principal, named: _NamedItems, memories: Sequence[Memory]
) -> _ErasedHeldValues:
    of_sources = held_values_from_sources(engine, principal, named.ended)
    held = list({each.memory.id: each for each in (*named.held, *of_sources)}.values())
    ids = [each.memory.id for each in held]
    about = [each for memory in memories for each in held_values_about(engine, principal, memory)]
    with_about = tuple(dict.fromkeys([*ids, *(each.memory.id for each in about)]))
    return _ErasedHeldValues(ids, with_about, remove_held_values(engine, principal, held))


def _plan_erase(
    engine: EngineContext,
    principal: Principal,
    ids: Sequence[str],
    at: datetime,
    keep_evidence: bool,
) -> _ErasePlan:
    graph = remove_items(engine, principal, [id for id in ids if is_graph_id(id)], Event.ERASE)
    named = _find_named(engine, principal, [id for id in ids if not is_graph_id(id)])
    stated = [*named.memories, *(each.memory for each in named.held)]
    passages = _passages_to_erase(
        engine, principal, named.passage_ids, () if keep_evidence else stated, named.source_ids
    )
    erased = _plan_memories(engine, principal, named)
    held = _plan_held_values(engine, principal, named, erased.memories)
    removed_ids = [step.id for step in erased.removals]
    gone = [*removed_ids, *named.source_ids]
    settled = {*gone, *(step.memory.id for step in erased.rewrites)}
    siblings = _name_source_only(engine, principal, passages, settled)
    field_removals, field_rewrites = remove_unsupported_fields(engine, principal, gone)
    gone += [step.id for step in field_removals]
    quoted = [(each.source.id, passage.text) for each in passages for passage in each.named]
    proposals = erase_proposals(engine, principal, named.proposals, gone, quoted)
    proposal_ids = tuple(id for step in proposals for id in step.ids)
    passage_ids = tuple(passage.id for each in passages for passage in each.named)
    rewrites = (*erased.rewrites, *field_rewrites)
    steps: list[ChangesetStep] = [*erased.before, *rewrites, *erased.removals, *field_removals]
    steps += [build_source_removal(source, event=Event.ERASE) for source in named.sources]
    steps += [step for each in passages for step in erase_passages(engine, each, at)]
    steps += siblings
    steps += [WithdrawJobs(tuple(named.source_ids))] if named.sources else []
    return _ErasePlan(
        (*steps, *held.steps, *proposals, *graph.steps),
        (*gone, *passage_ids, *held.ids, *proposal_ids, *graph.gone),
        tuple(step.memory for step in rewrites),
        tuple(named.memories),
        tuple(named.sources),
        held.about,
        proposal_ids,
        passage_ids,
        len(engine.store.links(principal.scope, removed_ids)),
        tuple(m.id for m in named.facts if m.id not in gone and can_see(principal, m)),
        graph.named,
    )


def _passages_to_erase(
    engine: EngineContext,
    principal: Principal,
    named: Sequence[str],
    memories: Sequence[Memory],
    whole: Collection[str],
) -> list[SourcePassages]:
    """The named passages, and those that state these memories. ``whole``: sources that go as a
    whole. An erased passage has no words left."""
    along = [id for memory in memories for id in supporting_passages(memory) if is_passage_id(id)]
    found = find_passages(engine, principal, named, along, lambda passage: True)
    return [
        each.choose(lambda passage: not passage.is_erased)
        for each in found
        if each.source.id not in whole
    ]


def _name_source_only(
    engine: EngineContext,
    principal: Principal,
    passages: Sequence[SourcePassages],
    settled: Collection[str],
) -> list[AmendMemory]:
    """Other memories from a passage that goes along with a memory stay, and cite the whole source.
    ``settled``: memories that are handled already."""
    along = {p.id for each in passages for p in each.named if p.number in each.along}
    amended = []
    for memory in memories_from_sources(engine, principal, along):
        if memory.id not in settled:
            evidence = (
                source_of_evidence(each) if each in along else each for each in memory.evidence
            )
            after = memory.evolve(evidence=tuple(dict.fromkeys(evidence)))
            entry = Entry(op=Op.UPDATE, subject=memory.id, category=memory.category)
            amended.append(AmendMemory(after, entry))
    return amended


def _erased_along(
    engine: EngineContext,
    principal: Principal,
    plan: _ErasePlan,
    requested: Sequence[str],
    at: datetime,
) -> ErasedAlong:
    """What the caller may see of it; items of the graph by the journal, where the cascade wrote
    them. An agent does not see what is hidden from it."""
    if not principal.is_owner:
        return ErasedAlong(passages=tuple(id for id in plan.passages if id not in requested))
    rows = engine.store.journal(principal.own_scope, JournalQuery(events_only=True, newest=1000))
    erased = [
        str(row.entry.subject) for row in rows if row.ts == at and row.entry.event is Event.ERASE
    ]
    others = [id for id in dict.fromkeys(reversed(erased)) if id not in requested]

    def of(prefix: str) -> tuple[str, ...]:
        return tuple(id for id in others if id.startswith(prefix))

    listed = {*plan.passages, *plan.held_values, *plan.proposals}
    memories = tuple(
        id
        for id in plan.gone
        if id not in requested and id not in listed and not is_graph_id(id) and not is_source_id(id)
    )
    return ErasedAlong(
        memories=memories,
        passages=tuple(id for id in plan.passages if id not in requested),
        held_values=tuple(id for id in plan.held_values if id not in requested),
        proposals=tuple(id for id in plan.proposals if id not in requested),
        nodes=of(NODE_PREFIX),
        edges=of(EDGE_PREFIX),
        notes=of(NOTE_PREFIX),
        links=plan.links,
    )


def _find_predecessors(
    engine: EngineContext, principal: Principal, memories: Sequence[Memory]
) -> tuple[list[Memory], list[Memory]]:
    """What these memories replaced, and that in turn: earlier wordings, which are versions under
    another id, and other facts, which were true before."""
    wordings: dict[str, Memory] = {}
    facts: dict[str, Memory] = {}
    pending = list(memories)
    while pending:
        memory = pending.pop()
        query = JournalQuery(subject=memory.id, events_only=True)
        for entry in (row.entry for row in engine.store.journal(principal.scope, query)):
            if entry.op is not Op.CREATE or entry.old_ref is None or entry.subject != memory.id:
                continue
            relation = entry.meta.get("relation", MemoryRelation.REWORDING)
            is_wording = relation == MemoryRelation.REWORDING
            replaced = {entry.old_ref.rpartition("@")[0], *entry.meta.get("replaces", ())}
            found = engine.store.fetch(principal.scope, sorted(replaced))
            old = [each for each in found if each.superseded_by == memory.id]
            (wordings if is_wording else facts).update({each.id: each for each in old})
            pending += old if is_wording else []
    known = {memory.id for memory in memories}
    return [each for id, each in wordings.items() if id not in known], list(facts.values())


def _changes_elsewhere(
    engine: EngineContext, principal: Principal, plan: _ErasePlan, at: datetime
) -> list[Changeset]:
    """Guests lose their shares. Users who added an erased source to a team may have a stored answer
    that quotes it: those answers are invalidated."""
    gone = {source.id for source in plan.sources}
    steps: dict[Scope, list[ChangesetStep]] = {
        Scope.of_user(source.user_id): [] for source in plan.sources
    }
    access = engine.store.access(principal.scope) if gone else TeamAccess(principal.scope)
    if principal.scope.is_team:  # what members asked about it is in logs of their own
        steps |= {each.user_scope: [] for each in access.memberships if each.is_member}
    for share in access.shares:
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
