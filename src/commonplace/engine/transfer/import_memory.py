"""import: memories, sources and proposals of an export, whole or only what is new."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import islice

from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.indexing import index_memories, index_passages
from commonplace.engine.memories.conflicts import hold_alternative, is_same_statement
from commonplace.engine.memories.neighbours import compare_all, load_neighbourhood
from commonplace.engine.memory_relation import (
    STORE_AS_NEW,
    WriteDecision,
    decide_action,
    relate_memories,
)
from commonplace.engine.profile.proposals import import_proposals
from commonplace.engine.provenance.contributions import hold_contributions
from commonplace.engine.provenance.evidence import rename_evidence
from commonplace.engine.removal.restore import check_live_limits_with_stored
from commonplace.engine.sources.removal import processing_jobs
from commonplace.engine.transaction import run_transaction
from commonplace.engine.transfer.import_graph import ensure_owner_node, import_new_graph
from commonplace.errors import NotAllowed
from commonplace.language.embedders.embedder import Vectors
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.changeset import (
    AddMemory,
    AddSource,
    Changeset,
    ChangesetStep,
    HoldValues,
    ImportScope,
    IndexEntry,
    build_add,
)
from commonplace.model.export.archive import ScopeExport
from commonplace.model.export.records import WholeSource
from commonplace.model.filters import Visibility
from commonplace.model.graph.snapshot import WholeGraph
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.memory.kinds import Action, MemoryRelation, OnConflict
from commonplace.model.memory.memory import HeldValue, Memory, State
from commonplace.model.model_calls import SetReading
from commonplace.model.profile.fields import Proposal, is_profile_item
from commonplace.model.sources.source import SOURCE_CATEGORY, Passage, Source
from commonplace.store.queries import (
    HeldQuery,
    MemoryListing,
    SourceByAlias,
    SourceListing,
    SourcesById,
)


@dataclass(slots=True)
class ImportedSources:
    """Sources to import. Each is prepared once, even if the transaction is decided again."""

    engine: EngineContext
    sources: Sequence[WholeSource]
    is_suspicious: Callable[[str], bool]  # the flag in the file is not trusted
    _ready: dict[str, AddSource] = field(default_factory=dict)

    def known(self, scope: Scope) -> dict[str, Source]:
        """Map imported source ids to existing sources, matched by id or by alias."""
        ids = [whole.source.id for whole in self.sources]
        known = {source.id: source for source in self.engine.store.sources(scope, SourcesById(ids))}
        for whole in self.sources:
            name = whole.source.origin, whole.source.external_id
            if whole.source.id not in known and (
                same := self.engine.store.sources(scope, SourceByAlias(*name))
            ):
                known[whole.source.id] = same[0]
        return known

    def all_as_exported(self) -> list[AddSource]:
        """All sources, for an empty memory."""
        return self._add_steps(self.sources)

    def new_sources(self, known: Mapping[str, Source]) -> list[AddSource]:
        """The sources that do not exist yet, as version 1."""
        new = [whole for whole in self.sources if whole.source.id not in known]
        return [_as_first_version(step) for step in self._add_steps(new)]

    def _add_steps(self, sources: Iterable[WholeSource]) -> list[AddSource]:
        chosen = list(sources)
        missing = [whole for whole in chosen if whole.source.id not in self._ready]
        marked = [(whole.source, self._marked(p)) for whole in missing for p in whole.passages]
        indexed = zip(marked, index_passages(self.engine, marked), strict=True)
        placed = ((passage, index) for (_, passage), index in indexed)
        for whole in missing:
            first, *further = whole.original
            passages = tuple(islice(placed, len(whole.passages)))
            self._ready[whole.source.id] = AddSource(
                whole.source, first, _source_import_entry(whole.source), tuple(further), passages
            )
        return [self._ready[whole.source.id] for whole in chosen]

    def _marked(self, passage: Passage) -> Passage:
        if passage.suspicious or not self.is_suspicious(passage.text):
            return passage
        return replace(passage, suspicious=True)


def _as_first_version(step: AddSource) -> AddSource:
    source = step.source.evolve(version=1)
    return replace(step, source=source, entry=_source_import_entry(source))


def _source_import_entry(source: Source) -> Entry:
    return Entry(
        op=Op.IMPORT,
        event=Event.ADD,
        subject=source.id,
        category=SOURCE_CATEGORY,
        new_ref=source.ref,
    )


@dataclass(frozen=True, slots=True)
class Imported:
    memories: int  # number imported
    already_there: tuple[str, ...]
    differing: tuple[str, ...]  # the store has this id with another text, and keeps it
    whole: bool  # True: with history, links and counters
    revision: int
    alternatives: tuple[str, ...] = ()  # held as alternatives of other values
    sources: int = 0  # number imported
    proposals: int = 0  # added, or extended with signals


_EVERYONE = Visibility(cleared=True)
_ANY_MEMORY = MemoryListing(states=tuple(State), visibility=_EVERYONE, limit=1)
_ANY_SOURCE = SourceListing(states=tuple(State), visibility=_EVERYONE, limit=1)


def import_memory(
    engine: EngineContext,
    request: RequestContext,
    belongings: ScopeExport,
    is_suspicious: Callable[[str], bool],
) -> Imported:
    principal = request.principal
    if not principal.is_owner:
        raise NotAllowed("Only the owner may import into a memory.")
    now = engine.clock()
    memories = [memory.evolve(arrived_at=now) for memory in belongings.memories]
    indexes, vectors = index_memories(engine, memories)
    source_import = ImportedSources(engine, belongings.sources, is_suspicious)
    graph = ensure_owner_node(engine, principal, belongings.graph, memories)
    belongings = replace(belongings, graph=graph)
    of_graph = _graph_vectors(engine, graph)

    def decision() -> tuple[Changeset, Imported]:
        counters = engine.store.counters(principal.scope)
        steps: tuple[ChangesetStep, ...]
        if _is_empty(engine, principal):
            sources = source_import.all_as_exported()
            steps = (_copy_step(belongings, memories, indexes, sources, of_graph),)
            result = Imported(len(memories), (), (), True, 0, proposals=len(belongings.proposals))
            numbers = 0  # included in the copy
        else:
            known = source_import.known(principal.scope)
            sources = source_import.new_sources(known)
            renamed = [_rename_sources(memory, known) for memory in memories]
            held = [replace(h, memory=_rename_sources(h.memory, known)) for h in belongings.held]
            steps, result = _import_new(engine, principal, renamed, indexes, vectors, held)
            proposals = [
                _rename_signal_sources(proposal, known) for proposal in belongings.proposals
            ]
            proposed = import_proposals(engine, principal, proposals)
            source_ids = {id: source.id for id, source in known.items()}
            stored_graph = engine.store.whole_graph(principal.scope)
            graph_steps = import_new_graph(stored_graph, graph, source_ids, of_graph)
            readings = _new_readings(engine, principal, belongings, known)
            steps += (*sources, *proposed, *graph_steps, *readings)
            result = _with_known_sources(result, belongings.sources, known)
            result = replace(result, proposals=len(proposed))
            added = [step.memory for step in steps if isinstance(step, AddMemory)]
            live = [memory for memory in added if memory.is_live(now)]
            check_live_limits_with_stored(engine, principal, live, (), now)
            numbers = max(0, belongings.profile_numbers - counters.profile_numbers)
        steps += tuple(processing_jobs(engine, [step.source for step in sources], now))
        changeset = Changeset(
            principal.scope,
            now,
            principal.actor,
            steps,
            counters.revision,
            profile_numbers=numbers,
        )
        return changeset, replace(result, sources=len(sources))

    revision, result = run_transaction(engine, request, decision)
    return replace(result, revision=revision)


def _is_empty(engine: EngineContext, principal: Principal) -> bool:
    scope = principal.scope
    has_items = engine.store.page(scope, _ANY_MEMORY) or engine.store.sources(scope, _ANY_SOURCE)
    return (
        not (has_items or engine.store.proposals(scope))
        and engine.store.whole_graph(scope).is_empty
    )


def _rename_sources(memory: Memory, known: Mapping[str, Source]) -> Memory:
    """Use the existing source's id if it differs."""
    source_ids = {id: source.id for id, source in known.items()}
    source_id = source_ids.get(memory.source_id or "", memory.source_id)
    return memory.evolve(source_id=source_id, evidence=rename_evidence(memory.evidence, source_ids))


