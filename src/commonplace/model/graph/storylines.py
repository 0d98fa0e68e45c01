"""Storylines and macros: what many sources say about one node, over weeks and over months.

Which sources belong to a storyline is computed from their dates and from who mentions the node. So
a source that is erased leaves a storyline as if it had never been there. Texts are written at night
(by a model or by rules), and again at once when they would tell what is gone. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Self

from commonplace.model.access.principal import Scope
from commonplace.model.delta import UnratedItem
from commonplace.model.memory.kinds import TtlPolicy
from commonplace.model.memory.memory import Sensitivity
from commonplace.model.sources.source import SOURCE_CATEGORY

STORYLINE_PREFIX = "storyline:"
MACRO_PREFIX = "macro:"
STORY_PREFIXES = (STORYLINE_PREFIX, MACRO_PREFIX)
STORY_CATEGORY = SOURCE_CATEGORY  # as passages: what an agent without `history` may not see
STORYLINE_NAME = "{} – storyline"
MACRO_NAME = "{} – macro"

MIN_SCORE = 5.0  # sum of the weights of its sources
MIN_DAYS = 3  # distinct
MIN_SPAN = timedelta(days=3)  # it is longer
CLOSED_AFTER = timedelta(days=90)  # without a source, by the sources' dates
ATTACHED_ABOVE = 0.7  # similarity to a closed storyline, of a source that came later

MIN_STORYLINES = 2  # of a macro
MACRO_SPAN = timedelta(days=30)
TIED_SOURCES = 3  # shared sources that tie two anchors without an edge

FIRST_SUMMARIES, REFRESH_SUMMARIES = 20, 10  # the newest ones, that a text is written from


@dataclass(frozen=True, slots=True, order=True)
class StorySource:
    """A source of a storyline, by its own date."""

    said_at: datetime
    id: str
    scope: str  # its owner's key: a team's source is owned by another scope
    weight: float = 1.0
    is_sensitive: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Storyline(UnratedItem):
    """One stretch of time in which many sources mention its anchor."""

    id: str  # storyline:<uuid>
    user_id: str
    anchor: str  # a node; never the owner's
    name: str
    description: str = ""
    written_by: str = "rules"  # or the name of a model
    is_dirty: bool = True  # the night writes its text again
    sources: tuple[StorySource, ...]  # oldest first
    closed_at: datetime | None = None  # None: open; at most one of an anchor is
    sensitivity: Sensitivity = Sensitivity.NORMAL  # high: one of its sources is
    team_id: str | None = None  # all its sources are of this team
    ttl_policy: TtlPolicy = TtlPolicy.DECAY
    created_at: datetime
    updated_at: datetime
    version: int = 1

    @property
    def ref(self) -> str:
        return f"{self.id}@{self.version}"

    @property
    def source_count(self) -> int:
        return len(self.sources)

    @property
    def started_at(self) -> datetime:
        return self.sources[0].said_at

    @property
    def last_source_at(self) -> datetime:
        return self.sources[-1].said_at

    @property
    def told_at(self) -> datetime:
        """The date of the last thing that it tells of."""
        return self.last_source_at

    @property
    def is_open(self) -> bool:
        return self.closed_at is None

    @property
    def is_hidden(self) -> bool:
        """Too many of its sources are forgotten; it has no text until they are restored."""
        return not self.description and not is_promoted(self.sources)

    def goes_on(self, now: datetime) -> bool:
        """Open, also by its dates: a night closes it later than they do."""
        return self.is_open and now - self.last_source_at <= CLOSED_AFTER

    @property
    def search_text(self) -> str:
        return f"{self.name}\n{self.description}"

    def evolve(self, **changes: Any) -> Self:
        return replace(self, **changes)

    # ——— DeltaItem ———

    @property
    def headline(self) -> str:
        return f"{self.name}: {self.description}"

    def is_live(self, now: datetime) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Macro(UnratedItem):
    """What several storylines say over months; one of each anchor."""

    id: str  # macro:<uuid>
    user_id: str
    anchor: str
    name: str
    description: str = ""
    written_by: str = "rules"
    is_dirty: bool = True
    storylines: tuple[str, ...]  # ids, oldest first
    total_source_count: int  # distinct
    started_at: datetime
    last_event_at: datetime
    sensitivity: Sensitivity = Sensitivity.NORMAL
    team_id: str | None = None
    ttl_policy: TtlPolicy = TtlPolicy.KEEP_FOREVER
    created_at: datetime
    updated_at: datetime
    version: int = 1

    @property
    def ref(self) -> str:
        return f"{self.id}@{self.version}"

    @property
    def storyline_count(self) -> int:
        return len(self.storylines)

    @property
    def told_at(self) -> datetime:
        """The date of the last thing that it tells of."""
        return self.last_event_at

    @property
    def search_text(self) -> str:
        return f"{self.name}\n{self.description}"

    def evolve(self, **changes: Any) -> Self:
        return replace(self, **changes)

    # ——— DeltaItem ———

    @property
    def headline(self) -> str:
        return f"{self.name}: {self.description}"

    def is_live(self, now: datetime) -> bool:
        return True


Story = Storyline | Macro


def is_story_id(id: str) -> bool:
    return id.startswith(STORY_PREFIXES)


# ——— which sources make a storyline ———


def split_bursts(sources: Iterable[StorySource]) -> list[tuple[StorySource, ...]]:
    """Stretches of time without a pause that closes a storyline, oldest first."""
    bursts: list[list[StorySource]] = []
    for source in sorted(sources):
        if bursts and source.said_at - bursts[-1][-1].said_at <= CLOSED_AFTER:
            bursts[-1].append(source)
        else:
            bursts.append([source])
    return [tuple(burst) for burst in bursts]


def is_promoted(burst: Sequence[StorySource]) -> bool:
    if not burst:
        return False
    days = {source.said_at.date() for source in burst}
    span = burst[-1].said_at - burst[0].said_at
    score = sum(source.weight for source in burst)
    return score >= MIN_SCORE and len(days) >= MIN_DAYS and span > MIN_SPAN


def closing_time(
    burst: Sequence[StorySource], now: datetime, *, is_last: bool = True
) -> datetime | None:
    """When it was closed; None: it is open. One that another burst follows is closed, whatever the
    clock says: sources may have dates to come."""
    closes = burst[-1].said_at + CLOSED_AFTER
    return closes if closes < now or not is_last else None


@dataclass(frozen=True, slots=True)
class StorylineFold:
    """What the sources of one anchor make of its storylines."""

    kept: Mapping[str, tuple[StorySource, ...]]  # storyline → its sources now
    new: tuple[tuple[StorySource, ...], ...]  # promoted bursts without a storyline
    gone: tuple[str, ...]  # storylines that are not promoted any more


def fold_storylines(existing: Sequence[Storyline], sources: Iterable[StorySource]) -> StorylineFold:
    """A storyline stays with the burst that has most of its sources. Two storylines that a later
    source has joined become one, the older of them."""
    bursts = split_bursts(sources)
    found = _claims(existing, bursts).items()
    claims = {place: claiming for place, claiming in found if is_promoted(bursts[place])}
    kept = {each[0].id: bursts[place] for place, each in claims.items()}
    gone = [each.id for each in existing if each.id not in kept]
    new = tuple(
        burst for place, burst in enumerate(bursts) if place not in claims and is_promoted(burst)
    )
    return StorylineFold(kept, new, tuple(gone))


def _claims(
    existing: Iterable[Storyline], bursts: Sequence[Sequence[StorySource]]
) -> dict[int, list[Storyline]]:
    """By the place of a burst, the storylines that have more of its sources than of any other's,
    oldest first."""
    place_of = {source.id: place for place, burst in enumerate(bursts) for source in burst}
    claims: dict[int, list[Storyline]] = {}
    for storyline in sorted(existing, key=lambda each: (each.started_at, each.id)):
        places = [place_of[each.id] for each in storyline.sources if each.id in place_of]
        if places:
            best = max(sorted(set(places)), key=places.count)
            claims.setdefault(best, []).append(storyline)
    return claims


def find_late_sources(
    existing: Sequence[Storyline], sources: Iterable[StorySource]
) -> list[tuple[StorySource, Storyline]]:
    """Sources that came after the storyline of their time was closed, with that storyline. Time
    alone does not attach them."""
    known = {source.id for storyline in existing for source in storyline.sources}
    bursts = split_bursts(sources)
    late = []
    for place, storylines in _claims(existing, bursts).items():
        if any(each.is_open for each in storylines):
            continue
        for source in bursts[place]:
            if source.id not in known:
                late.append((source, min(storylines, key=lambda each: _distance(each, source))))
    return late


def _distance(storyline: Storyline, source: StorySource) -> tuple[timedelta, str]:
    before, after = storyline.started_at - source.said_at, source.said_at - storyline.last_source_at
    return max(before, after, timedelta(0)), storyline.id


def common_team(sources: Iterable[StorySource]) -> str | None:
    """The team that all of them belong to, if there is one."""
    scopes = {source.scope for source in sources}
    prefix = Scope.of_team("").key
    key = scopes.pop() if len(scopes) == 1 else ""
    return key.removeprefix(prefix) if key.startswith(prefix) else None


def highest_sensitivity(sources: Iterable[StorySource]) -> Sensitivity:
    any_high = any(source.is_sensitive for source in sources)
    return Sensitivity.HIGH if any_high else Sensitivity.NORMAL


def build_macro_fields(storylines: Sequence[Storyline]) -> dict[str, Any]:
    """What a macro has of its storylines."""
    ordered = sorted(storylines, key=lambda each: (each.started_at, each.id))
    teams = {each.team_id for each in ordered}
    is_sensitive = any(each.sensitivity is Sensitivity.HIGH for each in ordered)
    return {
        "storylines": tuple(each.id for each in ordered),
        "total_source_count": len({source.id for each in ordered for source in each.sources}),
        "started_at": ordered[0].started_at,
        "last_event_at": max(each.last_source_at for each in ordered),
        "sensitivity": Sensitivity.HIGH if is_sensitive else Sensitivity.NORMAL,
        "team_id": teams.pop() if len(teams) == 1 else None,
    }


def distinct_macros(macros: Iterable[Macro]) -> list[Macro]:
    """The first of those with the same storylines: they tell the same under two names."""
    found: dict[frozenset[str], Macro] = {}
    for macro in macros:
        found.setdefault(frozenset(macro.storylines), macro)
    return list(found.values())


def may_make_macro(storylines: Sequence[Storyline]) -> bool:
    if len(storylines) < MIN_STORYLINES:
        return False
    start = min(each.started_at for each in storylines)
    end = max(each.last_source_at for each in storylines)
    return end - start >= MACRO_SPAN
