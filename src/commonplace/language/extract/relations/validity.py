"""Validity of relations: start and end dates, simultaneous and superseded edges.

"I work at Wix and I teach at the Technion" are two jobs; "I live in Haifa. Then I moved to Berlin"
is one home. The decision is made here because it needs the words; later steps do not change the
validity of edges from the same passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import combinations

from commonplace.language.extract.marking import MarkedUtterance
from commonplace.language.extract.patterns import RelationTiming
from commonplace.language.extract.sentences import Utterance
from commonplace.language.extract.values import FoundEdge, TextLocation
from commonplace.language.observe.hebrew import is_hebrew
from commonplace.language.text.dates import (
    DATE_PATTERN,
    ON_DATE,
    DateChoice,
    date_from_match,
    earliest_future,
    latest_past,
    nearest_date,
    upcoming_or_recent,
)
from commonplace.language.text.relative_dates import resolve_relative_dates
from commonplace.model.graph.types import canonical_relationship, relationship_type

_FROM_TO = re.compile(
    rf"\b(?:from|between) {DATE_PATTERN.format(n=1)} (?:to|until|till|and|through|-|–) "
    rf"{DATE_PATTERN.format(n=2)}",
    re.IGNORECASE,
)
_SINCE = re.compile(
    rf"(?:\bsince|\bever since|(?<!\w)מאז|(?<!\w)(?<!החל )מ-?) ?{DATE_PATTERN.format(n=1)}", re.I
)
_UNTIL = re.compile(rf"(?:\buntil|\btill|(?<!\w)עד) {DATE_PATTERN.format(n=1)}", re.IGNORECASE)
_AHEAD = re.compile(
    rf"(?:\buntil|\btill|(?<!\w)עד) (?P<end>(?:the )?end of |סוף )?{DATE_PATTERN.format(n=1)}",
    re.IGNORECASE,
)
_FROM = re.compile(
    rf"(?:\b(?:from|as of|starting|beginning|effective)(?: (?:on|in|from))?|(?<!\w)החל [במ]-?) ?"
    rf"{DATE_PATTERN.format(n=1)}",
    re.IGNORECASE,
)
_UNTIL_PERIOD = re.compile(r"(?:\buntil|\btill|(?<!\w)עד) (?:the )?(?:end of|סוף)", re.I)
_COUNTS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10,
}  # fmt: skip
_FOR = re.compile(
    rf"\bfor (?:about |almost |nearly |over |more than |the (?:last|past) )?"
    rf"(?P<count>\d{{1,2}}|{'|'.join(_COUNTS)}) (?P<unit>day|week|month|year)s?\b",
    re.IGNORECASE,
)
_DAYS = {"day": 1.0, "week": 7.0, "month": 30.44, "year": 365.25}


@dataclass(frozen=True, slots=True)
class ValidityPeriod:
    start: datetime | None = None
    end: datetime | None = None


def find_validity(text: str, at: datetime, when: RelationTiming) -> ValidityPeriod:
    """Validity period in the clause of a relation. ``at``: the sentence's date."""
    hebrew = is_hebrew(text)
    was = resolve_relative_dates(text, at, hebrew, backwards=True).text
    if found := _SINCE.search(was):
        return ValidityPeriod(_parse_day(found, 1, at, latest_past))
    if when in (RelationTiming.STATE, RelationTiming.AHEAD):
        return _find_future_validity(text, at, resolve_relative_dates(text, at, hebrew).text, when)
    if found := _FROM_TO.search(was):
        return ValidityPeriod(
            _parse_day(found, 1, at, latest_past), _parse_day(found, 2, at, latest_past)
        )
    if found := _UNTIL.search(was):
        return ValidityPeriod(None, _parse_day(found, 1, at, latest_past))
    if when is RelationTiming.EVENT and (found := _FROM.search(was)):
        return ValidityPeriod(_parse_day(found, 1, at, nearest_date))
    found = ON_DATE.search(was)
    start = _parse_day(found, 1, at, latest_past) if found else None
    return ValidityPeriod(start if start is None or start <= at else None)


_PERIOD_END = re.compile(
    r"\bend of (?P<next>(?:the |this |next )?)(?P<unit>year|quarter|month|week)\b"
    r"|(?<!\w)[בל]?סוף (?P<hebrew>השנה|החודש|השבוע)",
    re.IGNORECASE,
)
_HEBREW_UNITS = {"השנה": "year", "החודש": "month", "השבוע": "week"}
_MONTHS = {"year": 12, "quarter": 3, "month": 1}