def _rename_signal_sources(proposal: Proposal, known: Mapping[str, Source]) -> Proposal:
    """Use the existing source's id, so that signals are erased with their source."""
    signals = [
        replace(signal, source_id=source.id)
        if (source := known.get(signal.source_id or ""))
        else signal
        for signal in proposal.signals
    ]
    return replace(proposal, signals=tuple(signals))


def _new_readings(
    engine: EngineContext,
    principal: Principal,
    belongings: ScopeExport,
    known: Mapping[str, Source],
) -> list[SetReading]:
    """How far a model has read the sources of the export, where that is not known. A reading of
    other words than the store has says nothing about it."""
    same = {
        whole.source.id: known.get(whole.source.id, whole.source).id
        for whole in belongings.sources
        if known.get(whole.source.id, whole.source).digest == whole.source.digest
    }
    own = principal.scope.key
    stored = engine.store.model_readings(principal.scope, sorted(same.values()))
    read = {each.source for each in stored if each.source_scope == own}
    return [
        SetReading(replace(each, source=id), Entry(op=Op.IMPORT, subject=id))
        for each in belongings.readings
        if each.source_scope == own and (id := same.get(each.source)) and id not in read
    ]


def _with_known_sources(
    result: Imported, imported: Sequence[WholeSource], known: Mapping[str, Source]
) -> Imported:
    existing = [whole.source for whole in imported if whole.source.id in known]
    same = [source.id for source in existing if known[source.id].digest == source.digest]
    differing = [source.id for source in existing if source.id not in same]
    return replace(
        result,
        already_there=(*result.already_there, *same),
        differing=(*result.differing, *differing),
    )


