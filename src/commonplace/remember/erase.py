"""erase: the item and everything derived from it, for good."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.desk import Desk, can_see, index_all
from commonplace.errors import NotAllowed, StoreError
from commonplace.graph.removing import is_of_the_graph, removal
from commonplace.language.keywords import keywords
from commonplace.model.changes import (
    Changeset,
    Receipt,
    Remove,
    RemoveEverything,
    Rewrite,
    Step,
    Withdraw,
    removed,
    removed_source,
)
from commonplace.model.company_steps import SetGrant
from commonplace.model.filters import Filters, Visibility
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.kinds import Kind
from commonplace.model.memory import Memory, State
from commonplace.model.scope import Principal, Scope
from commonplace.model.source import Source, is_source_id
from commonplace.remember.company import leaving_everybody
from commonplace.remember.find import find
from commonplace.remember.hold import erase_held, held_among, held_from
from commonplace.remember.merge import merged_content, merged_summary
from commonplace.remember.proposals import erase_proposals, proposals_among
from commonplace.remember.sources import (
    find_sources,
    of_sources,
    still_told,
)
from commonplace.remember.unsay import unsay
from commonplace.remember.without_sources import made_anew, memories_without
from commonplace.store.port import EVERYTHING, Listing, SourceListing

log = logging.getLogger("commonplace")


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


def erase(
    desk: Desk,
    principal: Principal,
    ids: Sequence[str],
    now_too: bool,
    thread: str | None = None,
) -> Erased:
    """Also what is held back: a value that waits in a conflict, an alternative, a proposal."""
    desk.books.flush()  # what was just asked about it is to go with it
    at = desk.clock()
    receipt_id = desk.new_id()

    def decide() -> tuple[list[Changeset], _Fall]:
        revision = desk.store.counters(principal.scope).revision
        fall = _fall(desk, principal, ids)
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
        return [changeset, *_elsewhere(desk, principal, fall, at)], fall

    fall = desk.decide_together(decide)
    revision = desk.store.counters(principal.scope).revision
    receipt = _settle(desk, principal, receipt_id, now_too)
    gone, rewritten = _told_to(principal, fall, ids)
    said = still_told(desk, principal, fall.named)
    return Erased(replace(receipt, items=len(gone)), gone, rewritten, revision, said)


@dataclass(frozen=True, slots=True)
class _Fall:
    """All that goes with what is erased, and what is made anew without it."""

    steps: tuple[Step, ...]
    gone: tuple[str, ...]
    rewritten: tuple[Memory, ...]
    named: tuple[Memory, ...]  # what was asked for, without what goes along
    sources: tuple[Source, ...]


def _fall(desk: Desk, principal: Principal, ids: Sequence[str]) -> _Fall:
    drawn = removal(desk, principal, [id for id in ids if is_of_the_graph(id)], Event.ERASE)
    ids = [id for id in ids if not is_of_the_graph(id)]
    asked_for = held_among(desk, principal, ids)
    proposed = proposals_among(desk, principal, ids)
    aside = {*(each.memory.id for each in asked_for), *(each.id for each in proposed)}
    named = of_sources(desk, principal, [id for id in ids if id not in aside])
    sources = find_sources(desk, principal, list(named.values()))
    doomed = find(desk, principal, [id for id in ids if id not in aside and id not in named])
    asked = tuple(doomed)
    met = {memory.id for memory in doomed}
    gone_sources = [source.id for source in sources]
    told_beside = held_from(desk, principal, gone_sources)
    waiting = list({each.memory.id: each for each in (*asked_for, *told_beside)}.values())
    held = [each.memory.id for each in waiting]
    fallen = memories_without(desk, principal, gone_sources, met)
    doomed += fallen.alone
    removals, rewrites = _consequences(desk, principal, doomed, fallen.carried)
    ended = [removed_source(source, event=Event.ERASE) for source in sources]
    gone = [*(step.id for step in removals), *(step.id for step in ended)]
    unsaid, reworded = unsay(desk, principal, gone)
    gone += [step.id for step in unsaid]
    proposals = erase_proposals(desk, principal, proposed, gone)
    owed = (Withdraw(tuple(source.id for source in sources)),) if sources else ()
    held_back = erase_held(desk, principal, waiting)
    remembered = (*fallen.steps, *rewrites, *reworded, *removals, *unsaid)
    return _Fall(
        (*remembered, *ended, *owed, *held_back, *proposals, *drawn.steps),
        (*gone, *held, *(id for step in proposals for id in step.ids), *drawn.gone),
        tuple(step.memory for step in (*rewrites, *reworded)),
        asked,
        tuple(sources),
    )


def _elsewhere(desk: Desk, principal: Principal, fall: _Fall, at: datetime) -> list[Changeset]:
    """Guests lose what they were given. Whoever brought a source into a team may have an answer
    kept that tells of it."""
    gone = {source.id for source in fall.sources}
    steps: dict[Scope, list[Step]] = {Scope.of_user(source.user_id): [] for source in fall.sources}
    for share in desk.store.shares(principal.scope) if gone else ():
        if share.owner == principal.scope and share.source_id in gone:
            told = Entry(op=Op.REVOKE)
            steps.setdefault(share.guest_scope, []).append(SetGrant(share, told, gone=True))
    steps.pop(principal.scope, None)
    return [
        Changeset(scope, at, principal.actor, tuple(each), silences=True)
        for scope, each in steps.items()
    ]


def _told_to(
    principal: Principal, fall: _Fall, asked: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is gone and what was made anew. What went along may be of categories that an agent
    does not see: it is told of what it named."""
    gone = [id for id in fall.gone if principal.is_owner or id in asked or is_source_id(id)]
    rewritten = [memory.id for memory in fall.rewritten if can_see(principal, memory)]
    return tuple(gone), tuple(rewritten)


