"""Several decisions of one changeset that change the same storyline or macro become one.

An erasure may take a source and a passage of another one, each decided by itself. The joined
storyline has lost what any of them took. Its text, which each wrote from what the others take, is
left to the night.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from commonplace.model.graph.steps import PutNode, PutStory, RemoveNode, RemoveStories
from commonplace.model.graph.storylines import (
    Macro,
    Story,
    Storyline,
    common_team,
    highest_sensitivity,
)
from commonplace.model.journal import Event, Op


def join_story_steps(steps: Sequence[Any]) -> tuple[Any, ...]:
    """Steps of a changeset, with at most one for each storyline and macro."""
    put: dict[str, list[PutStory]] = {}
    for step in steps:
        if isinstance(step, PutStory):
            put.setdefault(step.after.id, []).append(step)
    removals = [id for step in steps if isinstance(step, RemoveStories) for id in step.ids]
    repeated = len(set(removals)) < len(removals) or put.keys() & set(removals)
    if not repeated and all(len(each) == 1 for each in put.values()):
        return _without_repeated_flags(steps)
    return _without_repeated_flags([*_once(steps, put, set(removals))])


def _once(steps: Iterable[Any], put: dict[str, list[PutStory]], removed: set[str]) -> Iterable[Any]:
    done: set[str] = set()
    for step in steps:
        if isinstance(step, RemoveStories):
            ids = tuple(id for id in step.ids if id not in done)
            done.update(ids)
            if ids:
                yield replace(step, ids=ids)
        elif not isinstance(step, PutStory):
            yield step
        elif step.after.id not in removed | done:
            done.add(step.after.id)
            same = put[step.after.id]
            yield step if len(same) == 1 else _join(same)


def _join(steps: Sequence[PutStory]) -> PutStory | RemoveStories:
    step, after = steps[0], _joined(steps)
    if after is None:
        entry = replace(step.entry, op=Op.DELETE, event=Event.DELETE, new_ref=None)
        return RemoveStories((step.after.id,), entry)
    return replace(step, after=after, vector=None)


def _joined(steps: Sequence[PutStory]) -> Story | None:
    """None: nothing is left of it."""
    before, afters = steps[0].before, [step.after for step in steps]
    if isinstance(before, Storyline):
        return _join_storylines(before, [each for each in afters if isinstance(each, Storyline)])
    macros = [each for each in afters if isinstance(each, Macro)]
    kept = set.intersection(*(set(each.storylines) for each in macros))
    last = macros[-1]
    lines = tuple(id for id in last.storylines if id in kept)
    sources = min(each.total_source_count for each in macros)
    text = {"description": "", "is_dirty": True}
    return last.evolve(storylines=lines, total_source_count=sources, **text) if lines else None


def _join_storylines(before: Storyline, afters: Sequence[Storyline]) -> Storyline | None:
    known = {source.id for source in before.sources}
    lost = {id for each in afters for id in known - {source.id for source in each.sources}}
    by_id = {source.id: source for each in afters for source in each.sources}
    sources = tuple(sorted(source for source in by_id.values() if source.id not in lost))
    if not sources:
        return None
    return afters[-1].evolve(
        sources=sources,
        sensitivity=highest_sensitivity(sources),
        team_id=common_team(sources),
        description="",
        is_dirty=True,
    )


def _without_repeated_flags(steps: Sequence[Any]) -> tuple[Any, ...]:
    """A step that only sets whether a node has storylines gives way to any other of that node, and
    sets it there."""
    flags = [step for step in steps if isinstance(step, PutNode) and _is_of_flags(step)]
    if not flags:
        return tuple(steps)
    others = {
        step.id if isinstance(step, RemoveNode) else step.after.id
        for step in steps
        if isinstance(step, RemoveNode) or (isinstance(step, PutNode) and not _is_of_flags(step))
    }
    values: dict[str, tuple[bool, bool]] = {}
    for step in flags:
        meso, macro = values.get(step.after.id, (True, True))
        values[step.after.id] = (meso and step.after.has_meso, macro and step.after.has_macro)
    result: list[Any] = []
    seen: set[str] = set()
    for step in steps:
        if not isinstance(step, PutNode) or step.after.id not in values:
            result.append(step)
            continue
        if _is_of_flags(step) and step.after.id in others | seen:
            continue
        seen.add(step.after.id)
        meso, macro = values[step.after.id]
        result.append(replace(step, after=step.after.evolve(has_meso=meso, has_macro=macro)))
    return tuple(result)


def _is_of_flags(step: PutNode) -> bool:
    return step.text is None and not step.assertions and not step.removed_assertions