def find_period_end(text: str, at: datetime) -> datetime | None:
    """ "at the end of the year": the day after it."""
    found = _PERIOD_END.search(text)
    if found is None:
        return None
    unit = _HEBREW_UNITS.get(found["hebrew"] or "") or found["unit"].lower()
    periods = 2 if (found["next"] or "").lower() == "next " else 1
    if unit == "week":
        return _midnight(at.date() + timedelta(days=7 * periods - at.weekday()))
    length = _MONTHS[unit]
    months = (at.month - 1) // length * length + length * periods
    return _midnight(date(at.year + months // 12, months % 12 + 1, 1))


def _find_future_validity(
    text: str, at: datetime, clause: str, when: RelationTiming
) -> ValidityPeriod:
    """Validity of a current or future relation: its dates are mostly in the future."""
    if when is RelationTiming.AHEAD and (end := find_period_end(text, at)):
        return ValidityPeriod(end)
    if found := _FROM_TO.search(clause):
        start, end = (
            _parse_day(found, 1, at, upcoming_or_recent),
            _parse_day(found, 2, at, upcoming_or_recent),
        )
        return ValidityPeriod(start, end if start is None or end is None or end > start else None)
    if found := _FROM.search(clause) or (
        ON_DATE.search(clause) if when is RelationTiming.AHEAD else None
    ):
        return ValidityPeriod(_parse_day(found, 1, at, upcoming_or_recent), _find_end(text, at))
    return ValidityPeriod(_find_start_by_duration(clause, at), _find_end(text, at))


def _find_end(text: str, at: datetime) -> datetime | None:
    """ "He works here until the end of May": the next May. Past relations have other patterns."""
    found = _AHEAD.search(resolve_relative_dates(text, at, is_hebrew(text)).text)
    if found is None:
        is_until = _UNTIL_PERIOD.search(text) is not None
        return find_period_end(text, at) if is_until else None
    end = _parse_day(found, 1, at, upcoming_or_recent if found["end"] else earliest_future)
    if end is None:
        return None
    if found["end"] and found["month1"]:
        end = end.replace(day=1, year=end.year + end.month // 12, month=end.month % 12 + 1)
    return end if end > at else None


def _find_start_by_duration(text: str, at: datetime) -> datetime | None:
    """ "I have lived here for three years"."""
    found = _FOR.search(text)
    if found is None:
        return None
    count = found["count"].lower()
    number = int(count) if count.isdigit() else _COUNTS[count]
    return _midnight((at - timedelta(days=number * _DAYS[found["unit"].lower()])).date())


def _parse_day(found: re.Match[str], n: int, at: datetime, choice: DateChoice) -> datetime | None:
    day = date_from_match(found, n, at.date(), choice)
    return None if day is None else _midnight(day)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)


_ADDITION_WORDS = re.compile(
    r"\b(?:also|as well|too|besides|in addition|part[- ]time|on the side|second (?:job|home))\b"
    r"|(?<![א-ת])(?:גם|בנוסף|במקביל)(?![א-ת])",
    re.IGNORECASE,
)
_SUCCESSION_WORDS = re.compile(
    r"\b(?:then|instead|afterwards|later|no longer|anymore|(?:and|but) now)\b|, now\b"
    r"|(?<![א-ת])(?:ואז|אחר כך|במקום|ועכשיו|אבל עכשיו)(?![א-ת])",
    re.IGNORECASE,
)
_UtterancesByLocation = Mapping[TextLocation, Utterance]


def end_superseded_edges(
    edges: Sequence[FoundEdge], sentences: Iterable[MarkedUtterance]
) -> list[FoundEdge]:
    """Edges in order; a superseded edge ends where its successor begins."""
    utterances = {each.utterance.place: each.utterance for each in sentences}
    ended = list(edges)
    for one, other in _exclusive_pairs(edges):
        first, second = sorted(
            (one, other), key=lambda at: (_start_of(edges[at], utterances), edges[at].place)
        )
        if not _hold_simultaneously(edges[first], edges[second], utterances):
            ended[first] = _end_edge(ended[first], _start_of(edges[second], utterances))
    return ended


def _exclusive_pairs(edges: Sequence[FoundEdge]) -> Iterator[tuple[int, int]]:
    """Index pairs of edges of one passage that may exclude each other."""
    passages: dict[int, list[int]] = {}
    for place, edge in enumerate(edges):
        if not edge.ends and relationship_type(_canonical_ends(edge)[2]).is_single:
            passages.setdefault(edge.passage, []).append(place)
    for places in passages.values():
        for one, other in combinations(places, 2):
            if _is_exclusive(edges[one], edges[other]):
                yield one, other


def _is_exclusive(one: FoundEdge, other: FoundEdge) -> bool:
    """Whether the relation allows one value at a time: same subject and type, other object."""
    a, b, type = _canonical_ends(one)
    c, d, other_type = _canonical_ends(other)
    if type != other_type or (a, b) == (c, d):
        return False
    return bool({a, b} & {c, d}) if relationship_type(type).is_mutual else a == c


def _canonical_ends(edge: FoundEdge) -> tuple[str, str, str]:
    return canonical_relationship(str(edge.a), str(edge.b), edge.type)


def _start_of(edge: FoundEdge, utterances: _UtterancesByLocation) -> datetime:
    return edge.valid_from or utterances[edge.place].at


def _hold_simultaneously(
    first: FoundEdge, second: FoundEdge, utterances: _UtterancesByLocation
) -> bool:
    """True in one sentence, or if the second adds to the first. An event supersedes a state."""
    if first.is_state != second.is_state:
        return False
    later = utterances[max(first.place, second.place)].own
    if first.place != second.place:
        return first.is_state and _ADDITION_WORDS.search(later) is not None
    is_simultaneous = first.is_state or _start_of(first, utterances) == _start_of(
        second, utterances
    )
    return is_simultaneous and not _SUCCESSION_WORDS.search(later)


def _end_edge(edge: FoundEdge, at: datetime) -> FoundEdge:
    return replace(edge, valid_to=min(edge.valid_to or at, at))
