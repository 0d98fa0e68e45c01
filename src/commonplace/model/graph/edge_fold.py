"""Edge fold: computes edges and their periods from assertions.

Assertions that could contradict one another share a *thread*, keyed by their two nodes and type, or
for a single-valued type by the node that has one at a time and the type. A relation that a user
marked as parallel (`beside`) has a thread of its own.

Assertions are processed by valid time and grouped into periods. A period ends where the next
assertion of its thread contradicts it (a different other end, the opposite type, a different
attitude or proximity, unless rules and a model read them from the same words), or where an
assertion says that the relation ended. What was said last holds: an assertion that starts later
but was said earlier ends nothing, and its own period is empty ("she lives in Haifa", then "she
moved to Lisbon last month"). Two assertions of one passage never end each other by a different
other end alone: a person with two jobs mentions both, and which one replaced the other was decided
when the passage was extracted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from commonplace.model.graph.assertion import EdgeAssertion, is_sensitive
from commonplace.model.graph.types import NEUTRAL, interacting_types, relationship_type
from commonplace.model.memory.memory import Sensitivity

AssertionThread = tuple[str, ...]


@lru_cache(maxsize=10_000)  # one relation may have thousands of assertions
def assertion_threads(a: str, b: str, type: str) -> tuple[AssertionThread, ...]:
    """The threads of an assertion. A mutual single-valued type has one thread per end. Types that
    contradict or end each other, such as likes and dislikes, share the threads of the two nodes."""
    kind = relationship_type(type)
    together = interacting_types(type)
    between = tuple((a, b, each) for each in together) if len(together) > 1 else ()
    if not kind.is_single:
        return between or ((a, b, type),)
    single = ((a, type), (b, type)) if kind.is_mutual else ((a, type),)
    return (*single, *between)


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgePeriod:
    """The folded values of one edge."""

    a: str
    b: str
    type: str
    description: str
    attitude: int
    proximity: int
    confidence: float
    sensitivity: Sensitivity
    valid_from: datetime
    valid_to: datetime | None
    recorded_at: datetime
    invalidated_at: datetime | None
    recorded_by: str
    assertions: tuple[str, ...]

    @property
    def edge_fields(self) -> dict[str, Any]:
        """The values by name of the edge's fields; without the ids of its assertions."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "assertions"}


def fold_edges(assertions: Iterable[EdgeAssertion]) -> tuple[EdgePeriod, ...]:
    """The periods of whole threads: ``assertions`` must include every assertion that shares a
    thread with any of them. Each active assertion is part of one period."""
    periods: list[_PeriodBuilder] = []
    # The current periods of each thread: mostly one; several where they are concurrent.
    latest: dict[AssertionThread, tuple[_PeriodBuilder, ...]] = {}
    # The last period of each relation, ended ones included.
    last_of: dict[AssertionThread, _PeriodBuilder] = {}
    active = sorted((t for t in assertions if t.stands), key=_assertion_order)
    parallel = {_own_thread(t) for t in active if t.beside}
    for assertion in active:
        own = _own_thread(assertion)
        threads = ((*own, "beside"),) if own in parallel else _contradiction_threads(assertion)
        current = list({id(each): each for t in threads for each in latest.get(t, ())}.values())
        if assertion.ends:
            also = None if assertion.keeps_ended else last_of.get(_also_ended_thread(assertion))
            period = _end_period(assertion, last_of.get(own), also)
        else:
            period = _extend_or_start(assertion, current, last_of.get(own))
        if period.type == assertion.type:
            last_of[own] = period
        if period not in periods:
            periods.append(period)
        if not assertion.ends and not period.outdated:
            latest.update(
                {t: _concurrent_periods(assertion, period, latest.get(t, ())) for t in threads}
            )
            if own not in parallel and _undone_thread(assertion) not in parallel:
                _end_undone(assertion, last_of)
    return tuple(period.build() for period in periods)


def _contradiction_threads(assertion: EdgeAssertion) -> tuple[AssertionThread, ...]:
    """The threads in which it contradicts earlier assertions. "My partner" does not contradict a
    marriage, so partner and spouse share no thread here."""
    a, b, type = assertion.a, assertion.b, assertion.type
    kind = relationship_type(type)
    if kind.opposite is not None:
        return ((a, b, min(type, kind.opposite)),)
    if not kind.is_single:
        return ((a, b, type),)
    return ((a, type), (b, type)) if kind.is_mutual else ((a, type),)


