"""Account verbs: profile, proposals, teams, API keys, categories."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from commonplace.api.handle import (
    MAX_K,
    Moment,
    UserHandle,
    optional_integer,
    optional_word,
    read_cursor,
    read_thread,
    require_at_most_one,
)
from commonplace.errors import InvalidInput, NotAllowed
from commonplace.lazy import lazy_imports
from commonplace.model import validation
from commonplace.model.access.key import NewKey, ShownKey
from commonplace.model.access.team import MAX_RETENTION_DAYS, TeamRole

with lazy_imports(__name__):
    from commonplace.engine.categories import (
        CheckedCategory,
        ExplainedCategory,
        KnownCategories,
        check_category,
        explain_category,
        list_categories,
    )
    from commonplace.engine.memories.inbox import OpenProposal, list_proposals
    from commonplace.engine.profile.profile import (
        Profile,
        ProfileChange,
        add_note,
        read_profile,
        set_field,
    )
    from commonplace.engine.profile.proposals import (
        Decided,
        Proposed,
        accept_proposal,
        decline_proposal,
        propose,
        read_claim,
    )
    from commonplace.engine.teams.keys import create_key, list_keys, revoke_key, rotate_key
    from commonplace.engine.teams.members import (
        ShownMember,
        ShownTeam,
        invite_member,
        join_team,
        leave_team,
        list_teams,
        remove_member,
        require_member,
        set_role,
        show_member,
        show_team,
    )
    from commonplace.engine.teams.teams import (
        TeamEnded,
        change_team,
        choose_team,
        create_team,
        delete_team,
    )


class ProfileVerbs(UserHandle):
    def profile(self) -> Profile:
        """Show the user's profile: fields and notes."""
        return read_profile(self._engine, self.principal)

    def profile_set(self, name: str, value: Any) -> ProfileChange:
        """Set a profile field.

        For example preferred_name, pronouns, city, language, tone, goals."""
        return set_field(self._engine, self._request, name, value)

    def profile_note(self, text: str) -> ProfileChange:
        """Add a note to the profile.

        Its id is profile:N."""
        return add_note(self._engine, self._request, text)

    def propose(
        self,
        name: str,
        value: Any,
        *,
        confidence: float | None = None,
        reason: str | None = None,
        evidence: Sequence[str] | None = None,
        source_id: str | None = None,
        memory_id: str | None = None,
        thread: str | None = None,
    ) -> Proposed:
        """Propose a value for a profile field.

        A proposal of an agent waits 7 days for the owner; tone and goals_add are applied after two
        independent signals, or one with a confidence of 0.8. A proposal of the owner is applied at
        once. A value that is based on a source or a memory is erased with it."""
        claim = read_claim(
            name,
            value,
            confidence=confidence,
            reason=reason,
            evidence=evidence,
            source_id=None if source_id is None else validation.id(source_id, "source_id"),
            memory_id=None if memory_id is None else validation.id(memory_id, "memory_id"),
            thread=read_thread(thread),
        )
        return propose(self._engine, self._request, claim)

    def proposals(self, *, limit: int = 50, after: str | None = None) -> Sequence[OpenProposal]:
        """List open profile proposals, oldest first.

        Each with the current value, who proposed it, why, and until when it is open."""
        most = validation.integer(limit, "limit", 1, MAX_K)
        return list_proposals(self._engine, self.principal, most, read_cursor(after))

    def accept(self, id: str, *, thread: str | None = None) -> Decided:
        """Accept a profile proposal.

        Other proposals for the same field are declined. Owner only."""
        return accept_proposal(self._engine, self._request, validation.id(id), read_thread(thread))

    def decline(self, id: str, *, thread: str | None = None) -> Decided:
        """Decline a profile proposal.

        The profile stays unchanged. Owner only."""
        return decline_proposal(self._engine, self._request, validation.id(id), read_thread(thread))


