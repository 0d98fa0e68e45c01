"""Forget, restore and erase single passages: the steps for their source.

A forgotten passage leaves every search and list and can be restored. An erased one also loses its
words, here and in the kept original. Both keep their number, so that no other passage gets another
id. The description of the source is made from what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.engine.access import can_see_source
from commonplace.engine.context import EngineContext
from commonplace.engine.sources.blot import blot, blot_original
from commonplace.engine.sources.process import (
    visible_turns,
    with_description,
    without_written_title,
)
from commonplace.errors import NotFound
from commonplace.language.text.normalise import fold
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.changeset import ChangeSource
from commonplace.model.journal import Entry, Event, JournalNode, Op
from commonplace.model.memory.memory import Sensitivity, State
from commonplace.model.sources.source import (
    SOURCE_CATEGORY,
    ParsedSource,
    Passage,
    ProcessingStatus,
    Source,
    is_source_id,
    split_passage_id,
)
from commonplace.store.queries import PassagesOf


def is_passage_id(id: str) -> bool:
    return is_source_id(id) and split_passage_id(id)[1] is not None


@dataclass(frozen=True, slots=True)
class SourcePassages:
    """A source with all its passages, and those of them that change."""

    source: Source
    passages: tuple[Passage, ...]
    named: tuple[Passage, ...]
    along: frozenset[int] = frozenset()  # numbers of those that a memory takes along

    @property
    def visible(self) -> tuple[Passage, ...]:
        return tuple(passage for passage in self.passages if not passage.is_hidden)

    def choose(self, applies: Callable[[Passage], bool]) -> SourcePassages:
        """Only the named passages to which this applies."""
        return replace(self, named=tuple(filter(applies, self.named)))


def load_passages(
    engine: EngineContext, scope: Scope, ids: Iterable[str], along: Collection[str] = ()
) -> list[SourcePassages]:
    """The passages that exist; ids of whole sources and of other things are ignored. ``along``:
    those that a memory takes along."""
    ids = list(ids)
    numbers: dict[str, set[int]] = {}
    for id in (*ids, *along):
        source_id, number = split_passage_id(id)
        if is_source_id(id) and number is not None:
            numbers.setdefault(source_id, set()).add(number)
    found = []
    for source in engine.live_sources(scope, list(numbers)):
        query = PassagesOf(source.id, hidden=True)
        passages = tuple(engine.store.passages(scope, query).values())
        named = tuple(each for each in passages if each.number in numbers[source.id])
        taken = frozenset(each.number for each in named if each.id in along and each.id not in ids)
        found.append(SourcePassages(source, passages, named, taken))
    return found


def find_passages(
    engine: EngineContext,
    principal: Principal,
    ids: Sequence[str],
    along: Collection[str],
    acceptable: Callable[[Passage], bool],
) -> list[SourcePassages]:
    """All of the ids, or NotFound for the first that is missing or not visible to the caller; and
    what exists of those that a memory takes along, whether or not the caller sees it."""
    found = [
        each.choose(acceptable)
        for each in load_passages(engine, principal.scope, ids, along)
        if each.source.state is State.ACTIVE
    ]
    known = {
        passage.id
        for each in found
        if can_see_source(principal, each.source)
        for passage in each.named
    }
    for id in ids:
        if id not in known:
            raise NotFound(f"There is no {id!r} here.", field="ids")
    return found


def hide_passages(found: SourcePassages, until: datetime, now: datetime) -> list[ChangeSource]:
    return _change_all(
        found,
        {passage.number: replace(passage, purge_at=until) for passage in found.named},
        lambda before, after, passage: _entry(
            before, after, passage, Op.DELETE, Event.DELETE, quiet=passage.number in found.along
        ),
        now,
    )


def show_passages(found: SourcePassages, now: datetime) -> list[ChangeSource]:
    return _change_all(
        found,
        {passage.number: replace(passage, purge_at=None) for passage in found.named},
        lambda before, after, passage: _entry(before, after, passage, Op.RESTORE, Event.RESTORE),
        now,
    )


def erase_passages(
    engine: EngineContext,
    found: SourcePassages,
    now: datetime,
    *,
    event: Event = Event.ERASE,
    node: JournalNode = JournalNode.HOTPATH,
) -> list[ChangeSource]:
    if not found.named:
        return []
    source = found.source
    numbers = {passage.number for passage in found.named}
    parts = engine.store.original(source.scope, source.id)
    blotted = blot_original(source, parts, found.passages, numbers)
    erased = {
        passage.number: replace(passage, text=blot(passage.text), purge_at=now)
        for passage in found.named
    }
    steps = _change_all(
        found,
        erased,
        lambda before, after, passage: replace(
            _entry(before, after, passage, Op.DELETE, event, quiet=True), node=node
        ),
        now,
    )
    *earlier, last = steps
    after = last.after.evolve(
        digest=blotted.source.digest,
        provenance=blotted.source.provenance,
        title=_title_without(found, numbers),
    )
    after = without_written_title(after)
    return [*earlier, replace(last, after=after, parts=tuple(sorted(blotted.parts.items())))]


_EntryFor = Callable[[Source, Source, Passage], Entry]


def _change_all(
    found: SourcePassages,
    changed: Mapping[int, Passage],
    entry: _EntryFor,
    now: datetime,
) -> list[ChangeSource]:
    """One step for each passage, so that each has a history of its own. The last one describes the
    source again."""
    steps: list[ChangeSource] = []
    source = found.source
    for passage in changed.values():
        after = source.evolve(updated_at=now, version=source.version + 1)
        steps.append(
            ChangeSource(
                source,
                after,
                entry(source, after, passage),
                revised=(passage,),
                with_memory=passage.number in found.along,
            )
        )
        source = after
    if steps:
        left = [changed.get(passage.number, passage) for passage in found.passages]
        steps[-1] = replace(steps[-1], after=_described(steps[-1].after, left))
    return steps


def _described(source: Source, passages: Sequence[Passage]) -> Source:
    if source.status is ProcessingStatus.RAW:
        return source  # processing describes it
    reading = ParsedSource(
        source_type=source.source_type,
        content_type=source.content_type,
        context_type=source.context_type,
        title=source.title or None,
        turns=visible_turns(passages),
    )
    return with_description(source, reading)


def _title_without(found: SourcePassages, erased: Collection[int]) -> str:
    """Empty if the title has the words of an erased passage, and of no other."""
    title = fold(found.source.title)
    gone = any(title in fold(each.text) for each in found.passages if each.number in erased)
    left = any(title in fold(each.text) for each in found.visible if each.number not in erased)
    return "" if gone and not left else found.source.title


def _entry(
    before: Source, after: Source, passage: Passage, op: Op, event: Event, quiet: bool = False
) -> Entry:
    """``quiet``: not among the changes that agents are told of."""
    hidden = before.sensitivity is Sensitivity.HIGH
    return Entry(
        op=op,
        event=event,
        subject=passage.id,
        category=SOURCE_CATEGORY,
        old_ref=before.ref,
        new_ref=None if quiet else after.ref,
        meta={"sensitivity": before.sensitivity} if hidden else {},
    )