def _import_new(
    engine: EngineContext,
    principal: Principal,
    imported: Sequence[Memory],
    indexes: Sequence[IndexEntry],
    vectors: Vectors | None,
    held: Sequence[HeldValue],
) -> tuple[tuple[ChangesetStep, ...], Imported]:
    known = {m.id: m for m in engine.store.fetch(principal.scope, [m.id for m in imported])}
    new_places = [place for place, memory in enumerate(imported) if memory.id not in known]
    verdicts = _decide_imports(
        engine,
        principal,
        [imported[place] for place in new_places],
        [indexes[place] for place in new_places],
        None if vectors is None else vectors[new_places],
    )
    steps: list[ChangesetStep] = []
    same = [m.id for m in imported if m.id in known and known[m.id].content == m.content]
    differing = [m.id for m in imported if m.id in known and known[m.id].content != m.content]
    current = dict(known)  # imported id -> current memory
    pending_alternatives: list[HeldValue] = []
    for place, decision in zip(new_places, verdicts, strict=True):
        memory = imported[place].evolve(version=1, conflict=None)
        current[memory.id] = decision.others[0] if decision.others else memory
        reworded = (decision.relation, decision.action) == (
            MemoryRelation.REWORDING,
            Action.SUPERSEDED,
        )
        if decision.action is Action.REFRESHED or reworded:
            same.append(memory.id)
        elif decision.action is Action.ALTERNATIVE:
            pending_alternatives.append(_make_alternative(engine, principal, memory, decision))
        else:
            current[memory.id] = memory
            steps.append(build_add(memory, indexes[place], op=Op.IMPORT))
    added = sum(isinstance(step, AddMemory) for step in steps)
    for memory in [step.memory for step in steps if isinstance(step, AddMemory)]:
        steps += hold_contributions(
            memory, [each for each in held if each.contributes_to == memory.id]
        )
    pending_alternatives += _imported_alternatives(held, imported, current)
    hold_steps = _hold_alternatives(engine, principal, pending_alternatives, current)
    alternatives = tuple(value.memory.id for step in hold_steps for value in step.values)
    result = Imported(added, tuple(same), tuple(differing), False, 0, alternatives)
    return (*steps, *hold_steps), result


