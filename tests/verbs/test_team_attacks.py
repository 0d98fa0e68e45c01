"""What members, guests and ex-members tried with each other, and what became of it."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from threading import Barrier, Thread

import pytest

from commonplace.engine.teams.members import check_team_limit
from commonplace.errors import CommonplaceError, LimitReached, NotAllowed, NotFound
from commonplace.model.access.principal import Scope
from commonplace.model.access.team import MAX_TEAMS, MembershipStatus

RACE_ROUNDS = 40
MINUTES = "The heron budget was agreed on Monday."


@pytest.fixture
def people(book):
    for name in ("ana", "dan", "eve", "gus"):
        book.user(name).remember("Buy bread")
    return {name: book.user(name) for name in ("ana", "dan", "eve", "gus")}


@pytest.fixture
def team(people):
    """Ana's, with dan and gus in it; eve is a stranger."""
    made = people["ana"].teams_create("Planning")
    for name in ("dan", "gus"):
        people["ana"].teams_invite(made.id, name)
        people[name].teams_join(made.id)
    return made.id


@pytest.fixture
def brought(people, team):
    return people["ana"].ingest(
        MINUTES, team=team, external_id="m1", origin="gmail", title="Minutes"
    )


def rows_agree(book, team, user):
    """Both sides of a membership say the same."""
    store = book._engine.store
    of_team = {m.user_id: m for m in store.access(Scope.of_team(team)).memberships}
    of_user = {m.team_id: m for m in store.access(Scope.of_user(user)).memberships}
    mine, theirs = of_user.get(team), of_team.get(user)
    if mine is None:
        return theirs is None or str(theirs.standing) == "left"
    return theirs is not None and (mine.role, mine.standing) == (theirs.role, theirs.standing)


def no_share_with(book, team, user):
    """Neither side has a row."""
    store = book._engine.store
    shares = store.access(Scope.of_team(team)).shares + store.access(Scope.of_user(user)).shares
    return all(share.guest != user for share in shares)


def at_once(*calls):
    failed = []
    start = Barrier(len(calls))

    def run(call):
        start.wait(60)
        try:
            call()
        except CommonplaceError as error:
            failed.append(error)

    threads = [Thread(target=run, args=(call,)) for call in calls]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    return failed


# ——— races ———


def test_teams_use_concurrent_with_removal_does_not_restore_membership(book, people, team):
    ana, dan = people["ana"], people["dan"]

    def keep_choosing():
        for _ in range(20):
            dan.teams_use(team)
            dan.teams_use(None)

    at_once(keep_choosing, lambda: ana.teams_remove(team, "dan"))
    assert rows_agree(book, team, "dan")
    assert dan.teams() == []


def test_teams_use_is_refused_after_a_concurrent_removal(book, people, team, monkeypatch):
    ana, dan, store = people["ana"], people["dan"], book._engine.store
    apply = store.apply

    def overtaken(*changesets):
        monkeypatch.setattr(store, "apply", apply)
        ana.teams_remove(team, "dan")
        return apply(*changesets)

    monkeypatch.setattr(store, "apply", overtaken)
    with pytest.raises(NotFound):
        dan.teams_use(team)
    assert rows_agree(book, team, "dan")


@pytest.mark.parametrize("overtaking", ["uninvited", "demoted"])
def test_team_change_decided_on_a_stale_state_is_refused(
    book, people, team, monkeypatch, overtaking
):
    ana, dan, eve, store = people["ana"], people["dan"], people["eve"], book._engine.store
    ana.teams_role(team, "dan", "admin")
    ana.teams_invite(team, "eve")
    apply = store.apply

    def overtaken(*changesets):
        monkeypatch.setattr(store, "apply", apply)
        if overtaking == "uninvited":
            ana.teams_remove(team, "eve")
        else:
            ana.teams_role(team, "dan", "member")
        return apply(*changesets)

    monkeypatch.setattr(store, "apply", overtaken)
    late = {
        "uninvited": lambda: eve.teams_join(team),
        "demoted": lambda: dan.teams_invite(team, "newcomer"),
    }
    with pytest.raises((NotFound, NotAllowed)):
        late[overtaking]()
    assert all(rows_agree(book, team, name) for name in ("eve", "dan"))


