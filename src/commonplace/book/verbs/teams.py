"""Teams: people who share sources. What anybody remembers is never a team's."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.book.members import invite, join, leave, remove, set_role
from commonplace.book.requests import optional_integer, optional_word
from commonplace.book.teams import TeamEnded, change_team, choose, create_team, delete_team
from commonplace.book.verbs.handle import Handle
from commonplace.book.which_team import ShownMember, ShownTeam, show_member, show_team, teams_of
from commonplace.model import check
from commonplace.model.team import MAX_RETENTION_DAYS, Role


class OfTeams(Handle):
    def teams(self) -> Sequence[ShownTeam]:
        """List your teams and invitations."""
        self._for_the_person("look at teams")
        return teams_of(self._desk, self.principal)

    def teams_show(self, team: str) -> ShownTeam:
        """Show a team and its members."""
        self._for_the_person("look at teams")
        return show_team(self._desk, self.principal, check.word(team, "team"))

    def teams_create(self, name: str, *, retention_days: int | None = None) -> ShownTeam:
        """Create a team that you own.

        Members can read the sources that are ingested for the team; with retention_days, older
        sources are removed."""
        self._for_the_person("make teams")
        days = optional_integer(retention_days, "retention_days", 1, MAX_RETENTION_DAYS)
        return create_team(self._desk, self.principal, check.word(name, "name"), days)

    def teams_change(
        self, team: str, *, name: str | None = None, retention_days: int | None = None
    ) -> ShownTeam:
        """Rename a team or change its retention.

        retention_days 0: keep sources forever."""
        self._for_the_person("look after teams")
        days = optional_integer(retention_days, "retention_days", 0, MAX_RETENTION_DAYS)
        called = optional_word(name, "name")
        return change_team(self._desk, self.principal, check.word(team, "team"), called, days)

    def teams_delete(self, team: str) -> TeamEnded:
        """Delete a team and all its sources.

        Cannot be undone."""
        self._for_the_person("end teams")
        return delete_team(self._desk, self.principal, check.word(team, "team"))

    def teams_invite(self, team: str, member: str, *, as_role: str = Role.MEMBER) -> ShownMember:
        """Invite a user to a team.

        They see nothing of the team until they join."""
        self._for_the_person("invite people")
        role = check.choice(as_role, "as_role", Role, {})
        names = check.word(team, "team"), check.word(member, "member")
        return show_member(self._desk, invite(self._desk, self.principal, *names, role))

    def teams_join(self, team: str) -> ShownTeam:
        """Accept a team invitation."""
        self._for_the_person("join teams")
        return join(self._desk, self.principal, check.word(team, "team"))

    def teams_leave(self, team: str) -> ShownMember:
        """Leave a team or decline an invitation.

        From then on you cannot read the team's sources, including those you added."""
        self._for_the_person("leave teams")
        return show_member(self._desk, leave(self._desk, self.principal, check.word(team, "team")))

    def teams_remove(self, team: str, member: str) -> ShownMember:
        """Remove a member from a team, or an invitation."""
        self._for_the_person("remove people")
        names = check.word(team, "team"), check.word(member, "member")
        return show_member(self._desk, remove(self._desk, self.principal, *names))

    def teams_role(self, team: str, member: str, as_role: str) -> ShownMember:
        """Set a member's role: owner, admin or member."""
        self._for_the_person("give roles")
        role = check.choice(as_role, "as_role", Role, {})
        names = check.word(team, "team"), check.word(member, "member")
        return show_member(self._desk, set_role(self._desk, self.principal, *names, role))

    def teams_use(self, team: str | None = None) -> Sequence[ShownTeam]:
        """Search only one team's sources and your own memory.

        Without a team: search all teams again. Items of other teams can still be shown by id."""
        self._for_the_person("choose a team")
        self._for_the_whole_person("choose a team")
        return choose(self._desk, self.principal, optional_word(team, "team"), "active")

    def teams_primary(self, team: str) -> Sequence[ShownTeam]:
        """Set the team that the word `primary` means."""
        self._for_the_person("choose a team")
        self._for_the_whole_person("choose a team")
        return choose(self._desk, self.principal, check.word(team, "team"), "primary")

    def _for_the_person(self, what: str) -> None:
        """Whom somebody keeps company with is no agent's business."""
        self._owner_only(what)