def _decide_imports(
    engine: EngineContext,
    principal: Principal,
    memories: Sequence[Memory],
    indexes: Sequence[IndexEntry],
    vectors: Vectors | None,
) -> list[WriteDecision]:
    """Decide how each live memory relates to stored ones. An import raises no conflicts."""
    now = engine.clock()
    around = load_neighbourhood(engine, principal.scope, memories, vectors, indexes)
    compared = compare_all(engine, memories, around)
    return [
        decide_action(memory, theirs, now, OnConflict.ALTERNATIVE)
        if memory.is_live(now) and not is_profile_item(memory.id)
        else STORE_AS_NEW
        for memory, theirs in zip(memories, compared, strict=True)
    ]


def _make_alternative(
    engine: EngineContext, principal: Principal, memory: Memory, decision: WriteDecision
) -> HeldValue:
    current, now = decision.others[0], engine.clock()
    return HeldValue(memory, None, current.id, frozenset(), decision.reason, principal.actor, now)


def _imported_alternatives(
    held: Sequence[HeldValue], imported: Sequence[Memory], current: Mapping[str, Memory]
) -> Iterator[HeldValue]:
    """Pending values of the export become alternatives: an import raises no conflicts."""
    by_conflict = {memory.conflict: memory.id for memory in reversed(imported) if memory.conflict}
    for value in held:
        about = value.alternative_to or by_conflict.get(str(value.conflict))
        if about:
            reason = relate_memories(value.memory, current[about], None).reason
            yield replace(value, conflict=None, alternative_to=current[about].id, reason=reason)


def _hold_alternatives(
    engine: EngineContext,
    principal: Principal,
    alternatives: Sequence[HeldValue],
    current: Mapping[str, Memory],
) -> list[HoldValues]:
    """Hold each alternative once, unless it equals the current value or is held already."""
    current_by_id = {memory.id: memory for memory in current.values()}
    ids = [value.memory.id for value in alternatives]
    stored_ids = {memory.id for memory in engine.store.fetch(principal.scope, ids)}
    query = HeldQuery(
        ids=ids, alternative_to=sorted({str(value.alternative_to) for value in alternatives})
    )
    known = engine.store.held(principal.scope, query)
    steps: list[HoldValues] = []
    for value in alternatives:
        value_in_use = current_by_id[str(value.alternative_to)]
        rivals = [
            value_in_use,
            *(each.memory for each in known if each.alternative_to == value_in_use.id),
        ]
        held_here = stored_ids | {each.memory.id for each in known}
        if value.memory.id in held_here or any(is_same_statement(r, value.memory) for r in rivals):
            continue
        known.append(value)
        steps.append(hold_alternative(value, value_in_use))
    return steps


def _copy_step(
    belongings: ScopeExport,
    memories: Sequence[Memory],
    indexes: Sequence[IndexEntry],
    sources: Sequence[AddSource],
    of_graph: Mapping[str, bytes],
) -> ImportScope:
    parts = {f.name: getattr(belongings, f.name) for f in fields(belongings)}
    parts |= {"memories": tuple(zip(memories, indexes, strict=True)), "sources": tuple(sources)}
    return ImportScope(**parts, graph_vectors=of_graph)


def _graph_vectors(engine: EngineContext, graph: WholeGraph) -> dict[str, bytes]:
    """Vectors of nodes and edges; empty if the embedder is unavailable."""
    vectors = engine.embed_passages([*graph.texts.values()]) if graph.texts else None
    if vectors is None:
        return {}
    return {id: row.astype("<f4").tobytes() for id, row in zip(graph.texts, vectors, strict=True)}