def test_concurrent_demotion_and_removal_of_two_owners_leave_an_owner(book, people, team):
    ana, dan = people["ana"], people["dan"]
    ana.teams_role(team, "dan", "owner")
    at_once(lambda: dan.teams_role(team, "ana", "member"), lambda: ana.teams_remove(team, "dan"))
    roles = [m.role for m in book._engine.store.access(Scope.of_team(team)).memberships if m.owns]
    assert roles
    assert all(rows_agree(book, team, name) for name in ("ana", "dan"))


@pytest.mark.parametrize("verb", ["sources_share", "sources_accept"])
def test_share_is_refused_when_the_guest_is_removed_meanwhile(
    book, people, team, brought, monkeypatch, verb
):
    """She is invited to the team and to one of its sources; the team takes both back."""
    ana, eve, store = people["ana"], people["eve"], book._engine.store
    ana.teams_invite(team, "eve")
    if verb == "sources_accept":
        ana.sources_share(brought.id, "eve")
    apply = store.apply

    def overtaken(*changesets):
        monkeypatch.setattr(store, "apply", apply)
        ana.teams_remove(team, "eve")
        return apply(*changesets)

    monkeypatch.setattr(store, "apply", overtaken)
    call = {
        "sources_share": lambda: ana.sources_share(brought.id, "eve"),
        "sources_accept": lambda: eve.sources_accept(brought.id),
    }[verb]
    with pytest.raises((NotFound, NotAllowed)):
        call()
    assert no_share_with(book, team, "eve")


def test_sources_accept_is_refused_after_a_concurrent_unshare(book, people, brought, monkeypatch):
    ana, eve, store = people["ana"], people["eve"], book._engine.store
    ana.sources_share(brought.id, "eve")
    apply = store.apply

    def overtaken(*changesets):
        monkeypatch.setattr(store, "apply", apply)
        ana.sources_unshare(brought.id, with_user="eve")
        return apply(*changesets)

    monkeypatch.setattr(store, "apply", overtaken)
    with pytest.raises(NotFound):
        eve.sources_accept(brought.id)
    assert no_share_with(book, brought.source.team_id, "eve")


def test_teams_remove_decides_again_after_a_concurrent_share(
    book, people, team, brought, monkeypatch
):
    ana, store = people["ana"], book._engine.store
    ana.teams_invite(team, "eve")
    apply = store.apply

    def overtaken(*changesets):
        monkeypatch.setattr(store, "apply", apply)
        ana.sources_share(brought.id, "eve")
        return apply(*changesets)

    monkeypatch.setattr(store, "apply", overtaken)
    ana.teams_remove(team, "eve")
    assert no_share_with(book, team, "eve")


@pytest.mark.parametrize("joined", [True, False], ids=["member", "invited"])
def test_sources_share_concurrent_with_removal_leaves_no_guest(open_book, joined):
    """Two processes' worth of handles, released together, many times over."""
    book, other = open_book(), open_book()
    ana, same_ana = book.user("ana"), other.user("ana")
    team = ana.teams_create("Planning").id
    brought = ana.ingest(MINUTES, team=team)
    for number in range(RACE_ROUNDS):
        name = f"member {number}"
        ana.teams_invite(team, name)
        if joined:
            book.user(name).teams_join(team)
        at_once(
            partial(ana.teams_remove, team, name),
            partial(same_ana.sources_share, brought.id, name),
        )
        assert no_share_with(book, team, name)
        with pytest.raises(NotFound):
            book.user(name).show(brought.id)


# ——— what another brought ———


