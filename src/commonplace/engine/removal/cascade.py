"""Cascade: what a change of sources means for every reader's memories and graph.

When a source or one of its passages is forgotten, restored, erased or purged, by any verb,
everything that only it supports is removed, hidden or restored with it, in the same transaction.
For a team's source this includes every member, also former ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from commonplace.engine.context import EngineContext
from commonplace.engine.graph.extraction.removed_passages import RemovedPassages, heard_without
from commonplace.engine.graph.extraction.told import (
    ToldChanges,
    find_told_changes,
    told_steps,
)
from commonplace.engine.removal.erase import erase_source_memories
from commonplace.engine.removal.graph_changes import (
    ChangedPassages,
    ChangedSources,
    change_graph,
    sets_owner_name,
)
from commonplace.engine.sources.removal import (
    forget_source_memories,
    purge_contributions,
    restore_source_memories,
)
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.changeset import (
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
from commonplace.model.sources.source import Passage
from commonplace.store.queries import PassagesOf


def cascade(engine: EngineContext, changeset: Changeset) -> list[Changeset]:
    """The changeset with all that it causes; that of its own scope is first."""
    sources, told = _changed_sources(changeset.steps), find_told_changes(changeset.steps)
    sources.passages = _changed_passages(engine, changeset)
    if not sources.any:
        return [_with_own_graph(engine, changeset, told)]
    own, others = changeset, []
    for reader, is_member in _readers(engine, changeset.scope).items():
        revision = engine.store.counters(reader).revision
        is_own = reader == changeset.scope
        steps = _cascade_steps(engine, reader, sources, changeset, told)
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


def _with_own_graph(engine: EngineContext, changeset: Changeset, told: ToldChanges) -> Changeset:
    """Of a changeset that changes no source."""
    scope = changeset.scope
    if scope.is_user and (changeset.named or sets_owner_name(changeset.steps)):
        derived = change_graph(engine, changeset, scope, ChangedSources(), told)
    else:
        derived = told_steps(engine, changeset, told)
    return replace(changeset, steps=(*changeset.steps, *derived))


def _changed_sources(steps: Sequence[ChangesetStep]) -> ChangedSources:
    changed = ChangedSources()
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


def _changed_passages(engine: EngineContext, changeset: Changeset) -> list[ChangedPassages]:
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
            found.append(ChangedPassages(removed, passages, event, not step.with_memory))
    return found


def _follow_passages(
    engine: EngineContext, owner: Principal, change: ChangedPassages, at: datetime, own: bool
) -> list[ChangesetStep]:
    """What the change means for memories."""
    ids = list(change.before)
    if change.are_erased:
        if not own:
            return [*erase_source_memories(engine, owner, ids)]
        if change.event is Event.DELETE:
            return [*purge_contributions(engine, owner, ids)]
    elif change.until and change.takes_memories:
        return [*forget_source_memories(engine, owner, change.until, at)]
    elif change.takes_memories:
        return [*restore_source_memories(engine, owner, change.before, at)]
    return []


def _readers(engine: EngineContext, scope: Scope) -> dict[Scope, bool]:
    """Users who may have extracted the scope's sources, and whether they are members now."""
    if not scope.is_team:
        return {scope: False}
    return {one.user_scope: one.is_member for one in engine.store.access(scope).memberships}


def _cascade_steps(
    engine: EngineContext,
    reader: Scope,
    sources: ChangedSources,
    changeset: Changeset,
    told: ToldChanges,
) -> tuple[ChangesetStep, ...]:
    at, is_own = changeset.at, reader == changeset.scope
    owner = Principal(reader.name)
    own_told = told if is_own else ToldChanges()
    steps = [*change_graph(engine, changeset, reader, sources, own_told)]
    if sources.gone:
        if not is_own:  # in its own scope, the removing verb handles the memories
            steps += erase_source_memories(engine, owner, sources.gone)
        elif sources.ended is Event.DELETE:
            steps += purge_contributions(engine, owner, sources.gone)
    if sources.hidden:
        until = {source.id: source.purge_at or at for source in sources.hidden}
        steps += forget_source_memories(engine, owner, until, at)
    if sources.restored:
        purged = {source.id: source.purge_at for source in sources.restored}
        steps += restore_source_memories(engine, owner, purged, at)
    for change in sources.passages:
        steps += _follow_passages(engine, owner, change, at, is_own)
    if sources.losing_words:
        steps += _reading_steps(engine, reader, sources, changeset)
    decided = {id for step in changeset.steps if (id := _memory_id(step))} if is_own else set()
    return tuple(step for step in steps if _memory_id(step) not in decided)


def _reading_steps(
    engine: EngineContext, reader: Scope, sources: ChangedSources, changeset: Changeset
) -> list[ChangesetStep]:
    """How far a model has read goes with the source. If the source only loses words, the reading
    stands, for its new digest: what is left is not read again."""
    gone, erased = sources.gone, [each for each in sources.passages if each.are_erased]
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
