"""Cascade: what a change of sources means for every reader's memories and graph.

When a source is forgotten, restored, erased or purged, by any verb, everything that only this
source supports is removed, hidden or restored with it, in the same transaction. For a team's source
this includes every member, also former ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from commonplace.engine.context import EngineContext
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
from commonplace.model.journal import Event
from commonplace.model.memory.memory import State
from commonplace.model.sources.source import Source


@dataclass(slots=True)
class _ChangedSources:
    """The sources that a changeset changes, by the kind of change."""

    gone: list[str] = field(default_factory=list)
    ended: Event = Event.DELETE
    hidden: list[Source] = field(default_factory=list)
    restored: list[Source] = field(default_factory=list)  # their state before, forgotten
    sensitivity_changed: list[Source] = field(default_factory=list)

    @property
    def any(self) -> bool:
        return bool(self.gone or self.hidden or self.restored or self.sensitivity_changed)


def cascade(engine: EngineContext, changeset: Changeset) -> list[Changeset]:
    """The changeset with all that it causes; that of its own scope is first."""
    changeset = _with_owner_node_name(engine, changeset)
    sources = _changed_sources(changeset.steps)
    if not sources.any:
        return [changeset]
    own, others = changeset, []
    for reader, is_member in _readers(engine, changeset.scope).items():
        revision = engine.store.counters(reader).revision
        is_own = reader == changeset.scope
        steps = _cascade_steps(engine, reader, sources, changeset, is_own)
        if is_own and steps:
            decided_on = revision if changeset.decided_on is None else changeset.decided_on
            own = replace(own, steps=(*changeset.steps, *steps), decided_on=decided_on)
        elif steps or is_member:  # without steps: only stale if a member extracts meanwhile
            other = Changeset(reader, changeset.at, changeset.actor, steps, revision)
            others.append(replace(other, invalidates_answers=bool(sources.gone)))
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
    if sources.gone:
        steps += retract_sources(engine, reader, sources.gone, by, at, sources.ended)
        if not is_own:  # in its own scope, the removing verb handles the memories
            steps += erase_source_memories(engine, owner, sources.gone)
        elif sources.ended is Event.DELETE:
            steps += purge_contributions(engine, owner, sources.gone)
    if sources.hidden:
        ids = [source.id for source in sources.hidden]
        steps += set_sources_standing(engine, reader, ids, False, by, at)
        steps += forget_source_memories(engine, owner, sources.hidden, at)
    if sources.restored:
        ids = [source.id for source in sources.restored]
        steps += set_sources_standing(engine, reader, ids, True, by, at)
        steps += restore_source_memories(engine, owner, sources.restored, at)
    for source in sources.sensitivity_changed:
        steps += apply_source_sensitivity(engine, reader, source, by, at)
    decided = {id for step in changeset.steps if (id := _memory_id(step))} if is_own else set()
    return tuple(step for step in steps if _memory_id(step) not in decided)


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