@pytest.mark.parametrize(
    "given",
    [
        {"title": "Seized"},
        {"tags": ["seized"], "metadata": {"by": "dan"}},
        {"format": "text", "date": "2020-01-01"},
        {"sensitivity": "high"},
        {"participants": ["eve"]},
    ],
    ids=str,
)
def test_reingest_by_another_member_leaves_the_source_unchanged(people, team, brought, given):
    before = people["ana"].show(brought.id)
    again = people["dan"].ingest(MINUTES, team=team, external_id="m1", origin="gmail", **given)
    assert (again.id, str(again.action)) == (brought.id, "unchanged")
    assert people["ana"].show(brought.id) == before
    assert people["gus"].show(brought.id)
    with pytest.raises(NotFound):
        people["eve"].show(brought.id)


def test_ingest_append_by_another_member_makes_a_separate_source(people, team):
    talk = json.dumps({"speaker": "Ana", "text": "I like the heron budget."})
    said = {"external_id": "c1", "origin": "desk", "team": team}
    hers = people["ana"].ingest(talk, **said)
    forged = json.dumps({"speaker": "Ana", "text": "I approve the payment of 9000."})
    beside = people["dan"].ingest(forged, append=True, participants=["eve"], **said)
    assert beside.id != hers.id
    hit = people["gus"].recall("who approves the payment of 9000?").hits[0]
    assert (hit.citation.source, hit.citation.brought_by) == (beside.id, "dan")
    assert "brought by dan" in hit.bullet
    with pytest.raises(NotFound):
        people["eve"].show(hers.id)


def test_forgotten_sources_are_listed_only_to_members_able_to_restore(people, team, brought):
    ana, dan, eve = people["ana"], people["dan"], people["eve"]
    ana.sources_share(brought.id, "eve")
    eve.sources_accept(brought.id)
    ana.forget(brought.id)
    for user in (dan, eve, people["gus"]):
        assert user.sources(forgotten=True).sources == ()
    assert dan.sources(forgotten=True, team=team).sources == ()
    assert [each.id for each in ana.sources(forgotten=True, team=team).sources] == [brought.id]


# ——— guests ———


def test_import_of_an_erased_source_does_not_restore_guest_access(people):
    ana, eve = people["ana"], people["eve"]
    kept = ana.ingest(MINUTES, participants=["eve"])
    eve.sources_accept(kept.id)
    backup = list(ana.export())
    ana.erase(kept.id)
    ana.import_(backup)
    assert ana.show(kept.id)
    with pytest.raises(NotFound):
        eve.show(kept.id)
    assert eve.recall("heron budget").is_empty


def test_share_of_a_forged_source_id_does_not_replace_the_original(people, book):
    ana, gus = people["ana"], people["gus"]
    kept = ana.ingest(MINUTES, participants=["gus"])
    gus.sources_accept(kept.id)
    forged = [line.replace("heron", "goose").replace('"ana"', '"eve"') for line in ana.export()]
    book.user("mal").import_(forged)
    assert book.user("mal").show(kept.id)
    book.user("mal").sources_share(kept.id, "gus")
    assert gus.sources_invitations() == []
    assert gus.sources_accept(kept.id).from_user == "ana"
    assert "heron" in gus.show(kept.id).passages[0].text
    assert len(gus.recall("which budget was agreed on Monday?").hits) == 1


def test_unshare_by_guest_blocks_later_shares_from_the_same_stranger(people):
    eve, ana = people["eve"], people["ana"]
    first = eve.ingest("The wifi password is hunter2.", participants=["ana"])
    ana.sources_unshare(first.id)
    for number in range(3):
        eve.ingest(f"The wifi password is hunter{number}.", participants=["ana"])
    assert ana.sources_invitations() == []
    assert ana.recall("what is the wifi password?").is_empty


def test_context_names_the_bringer_of_a_shared_source(people):
    kept = people["eve"].ingest("The wifi password is hunter2.", participants=["ana"])
    people["ana"].sources_accept(kept.id)
    context = people["ana"].context("what is the wifi password?", thread="new")
    assert "hunter2" in context.text
    assert "brought by eve" in context.text


# ——— questions about the reader ———

