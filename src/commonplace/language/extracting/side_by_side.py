"""What one passage tells of something that one mostly has once (a job, a home): whether it holds
side by side, or one after the other. Pure.

"I work at Wix and I teach at the Technion" are two jobs; "I live in Haifa. Then I moved to Berlin"
is one home. The words that tell them apart are here, so it is decided here: the timeline leaves
what one passage tells as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import combinations

from commonplace.language.extracting.found import FoundEdge, Place
from commonplace.language.extracting.marking import Marked
from commonplace.language.extracting.utterances import Utterance
from commonplace.model.graph.relationships import as_kept, relationship

_ALSO = re.compile(
    r"\b(?:also|as well|too|besides|in addition|part[- ]time|on the side|second (?:job|home))\b"
    r"|(?<![א-ת])(?:גם|בנוסף|במקביל)(?![א-ת])",
    re.IGNORECASE,
)
_IN_TURN = re.compile(
    r"\b(?:then|instead|afterwards|later|no longer|anymore|(?:and|but) now)\b|, now\b"
    r"|(?<![א-ת])(?:ואז|אחר כך|במקום|ועכשיו|אבל עכשיו)(?![א-ת])",
    re.IGNORECASE,
)
_Said = Mapping[Place, Utterance]


def with_ends(edges: Sequence[FoundEdge], sentences: Iterable[Marked]) -> list[FoundEdge]:
    """Each as it is told; what another takes the place of ends where that begins."""
    said = {each.utterance.place: each.utterance for each in sentences}
    ended = list(edges)
    for one, other in _pairs(edges):
        first, second = sorted(
            (one, other), key=lambda at: (_start(edges[at], said), edges[at].place)
        )
        if not _hold_together(edges[first], edges[second], said):
            ended[first] = _ended(ended[first], _start(edges[second], said))
    return ended


def _pairs(edges: Sequence[FoundEdge]) -> Iterator[tuple[int, int]]:
    """Those of one passage that could exclude each other, by their places in the list."""
    passages: dict[int, list[int]] = {}
    for place, edge in enumerate(edges):
        if not edge.ends and relationship(_kept(edge)[2]).is_single:
            passages.setdefault(edge.passage, []).append(place)
    for places in passages.values():
        for one, other in combinations(places, 2):
            if _exclude(edges[one], edges[other]):
                yield one, other


def _exclude(one: FoundEdge, other: FoundEdge) -> bool:
    """Where one has one at a time: the same of whom, and another end."""
    a, b, type = _kept(one)
    c, d, other_type = _kept(other)
    if type != other_type or (a, b) == (c, d):
        return False
    return bool({a, b} & {c, d}) if relationship(type).is_mutual else a == c


def _kept(edge: FoundEdge) -> tuple[str, str, str]:
    return as_kept(str(edge.a), str(edge.b), edge.type)


def _start(edge: FoundEdge, said: _Said) -> datetime:
    return edge.valid_from or said[edge.place].at


def _hold_together(first: FoundEdge, second: FoundEdge, said: _Said) -> bool:
    """In one sentence, or added in another one. What happened takes the place of what holds."""
    if first.is_state != second.is_state:
        return False
    later = said[max(first.place, second.place)].own
    if first.place != second.place:
        return first.is_state and _ALSO.search(later) is not None
    at_once = first.is_state or _start(first, said) == _start(second, said)
    return at_once and not _IN_TURN.search(later)


def _ended(edge: FoundEdge, at: datetime) -> FoundEdge:
    return replace(edge, valid_to=min(edge.valid_to or at, at))
