"""The sources that an index knows, and the names by which questions and texts call them.

A forgotten source is called by nobody, so that a cache answers like one that was built without it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from commonplace.model.source import SourceType
from commonplace.model.titles import title_key, title_of_file
from commonplace.store.port import IndexedSource

_DOCUMENTS = (SourceType.TEXT_IMPORT, SourceType.FILE)  # texts mention them by title

Names = dict[str, set[str]]  # name → ids of sources


@dataclass(slots=True)
class KnownSource:
    """A source as its passages share it."""

    told: IndexedSource
    slots: list[int] = field(default_factory=list)
    speakers: set[str] = field(default_factory=set)
    sessions: dict[str | None, int] = field(default_factory=dict)  # name → number

    def copy(self) -> KnownSource:
        return KnownSource(self.told, [*self.slots], set(self.speakers), dict(self.sessions))

    @property
    def people(self) -> set[str]:
        """Who brought it in is named by what they say in it."""
        return self.speakers | (set(json.loads(self.told.participants)) - {self.told.user_id})

    @property
    def titles(self) -> list[str]:
        key = title_key(self.told.title)
        is_document = key and self.told.source_type in _DOCUMENTS
        return [key] if is_document and not self._is_called_like_any_file(key) else []

    def _is_called_like_any_file(self, key: str) -> bool:
        """A file's name of one word ("notes", "plan") is a word of every text."""
        from_its_name = key == title_key(title_of_file(self.told.external_id))
        return self.told.source_type == SourceType.FILE and from_its_name and " " not in key


class KnownSources:
    def __init__(self) -> None:
        self.by_id: dict[str, KnownSource] = {}
        self.titles: Names = {}  # of documents, by title_key
        self.people: Names = {}  # who takes part in which

    def copy(self) -> KnownSources:
        other = KnownSources()
        other.by_id = {id: known.copy() for id, known in self.by_id.items()}
        other.titles = {name: set(ids) for name, ids in self.titles.items()}
        other.people = {name: set(ids) for name, ids in self.people.items()}
        return other

    def take(self, told: IndexedSource) -> KnownSource:
        known = self.by_id.setdefault(told.id, KnownSource(told))
        _strike(self.titles, known.titles, told.id)
        _strike(self.people, known.people, told.id)
        known.told = told
        self._call(known)
        return known

    def empty(self, source: KnownSource) -> list[int]:
        """All its passages are replaced: the slots of the old ones. Its sessions are other ones
        from now on, so that no window reaches from a new passage to an old one."""
        _strike(self.people, source.people, source.told.id)
        gone, source.slots, source.speakers, source.sessions = source.slots, [], set(), {}
        self._call(source)
        return gone

    def drop(self, id: str) -> list[int]:
        """As if it had never been told of; the slots of its passages."""
        gone = self.by_id.pop(id)
        _strike(self.titles, gone.titles, id)
        _strike(self.people, gone.people, id)
        return gone.slots

    def hear(self, source: KnownSource, speaker: str | None) -> None:
        if speaker and speaker not in source.speakers:
            source.speakers.add(speaker)
            self._call(source)

    def _call(self, source: KnownSource) -> None:
        if source.told.state == "active":
            _enter(self.titles, source.titles, source.told.id)
            _enter(self.people, source.people, source.told.id)


def _enter(names: Names, called: Iterable[str], id: str) -> None:
    for name in called:
        names.setdefault(name, set()).add(id)


def _strike(names: Names, called: Iterable[str], id: str) -> None:
    for name in called:
        if name in names:
            names[name].discard(id)
            if not names[name]:
                del names[name]
