"""Cascade: what a change of sources means for every reader's memories and graph.

When a source or one of its passages is forgotten, restored, erased or purged, by any verb,
everything that only it supports is removed, hidden or restored with it, in the same transaction.
For a team's source this includes every member, also former ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from commonplace.engine.context import EngineContext
from commonplace.engine.graph.extraction.removed_passages import (
    RemovedPassages,
    heard_without,
    hide_passage_assertions,
    retract_passage_assertions,
    show_passage_assertions,
)
from commonplace.engine.graph.extraction.told import (
    ToldChanges,
    find_told_changes,
    told_steps,
)
from commonplace.engine.graph.graph_diff import diff_graph
from commonplace.engine.graph.names import build_name_index
from commonplace.engine.graph.remove import (
    apply_source_sensitivity,
    retract_sources,
    set_sources_standing,
)
from commonplace.engine.graph.unit_of_work import OWNER_NAME_FIELD, GraphUnitOfWork, rename_owner
from commonplace.engine.removal.erase import erase_source_memories
from commonplace.engine.sources.removal import (
    forget_source_memories,
    purge_contributions,
    restore_source_memories,
)
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.changeset import (
    AddMemory,
    ChangeMemory,
    Changeset,
    ChangesetStep,
    ChangeSource,
    RemoveMemory,
    RemoveSource,
)
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.memory.memory import State
from commonplace.model.model_calls import SetReading
from commonplace.model.sources.source import Passage, Source
from commonplace.store.queries import PassagesOf


@dataclass(frozen=True, slots=True)
class _ChangedPassages:
    """Passages of one source that are forgotten, restored or erased together."""

    graph: RemovedPassages  # as they were before
    after: tuple[Passage, ...]
    event: Event
    takes_memories: bool  # False: a memory takes them along, and the others from them stay

    @property
    def until(self) -> dict[str, datetime]:
        return {each.id: each.purge_at for each in self.after if each.purge_at}

    @property
    def before(self) -> dict[str, datetime | None]:
        return {each.id: each.purge_at for each in self.graph.removed}


def _any_erased(changes: Sequence[_ChangedPassages]) -> bool:
    return any(passage.is_erased for each in changes for passage in each.after)


@dataclass(slots=True)
class _ChangedSources:
    """The sources that a changeset changes, by the kind of change."""

    gone: list[str] = field(default_factory=list)
    ended: Event = Event.DELETE
    hidden: list[Source] = field(default_factory=list)
    restored: list[Source] = field(default_factory=list)  # their state before, forgotten
    sensitivity_changed: list[Source] = field(default_factory=list)
    passages: list[_ChangedPassages] = field(default_factory=list)
    # Memories that the same changeset changes: one recomputation of the graph follows both.
    told_gone: list[str] = field(default_factory=list)
    told_hidden: list[str] = field(default_factory=list)
    told_restored: list[str] = field(default_factory=list)

    @property
    def any(self) -> bool:
        whole = self.gone or self.hidden or self.restored or self.sensitivity_changed
        return bool(whole or self.passages)

    @property
    def losing_words(self) -> tuple[str, ...]:
        """Those that are gone or lose words."""
        erased = [each.graph.source.id for each in self.passages if _any_erased([each])]
        return tuple(dict.fromkeys([*self.gone, *erased]))


def cascade(engine: EngineContext, changeset: Changeset) -> list[Changeset]:
    """The changeset with all that it causes; that of its own scope is first."""
    changeset = _with_owner_node_name(engine, changeset)
    sources, told = _changed_sources(changeset.steps), find_told_changes(changeset.steps)
    sources.passages = _changed_passages(engine, changeset)
    if not sources.any:
        derived = told_steps(engine, changeset, told)
        return [replace(changeset, steps=(*changeset.steps, *derived))]
    sources = replace(
        sources, told_gone=told.gone, told_hidden=told.hidden, told_restored=told.restored
    )
    if told.revived:
        derived = told_steps(engine, changeset, ToldChanges(revived=told.revived))
        changeset = replace(changeset, steps=(*changeset.steps, *derived))
    own, others = changeset, []
    for reader, is_member in _readers(engine, changeset.scope).items():
        revision = engine.store.counters(reader).revision
        is_own = reader == changeset.scope
        steps = _cascade_steps(engine, reader, sources, changeset, is_own)
        if is_own and steps:
            decided_on = revision if changeset.decided_on is None else changeset.decided_on
            own = replace(own, steps=(*changeset.steps, *steps), decided_on=decided_on)
        elif not is_own and (steps or is_member or sources.losing_words):
            # Without steps: answers go, and it is only stale if a member extracts meanwhile.
            other = Changeset(reader, changeset.at, changeset.actor, steps, revision)
            others.append(
                replace(
                    other,
                    invalidates_answers=bool(sources.losing_words),
                    ended_sources=sources.losing_words,
                )
            )
    return [own, *others]


def _with_owner_node_name(engine: EngineContext, changeset: Changeset) -> Changeset:
    """The owner's node takes its name from the profile."""
    name_steps = [step for step in changeset.steps if _sets_owner_name(step)]
    if not name_steps or not changeset.scope.is_user:
        return changeset
    work = GraphUnitOfWork(engine, changeset.scope, changeset.actor, changeset.at)
    names = build_name_index(engine.graph_cache.of(changeset.scope).snapshot.nodes.values())
    rename_owner(work, names, _owner_name_in(name_steps[-1]) or changeset.scope.name)
    return replace(changeset, steps=(*changeset.steps, *diff_graph(work)))


