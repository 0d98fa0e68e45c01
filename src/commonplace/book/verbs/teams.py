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
        """The teams that one is in, and those that one is invited to."""
        self._for_the_person("look at teams")
        return teams_of(self._desk, self.principal)

    def teams_show(self, team: str) -> ShownTeam:
        """One team with its people."""
        self._for_the_person("look at teams")
        return show_team(self._desk, self.principal, check.word(team, "team"))

    def teams_create(self, name: str, *, retention_days: int | None = None) -> ShownTeam:
        """Make a team, as its owner. Its members read the sources that are brought into it
        (`ingest` with team); with retention_days, sources older than that are let go."""
        self._for_the_person("make teams")
        days = optional_integer(retention_days, "retention_days", 1, MAX_RETENTION_DAYS)
        return create_team(self._desk, self.principal, check.word(name, "name"), days)

    def teams_change(
        self, team: str, *, name: str | None = None, retention_days: int | None = None
    ) -> ShownTeam:
        """Rename a team, or say for how many days its sources are kept (0: for ever)."""
        self._for_the_person("look after teams")
        days = optional_integer(retention_days, "retention_days", 0, MAX_RETENTION_DAYS)
        called = optional_word(name, "name")
        return change_team(self._desk, self.principal, check.word(team, "team"), called, days)

    def teams_delete(self, team: str) -> TeamEnded:
        """End a team for good, with all its sources. Cannot be undone."""
        self._for_the_person("end teams")
        return delete_team(self._desk, self.principal, check.word(team, "team"))

    def teams_invite(self, team: str, member: str, *, as_role: str = Role.MEMBER) -> ShownMember:
        """Invite a user. They see nothing of the team until they join it."""
        self._for_the_person("invite people")
        role = check.choice(as_role, "as_role", Role, {})
        names = check.word(team, "team"), check.word(member, "member")
        return show_member(self._desk, invite(self._desk, self.principal, *names, role))

    def teams_join(self, team: str) -> ShownTeam:
        """Accept an invitation."""
        self._for_the_person("join teams")
        return join(self._desk, self.principal, check.word(team, "team"))

    def teams_leave(self, team: str) -> ShownMember:
        """Leave a team, or decline an invitation. From that moment on nothing of the team is seen
        any more, not even what one brought oneself."""
        self._for_the_person("leave teams")
        return show_member(self._desk, leave(self._desk, self.principal, check.word(team, "team")))

    def teams_remove(self, team: str, member: str) -> ShownMember:
        """Remove somebody from a team, or take back an invitation."""
        self._for_the_person("remove people")
        names = check.word(team, "team"), check.word(member, "member")
        return show_member(self._desk, remove(self._desk, self.principal, *names))

    def teams_role(self, team: str, member: str, as_role: str) -> ShownMember:
        """Make somebody an owner, an admin or a member."""
        self._for_the_person("give roles")
        role = check.choice(as_role, "as_role", Role, {})
        names = check.word(team, "team"), check.word(member, "member")
        return show_member(self._desk, set_role(self._desk, self.principal, *names, role))

    def teams_use(self, team: str | None = None) -> Sequence[ShownTeam]:
        """Search in one team's sources alone, beside one's own memory; without a team, in all of
        them again. By id, what is of the others can still be looked at."""
        self._for_the_person("choose a team")
        self._for_the_whole_person("choose a team")
        return choose(self._desk, self.principal, optional_word(team, "team"), "active")

    def teams_primary(self, team: str) -> Sequence[ShownTeam]:
        """Say which team the word `primary` means."""
        self._for_the_person("choose a team")
        self._for_the_whole_person("choose a team")
        return choose(self._desk, self.principal, check.word(team, "team"), "primary")

    def _for_the_person(self, what: str) -> None:
        """Whom somebody keeps company with is no agent's business."""
        self._owner_only(what)
