"""What a changeset means for one reader's graph, computed at once.

All that goes, is hidden or restored is collected in one unit of work: a source and a node that it
mentions may be erased together, and each item of the graph gets one step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from commonplace.engine.context import EngineContext
from commonplace.engine.graph.extraction.removed_passages import (
    RemovedPassages,
    extract_again,
    forget_digests,
    leave_passages,
    show_passages,
)
from commonplace.engine.graph.extraction.told import ToldChanges, follow_removals, tell
from commonplace.engine.graph.graph_diff import diff_graph
from commonplace.engine.graph.kept_ends import ChangedStatements
from commonplace.engine.graph.remove import (
    change_named_items,
    forget_extractions,
    load_assertions_of,
    set_cited_sensitivity,
)
from commonplace.engine.graph.unit_of_work import OWNER_NAME_FIELD, GraphUnitOfWork, rename_owner
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import (
    AddMemory,
    ChangeMemory,
    Changeset,
    ChangesetStep,
    RemoveMemory,
)
from commonplace.model.graph.steps import RemoveArtifact
from commonplace.model.journal import Event
from commonplace.model.memory.memory import State
from commonplace.model.sources.source import Passage, Source


@dataclass(frozen=True, slots=True)
class ChangedPassages:
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

    @property
    def are_erased(self) -> bool:
        return any(passage.is_erased for passage in self.after)


@dataclass(slots=True)
class ChangedSources:
    """The sources that a changeset changes, by the kind of change."""

    gone: list[str] = field(default_factory=list)
    ended: Event = Event.DELETE
    hidden: list[Source] = field(default_factory=list)
    restored: list[Source] = field(default_factory=list)  # their state before, forgotten
    sensitivity_changed: list[Source] = field(default_factory=list)
    passages: list[ChangedPassages] = field(default_factory=list)

    @property
    def any(self) -> bool:
        whole = self.gone or self.hidden or self.restored or self.sensitivity_changed
        return bool(whole or self.passages)

    @property
    def losing_words(self) -> tuple[str, ...]:
        """Those that are gone or lose words."""
        erased = [each.graph.source.id for each in self.passages if each.are_erased]
        return tuple(dict.fromkeys([*self.gone, *erased]))


def change_graph(
    engine: EngineContext,
    changeset: Changeset,
    reader: Scope,
    sources: ChangedSources,
    told: ToldChanges,
) -> tuple[ChangesetStep, ...]:
    """``told``: what the changeset does to memories of its own scope."""
    work = GraphUnitOfWork(engine, reader, changeset.actor, changeset.at)
    is_own = reader == changeset.scope
    changed, more = _collect(work, sources)
    follow_removals(work, told, changed)
    for source in sources.sensitivity_changed:
        load_assertions_of(work, [source.id])
        set_cited_sensitivity(work, source.id, source.sensitivity)
    if ids := [*sources.gone, *(told.gone if sources.any else ())]:
        more += forget_extractions(engine, reader, ids, _removed_artifacts(changeset.steps))
    if is_own:
        tell(work, changeset, told)
        _rename_owner(work, changeset.steps)
    named = changeset.named if is_own else None
    if named:
        change_named_items(work, named)
    is_whole = sources.any or named is not None
    steps = diff_graph(
        work,
        ended=_ended(changeset, sources, told),
        moved=named.event if named else None,
        is_derived=not is_whole and (told.tells or not sets_owner_name(changeset.steps)),
    )
    return (*steps, *more)


def _collect(
    work: GraphUnitOfWork, sources: ChangedSources
) -> tuple[ChangedStatements, list[ChangesetStep]]:
    """What goes, is hidden or restored with sources and passages; and steps of their extraction."""
    changed, more = ChangedStatements(), list[ChangesetStep]()
    changed.gone += load_assertions_of(work, sources.gone)
    changed.hidden += load_assertions_of(work, [source.id for source in sources.hidden])
    changed.restored += load_assertions_of(work, [source.id for source in sources.restored])
    for each in sources.passages:
        if each.are_erased:
            gone = leave_passages(work, each.graph)
            changed.gone += gone
            more += forget_digests(work.engine, work.scope, each.graph, gone)
        elif each.until:
            changed.hidden += leave_passages(work, each.graph)
        else:
            changed.restored += show_passages(work, each.graph)
        more += extract_again(work.engine, work.scope, each.graph.source, work.at)
    return changed, more


def _removed_artifacts(steps: Iterable[ChangesetStep]) -> set[str]:
    return {step.id for step in steps if isinstance(step, RemoveArtifact)}


def _ended(changeset: Changeset, sources: ChangedSources, told: ToldChanges) -> Event:
    """The event of what goes: an erasure, if anything of it is one."""
    events = [sources.ended, *(each.event for each in sources.passages if each.are_erased)]
    events += [changeset.named.event] if changeset.named else []
    return Event.ERASE if Event.ERASE in (*events, told.ended) else sources.ended


# ——— the owner's node takes its name from the profile ———


def sets_owner_name(steps: Iterable[ChangesetStep]) -> bool:
    return any(_sets_owner_name(step) for step in steps)


def _rename_owner(work: GraphUnitOfWork, steps: Sequence[ChangesetStep]) -> None:
    if name_steps := [step for step in steps if _sets_owner_name(step)]:
        rename_owner(work, work.known, _owner_name_in(name_steps[-1]) or work.scope.name)


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
