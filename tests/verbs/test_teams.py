"""Teams: made, joined, looked after, left. Nobody sees anything of a team that they are not in."""

from __future__ import annotations

from threading import Thread

import pytest

from commonplace.errors import InvalidInput, NotAllowed, NotFound
from commonplace.model.access.team import MembershipStatus, TeamRole
from commonplace.operations.serialization import as_data

MINUTES = "The rollout moves to the ninth of May, said the supplier."


@pytest.fixture
def people(book):
    return {name: book.user(name) for name in ("ana", "dan", "eve", "gil")}


@pytest.fixture
def team(people):
    """Ana's, with dan and eve in it."""
    made = people["ana"].teams_create("Planning")
    for name in ("dan", "eve"):
        people["ana"].teams_invite(made.id, name)
        people[name].teams_join(made.id)
    return made.id


def refused(error, verb, *arguments, **named):
    with pytest.raises(error) as caught:
        verb(*arguments, **named)
    return caught.value


def test_teams_create_makes_the_creator_owner(people):
    made = people["ana"].teams_create("Planning", retention_days=30)
    assert (made.name, made.role, made.retention_days) == ("Planning", TeamRole.OWNER, 30)
    (owner,) = made.members
    told = {"team_id", "team_name", "user_id", "role", "standing", "invited_by", "since"}
    assert as_data(owner).keys() == told
    assert owner.user_id == "ana"
    assert [each.id for each in people["ana"].teams()] == [made.id]
    assert people["dan"].teams() == []


def test_teams_invite_grants_no_access_before_join(people):
    ana, dan = people["ana"], people["dan"]
    made = ana.teams_create("Planning")
    kept = ana.ingest(MINUTES, team=made.id)
    assert ana.teams_invite(made.id, "dan").standing is MembershipStatus.INVITED
    invited = dan.teams()[0]
    assert (invited.name, invited.invited_by, invited.members) == ("Planning", "ana", ())
    refused(NotFound, dan.show, kept.id)
    refused(NotFound, dan.ingest, MINUTES, team=made.id)
    assert dan.recall("rollout supplier").is_empty
    dan.teams_join(made.id)
    assert dan.show(kept.id).source.id == kept.id
    assert [hit.citation.source for hit in dan.recall("rollout supplier").hits] == [kept.id]


def test_teams_invitation_can_be_declined_and_revoked(people):
    ana = people["ana"]
    made = ana.teams_create("Planning")
    ana.teams_invite(made.id, "dan")
    people["dan"].teams_leave(made.id)
    ana.teams_invite(made.id, "eve")
    ana.teams_remove(made.id, "eve")
    for name in ("dan", "eve"):
        assert people[name].teams() == []
        refused(NotFound, people[name].teams_join, made.id)
    assert [each.user_id for each in ana.teams_show(made.id).members] == ["ana"]


def test_leave_team_ends_access_at_once(people, team):
    dan = people["dan"]
    kept = dan.ingest(MINUTES, team=team, participants=["dan", "eve"])
    dan.teams_leave(team)
    assert dan.recall("rollout supplier").is_empty
    assert dan.sources().sources == ()
    for verb in (dan.show, dan.history, dan.forget, dan.restore, dan.erase):
        refused(NotFound, verb, kept.id)
    refused(NotFound, dan.teams_show, team)
    refused(NotFound, dan.sources, team=team)
    assert people["ana"].show(kept.id).source.user_id == "dan"


def test_sources_share_refuses_a_former_member(people, team):
    kept = people["ana"].ingest(MINUTES, team=team)
    people["dan"].teams_leave(team)
    refused(NotAllowed, people["ana"].sources_share, kept.id, "dan")
    people["ana"].ingest(MINUTES, team=team, participants=["dan"])
    refused(NotFound, people["dan"].show, kept.id)
    assert people["dan"].sources_invitations() == []
    people["ana"].teams_invite(team, "dan")
    people["dan"].teams_join(team)
    assert people["dan"].show(kept.id)


def test_team_is_not_found_for_outsiders(people, team):
    gil = people["gil"]
    told = {str(refused(NotFound, gil.teams_show, wanted)) for wanted in (team, "no such team")}
    assert len(told) == 1
    for verb in (gil.teams_join, gil.teams_leave, gil.teams_delete, gil.teams_change):
        refused(NotFound, verb, team)
    refused(NotFound, gil.teams_invite, team, "gil")
    refused(NotFound, gil.ingest, MINUTES, team=team)
    refused(NotFound, gil.keys_create, "mine", team=team)


