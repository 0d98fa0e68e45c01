"""Windows: the passages that a model reads in one call. Pure.

A window is determined by the conversation alone, so that the same conversation makes the same
prompts. Only its last window also ends by the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby, takewhile

from commonplace.engine.follow_up_jobs import READ_DELAY
from commonplace.model.sources.source import Passage

MAX_TURNS = 16  # of a window
MAX_CHARACTERS = 6_000  # of a window's new passages
CONTEXT_TURNS = 6  # before a window
CONTEXT_CHARACTERS = 2_000
MAX_PASSAGES = 1_000  # more than any window has
PAUSE = timedelta(minutes=30)  # after which the next turn begins a new window


@dataclass(frozen=True, slots=True)
class ReadingWindow:
    """Passages to read, after those that were read before."""

    context: tuple[Passage, ...]
    new: tuple[Passage, ...]
    is_closed: bool  # what follows does not belong to it

    @property
    def last(self) -> int:
        """The number of its last passage."""
        return self.new[-1].number

    @property
    def closes_at(self) -> datetime:
        """When it is read all the same, if nothing is said after it."""
        return max(each.arrived_at or each.at for each in self.new) + READ_DELAY

    def is_ready(self, now: datetime) -> bool:
        return self.is_closed or self.closes_at <= now


@dataclass(frozen=True, slots=True)
class WindowLimit:
    """How much of a window is asked about: less where a model could not read the whole of it."""

    passages: int = MAX_PASSAGES
    has_context: bool = True  # what was said, and what is known, before
    is_split: bool = False  # because the answer could not be used

    def applied_to(self, window: ReadingWindow) -> ReadingWindow:
        context = window.context if self.has_context else ()
        new = window.new[: self.passages]
        return ReadingWindow(context, new, window.is_closed or len(new) < len(window.new))

    def with_less_text(self, new: int, has_before: bool) -> WindowLimit | None:
        """The prompt was too long for the model. ``new``: how many passages are new in it;
        ``has_before``: it has others, too. None: it was the shortest."""
        if has_before:
            return replace(self, has_context=False)
        return None if new == 1 else replace(self, passages=_half(new))

    def split(self, new: int) -> WindowLimit | None:
        """The answer could not be used: to half of the passages it is shorter. Once, since an
        answer is paid for."""
        if self.is_split or new == 1:
            return None
        return replace(self, passages=_half(new), is_split=True)


def window_limit(tries: int) -> WindowLimit:
    """With each try a job asks about less: the model may be too slow for more within its time."""
    if tries <= 1:
        return WindowLimit()
    return WindowLimit(passages=max(1, MAX_TURNS >> min(tries - 1, MAX_TURNS)))


def _half(passages: int) -> int:
    return (passages + 1) // 2


def next_turns(passages: Sequence[Passage], read: int) -> ReadingWindow | None:
    """The next window of a conversation. ``passages``: the visible ones, in order. ``read``: the
    number of the last one that was read; None: there is no further one."""
    earlier = [each for each in passages if each.number <= read]
    rest = [each for each in passages if each.number > read]
    new = list(_first_window(rest))
    if not new:
        return None
    is_closed = len(new) < len(rest) or len(_turns(new)) >= MAX_TURNS
    return ReadingWindow(tuple(_context(earlier)), tuple(new), is_closed)


def next_passages(passages: Sequence[Passage], read: int) -> ReadingWindow | None:
    """The next batch of a source that is not a conversation, with the passage before it."""
    earlier = [each for each in passages if each.number <= read]
    rest = [each for each in passages if each.number > read]
    if not rest:
        return None
    return ReadingWindow(tuple(earlier[-1:]), tuple(_within(rest, MAX_CHARACTERS)), True)


NextWindow = Callable[[Sequence[Passage], int], ReadingWindow | None]


def all_windows(
    passages: Sequence[Passage], read: int, next_window: NextWindow
) -> Iterator[ReadingWindow]:
    while window := next_window(passages, read):
        yield window
        read = window.last


def _first_window(passages: Sequence[Passage]) -> Iterator[Passage]:
    """Until a pause, the last turn that fits, or the end. A single turn that is too long is cut."""
    length, before = 0, None
    for number, turn in enumerate(_turns(passages)):
        length += sum(len(each.text) for each in turn)
        has_paused = before is not None and turn[0].at - before >= PAUSE
        if number and (number >= MAX_TURNS or has_paused or length > MAX_CHARACTERS):
            return
        if length > MAX_CHARACTERS:
            yield from _within(turn, MAX_CHARACTERS)
            return
        yield from turn
        before = turn[-1].at


def _turns(passages: Iterable[Passage]) -> list[list[Passage]]:
    return [list(each) for _, each in groupby(passages, key=lambda passage: passage.turn)]


def _within(passages: Sequence[Passage], limit: int) -> Iterator[Passage]:
    """At least one."""
    length = 0
    for number, each in enumerate(passages):
        length += len(each.text)
        if number and length > limit:
            return
        yield each


def _context(earlier: Sequence[Passage]) -> list[Passage]:
    """The last turns, as far as there is room."""
    last = [each for turn in _turns(earlier)[-CONTEXT_TURNS:] for each in turn]
    lengths = [len(each.text) for each in reversed(last)]
    fits = takewhile(
        lambda number: sum(lengths[: number + 1]) <= CONTEXT_CHARACTERS, range(len(lengths))
    )
    count = sum(1 for _ in fits)
    return last[len(last) - count :]