QUESTIONS = {
    "recall": lambda me, asked: me.recall(asked).text,
    "query": lambda me, asked: me.query(asked).text,
    "context": lambda me, asked: me.context(asked, thread="new").text,
    "whole_context": lambda me, asked: me.whole_context(asked).text,
}


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
@pytest.mark.parametrize("speaker", ["dan", "ana", None], ids=["other", "forged", "text"])
@pytest.mark.parametrize("way", ["guest", "team"])
def test_another_users_source_answers_no_question_about_the_reader(people, team, ask, speaker, way):
    ana, dan = people["ana"], people["dan"]
    words = "I live in Elmville. My wifi password is hunter2."
    said = {"format": "transcript"} if speaker else {}
    kept = dan.ingest(
        f"{speaker}: {words}" if speaker else words,
        participants=["ana"],
        team=team if way == "team" else None,
        **said,
    )
    if way == "guest":
        ana.sources_accept(kept.id)
    for asked in ("where do I live?", "what is my wifi password?"):
        assert "Elmville" not in ask(ana, asked)
    assert "Elmville" in ask(ana, "who lives in Elmville?")
    assert "brought by dan" in ask(ana, "who lives in Elmville?")
    assert "Elmville" in ask(dan, "where do I live?"), "his own words"
    named = ana.recall("where do I live?", sources=[kept.id])
    assert named.hits[0].citation.brought_by == "dan"


def test_memory_extracted_from_anothers_source_names_them_and_answers_nothing_about_the_reader(
    people, team
):
    ana, dan = people["ana"], people["dan"]
    kept = dan.ingest("Dan: I live in Elmville.", format="transcript", team=team)
    ana.extract([kept.id])
    (learned,) = [each for each in ana.list().memories if each.source_id == kept.id]
    assert learned.id not in {each.id for each in ana.recall("where do I live?").hits}
    (hit,) = [each for each in ana.recall("where does Dan live?").hits if each.id == learned.id]
    assert hit.citation.brought_by == "dan"
    assert "(brought by dan)" in hit.bullet
    assert "(brought by dan)" in ana.query("where does Dan live?").text


def test_own_sources_answer_questions_about_the_reader_in_a_team(people, team):
    ana = people["ana"]
    ana.ingest("I live in Elmville.", team=team)
    people["dan"].ingest("I live in Oakham.", team=team)
    assert [hit.text for hit in ana.recall("where do I live?").hits] == ["I live in Elmville."]


# ——— invitations and keys ———


def test_pending_invitations_do_not_count_for_team_limit_or_team_names(people, team, book):
    eve, dan = people["eve"], people["dan"]
    theirs = eve.teams_create("planning").id
    eve.teams_invite(theirs, "dan")
    a_membership = book._engine.store.access(Scope.of_team(team)).memberships[0]
    assert dan.ingest(MINUTES, team="Planning").source.team_id == team
    invited = [replace(a_membership, standing=MembershipStatus.INVITED)] * MAX_TEAMS
    check_team_limit(invited)
    with pytest.raises(LimitReached):
        check_team_limit([a_membership] * MAX_TEAMS)


def test_team_key_refuses_account_wide_verbs(people, team, book):
    ana = people["ana"]
    wide = ana.keys_create("wide")
    narrow = book.authenticate(ana.keys_create("narrow", team=team).token)
    for verb, given in (
        (narrow.erase_user, ()),
        (narrow.teams_use, ()),
        (narrow.teams_primary, (team,)),
        (narrow.keys_revoke, (wide.id,)),
        (narrow.keys_rotate, (wide.id,)),
    ):
        with pytest.raises(NotAllowed):
            verb(*given)
    assert book.authenticate(wide.token)


def test_nightly_tidy_applies_team_retention_in_a_running_process(people, team, book, clock):
    people["ana"].teams_change(team, retention_days=1)
    kept = people["ana"].ingest(MINUTES, team=team)
    assert not book.tidy_schedule.run_if_due()
    clock.tick(days=5)
    assert book.tidy_schedule.run_if_due()
    with pytest.raises(NotFound):
        people["gus"].show(kept.id)
    assert not book.tidy_schedule.run_if_due()
