"""What recall finds beyond one's own memory: passages of a team, passages that were granted, and
nothing else that anybody else has."""

from __future__ import annotations

from datetime import timedelta

import pytest

from commonplace.engine.history.time_travel import context_at
from commonplace.engine.search.plan import RecallPlan, SearchTargets
from commonplace.engine.search.recall import recall
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.filters import Filters
from commonplace.model.memory.lifecycle import PointInTime
from commonplace.model.memory.memory import State
from commonplace.store.queries import SourcesById
from support.clock import START
from support.making import a_memory, changeset
from support.scopes import ANA, GARDENERS, Said, as_guest, ask, bring, keep, of_team, own
from support.sources import altering

BOB = Scope.of_user("bob")
QUERY = "Where does the heron stand?"
HERON = "The heron stands by the harbour"


def ids(answer):
    return {hit.id for hit in answer.hits}


def test_a_teams_passages_are_found_beside_ones_own_memories(book, me):
    mine = me.remember("The heron in my garden stands on one leg").id
    theirs = bring(book, GARDENERS, [HERON], user_id="bob")
    assert ids(ask(book, QUERY, own(), of_team())) == {mine, f"{theirs.id}#1"}


def test_a_hit_says_whose_it_is_and_who_brought_it(book):
    theirs = bring(book, GARDENERS, [HERON], user_id="bob")
    (hit,) = ask(book, QUERY, own(), of_team()).hits
    assert (hit.citation.team, hit.citation.brought_by) == ("gardeners", "bob")
    granted = bring(book, BOB, ["A heron stands in the reeds"], user_id="bob")
    (hit,) = ask(book, QUERY, own(), as_guest(BOB, granted)).hits
    assert (hit.citation.team, hit.citation.brought_by) == (None, "bob")
    assert not hit.forgettable
    assert theirs.id not in hit.id


def test_what_one_brought_to_a_team_is_the_teams_and_brought_by_nobody_else(book):
    bring(book, GARDENERS, [HERON], user_id="ana")
    (hit,) = ask(book, QUERY, own(), of_team()).hits
    assert (hit.citation.team, hit.citation.brought_by) == ("gardeners", None)


def test_of_ones_own_nothing_is_said_about_whose_it_is(book, me):
    me.ingest(HERON)
    (hit,) = me.recall(QUERY).hits
    assert (hit.citation.team, hit.citation.brought_by) == (None, None)


def test_what_is_not_in_the_reach_is_not_found(book):
    granted = bring(book, BOB, ["A heron stands in the reeds"])
    bring(book, BOB, [HERON])
    bring(book, GARDENERS, [HERON])
    assert ids(ask(book, QUERY, own())) == set()
    assert ids(ask(book, QUERY, own(), as_guest(BOB, granted))) == {f"{granted.id}#1"}
    assert ids(ask(book, QUERY, own(), as_guest(BOB))) == set()


def test_memories_are_found_in_ones_own_scope_alone(book):
    keep(book, GARDENERS, [a_memory(HERON)])
    keep(book, BOB, [a_memory(HERON)])
    assert ids(ask(book, QUERY, own(), of_team(), of_team(BOB))) == set()
    assert ids(ask(book, QUERY, own(), of_team(), of_team(BOB), threshold=0.0)) == set()


@pytest.mark.parametrize("principal", [ANA, Principal("ana", cleared=True)])
def test_what_is_sensitive_is_found_by_nobody_else(book, principal):
    secret = bring(book, GARDENERS, [HERON], sensitivity="high")
    for reading in (of_team(), as_guest(GARDENERS, secret)):
        for within in (SearchTargets(), SearchTargets(memories=False, sources=(secret.id,))):
            found = ask(book, QUERY, own(), reading, principal=principal, within=within)
            assert ids(found) == set()


def test_an_agent_without_history_finds_no_passages_anywhere(book):
    bring(book, GARDENERS, [HERON])
    planner = Principal("ana", agent="planner", allowed=frozenset({"knowledge"}))
    reader = Principal("ana", agent="reader", allowed=frozenset({"history"}))
    assert ids(ask(book, QUERY, own(), of_team(), principal=planner)) == set()
    assert len(ids(ask(book, QUERY, own(), of_team(), principal=reader))) == 1