def without_what_they_told(
    desk: Desk, principal: Principal, sources: Sequence[str]
) -> tuple[Step, ...]:
    """Of a reader of sources that another owner takes away: the memories that only they carry go,
    others rest on what is left; and what waits because they told it."""
    held_back = erase_held(desk, principal, held_from(desk, principal, sources))
    fallen = memories_without(desk, principal, sources)
    removals, rewrites = _consequences(desk, principal, fallen.alone, fallen.carried)
    unsaid, reworded = unsay(desk, principal, [*(step.id for step in removals), *sources])
    return (*fallen.steps, *rewrites, *reworded, *removals, *unsaid, *held_back)


def erase_user(desk: Desk, principal: Principal, now_too: bool) -> Erased:
    if not principal.is_owner:
        raise NotAllowed("Only the owner may erase a whole memory.")
    at = desk.clock()
    receipt_id = desk.new_id()
    everything = Listing(states=tuple(State), visibility=Visibility(cleared=True), limit=EVERYTHING)
    ids = [memory.id for memory in desk.store.page(principal.scope, everything)]
    all_sources = SourceListing(
        states=tuple(State), visibility=Visibility(cleared=True), limit=EVERYTHING
    )
    ids += [source.id for source in desk.store.source_page(principal.scope, all_sources)]
    entry = Entry(op=Op.DELETE, event=Event.ERASE, meta={"items": len(ids)})
    receipt = Receipt(receipt_id, at, len(ids))
    changeset = Changeset(
        principal.scope, at, principal.actor, (RemoveEverything(entry),), receipt=receipt
    )
    desk.decide_together(lambda: ([changeset, *leaving_everybody(desk, principal, at)], None))
    revision = desk.store.counters(principal.scope).revision
    desk.index.drop(principal.scope)
    return Erased(_settle(desk, principal, receipt_id, now_too), tuple(ids), (), revision)


def _settle(desk: Desk, principal: Principal, receipt_id: str, now_too: bool) -> Receipt:
    """The receipt as it stands; with now_too after the compaction that completes it."""
    if now_too:
        desk.books.flush()
        try:
            desk.store.scrub(desk.clock())
        except StoreError as error:  # it is erased all the same, and the receipt says what waits
            log.warning("compaction postponed: %s", error.code)
    return next(r for r in desk.store.census(principal.scope).receipts if r.id == receipt_id)


def _consequences(
    desk: Desk, principal: Principal, doomed: Sequence[Memory], carried: Mapping[str, Memory]
) -> tuple[list[Remove], list[Rewrite]]:
    """Summaries merged from a doomed item are made anew from what survives, or go with it; those
    of one that is made anew, too."""
    gone = {memory.id: memory for memory in doomed}
    rewritten = dict(carried)
    summaries = _summaries(desk, principal)
    turns: Counter[str] = Counter()
    queue = [*doomed, *carried.values()]
    while queue:
        memory = queue.pop()
        for summary in summaries:
            if summary.id in gone or memory.id not in _merged_from(summary):
                continue
            sources = [id for id in _merged_from(summary) if id not in gone]
            fetched = desk.store.fetch(principal.scope, sources)
            # A summary of summaries is made from those as they will be, not as they were.
            survivors = [rewritten.get(source.id, source) for source in fetched]
            remade = _remade(summary, survivors) if survivors else None
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
    indexes, _ = index_all(desk, memories)
    rewrites = [
        Rewrite(memory, index, made_anew(memory))
        for memory, index in zip(memories, indexes, strict=True)
    ]
    return [removed(memory, event=Event.ERASE) for memory in gone.values()], rewrites


def _summaries(desk: Desk, principal: Principal) -> list[Memory]:
    """All that were merged from others. An original does not know for sure: restoring it, or
    replacing it after that, has made it forget which summary it went into."""
    listing = Listing(
        filters=Filters(kinds=(Kind.SUMMARY,)),
        states=tuple(State),
        visibility=Visibility(cleared=True),
        limit=EVERYTHING,
    )
    return [m for m in desk.store.page(principal.scope, listing) if _merged_from(m)]


def _merged_from(summary: Memory) -> list[str]:
    sources = summary.metadata.get("merged_from")
    return sources if isinstance(sources, list) else []


def _remade(summary: Memory, survivors: Sequence[Memory]) -> Memory:
    content = merged_content(survivors)
    return summary.evolve(
        content=content,
        summary=merged_summary(survivors),
        tags=keywords(content),
        metadata={**summary.metadata, "merged_from": [memory.id for memory in survivors]},
    )
