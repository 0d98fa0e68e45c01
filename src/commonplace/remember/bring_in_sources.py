"""import: sources with their originals and passages, into a memory that may have some of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from commonplace.desk import Desk, index_passages
from commonplace.model.changes import AddSource
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.portable_sources import WholeSource
from commonplace.model.scope import Scope
from commonplace.model.source import CATEGORY, Passage, Source


@dataclass(slots=True)
class Arrivals:
    """Sources on their way in. Each is made ready once, however often its coming is decided."""

    desk: Desk
    sources: Sequence[WholeSource]
    is_suspicious: Callable[[str], bool]  # what a file says of its own harmlessness is no proof
    _ready: dict[str, AddSource] = field(default_factory=dict)

    def known(self, scope: Scope) -> dict[str, Source]:
        """What stands here for those that need not come, by the id they come under: the source
        of the same id, or of the same name in the place where it is from."""
        ids = [whole.source.id for whole in self.sources]
        known = {source.id: source for source in self.desk.store.sources(scope, ids)}
        for whole in self.sources:
            name = whole.source.origin, whole.source.external_id
            if whole.source.id not in known and (
                same := self.desk.store.source_called(scope, *name)
            ):
                known[whole.source.id] = same
        return known

    def as_they_were(self) -> list[AddSource]:
        """All of them, into an empty memory."""
        return self._made_ready(self.sources)

    def beside(self, known: Mapping[str, Source]) -> list[AddSource]:
        """Those that are not here; their life in this memory begins now."""
        new = [whole for whole in self.sources if whole.source.id not in known]
        return [_beginning(step) for step in self._made_ready(new)]

    def _made_ready(self, wanted: Iterable[WholeSource]) -> list[AddSource]:
        chosen = list(wanted)
        missing = [whole for whole in chosen if whole.source.id not in self._ready]
        marked = [(whole.source, self._marked(p)) for whole in missing for p in whole.passages]
        indexed = zip(marked, index_passages(self.desk, marked), strict=True)
        placed = ((passage, index) for (_, passage), index in indexed)
        for whole in missing:
            first, *further = whole.original
            passages = tuple(islice(placed, len(whole.passages)))
            self._ready[whole.source.id] = AddSource(
                whole.source, first, _told(whole.source), tuple(further), passages
            )
        return [self._ready[whole.source.id] for whole in chosen]

    def _marked(self, passage: Passage) -> Passage:
        if passage.suspicious or not self.is_suspicious(passage.text):
            return passage
        return replace(passage, suspicious=True)


def _beginning(step: AddSource) -> AddSource:
    source = step.source.evolve(version=1)
    return replace(step, source=source, entry=_told(source))


def _told(source: Source) -> Entry:
    return Entry(
        op=Op.IMPORT, event=Event.ADD, subject=source.id, category=CATEGORY, new_ref=source.ref
    )