def _owner_name_in(step: ChangesetStep) -> str:
    """Empty if the name was removed."""
    memory = step.memory if isinstance(step, AddMemory) else None
    memory = step.after if isinstance(step, ChangeMemory) else memory
    if memory is None or memory.state is not State.ACTIVE:
        return ""
    return str(memory.metadata.get("value") or "")


def _sets_owner_name(step: ChangesetStep) -> bool:
    match step:
        case AddMemory():
            return step.memory.id == OWNER_NAME_FIELD
        case ChangeMemory():
            return step.after.id == OWNER_NAME_FIELD
        case RemoveMemory():
            return step.id == OWNER_NAME_FIELD
        case _:
            return False


def _changed_sources(steps: Sequence[ChangesetStep]) -> _ChangedSources:
    changed = _ChangedSources()
    for step in steps:
        if isinstance(step, RemoveSource):
            changed.gone.append(step.id)
            changed.ended = step.entry.event or changed.ended
        elif isinstance(step, ChangeSource):
            before, after = step.before, step.after
            if before.state is not after.state:
                is_hidden = after.state is not State.ACTIVE
                (changed.hidden if is_hidden else changed.restored).append(
                    after if is_hidden else before
                )
            if before.sensitivity is not after.sensitivity:
                changed.sensitivity_changed.append(after)
    return changed


def _changed_passages(engine: EngineContext, changeset: Changeset) -> list[_ChangedPassages]:
    """By source, kind of change, and whether a memory takes them along. Their words are read from
    the store, where an erased passage still has them."""
    changed: dict[str, list[tuple[ChangeSource, Passage]]] = {}
    for step in (each for each in changeset.steps if isinstance(each, ChangeSource)):
        for passage in step.revised:
            changed.setdefault(step.after.id, []).append((step, passage))
    found = []
    for id, revised in changed.items():
        query = PassagesOf(id, hidden=True)
        stored = {p.number: p for p in engine.store.passages(changeset.scope, query).values()}
        after = stored | {passage.number: passage for _, passage in revised}
        visible = tuple(passage for passage in after.values() if not passage.is_hidden)
        groups: dict[tuple[bool, bool, bool], list[tuple[ChangeSource, Passage]]] = {}
        for step, passage in revised:
            kind = (passage.is_erased, passage.is_hidden, step.with_memory)
            groups.setdefault(kind, []).append((step, passage))
        for group in groups.values():
            step, passages = group[0][0], tuple(passage for _, passage in group)
            before = tuple(stored[each.number] for each in passages if each.number in stored)
            removed = RemovedPassages(step.before, before, visible)
            event = step.entry.event or Event.DELETE
            found.append(_ChangedPassages(removed, passages, event, not step.with_memory))
    return found


def _cascade_passages(
    engine: EngineContext, reader: Scope, change: _ChangedPassages, changeset: Changeset, own: bool
) -> list[ChangesetStep]:
    by, at, owner = changeset.actor, changeset.at, Principal(reader.name)
    removed, ids = change.graph, list(change.before)
    steps: list[ChangesetStep] = []
    if _any_erased([change]):
        steps += retract_passage_assertions(engine, reader, removed, by, at, change.event)
        if not own:
            steps += erase_source_memories(engine, owner, ids)
        elif change.event is Event.DELETE:
            steps += purge_contributions(engine, owner, ids)
    elif change.until:
        steps += hide_passage_assertions(engine, reader, removed, by, at)
        if change.takes_memories:
            steps += forget_source_memories(engine, owner, change.until, at)
    else:
        steps += show_passage_assertions(engine, reader, removed, by, at)
        if change.takes_memories:
            steps += restore_source_memories(engine, owner, change.before, at)
    return steps


