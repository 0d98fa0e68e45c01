"""Where the items are that a verb names, and whether the caller may take them away."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.desk import Desk, placed_for
from commonplace.errors import InvalidInput, NotAllowed
from commonplace.model.scope import Principal, Scope
from commonplace.remember.sources import find_sources, of_sources


def acting_on(desk: Desk, principal: Principal, ids: Sequence[str]) -> Principal:
    """The caller, placed where these items are. A team's sources are taken away, and brought back,
    by whoever brought them and by those who manage the team; a guest only reads."""
    placed = {each.scope: each for each in (placed_for(desk, principal, id) for id in ids)}
    if len(placed) > 1:
        raise InvalidInput(
            "These belong to different owners.",
            remedy="Give ids of one team, or your own, at a time.",
            field="ids",
        )
    acting = next(iter(placed.values()), principal)
    if acting.is_at_home:
        return acting
    if not acting.scope.is_team:
        raise NotAllowed(
            "A shared source is read-only for you.",
            remedy="To give it up: sources unshare.",
            field="ids",
        )
    return _in_team(desk, acting, ids)


def _in_team(desk: Desk, acting: Principal, ids: Sequence[str]) -> Principal:
    is_admin = manages(desk, acting, acting.scope)
    named = of_sources(desk, acting, ids)
    sources = find_sources(desk, acting, list(named.values()))
    others = [source for source in sources if source.user_id != acting.user_id]
    if others and not is_admin:
        raise NotAllowed(
            "Only a team's admins, or the user who added a source, may remove it.",
            field="ids",
        )
    return acting.in_team(acting.scope.name, is_admin)


def manages(desk: Desk, principal: Principal, team: Scope) -> bool:
    """Whether they manage the team."""
    return any(
        one.manages for one in desk.store.memberships(principal.home) if one.team_scope == team
    )