def _also_ended_thread(assertion: EdgeAssertion) -> AssertionThread:
    return assertion.a, assertion.b, relationship_type(assertion.type).ends_also or ""


def _undone_thread(assertion: EdgeAssertion) -> AssertionThread:
    return assertion.a, assertion.b, relationship_type(assertion.type).undoes or ""


def _own_thread(assertion: EdgeAssertion) -> AssertionThread:
    return assertion.a, assertion.b, assertion.type


class _PeriodEnd(NamedTuple):
    at: datetime  # valid time
    learned: datetime


@dataclass(slots=True, eq=False)
class _PeriodBuilder:
    assertions: list[EdgeAssertion]
    endings: list[EdgeAssertion] = field(default_factory=list)  # that assert its end
    attitude: int | None = None
    proximity: int | None = None
    ended: _PeriodEnd | None = None
    public_end: _PeriodEnd | None = None  # the end by assertions that are not sensitive
    outdated: bool = False  # something said later holds where it would begin

    @property
    def ends(self) -> tuple[str, str]:
        return self.assertions[0].a, self.assertions[0].b

    @property
    def type(self) -> str:
        return self.assertions[0].type

    def accepts(self, assertion: EdgeAssertion) -> bool:
        return (
            self.ended is None
            and self.ends == (assertion.a, assertion.b)
            and self.type == assertion.type
            and (self.is_read_from_same_words(assertion) or self._agrees(assertion))
        )

    def _agrees(self, assertion: EdgeAssertion) -> bool:
        return _agree(self.attitude, assertion.attitude) and _agree(
            self.proximity, assertion.proximity
        )

    def is_read_from_same_words(self, assertion: EdgeAssertion) -> bool:
        """Whether somebody else read one passage, rules or a model: how close two are is their
        estimate, and another one is no change."""
        passage = _passage(assertion)
        return passage is not None and any(
            _passage(t) == passage and t.by != assertion.by for t in self.assertions
        )

    def shares_passage(self, assertion: EdgeAssertion) -> bool:
        """Whether one passage asserts both, with different ends."""
        passage = _passage(assertion)
        is_other = self.ends != (assertion.a, assertion.b)
        return (
            is_other
            and passage is not None
            and any(_passage(t) == passage for t in self.assertions)
        )

    def outdates(self, assertion: EdgeAssertion) -> bool:
        """Whether it is still open where the assertion starts, and was said after it."""
        is_open = self.ended is None or self.ended.at > assertion.valid_from
        return is_open and max(map(_said_order, self.assertions)) > _said_order(assertion)

    def add(self, assertion: EdgeAssertion) -> None:
        self.assertions.append(assertion)
        self.attitude = self.attitude or assertion.attitude
        self.proximity = self.proximity or assertion.proximity
        if assertion.valid_to is not None:
            self.end(assertion.valid_to, assertion)

    def end(self, at: datetime, ended_by: EdgeAssertion) -> None:
        learned = max(ended_by.recorded_at, min(t.recorded_at for t in self.assertions))
        end = _PeriodEnd(at, learned)
        self.ended = min(filter(None, (self.ended, end)))
        if not is_sensitive(ended_by):
            self.public_end = min(filter(None, (self.public_end, end)))

    def build(self) -> EdgePeriod:
        not_sensitive = [t for t in self.assertions if not is_sensitive(t)]
        used = not_sensitive or self.assertions
        first = min(used, key=lambda t: t.recorded_at)
        attitudes = [t.attitude for t in used if t.attitude]
        proximities = [t.proximity for t in used if t.proximity]
        end = self.public_end if not_sensitive else self.ended
        return EdgePeriod(
            a=used[0].a,
            b=used[0].b,
            type=used[0].type,
            description=best_description(used),
            attitude=attitudes[0] if attitudes else NEUTRAL,
            proximity=proximities[0] if proximities else NEUTRAL,
            confidence=max(t.confidence for t in used),
            sensitivity=Sensitivity.NORMAL if not_sensitive else Sensitivity.HIGH,
            valid_from=used[0].valid_from,
            valid_to=end.at if end else None,
            recorded_at=first.recorded_at,
            invalidated_at=end.learned if end else None,
            recorded_by=first.by,
            assertions=tuple(t.id for t in (*self.assertions, *self.endings)),
        )