class TeamVerbs(UserHandle):
    def teams(self) -> Sequence[ShownTeam]:
        """List your teams and invitations."""
        self._require_owner_for_teams("see teams")
        return list_teams(self._engine, self.principal)

    def teams_show(self, team: str) -> ShownTeam:
        """Show a team and its members."""
        self._require_owner_for_teams("see teams")
        return show_team(self._engine, self.principal, validation.word(team, "team"))

    def teams_create(self, name: str, *, retention_days: int | None = None) -> ShownTeam:
        """Create a team that you own.

        Members can read the sources that are ingested for the team; with retention_days, older
        sources are removed."""
        self._require_owner_for_teams("create teams")
        days = optional_integer(retention_days, "retention_days", 1, MAX_RETENTION_DAYS)
        return create_team(self._engine, self._request, validation.word(name, "name"), days)

    def teams_change(
        self, team: str, *, name: str | None = None, retention_days: int | None = None
    ) -> ShownTeam:
        """Rename a team or change its retention.

        retention_days 0: keep sources forever."""
        self._require_owner_for_teams("manage teams")
        days = optional_integer(retention_days, "retention_days", 0, MAX_RETENTION_DAYS)
        called = optional_word(name, "name")
        return change_team(self._engine, self._request, validation.word(team, "team"), called, days)

    def teams_delete(self, team: str) -> TeamEnded:
        """Delete a team and all its sources.

        Cannot be undone."""
        self._require_owner_for_teams("end teams")
        return delete_team(self._engine, self._request, validation.word(team, "team"))

    def teams_invite(
        self, team: str, member: str, *, as_role: str = TeamRole.MEMBER
    ) -> ShownMember:
        """Invite a user to a team.

        They see nothing of the team until they join."""
        self._require_owner_for_teams("invite people")
        role = validation.choice(as_role, "as_role", TeamRole, {})
        names = validation.word(team, "team"), validation.word(member, "member")
        return show_member(self._engine, invite_member(self._engine, self._request, *names, role))

    def teams_join(self, team: str) -> ShownTeam:
        """Accept a team invitation."""
        self._require_owner_for_teams("join teams")
        return join_team(self._engine, self._request, validation.word(team, "team"))

    def teams_leave(self, team: str) -> ShownMember:
        """Leave a team or decline an invitation.

        From then on you cannot read the team's sources, including those you added."""
        self._require_owner_for_teams("leave teams")
        return show_member(
            self._engine, leave_team(self._engine, self._request, validation.word(team, "team"))
        )

    def teams_remove(self, team: str, member: str) -> ShownMember:
        """Remove a member from a team, or an invitation."""
        self._require_owner_for_teams("remove people")
        names = validation.word(team, "team"), validation.word(member, "member")
        return show_member(self._engine, remove_member(self._engine, self._request, *names))

    def teams_role(self, team: str, member: str, as_role: str) -> ShownMember:
        """Set a member's role: owner, admin or member."""
        self._require_owner_for_teams("give roles")
        role = validation.choice(as_role, "as_role", TeamRole, {})
        names = validation.word(team, "team"), validation.word(member, "member")
        return show_member(self._engine, set_role(self._engine, self._request, *names, role))

    def teams_use(self, team: str | None = None) -> Sequence[ShownTeam]:
        """Search only one team's sources and your own memory.

        Without a team: search all teams again. Items of other teams can still be shown by id."""
        self._require_owner_for_teams("choose a team")
        self._refuse_team_keys("choose a team")
        return choose_team(self._engine, self._request, optional_word(team, "team"), "active")

    def teams_primary(self, team: str) -> Sequence[ShownTeam]:
        """Set the team that the word `primary` means."""
        self._require_owner_for_teams("choose a team")
        self._refuse_team_keys("choose a team")
        return choose_team(self._engine, self._request, validation.word(team, "team"), "primary")

    def _require_owner_for_teams(self, what: str) -> None:
        """Agents may not manage the owner's teams."""
        self._require_owner(what)


