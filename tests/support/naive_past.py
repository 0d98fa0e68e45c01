"""Time travel the slow way: every moment was written down when it was the present, by looking at
each memory with `show`; the past is what stands in these notes. Nothing of the product's own
reasoning about versions is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from commonplace.api import User
from commonplace.errors import NotFound
from commonplace.model.memory.memory import Memory, State

Seen = set[tuple[str, str]]  # ids and what they say
Reader = Callable[[Memory], bool]  # what may be seen


@dataclass
class Note:
    at: datetime
    said: dict[str, Memory]  # of all that could be looked at


@dataclass
class NaivePast:
    me: User
    ids: list[str] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    def write_down(self, now: datetime) -> None:
        """Called after every deed, so that each version is seen while it stands."""
        said = {}
        for id in dict.fromkeys(self.ids):
            try:
                said[id] = self.me.show(id).memory
            except NotFound:
                continue
        self.notes.append(Note(now, said))

    def seen(self, as_of: datetime | None, known_at: datetime | None, now: datetime) -> Seen:
        found: Seen = set()
        for id in dict.fromkeys(self.ids):
            told = self._told(id, known_at)
            if not told or self._is_gone(id, now):
                continue
            last = told[-1]
            if last is None or _over(last, known_at or now):
                continue
            if as_of is not None:
                said = _painted([memory for memory in told if memory], as_of)
            else:
                said = last if last.state is State.ACTIVE else None
            if said and self._is_for(_who_is_not_cleared, id, said):
                found.add((id, said.content))
        return found

    def versions(self, id: str, reader: Reader = lambda _: True) -> set[str]:
        """All that it said and that is still told to a reader."""
        told = [memory for memory in self._told(id, None) if memory]
        return {memory.content for memory in told if self._is_for(reader, id, memory)}

    def _is_for(self, reader: Reader, id: str, said: Memory) -> bool:
        """Neither it, nor the last page with the same words, nor the newest page of all."""
        pages = [page for note in self.notes if (page := note.said.get(id))]
        same_words = [page for page in pages if page.content == said.content]
        return all(map(reader, (said, same_words[-1], pages[-1])))

    def edges(self) -> list[datetime]:
        """The moments at which something begins or ends."""
        found = {note.at for note in self.notes}
        for note in self.notes:
            for said in note.said.values():
                found |= {said.created_at, said.valid_from, said.valid_to, said.ends_at} - {None}
        return sorted(found)

    def _is_gone(self, id: str, now: datetime) -> bool:
        present = self.notes[-1].said.get(id)
        return present is None or _over(present, now)

    def _told(self, id: str, known_at: datetime | None) -> list[Memory | None]:
        """Page by page what stood there of it: None where it was forgotten."""
        pages = [(note.at, note.said.get(id)) for note in self.notes]
        while pages and pages[0][1] is None:  # it was not there yet
            pages.pop(0)
        for place in range(len(pages) - 1, 0, -1):
            if pages[place][1] and _anew(pages[: place + 1]):
                pages = pages[place:]
                break
        return [memory for at, memory in pages if known_at is None or at <= known_at]


def _anew(pages: list[tuple[datetime, Memory | None]]) -> bool:
    """It had ended before, or it was forgotten and now has other words."""
    last = max(place for place, (_, memory) in enumerate(pages[:-1]) if memory)
    before, after, vanished = pages[last][1], pages[-1][1], pages[last + 1][0]
    assert before is not None
    assert after is not None
    ended = before.state is State.ACTIVE and _over(before, vanished)
    was_away = pages[-2][1] is None
    return ended or (was_away and before.content != after.content)


def _over(memory: Memory, at: datetime) -> bool:
    return memory.ends_at is not None and memory.ends_at <= at


def _who_is_not_cleared(memory: Memory) -> bool:
    return memory.sensitivity != "high"


def _painted(told: list[Memory], as_of: datetime) -> Memory | None:
    """Each says what holds from its beginning on, over what was said before."""
    line: list[tuple[datetime, datetime | None, Memory]] = []
    for memory in told:
        since = memory.valid_from or memory.created_at
        line = [
            (start, since if end is None or end > since else end, said)
            for start, end, said in line
            if start < since
        ]
        line.append((since, memory.valid_to, memory))
    for start, end, said in line:
        if start <= as_of and (end is None or as_of < end):
            return said
    return None