def test_what_is_forgotten_is_gone_for_everybody_and_comes_back_for_everybody(book):
    store = book._engine.store
    theirs = bring(book, GARDENERS, [HERON])
    ways = (of_team(), as_guest(GARDENERS, theirs))
    for state, found in ((State.ACTIVE, 1), (State.SOFT_DELETED, 0), (State.ACTIVE, 1)):
        (now,) = store.sources(GARDENERS, SourcesById([theirs.id]))
        store.apply(changeset(altering(now, state=state), scope=GARDENERS))
        for reading in ways:
            assert len(ids(ask(book, QUERY, own(), reading))) == found


def test_filters_and_named_sources_hold_in_every_scope(book):
    tagged = bring(book, GARDENERS, [HERON], tags=("birds",))
    other = bring(book, GARDENERS, ["Another heron stands there"])
    granted = bring(book, BOB, ["A heron stands in the reeds"], tags=("birds",))
    reach = (own(), of_team(), as_guest(BOB, granted))
    birds = ask(book, QUERY, *reach, filters=Filters(tags=("birds",)))
    assert ids(birds) == {f"{tagged.id}#1", f"{granted.id}#1"}
    named = SearchTargets(memories=False, sources=(other.id, granted.id))
    assert ids(ask(book, QUERY, *reach, within=named)) == {f"{other.id}#1", f"{granted.id}#1"}
    assert ids(ask(book, QUERY, *reach, within=SearchTargets(passages=False))) == set()


def test_who_takes_part_in_a_teams_talk_is_known_by_name(book):
    said = [Said("It stands there", "Dana Levi"), Said("By the harbour", "Ilan Bar", 1)]
    talk = bring(book, GARDENERS, said)
    hits = ask(book, "What did Dana say?", own(), of_team(), explain=True, threshold=0.0).hits
    spoken = {hit.id: hit.parts.get("speaker", 0.0) for hit in hits}
    assert spoken[f"{talk.id}#1"] > 0
    assert spoken[f"{talk.id}#2"] == 0


def test_a_document_of_one_scope_is_followed_from_a_mention_in_another(book):
    plan = {"title": "Harbour atlas", "source_type": "file", "content_type": "text-note"}
    atlas = bring(book, BOB, ["Depths and tides"], **plan)
    bring(book, GARDENERS, ["The heron stands where the Harbour atlas says"])
    hits = ask(book, QUERY, own(), of_team(), as_guest(BOB, atlas), threshold=0.0, explain=True)
    lifted = {hit.id for hit in hits.hits if hit.parts.get("title")}
    assert lifted == {f"{atlas.id}#1"}


def test_two_scopes_number_their_passages_alike_and_are_not_confused(book):
    first = bring(book, GARDENERS, [HERON])
    second = bring(book, BOB, ["The heron stands in the reeds"])
    found = ask(book, QUERY, own(), of_team(), as_guest(BOB, second)).hits
    texts = {hit.id: hit.text for hit in found}
    assert texts == {
        f"{first.id}#1": HERON,
        f"{second.id}#1": "The heron stands in the reeds",
    }


def test_of_a_team_and_as_a_guest_one_looks_back_as_at_ones_own(book, clock):
    """What was said later, and what came later, was not there."""
    said = [Said(HERON, minute=0), Said("The heron stands on the pier", minute=60 * 24 * 9)]
    talk = bring(book, GARDENERS, said)
    clock.tick(days=20)
    early = PointInTime(as_of=START + timedelta(days=1))
    unknown = PointInTime(known_at=START - timedelta(days=1))
    for reading in (of_team(), as_guest(GARDENERS, talk)):
        for then, found in ((early, {1}), (unknown, set()), (PointInTime(as_of=clock()), {1, 2})):
            engine = context_at(book._engine, ANA, then)
            plan = RecallPlan("Where did the heron stand?", k=9)
            (answer,) = recall(engine, ANA, [plan], scopes=(own(), reading))
            assert ids(answer) == {f"{talk.id}#{number}" for number in found}


def test_the_recall_log_keeps_the_question_and_ones_own_hits(open_book):
    book = open_book(recall_log=True)
    me = book.user("ana")
    mine = me.remember("The heron in my garden stands on one leg").id
    theirs = bring(book, GARDENERS, [HERON])
    assert ids(ask(book, QUERY, own(), of_team())) == {mine, f"{theirs.id}#1"}
    (asked,) = me.why().asked
    assert asked.query == QUERY
    assert [hit.id for hit in asked.returned] == [mine]
