"""Where erased words stand in an original that comes again. Pure.

Nothing is stored that would tell the words. They are recognised by their length, and by what stands
before or after them: one side is enough, because the other may have been edited. Where both sides
have changed, whole sentences of that length in that place are taken for them. Sentences that the
source still has are never taken for erased words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from commonplace.model.sources.source import BLOT, SourceTurn, is_blotted

TextSpan = tuple[int, int]
TextSpans = dict[int, list[TextSpan]]  # turn of a part, from 0 → spans of its text

_CONTEXT = 40  # characters around erased words
_ONE_SIDE = 20  # of these, where one side has to do
_MAX_UNITS = 2000  # sentences of a text that is compared sentence by sentence
_SPACE = re.compile(r"\s+")
_UNIT_ENDS = frozenset(f".!?…:;{BLOT}")
_BLOCK = re.compile(f"{BLOT}+(?:\\s+{BLOT}+)*")  # passages that were erased side by side
_RUN = re.compile(f"{BLOT}+")


def find_erased(turns: Sequence[SourceTurn], stored: Sequence[SourceTurn]) -> TextSpans:
    """The spans of the turns that were erased from the stored ones."""
    blotted = [place for place, turn in enumerate(stored) if BLOT in turn.text]
    spans: TextSpans = {}
    for position, turn in enumerate(turns):
        for place in blotted:
            for span in _match(turns, position, stored, place):
                if span not in spans.get(position, ()) and turn.text[slice(*span)].strip(BLOT):
                    spans.setdefault(position, []).append(span)
    return spans


def _match(
    turns: Sequence[SourceTurn], position: int, stored: Sequence[SourceTurn], place: int
) -> list[TextSpan]:
    turn, known = turns[position], stored[place]
    if turn.speaker != known.speaker:
        return []
    if not is_blotted(known.text):
        return _match_whole(turn.text, known.text) or _match_around(turn.text, known.text)
    is_same = len(turn.text) == len(known.text) and _is_same_turn(turns, position, stored, place)
    return [(0, len(turn.text))] if is_same else []


def _is_same_turn(
    turns: Sequence[SourceTurn], position: int, stored: Sequence[SourceTurn], place: int
) -> bool:
    """By its own id, else by its time, else by its place or a turn beside it."""
    turn, known = turns[position], stored[place]
    if known.label:
        return turn.label == known.label
    if turn.at is not None and known.at is not None:
        return turn.at == known.at
    return position == place or any(
        _text_at(turns, position + step) == text
        for step in (-1, 1)
        if (text := _text_at(stored, place + step)) and BLOT not in text
    )


def _text_at(turns: Sequence[SourceTurn], position: int) -> str:
    return turns[position].text if 0 <= position < len(turns) else ""


def _match_whole(text: str, known: str) -> list[TextSpan]:
    """The erased spans, if the text equals the known one elsewhere."""
    pieces = re.split(f"({BLOT}+)", known)
    pattern = "".join(
        f"(.{{{len(each)}}})" if is_blotted(each) else re.escape(each) for each in pieces
    )
    match = re.fullmatch(pattern, text, re.DOTALL)
    return [match.span(n) for n in range(1, len(match.groups()) + 1)] if match else []


# ——— a text that has changed in other places ———


def _match_around(text: str, known: str) -> list[TextSpan]:
    spans: list[TextSpan] = []
    stored, new = _Units(known), _Units(text)
    for block in _BLOCK.finditer(known):
        place = _ErasedBlock(stored, *block.span())
        starts = place.between(text) or place.beside(new) or place.in_gap(new)
        spans += [span for start in dict.fromkeys(starts) for span in place.runs_from(start)]
    return spans


class _Units:
    """A text with its sentences and lines."""

    def __init__(self, text: str):
        self.text = text
        gaps = [gap.span() for gap in _SPACE.finditer(text) if _ends_unit(text, *gap.span())]
        edges = pairwise([(0, 0), *gaps, (len(text), len(text))])
        self.spans = [(end, start) for (_, end), (start, _) in edges if end < start]
        self.texts = [text[start:end] for start, end in self.spans]
        self.starts = {start for start, _ in self.spans}
        self.ends = {end for _, end in self.spans}

    def bound(self, start: int, end: int) -> bool:
        """Whether whole sentences or lines stand between."""
        return start in self.starts and end in self.ends


def _ends_unit(text: str, start: int, end: int) -> bool:
    return text[start - 1 : start] in _UNIT_ENDS or "\n" in text[start:end]


@dataclass(frozen=True, slots=True)
class _ErasedBlock:
    """Erased words in a stored text."""

    stored: _Units
    start: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.start

    @property
    def before(self) -> str:
        return self.stored.text[max(0, self.start - _CONTEXT) : self.start].rpartition(BLOT)[2]

    @property
    def after(self) -> str:
        return self.stored.text[self.end : self.end + _CONTEXT].partition(BLOT)[0]

    def runs_from(self, start: int) -> Iterator[TextSpan]:
        """The erased passages, if the block begins here."""
        for run in _RUN.finditer(self.stored.text, self.start, self.end):
            yield start + run.start() - self.start, start + run.end() - self.start

    def between(self, text: str) -> list[int]:
        """Where the same words stand before and after it."""
        if len(self.before + self.after) < _CONTEXT:
            return []
        around = f"{re.escape(self.before)}(.{{{self.length}}}){re.escape(self.after)}"
        return [match.start(1) for match in re.finditer(around, text, re.DOTALL)]

    def beside(self, new: _Units) -> list[int]:
        """Where the same words stand before or after it."""
        starts: list[int] = []
        if len(self.before) >= _ONE_SIDE:
            starts += [at + len(self.before) for at in _occurrences(self.before, new.text)]
        if len(self.after) >= _ONE_SIDE:
            starts += [at - self.length for at in _occurrences(self.after, new.text)]
        return [start for start in starts if self._may_begin_at(start, new)]

    def in_gap(self, new: _Units) -> list[int]:
        """Whole sentences of its length, between the nearest unchanged ones around it."""
        if not self.stored.bound(self.start, self.end):
            return []
        candidates = (start for start, _ in _gap_around(self.stored, self.start, self.end, new))
        return [start for start in candidates if self._may_begin_at(start, new)]

    def _may_begin_at(self, start: int, new: _Units) -> bool:
        """Whether words of this length stand there that the source does not have."""
        end = start + self.length
        if start < 0 or end > len(new.text):
            return False
        if self.stored.bound(self.start, self.end):
            is_whole = new.bound(start, end)
        else:
            is_whole = _is_word_edge(new.text, start) and _is_word_edge(new.text, end)
        words = new.text[start:end]
        return is_whole and not any(
            each in words for each in self.stored.texts if len(each) >= _ONE_SIDE
        )


def _occurrences(words: str, text: str) -> Iterable[int]:
    return (match.start() for match in re.finditer(re.escape(words), text))


def _is_word_edge(text: str, at: int) -> bool:
    """Whether no word goes on across this place."""
    return not (0 < at < len(text)) or text[at - 1].isspace() or text[at].isspace()


def _gap_around(stored: _Units, start: int, end: int, new: _Units) -> list[TextSpan]:
    """The sentences between the last unchanged one before the place and the first one after it."""
    if max(len(stored.spans), len(new.spans)) > _MAX_UNITS:
        return []
    low, high = 0, len(new.spans)
    matcher = SequenceMatcher(None, stored.texts, new.texts)
    for block in matcher.get_matching_blocks():
        for offset in range(block.size):
            place = stored.spans[block.a + offset]
            if place[1] <= start:
                low = block.b + offset + 1
            elif place[0] >= end:
                high = min(high, block.b + offset)
    return new.spans[low:high]