@pytest.mark.parametrize(
    ("who", "whom", "may"),
    [
        (TeamRole.OWNER, TeamRole.OWNER, True),
        (TeamRole.OWNER, TeamRole.ADMIN, True),
        (TeamRole.OWNER, TeamRole.MEMBER, True),
        (TeamRole.ADMIN, TeamRole.OWNER, False),
        (TeamRole.ADMIN, TeamRole.ADMIN, False),
        (TeamRole.ADMIN, TeamRole.MEMBER, True),
        (TeamRole.MEMBER, TeamRole.OWNER, False),
        (TeamRole.MEMBER, TeamRole.ADMIN, False),
        (TeamRole.MEMBER, TeamRole.MEMBER, False),
    ],
)
def test_team_roles_manage_lower_roles_only(people, team, who, whom, may):
    ana, dan = people["ana"], people["dan"]
    ana.teams_role(team, "dan", who)
    ana.teams_role(team, "eve", whom)
    for verb, arguments in (
        (dan.teams_invite, (team, "gil", whom)),
        (dan.teams_role, (team, "eve", whom)),
        (dan.teams_remove, (team, "eve")),
    ):
        as_role = {"as_role": arguments[2]} if verb == dan.teams_invite else {}
        given = arguments[:2] if as_role else arguments
        if may:
            verb(*given, **as_role)
        else:
            refused(NotAllowed, verb, *given, **as_role)


def test_teams_delete_needs_an_owner_and_a_team_keeps_one_owner(people, team):
    ana, dan = people["ana"], people["dan"]
    ana.teams_role(team, "dan", "admin")
    refused(NotAllowed, dan.teams_delete, team)
    refused(NotAllowed, ana.teams_leave, team)
    refused(NotAllowed, ana.teams_remove, team, "ana")
    refused(NotAllowed, ana.teams_role, team, "ana", "member")
    ana.teams_role(team, "dan", "owner")
    ana.teams_leave(team)
    assert dan.teams_show(team).role is TeamRole.OWNER


def test_leave_team_refuses_the_last_of_two_concurrent_owners(people, team):
    people["ana"].teams_role(team, "dan", "owner")
    failed = []

    def leave(name):
        try:
            people[name].teams_leave(team)
        except NotAllowed:
            failed.append(name)

    both = [Thread(target=leave, args=(name,)) for name in ("ana", "dan")]
    for each in both:
        each.start()
    for each in both:
        each.join(30)
    assert len(failed) == 1
    assert people[failed[0]].teams_show(team).role is TeamRole.OWNER


def test_teams_delete_removes_its_sources_for_all_members_and_guests(people, team, book):
    ana = people["ana"]
    kept = ana.ingest(MINUTES, team=team, participants=["gil"])
    people["gil"].remember("Buy bread")
    ana.sources_share(kept.id, "gil")
    people["gil"].sources_accept(kept.id)
    assert people["gil"].show(kept.id)
    ended = ana.teams_delete(team)
    assert ended.sources == 1
    for name in ("ana", "dan", "eve", "gil"):
        assert people[name].teams() == []
        assert people[name].recall("rollout supplier").is_empty
        refused(NotFound, people[name].show, kept.id)


def test_team_source_is_removed_only_by_its_author_or_an_admin(people, team):
    ana, dan, eve = people["ana"], people["dan"], people["eve"]
    kept = dan.ingest(MINUTES, team=team)
    for verb in (eve.forget, eve.erase):
        refused(NotAllowed, verb, kept.id)
    dan.forget(kept.id)
    assert eve.recall("rollout supplier").is_empty
    refused(NotAllowed, eve.restore, kept.id)
    dan.restore(kept.id)
    ana.forget(kept.id)
    ana.restore(kept.id)
    ana.erase(kept.id)
    refused(NotFound, dan.show, kept.id)


def test_ingest_does_not_overwrite_a_team_source_of_another_author(people, team, tmp_path):
    path = tmp_path / "minutes.txt"
    path.write_text("The rollout moves to May.")
    first = people["dan"].ingest(path, team=team)
    path.write_text("There will be no rollout at all.")
    other = people["eve"].ingest(path, team=team)
    assert other.id != first.id
    assert "May" in people["ana"].show(first.id).passages[0].text
    path.write_text("The rollout moves to June.")
    assert people["dan"].ingest(path, team=team).id == first.id


def test_source_alias_is_separate_for_own_and_team_sources(people, team):
    ana = people["ana"]
    mine = ana.ingest("My own minutes of the rollout.", external_id="minutes", origin="desk")
    ours = ana.ingest(
        "Our minutes of the rollout.", external_id="minutes", origin="desk", team=team
    )
    assert mine.id != ours.id
    assert ana.show("desk:minutes").source.id == mine.id
    assert people["dan"].show("desk:minutes").source.id == ours.id


def test_team_source_of_high_sensitivity_is_visible_to_its_author_by_id_only(people, team, book):
    kept = people["dan"].ingest(MINUTES, team=team, sensitivity="high")
    assert people["dan"].show(kept.id)
    for user in (people["ana"], book.user("ana", cleared=True)):
        refused(NotFound, user.show, kept.id)
        refused(NotFound, user.history, kept.id)
        assert user.recall("rollout supplier").is_empty
        assert user.sources().sources == ()
    assert book.user("dan", cleared=True).recall("rollout supplier").is_empty