def _readers(engine: EngineContext, scope: Scope) -> dict[Scope, bool]:
    """Users who may have extracted the scope's sources, and whether they are members now."""
    if not scope.is_team:
        return {scope: False}
    return {one.user_scope: one.is_member for one in engine.store.access(scope).memberships}


def _cascade_steps(
    engine: EngineContext,
    reader: Scope,
    sources: _ChangedSources,
    changeset: Changeset,
    is_own: bool,
) -> tuple[ChangesetStep, ...]:
    by, at = changeset.actor, changeset.at
    owner = Principal(reader.name)
    steps: list[ChangesetStep] = []
    gone, hidden, restored = (
        (sources.told_gone, sources.told_hidden, sources.told_restored) if is_own else ((), (), ())
    )
    if sources.gone or gone:
        ids = [*sources.gone, *gone]
        steps += retract_sources(engine, reader, ids, by, at, sources.ended)
    if sources.gone:
        if not is_own:  # in its own scope, the removing verb handles the memories
            steps += erase_source_memories(engine, owner, sources.gone)
        elif sources.ended is Event.DELETE:
            steps += purge_contributions(engine, owner, sources.gone)
    if sources.hidden or hidden:
        ids = [*(source.id for source in sources.hidden), *hidden]
        steps += set_sources_standing(engine, reader, ids, False, by, at)
        until = {source.id: source.purge_at or at for source in sources.hidden}
        steps += forget_source_memories(engine, owner, until, at)
    if sources.restored or restored:
        ids = [*(source.id for source in sources.restored), *restored]
        steps += set_sources_standing(engine, reader, ids, True, by, at)
        purged = {source.id: source.purge_at for source in sources.restored}
        steps += restore_source_memories(engine, owner, purged, at)
    for change in sources.passages:
        steps += _cascade_passages(engine, reader, change, changeset, is_own)
    for source in sources.sensitivity_changed:
        steps += apply_source_sensitivity(engine, reader, source, by, at)
    if sources.losing_words:
        steps += _reading_steps(engine, reader, sources, changeset)
    decided = {id for step in changeset.steps if (id := _memory_id(step))} if is_own else set()
    return tuple(step for step in steps if _memory_id(step) not in decided)


def _reading_steps(
    engine: EngineContext, reader: Scope, sources: _ChangedSources, changeset: Changeset
) -> list[ChangesetStep]:
    """How far a model has read goes with the source. If the source only loses words, the reading
    stands, for its new digest: what is left is not read again."""
    gone, erased = sources.gone, [each for each in sources.passages if _any_erased([each])]
    digests: dict[str, tuple[str, str]] = {}
    for step in changeset.steps:
        if isinstance(step, ChangeSource) and step.revised:
            first, _ = digests.get(step.after.id, (step.before.digest, ""))
            digests[step.after.id] = (first, step.after.digest)
    steps: list[ChangesetStep] = []
    for reading in engine.store.model_readings(reader, [*gone, *digests]):
        before, after = digests.get(reading.source, ("", ""))
        if reading.source in gone:
            steps.append(SetReading(reading, Entry(op=Op.DELETE), gone=True))
        else:
            changed = replace(reading, digest=after) if reading.digest == before else reading
            for one in (each for each in erased if each.graph.source.id == reading.source):
                heard = heard_without(engine, reader, one.graph, changed.heard)
                blotted = {passage.number for passage in one.after if passage.is_erased}
                asked = (each for each in changed.requests if each.passage not in blotted)
                changed = replace(changed, heard=heard, requests=tuple(asked))
            if changed != reading:
                entry = Entry(op=Op.UPDATE, subject=reading.source)
                steps.append(SetReading(changed, entry, before=reading))
    return steps


def _memory_id(step: ChangesetStep) -> str | None:
    """The memory that a step removes or changes. A step of the changeset itself takes precedence
    over the cascade."""
    match step:
        case ChangeMemory():
            return step.after.id
        case RemoveMemory():
            return step.id
        case _:
            return None
