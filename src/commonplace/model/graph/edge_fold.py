"""Edge fold: computes edges and their periods from assertions.

Tellings that could contradict one another share a *thread*: that of their two nodes and type, or,
where a node can have only one at a time, that of this node and type. A relation that somebody has
said to hold beside others has a thread of its own. In the order of the world's time they fall into
stretches. One ends where the next in its thread contradicts it (another other end, the opposite,
another attitude or proximity), or where a telling says that it is over. Of what one passage tells,
nothing ends another by its other end alone: who has two jobs tells of both, and what took the place
of what was seen where it was read.
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


@lru_cache(maxsize=10_000)  # thousands may tell of one relation
def assertion_threads(a: str, b: str, type: str) -> tuple[AssertionThread, ...]:
    """The threads in which a telling takes part. In what is mutual, either end has only one. What
    is decided together, as liking and disliking, hangs together by the two nodes."""
    kind = relationship_type(type)
    together = interacting_types(type)
    between = tuple((a, b, each) for each in together) if len(together) > 1 else ()
    if not kind.is_single:
        return between or ((a, b, type),)
    single = ((a, type), (b, type)) if kind.is_mutual else ((a, type),)
    return (*single, *between)


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgePeriod:
    """What an edge is folded to."""

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
        """The fields of the edge; the ids of its assertions are none of them."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "assertions"}


def fold_edges(assertions: Iterable[EdgeAssertion]) -> tuple[EdgePeriod, ...]:
    """Of whole threads: all tellings that share one with any of these have to be among them. Each
    telling that stands is part of one stretch."""
    runs: list[_PeriodBuilder] = []
    latest: dict[
        AssertionThread, tuple[_PeriodBuilder, ...]
    ] = {}  # mostly one; those that hold together
    last_of: dict[
        AssertionThread, _PeriodBuilder
    ] = {}  # of each relation by itself, also one that is over
    standing = sorted((t for t in assertions if t.stands), key=_assertion_order)
    beside = {_own_thread(t) for t in standing if t.beside}
    for assertion in standing:
        itself = _own_thread(assertion)
        threads = ((*itself, "beside"),) if itself in beside else _contradiction_threads(assertion)
        met = list({id(run): run for t in threads for run in latest.get(t, ())}.values())
        if assertion.ends:
            run = _end_period(
                assertion, last_of.get(itself), last_of.get(_also_ended_thread(assertion))
            )
        else:
            run = _extend_or_start(assertion, met)
        if run.type == assertion.type:
            last_of[itself] = run
        if run not in runs:
            runs.append(run)
        if not assertion.ends:
            latest.update(
                {t: _concurrent_periods(assertion, run, latest.get(t, ())) for t in threads}
            )
            if itself not in beside and _undone_thread(assertion) not in beside:
                _end_undone(assertion, last_of)
    return tuple(run.as_stretch() for run in runs)


def _contradiction_threads(assertion: EdgeAssertion) -> tuple[AssertionThread, ...]:
    """The threads in which it contradicts what was told before. Who calls a husband "my partner"
    says nothing against the marriage."""
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
    at: datetime  # in the world
    learned: datetime


