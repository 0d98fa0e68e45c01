"""Storylines and macros that other members of the principal's teams have of the teams' sources.

A storyline shows what its sources say, so it is seen only by those who may read all of them. Other
members of a team see its name, text, dates and sources, not the node that it is about.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from commonplace.engine.access import readable_scopes
from commonplace.engine.context import EngineContext
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.filters import Visibility
from commonplace.model.graph.storylines import STORY_CATEGORY, Macro, Story, Storyline
from commonplace.model.memory.memory import Sensitivity
from commonplace.store.queries import GraphQuery


@dataclass(frozen=True, slots=True)
class TeamStories:
    """Of other members, made only of sources of one team. They have no anchor."""

    storylines: Mapping[str, Storyline] = field(default_factory=dict)
    macros: Mapping[str, Macro] = field(default_factory=dict)

    @property
    def source_ids(self) -> Iterator[str]:
        return (source.id for each in self.storylines.values() for source in each.sources)

    def limited_to(self, sight: Visibility, readable: Collection[str]) -> TeamStories:
        storylines = _visible_storylines(sight, self.storylines, readable)
        return TeamStories(storylines, _visible_macros(sight, self.macros, storylines))


NO_TEAM_STORIES = TeamStories()


def _admits(sight: Visibility, story: Story) -> bool:
    """By category and sensitivity; the sources decide, too."""
    admits = sight.cleared or story.sensitivity is not Sensitivity.HIGH
    return admits and sight.admits_category(STORY_CATEGORY)


def _visible_storylines(
    sight: Visibility, storylines: Mapping[str, Storyline], readable: Collection[str]
) -> dict[str, Storyline]:
    return {
        id: each
        for id, each in storylines.items()
        if _admits(sight, each) and all(source.id in readable for source in each.sources)
    }


def _visible_macros(
    sight: Visibility, macros: Mapping[str, Macro], storylines: Collection[str]
) -> dict[str, Macro]:
    return {
        id: each
        for id, each in macros.items()
        if _admits(sight, each) and all(line in storylines for line in each.storylines)
    }


def load_team_stories(
    engine: EngineContext, principal: Principal, sight: Visibility
) -> TeamStories:
    """One read for each other member. Whether all sources can be read is not decided here."""
    if not sight.sees_sources or not sight.admits_category(STORY_CATEGORY):
        return NO_TEAM_STORIES
    storylines: dict[str, Storyline] = {}
    macros: dict[str, Macro] = {}
    for member, teams in _other_members(engine, principal).items():
        found = engine.store.graph_items(member, GraphQuery(storylines=None, macros=None))
        for line in found.storylines:
            if line.team_id in teams and not line.is_hidden:
                storylines[line.id] = line.evolve(anchor="")
        for macro in found.macros:
            if macro.team_id in teams:
                macros[macro.id] = macro.evolve(anchor="")
    return TeamStories(storylines, macros)


def _other_members(engine: EngineContext, principal: Principal) -> dict[Scope, set[str]]:
    """With the teams that they share with the principal."""
    found: dict[Scope, set[str]] = {}
    for reading in readable_scopes(engine, principal, searching=False):
        if not reading.scope.is_team or reading.is_guest:
            continue
        for one in engine.store.access(reading.scope).memberships:
            if one.is_member and one.user_scope != principal.own_scope:
                found.setdefault(one.user_scope, set()).add(one.team_id)
    return found