def _extend_or_start(
    assertion: EdgeAssertion, current: Sequence[_PeriodBuilder], last: _PeriodBuilder | None
) -> _PeriodBuilder:
    """The period that an assertion extends or starts. It ends the periods that it contradicts.
    ``last``: the last period of the same relation."""
    extended = next((period for period in current if period.accepts(assertion)), None)
    if extended is not None:
        extended.add(assertion)
        return extended
    contradicted = [period for period in current if not period.shares_passage(assertion)]
    later = [period for period in contradicted if period.outdates(assertion)]
    if later:
        return _outdated_period(assertion, later, last)
    for period in contradicted:
        period.end(assertion.valid_from, assertion)
    new = _PeriodBuilder([])
    new.add(assertion)
    return new


def _outdated_period(
    assertion: EdgeAssertion, later: Sequence[_PeriodBuilder], last: _PeriodBuilder | None
) -> _PeriodBuilder:
    """An empty period, known until what was said later was recorded. Repeats join it."""
    if last is not None and last.outdated:
        last.add(assertion)
        return last
    new = _PeriodBuilder([], outdated=True)
    new.add(assertion)
    for period in later:
        new.end(assertion.valid_from, max(period.assertions, key=_said_order))
    return new


def _concurrent_periods(
    assertion: EdgeAssertion, period: _PeriodBuilder, others: Sequence[_PeriodBuilder]
) -> tuple[_PeriodBuilder, ...]:
    """The current periods of a thread after an assertion. A mention of one of two concurrent jobs
    does not end the other."""
    if period in others:
        return tuple(others)
    return (*(each for each in others if each.shares_passage(assertion)), period)


def _end_period(
    assertion: EdgeAssertion, period: _PeriodBuilder | None, other: _PeriodBuilder | None
) -> _PeriodBuilder:
    """The period that an ending assertion ends. The earliest end counts: after a new job, "left the
    old one" does not end that job again. Without such a period a new one is made that is known only
    by its end. ``other``: the period of the type that ends together with this one (`ends_also`),
    such as a marriage when the partners separate."""
    for each in filter(None, (period, other)):
        each.end(assertion.valid_from, assertion)
    ended = period or other
    if ended is not None:
        ended.endings.append(assertion)
        return ended
    ended = _PeriodBuilder([assertion])
    ended.end(assertion.valid_from, assertion)
    return ended


def _end_undone(
    assertion: EdgeAssertion, last_of: Mapping[AssertionThread, _PeriodBuilder]
) -> None:
    """End the relation that this type undoes: a declined offer ends an accepted one."""
    undone = last_of.get(_undone_thread(assertion))
    if undone is not None and undone.ended is None:
        undone.end(assertion.valid_from, assertion)


def _passage(assertion: EdgeAssertion) -> tuple[str, str, int] | None:
    cited = assertion.source
    if cited is None or cited.passage is None:
        return None
    return cited.scope, cited.id, cited.passage


def _agree(one: int | None, other: int | None) -> bool:
    return one is None or other is None or one == other


def _assertion_order(assertion: EdgeAssertion) -> tuple[datetime, bool, datetime, int, str]:
    """By valid time. Within one source and day the later passage wins; ids rise with passages."""
    passage = assertion.source.passage if assertion.source else None
    return assertion.valid_from, assertion.ends, assertion.recorded_at, passage or 0, assertion.id


def _said_order(assertion: EdgeAssertion) -> tuple[datetime, int]:
    passage = assertion.source.passage if assertion.source else None
    return assertion.said_at, passage or 0


def best_description(assertions: Sequence[EdgeAssertion]) -> str:
    """The latest user description; else the one asserted with the highest confidence."""
    own = [t.description for t in assertions if t.source is None and t.description]
    if own:
        return own[-1]
    described = [t for t in assertions if t.description]
    return max(described, key=lambda t: t.confidence).description if described else ""