def test_team_sources_are_readable_by_agents_with_history_access(people, team):
    kept = people["dan"].ingest(MINUTES, team=team)
    ana = people["ana"]
    assert ana.agent("researcher").show(kept.id)
    refused(NotFound, ana.agent("planner").show, kept.id)
    for verb in ("teams", "teams_create", "teams_join"):
        given = () if verb == "teams" else ("Planning",)
        refused(NotAllowed, getattr(ana.agent("researcher"), verb), *given)


def test_teams_use_limits_search_to_one_team(people, team):
    ana = people["ana"]
    other = ana.teams_create("Garden").id
    ours = ana.ingest(MINUTES, team=team)
    theirs = ana.ingest("The rollout of the new lawn is in June.", team=other)

    def found():
        return {hit.citation.source for hit in ana.recall("when is the rollout?").hits}

    assert found() == {ours.id, theirs.id}
    ana.teams_use("garden")
    assert found() == {theirs.id}
    assert [each.id for each in ana.sources().sources] == [theirs.id]
    assert ana.show(ours.id), "by id, it is still there"
    ana.teams_use()
    assert found() == {ours.id, theirs.id}


def test_teams_primary_defaults_to_the_first_team(people, team):
    ana = people["ana"]
    other = ana.teams_create("Garden").id
    assert ana.ingest("Of the first.", team="primary").source.team_id == team
    ana.teams_primary("garden")
    assert ana.ingest("Of the second.", team="primary").source.team_id == other
    assert people["dan"].ingest("Also of the first.", team="primary").source.team_id == team


def test_team_name_lookup_refuses_an_ambiguous_name(people, team):
    people["ana"].teams_create("planning")
    refused(InvalidInput, people["ana"].teams_show, "Planning")


def test_tidy_applies_the_retention_of_a_team(people, team, book, clock):
    ana = people["ana"]
    ana.teams_change(team, retention_days=30)
    kept = ana.ingest(MINUTES, team=team)
    clock.tick(days=29)
    book.tidy_what_is_due()
    assert ana.show(kept.id)
    clock.tick(days=2)
    book.tidy_what_is_due()
    refused(NotFound, ana.show, kept.id)
    ana.restore(kept.id)
    ana.teams_change(team, retention_days=0)
    clock.tick(days=400)
    book.tidy_what_is_due()
    assert ana.show(kept.id)


def test_tidy_purges_forgotten_team_sources(people, team, book, clock):
    kept = people["ana"].ingest(MINUTES, team=team)
    people["ana"].forget(kept.id)
    clock.tick(days=31)
    book.tidy_what_is_due()
    refused(NotFound, people["ana"].restore, kept.id)


def test_erase_user_passes_ownership_to_the_longest_standing_member(people, team):
    kept = people["ana"].ingest(MINUTES, team=team)
    people["ana"].erase_user()
    shown = people["dan"].teams_show(team)
    assert shown.role is TeamRole.OWNER
    assert [each.user_id for each in shown.members] == ["dan", "eve"]
    assert people["dan"].show(kept.id), "what was the team's stays the team's"
    people["dan"].erase_user()
    people["eve"].erase_user()
    assert people["eve"].teams() == people["dan"].teams() == []


def test_api_key_for_one_team_reaches_no_other_team(people, team, book):
    ana = people["ana"]
    other = ana.teams_create("Garden").id
    ours, theirs = (ana.ingest(text, team=t) for text, t in ((MINUTES, team), ("Lawn", other)))
    kept = ana.remember("The lawn is mine")
    narrow = book.authenticate(ana.keys_create("narrow", team=team).token)
    assert narrow.show(ours.id)
    assert narrow.show(kept.id)
    refused(NotFound, narrow.show, theirs.id)
    refused(NotFound, narrow.ingest, "Grass", team=other)
    refused(NotFound, narrow.teams_show, other)
    refused(NotAllowed, narrow.keys_create, "wide")
    assert narrow.recall("lawn", sources="only").is_empty


def test_ingest_into_a_team_rechecks_membership_in_the_write(people, team, book, monkeypatch):
    """The membership is asked for once more in the transaction that would write."""
    dan, store = people["dan"], book._engine.store
    asked = store.sources

    def removed_meanwhile(*arguments):
        monkeypatch.setattr(store, "sources", asked)
        people["ana"].teams_remove(team, "dan")
        return asked(*arguments)

    monkeypatch.setattr(store, "sources", removed_meanwhile)
    with pytest.raises((NotFound, NotAllowed)):
        dan.ingest(MINUTES, team=team)
    assert people["ana"].sources(team=team).sources == ()


def test_team_refusals_suggest_an_owner_of_the_team(people, team):
    """Not to the owner of a memory, who has no say in it."""
    for told in (
        refused(NotAllowed, people["dan"].teams_delete, team),
        refused(NotAllowed, people["dan"].teams_invite, team, "gil"),
    ):
        assert "owner of the team" in told.remedy
    unknown = refused(NotFound, people["ana"].teams_remove, team, "nobody")
    assert "commonplace teams show" in unknown.remedy