@dataclass(slots=True, eq=False)
class _PeriodBuilder:
    told: list[EdgeAssertion]
    over: list[EdgeAssertion] = field(default_factory=list)  # that tell that it is
    attitude: int | None = None
    proximity: int | None = None
    ended: _PeriodEnd | None = None
    openly: _PeriodEnd | None = None  # as far as what is not guarded tells it

    @property
    def ends(self) -> tuple[str, str]:
        return self.told[0].a, self.told[0].b

    @property
    def type(self) -> str:
        return self.told[0].type

    def takes(self, assertion: EdgeAssertion) -> bool:
        return (
            self.ended is None
            and self.ends == (assertion.a, assertion.b)
            and self.type == assertion.type
            and _agree(self.attitude, assertion.attitude)
            and _agree(self.proximity, assertion.proximity)
        )

    def is_told_with(self, assertion: EdgeAssertion) -> bool:
        """One passage tells of both, each with another end."""
        place = _passage(assertion)
        is_other = self.ends != (assertion.a, assertion.b)
        return is_other and place is not None and any(_passage(t) == place for t in self.told)

    def add(self, assertion: EdgeAssertion) -> None:
        self.told.append(assertion)
        self.attitude = self.attitude or assertion.attitude
        self.proximity = self.proximity or assertion.proximity
        if assertion.valid_to is not None:
            self.end(assertion.valid_to, assertion)

    def end(self, at: datetime, told_by: EdgeAssertion) -> None:
        learned = max(told_by.recorded_at, min(t.recorded_at for t in self.told))
        end = _PeriodEnd(at, learned)
        self.ended = min(filter(None, (self.ended, end)))
        if not is_sensitive(told_by):
            self.openly = min(filter(None, (self.openly, end)))

    def as_stretch(self) -> EdgePeriod:
        open_ones = [t for t in self.told if not is_sensitive(t)]
        told = open_ones or self.told
        first = min(told, key=lambda t: t.recorded_at)
        attitudes = [t.attitude for t in told if t.attitude]
        proximities = [t.proximity for t in told if t.proximity]
        end = self.openly if open_ones else self.ended
        return EdgePeriod(
            a=told[0].a,
            b=told[0].b,
            type=told[0].type,
            description=best_description(told),
            attitude=attitudes[0] if attitudes else NEUTRAL,
            proximity=proximities[0] if proximities else NEUTRAL,
            confidence=max(t.confidence for t in told),
            sensitivity=Sensitivity.NORMAL if open_ones else Sensitivity.HIGH,
            valid_from=told[0].valid_from,
            valid_to=end.at if end else None,
            recorded_at=first.recorded_at,
            invalidated_at=end.learned if end else None,
            recorded_by=first.by,
            assertions=tuple(t.id for t in (*self.told, *self.over)),
        )


def _extend_or_start(assertion: EdgeAssertion, met: Sequence[_PeriodBuilder]) -> _PeriodBuilder:
    """The run that a telling is part of. What it contradicts is over from then on."""
    taking = next((run for run in met if run.takes(assertion)), None)
    if taking is not None:
        taking.add(assertion)
        return taking
    for run in met:
        if not run.is_told_with(assertion):
            run.end(assertion.valid_from, assertion)
    new = _PeriodBuilder([])
    new.add(assertion)
    return new


def _concurrent_periods(
    assertion: EdgeAssertion, run: _PeriodBuilder, others: Sequence[_PeriodBuilder]
) -> tuple[_PeriodBuilder, ...]:
    """What stands in a thread from now on. Who speaks of one of two jobs has the other still."""
    if run in others:
        return tuple(others)
    return (*(each for each in others if each.is_told_with(assertion)), run)


def _end_period(
    assertion: EdgeAssertion, run: _PeriodBuilder | None, other: _PeriodBuilder | None
) -> _PeriodBuilder:
    """The run that it ends, if nothing has ended that before: who has another job and "left the old
    one" has left it once. Of one that nothing else tells of only this is known: it was, and is
    over. ``other``: what is over with it; who is married and separates was no partner besides."""
    for each in filter(None, (run, other)):
        each.end(assertion.valid_from, assertion)
    ended = run or other
    if ended is not None:
        ended.over.append(assertion)
        return ended
    ended = _PeriodBuilder([assertion])
    ended.end(assertion.valid_from, assertion)
    return ended


def _end_undone(
    assertion: EdgeAssertion, last_of: Mapping[AssertionThread, _PeriodBuilder]
) -> None:
    """Who accepted an offer and then declined it does not work there, from then on."""
    run = last_of.get(_undone_thread(assertion))
    if run is not None and run.ended is None:
        run.end(assertion.valid_from, assertion)


def _passage(assertion: EdgeAssertion) -> tuple[str, str, int] | None:
    cited = assertion.source
    if cited is None or cited.passage is None:
        return None
    return cited.scope, cited.id, cited.passage


def _agree(one: int | None, other: int | None) -> bool:
    return one is None or other is None or one == other


def _assertion_order(assertion: EdgeAssertion) -> tuple[datetime, bool, datetime, int, str]:
    """Of what one source says of one day the later word counts; its ids are in that order."""
    passage = assertion.source.passage if assertion.source else None
    return assertion.valid_from, assertion.ends, assertion.recorded_at, passage or 0, assertion.id


def best_description(told: Sequence[EdgeAssertion]) -> str:
    """Somebody's own words, the last ones; else what was told with the most confidence."""
    own = [t.description for t in told if t.source is None and t.description]
    if own:
        return own[-1]
    described = [t for t in told if t.description]
    return max(described, key=lambda t: t.confidence).description if described else ""
