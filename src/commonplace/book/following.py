"""What a change of sources means for what was learned from them, in every reader's memory.

Whoever forgets, restores, erases or purges a source, by whatever verb: what only that source told
goes, hides or comes back with it, in the same transaction; in a team, with every member, also with
those who have left it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from commonplace.desk import Desk
from commonplace.graph.canvas import Canvas
from commonplace.graph.known import known
from commonplace.graph.owner import NAME_FIELD, renamed_owner
from commonplace.graph.weave import weave
from commonplace.graph.withdraw import guarded_as, set_standing, without_sources
from commonplace.model.changes import (
    Add,
    Change,
    Changeset,
    ChangeSource,
    Remove,
    RemoveSource,
    Step,
)
from commonplace.model.journal import Event
from commonplace.model.memory import State
from commonplace.model.scope import Principal, Scope
from commonplace.model.source import Source
from commonplace.remember.erase import without_what_they_told
from commonplace.remember.without_sources import (
    forget_what_it_told,
    purge_what_they_told,
    revive_what_it_told,
)


@dataclass(slots=True)
class _Sources:
    """Those that a changeset changes, by what becomes of them."""

    gone: list[str] = field(default_factory=list)
    ended: Event = Event.DELETE
    hidden: list[Source] = field(default_factory=list)
    back: list[Source] = field(default_factory=list)  # as they were, forgotten
    guarded: list[Source] = field(default_factory=list)

    @property
    def any(self) -> bool:
        return bool(self.gone or self.hidden or self.back or self.guarded)


def followed(desk: Desk, changeset: Changeset) -> list[Changeset]:
    """The changeset with all that follows from it; first of all its own scope's."""
    changeset = _with_own_name(desk, changeset)
    sources = _changed(changeset.steps)
    if not sources.any:
        return [changeset]
    whole, elsewhere = changeset, []
    for reader, may_learn in _readers(desk, changeset.scope).items():
        revision = desk.store.counters(reader).revision
        is_own = reader == changeset.scope
        steps = _steps(desk, reader, sources, changeset, is_own)
        if is_own and steps:
            decided_on = revision if changeset.decided_on is None else changeset.decided_on
            whole = replace(whole, steps=(*changeset.steps, *steps), decided_on=decided_on)
        elif steps or may_learn:  # also without: it is stale when they learn of it meanwhile
            there = Changeset(reader, changeset.at, changeset.actor, steps, revision)
            elsewhere.append(replace(there, silences=bool(sources.gone)))
    return [whole, *elsewhere]


def _with_own_name(desk: Desk, changeset: Changeset) -> Changeset:
    """The owner's node is called what the profile says."""
    said = [step for step in changeset.steps if _is_the_name(step)]
    if not said or not changeset.scope.is_user:
        return changeset
    canvas = Canvas(desk, changeset.scope, changeset.actor, changeset.at)
    names = known(desk.pictures.of(changeset.scope).picture.nodes.values())
    renamed_owner(canvas, names, _name_in(said[-1]) or changeset.scope.name)
    return replace(changeset, steps=(*changeset.steps, *weave(canvas)))


def _name_in(step: Step) -> str:
    """None is left where it was taken back."""
    memory = step.memory if isinstance(step, Add) else None
    memory = step.after if isinstance(step, Change) else memory
    if memory is None or memory.state is not State.ACTIVE:
        return ""
    return str(memory.metadata.get("value") or "")


def _is_the_name(step: Step) -> bool:
    match step:
        case Add():
            return step.memory.id == NAME_FIELD
        case Change():
            return step.after.id == NAME_FIELD
        case Remove():
            return step.id == NAME_FIELD
        case _:
            return False


def _changed(steps: Sequence[Step]) -> _Sources:
    found = _Sources()
    for step in steps:
        if isinstance(step, RemoveSource):
            found.gone.append(step.id)
            found.ended = step.entry.event or found.ended
        elif isinstance(step, ChangeSource):
            before, after = step.before, step.after
            if before.state is not after.state:
                hides = after.state is not State.ACTIVE
                (found.hidden if hides else found.back).append(after if hides else before)
            if before.sensitivity is not after.sensitivity:
                found.guarded.append(after)
    return found


def _readers(desk: Desk, scope: Scope) -> dict[Scope, bool]:
    """Who may have learned of its sources, and whether they may at this moment."""
    if not scope.is_team:
        return {scope: False}
    return {one.user_scope: one.is_member for one in desk.store.memberships(scope)}


def _steps(
    desk: Desk, reader: Scope, sources: _Sources, changeset: Changeset, is_own: bool
) -> tuple[Step, ...]:
    by, at = changeset.actor, changeset.at
    owner = Principal(reader.name)
    steps: list[Step] = []
    if sources.gone:
        steps += without_sources(desk, reader, sources.gone, by, at, sources.ended)
        if not is_own:  # at home whoever takes the source away sees to the memories, too
            steps += without_what_they_told(desk, owner, sources.gone)
        elif sources.ended is Event.DELETE:
            steps += purge_what_they_told(desk, owner, sources.gone)
    if sources.hidden:
        ids = [source.id for source in sources.hidden]
        steps += set_standing(desk, reader, ids, False, by, at)
        steps += forget_what_it_told(desk, owner, sources.hidden, at)
    if sources.back:
        ids = [source.id for source in sources.back]
        steps += set_standing(desk, reader, ids, True, by, at)
        steps += revive_what_it_told(desk, owner, sources.back, at)
    for source in sources.guarded:
        steps += guarded_as(desk, reader, source, by, at)
    decided = {id for step in changeset.steps if (id := _memory_of(step))} if is_own else set()
    return tuple(step for step in steps if _memory_of(step) not in decided)


def _memory_of(step: Step) -> str | None:
    """What is decided about a memory by name stands: it does not follow as well."""
    match step:
        case Change():
            return step.after.id
        case Remove():
            return step.id
        case _:
            return None
