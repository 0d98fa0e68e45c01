"""import: a whole memory into an empty one, as it was; into one that has something, what is new."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from commonplace.desk import Desk, index_all
from commonplace.errors import NotAllowed
from commonplace.language.models.embedder import Vectors
from commonplace.model.changes import Add, AddSource, Changeset, Copy, Hold, Indexing, Step, added
from commonplace.model.conflict import Held
from commonplace.model.filters import Visibility
from commonplace.model.graph.whole import WholeGraph
from commonplace.model.journal import Op
from commonplace.model.memory import Memory, State
from commonplace.model.portable import Belongings
from commonplace.model.portable_sources import WholeSource
from commonplace.model.profile import is_of_profile
from commonplace.model.proposal import Proposal
from commonplace.model.relations import Action, OnConflict, Relation
from commonplace.model.scope import Principal
from commonplace.model.source import Source
from commonplace.remember.bring_in_graph import new_of_graph, with_owner
from commonplace.remember.bring_in_sources import Arrivals
from commonplace.remember.decide import NOTHING_LIKE_IT, Decision, decide
from commonplace.remember.forget import hold_to_live_limits
from commonplace.remember.hold import hold_beside, says_the_same
from commonplace.remember.neighbours import look_around
from commonplace.remember.proposals import new_proposals
from commonplace.remember.relate import relate
from commonplace.remember.sources import to_be_processed
from commonplace.remember.supports import renamed
from commonplace.remember.told_together import kept_with
from commonplace.remember.weigh import weigh_all
from commonplace.store.port import HeldQuery, Listing, SourceListing


@dataclass(frozen=True, slots=True)
class Imported:
    memories: int  # how many came in
    already_there: tuple[str, ...]
    differing: tuple[str, ...]  # the store has this id with other words, and keeps them
    whole: bool  # True: history, links and numbers came along
    revision: int
    alternatives: tuple[str, ...] = ()  # say otherwise than what stands, and are kept beside it
    sources: int = 0  # how many came in
    proposals: int = 0  # that wait here now, or have more signals than before


_EVERYONE = Visibility(cleared=True)
_ANYTHING = Listing(states=tuple(State), visibility=_EVERYONE, limit=1)
_ANY_SOURCE = SourceListing(states=tuple(State), visibility=_EVERYONE, limit=1)


def bring_in(
    desk: Desk,
    principal: Principal,
    belongings: Belongings,
    is_suspicious: Callable[[str], bool],
) -> Imported:
    if not principal.is_owner:
        raise NotAllowed("Only the owner may import into a memory.")
    now = desk.clock()
    arrived = [memory.evolve(arrived_at=now) for memory in belongings.memories]
    indexes, vectors = index_all(desk, arrived)
    arrivals = Arrivals(desk, belongings.sources, is_suspicious)
    graph = with_owner(desk, principal, belongings.graph, arrived)
    belongings = replace(belongings, graph=graph)
    of_graph = _vectors_of(desk, graph)

    def decision() -> tuple[Changeset, Imported]:
        counters = desk.store.counters(principal.scope)
        steps: tuple[Step, ...]
        if _is_empty(desk, principal):
            sources = arrivals.as_they_were()
            steps = (_copy(belongings, arrived, indexes, sources, of_graph),)
            told = Imported(len(arrived), (), (), True, 0, proposals=len(belongings.proposals))
            numbers = 0  # they come with the copy
        else:
            known = arrivals.known(principal.scope)
            sources = arrivals.beside(known)
            here = [_told_here(memory, known) for memory in arrived]
            held = [replace(h, memory=_told_here(h.memory, known)) for h in belongings.held]
            steps, told = _what_is_new(desk, principal, here, indexes, vectors, held)
            heard = [_heard_here(proposal, known) for proposal in belongings.proposals]
            proposed = new_proposals(desk, principal, heard)
            called = {id: source.id for id, source in known.items()}
            there = desk.store.whole_graph(principal.scope)
            woven = new_of_graph(there, graph, called, of_graph)
            steps += (*sources, *proposed, *woven)
            told = _with_those_known(told, belongings.sources, known)
            told = replace(told, proposals=len(proposed))
            coming = [step.memory for step in steps if isinstance(step, Add)]
            live = [memory for memory in coming if memory.is_live(now)]
            hold_to_live_limits(desk, principal, live, (), now)
            numbers = max(0, belongings.profile_numbers - counters.profile_numbers)
        steps += tuple(to_be_processed(desk, [step.source for step in sources], now))
        changeset = Changeset(
            principal.scope,
            now,
            principal.actor,
            steps,
            counters.revision,
            profile_numbers=numbers,
        )
        return changeset, replace(told, sources=len(sources))

    revision, told = desk.decide(decision)
    return replace(told, revision=revision)


def _is_empty(desk: Desk, principal: Principal) -> bool:
    scope = principal.scope
    kept = desk.store.page(scope, _ANYTHING) or desk.store.source_page(scope, _ANY_SOURCE)
    return not (kept or desk.store.proposals(scope)) and desk.store.whole_graph(scope).is_empty


def _told_here(memory: Memory, known: Mapping[str, Source]) -> Memory:
    """What came out of a source that is here under another id belongs to that one."""
    called = {id: source.id for id, source in known.items()}
    source_id = called.get(memory.source_id or "", memory.source_id)
    return memory.evolve(source_id=source_id, evidence=renamed(memory.evidence, called))


def _heard_here(proposal: Proposal, known: Mapping[str, Source]) -> Proposal:
    """As with memories: what was heard in a source is erased with that source here."""
    signals = [
        replace(signal, source_id=source.id)
        if (source := known.get(signal.source_id or ""))
        else signal
        for signal in proposal.signals
    ]
    return replace(proposal, signals=tuple(signals))


def _with_those_known(
    told: Imported, coming: Sequence[WholeSource], known: Mapping[str, Source]
) -> Imported:
    there = [whole.source for whole in coming if whole.source.id in known]
    same = [source.id for source in there if known[source.id].digest == source.digest]
    differing = [source.id for source in there if source.id not in same]
    return replace(
        told,
        already_there=(*told.already_there, *same),
        differing=(*told.differing, *differing),
    )


def _what_is_new(
    desk: Desk,
    principal: Principal,
    arrived: Sequence[Memory],
    indexes: Sequence[Indexing],
    vectors: Vectors | None,
    held: Sequence[Held],
) -> tuple[tuple[Step, ...], Imported]:
    known = {m.id: m for m in desk.store.fetch(principal.scope, [m.id for m in arrived])}
    fresh = [place for place, memory in enumerate(arrived) if memory.id not in known]
    verdicts = _verdicts(
        desk,
        principal,
        [arrived[place] for place in fresh],
        [indexes[place] for place in fresh],
        None if vectors is None else vectors[fresh],
    )
    steps: list[Step] = []
    same = [m.id for m in arrived if m.id in known and known[m.id].content == m.content]
    differing = [m.id for m in arrived if m.id in known and known[m.id].content != m.content]
    stands = dict(known)  # what stands here for each that comes
    beside: list[Held] = []
    for place, decision in zip(fresh, verdicts, strict=True):
        memory = arrived[place].evolve(version=1, conflict=None)
        stands[memory.id] = decision.others[0] if decision.others else memory
        reworded = (decision.relation, decision.action) == (Relation.REWORDING, Action.SUPERSEDED)
        if decision.action is Action.REFRESHED or reworded:
            same.append(memory.id)
        elif decision.action is Action.ALTERNATIVE:
            beside.append(_said_otherwise(desk, principal, memory, decision))
        else:
            stands[memory.id] = memory
            steps.append(added(memory, indexes[place], op=Op.IMPORT))
    coming = sum(isinstance(step, Add) for step in steps)
    for memory in [step.memory for step in steps if isinstance(step, Add)]:
        steps += kept_with(memory, [each for each in held if each.merged_into == memory.id])
    beside += _waiting(held, arrived, stands)
    kept = _kept_beside(desk, principal, beside, stands)
    alternatives = tuple(value.memory.id for step in kept for value in step.values)
    told = Imported(coming, tuple(same), tuple(differing), False, 0, alternatives)
    return (*steps, *kept), told


def _verdicts(
    desk: Desk,
    principal: Principal,
    memories: Sequence[Memory],
    indexes: Sequence[Indexing],
    vectors: Vectors | None,
) -> list[Decision]:
    """How each that is live relates to what stands here. An import never asks."""
    now = desk.clock()
    around = look_around(desk, principal.scope, memories, vectors, indexes)
    weighed = weigh_all(desk, memories, around)
    return [
        decide(memory, theirs, now, OnConflict.ALTERNATIVE)
        if memory.is_live(now) and not is_of_profile(memory.id)
        else NOTHING_LIKE_IT
        for memory, theirs in zip(memories, weighed, strict=True)
    ]


def _said_otherwise(desk: Desk, principal: Principal, memory: Memory, decision: Decision) -> Held:
    stands, now = decision.others[0], desk.clock()
    return Held(memory, None, stands.id, frozenset(), decision.reason, principal.actor, now)


def _waiting(
    held: Sequence[Held], arrived: Sequence[Memory], stands: Mapping[str, Memory]
) -> Iterator[Held]:
    """What waits in the other memory waits here beside what it is about: an import never asks."""
    asked = {memory.conflict: memory.id for memory in reversed(arrived) if memory.conflict}
    for value in held:
        about = value.beside or asked.get(str(value.conflict))
        if about:
            reason = relate(value.memory, stands[about], None).reason
            yield replace(value, conflict=None, beside=stands[about].id, reason=reason)


def _kept_beside(
    desk: Desk, principal: Principal, beside: Sequence[Held], stands: Mapping[str, Memory]
) -> list[Hold]:
    """Each once: not what stands, nor what is held here already."""
    here = {memory.id: memory for memory in stands.values()}
    ids = [value.memory.id for value in beside]
    taken = {memory.id for memory in desk.store.fetch(principal.scope, ids)}
    query = HeldQuery(ids=ids, beside=sorted({str(value.beside) for value in beside}))
    known = desk.store.held(principal.scope, query)
    steps: list[Hold] = []
    for value in beside:
        standing = here[str(value.beside)]
        rivals = [standing, *(each.memory for each in known if each.beside == standing.id)]
        held_here = taken | {each.memory.id for each in known}
        if value.memory.id in held_here or any(says_the_same(r, value.memory) for r in rivals):
            continue
        known.append(value)
        steps.append(hold_beside(value, standing))
    return steps


def _copy(
    belongings: Belongings,
    arrived: Sequence[Memory],
    indexes: Sequence[Indexing],
    sources: Sequence[AddSource],
    of_graph: Mapping[str, bytes],
) -> Copy:
    return Copy(
        tuple(zip(arrived, indexes, strict=True)),
        belongings.versions,
        belongings.links,
        belongings.journal,
        belongings.revision,
        belongings.profile_numbers,
        belongings.held,
        tuple(sources),
        belongings.proposals,
        belongings.recall_log,
        belongings.graph,
        of_graph,
    )


def _vectors_of(desk: Desk, graph: WholeGraph) -> dict[str, bytes]:
    """Of its nodes and edges; none while the embedder is down."""
    vectors = desk.embed([*graph.texts.values()]) if graph.texts else None
    if vectors is None:
        return {}
    return {id: row.astype("<f4").tobytes() for id, row in zip(graph.texts, vectors, strict=True)}