MAX_GRACE = 7 * 24 * 60  # minutes


class KeyVerbs(UserHandle):
    def keys(self) -> Sequence[ShownKey]:
        """List API keys.

        For each its agent, rights, expiry and last day of use. Tokens are shown only once, on
        creation."""
        self._keep_keys()
        return list_keys(self._engine, self.principal.scope)

    def keys_create(
        self,
        label: str,
        *,
        for_agent: str | None = None,
        read_only: bool = False,
        cleared: bool = False,
        may_resolve: bool = False,
        team: str | None = None,
        ttl_days: float | None = None,
        expires_at: Moment | None = None,
    ) -> NewKey:
        """Create an API key for the owner or one agent.

        The token is shown once. team: the key reaches the sources of that team only."""
        self._keep_keys()
        team_name = optional_word(team, "team")
        membership = (
            None if team_name is None else require_member(self._engine, self.principal, team_name)
        )
        return create_key(
            self._engine,
            self._request,
            self.principal.user_id,
            label=validation.word(label, "label"),
            agent=optional_word(for_agent, "for_agent"),
            read_only=validation.flag(read_only, "read_only"),
            cleared=validation.flag(cleared, "cleared"),
            may_resolve=validation.flag(may_resolve, "may_resolve"),
            team=membership and membership.team_id,
            expires_at=read_expiry(ttl_days, expires_at, self._engine.clock()),
        )

    def keys_revoke(self, id: str) -> ShownKey:
        """Revoke an API key immediately.

        In every process that serves this store."""
        self._keep_keys()
        self._refuse_team_keys("revoke keys")
        return revoke_key(self._engine, self._request, self.principal.scope, validation.id(id))

    def keys_rotate(self, id: str, *, grace_minutes: float = 0) -> NewKey:
        """Replace an API key by a new token.

        Same rights and lifetime. The old token ends at once, or after grace_minutes."""
        self._keep_keys()
        self._refuse_team_keys("rotate keys")
        grace = read_grace(grace_minutes)
        scope = self.principal.scope
        return rotate_key(
            self._engine, self._request, scope, validation.id(id), timedelta(minutes=grace)
        )

    def _keep_keys(self) -> None:
        if self.principal.service:
            raise NotAllowed(
                "A service key may not manage API keys.",
                remedy="Use an admin API key, or a key of the user.",
            )
        if not self.principal.keeps_keys:
            raise NotAllowed("Only the owner may manage API keys.")


def read_expiry(
    ttl_days: float | None, expires_at: Moment | None, now: datetime
) -> datetime | None:
    require_at_most_one(ttl_days=ttl_days, expires_at=expires_at)
    if ttl_days is not None:
        field = "ttl_days"
        ends = now + timedelta(days=validation.number(ttl_days, field, 0, validation.MAX_DAYS))
    elif expires_at is not None:
        field = "expires_at"
        ends = validation.when(expires_at, field)
    else:
        return None
    if ends <= now:
        raise InvalidInput("The key would be expired already.", field=field)
    return ends


def read_grace(minutes: float) -> float:
    return validation.number(minutes, "grace_minutes", 0, MAX_GRACE)


class CategoryVerbs(UserHandle):
    def categories(self) -> KnownCategories:
        """List categories and the agents that may read them.

        Also how each category enters a context. Defined in the file that the setting `categories`
        names; changes apply at once."""
        return list_categories(self._engine, self.principal)

    def categories_explain(self, category: str) -> ExplainedCategory:
        """Show one category: contents, context mode, readers."""
        return explain_category(self._engine, self.principal, validation.word(category, "category"))

    def categories_check(self, reader: str, category: str) -> CheckedCategory:
        """Check whether an agent may read a category.

        Names the line of the file that decides."""
        return check_category(
            self._engine,
            self.principal,
            validation.word(reader, "reader"),
            validation.word(category, "category"),
        )
