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


def test_recall_returns_team_passages_with_own_memories(book, me):
    mine = me.remember("The heron in my garden stands on one leg").id
    theirs = bring(book, GARDENERS, [HERON], user_id="bob")
    assert ids(ask(book, QUERY, own(), of_team())) == {mine, f"{theirs.id}#1"}


def test_recall_hit_cites_team_and_author(book):
    theirs = bring(book, GARDENERS, [HERON], user_id="bob")
    (hit,) = ask(book, QUERY, own(), of_team()).hits
    assert (hit.citation.team, hit.citation.brought_by) == ("gardeners", "bob")
    granted = bring(book, BOB, ["A heron stands in the reeds"], user_id="bob")
    (hit,) = ask(book, QUERY, own(), as_guest(BOB, granted)).hits
    assert (hit.citation.team, hit.citation.brought_by) == (None, "bob")
    assert not hit.forgettable
    assert theirs.id not in hit.id


def test_recall_hit_of_own_team_source_cites_no_author(book):
    bring(book, GARDENERS, [HERON], user_id="ana")
    (hit,) = ask(book, QUERY, own(), of_team()).hits
    assert (hit.citation.team, hit.citation.brought_by) == ("gardeners", None)


def test_recall_hit_of_own_source_cites_neither_team_nor_author(book, me):
    me.ingest(HERON)
    (hit,) = me.recall(QUERY).hits
    assert (hit.citation.team, hit.citation.brought_by) == (None, None)


def test_recall_excludes_sources_outside_the_readable_scopes(book):
    granted = bring(book, BOB, ["A heron stands in the reeds"])
    bring(book, BOB, [HERON])
    bring(book, GARDENERS, [HERON])
    assert ids(ask(book, QUERY, own())) == set()
    assert ids(ask(book, QUERY, own(), as_guest(BOB, granted))) == {f"{granted.id}#1"}
    assert ids(ask(book, QUERY, own(), as_guest(BOB))) == set()


def test_recall_returns_memories_of_the_own_scope_only(book):
    keep(book, GARDENERS, [a_memory(HERON)])
    keep(book, BOB, [a_memory(HERON)])
    assert ids(ask(book, QUERY, own(), of_team(), of_team(BOB))) == set()
    assert ids(ask(book, QUERY, own(), of_team(), of_team(BOB), threshold=0.0)) == set()


@pytest.mark.parametrize("principal", [ANA, Principal("ana", cleared=True)])
def test_recall_excludes_sensitive_sources_of_other_scopes(book, principal):
    secret = bring(book, GARDENERS, [HERON], sensitivity="high")
    for reading in (of_team(), as_guest(GARDENERS, secret)):
        for within in (SearchTargets(), SearchTargets(memories=False, sources=(secret.id,))):
            found = ask(book, QUERY, own(), reading, principal=principal, within=within)
            assert ids(found) == set()


def test_recall_returns_no_passages_to_an_agent_without_history(book):
    bring(book, GARDENERS, [HERON])
    planner = Principal("ana", agent="planner", allowed=frozenset({"knowledge"}))
    reader = Principal("ana", agent="reader", allowed=frozenset({"history"}))
    assert ids(ask(book, QUERY, own(), of_team(), principal=planner)) == set()
    assert len(ids(ask(book, QUERY, own(), of_team(), principal=reader))) == 1


def test_forget_and_restore_of_a_team_source_apply_to_all_readers(book):
    store = book._engine.store
    theirs = bring(book, GARDENERS, [HERON])
    ways = (of_team(), as_guest(GARDENERS, theirs))
    for state, found in ((State.ACTIVE, 1), (State.SOFT_DELETED, 0), (State.ACTIVE, 1)):
        (now,) = store.sources(GARDENERS, SourcesById([theirs.id]))
        store.apply(changeset(altering(now, state=state), scope=GARDENERS))
        for reading in ways:
            assert len(ids(ask(book, QUERY, own(), reading))) == found


def test_recall_applies_filters_and_named_sources_in_every_scope(book):
    tagged = bring(book, GARDENERS, [HERON], tags=("birds",))
    other = bring(book, GARDENERS, ["Another heron stands there"])
    granted = bring(book, BOB, ["A heron stands in the reeds"], tags=("birds",))
    reach = (own(), of_team(), as_guest(BOB, granted))
    birds = ask(book, QUERY, *reach, filters=Filters(tags=("birds",)))
    assert ids(birds) == {f"{tagged.id}#1", f"{granted.id}#1"}
    named = SearchTargets(memories=False, sources=(other.id, granted.id))
    assert ids(ask(book, QUERY, *reach, within=named)) == {f"{other.id}#1", f"{granted.id}#1"}
    assert ids(ask(book, QUERY, *reach, within=SearchTargets(passages=False))) == set()


def test_recall_recognises_speakers_of_team_sources(book):
    said = [Said("It stands there", "Dana Levi"), Said("By the harbour", "Ilan Bar", 1)]
    talk = bring(book, GARDENERS, said)
    hits = ask(book, "What did Dana say?", own(), of_team(), explain=True, threshold=0.0).hits
    spoken = {hit.id: hit.parts.get("speaker", 0.0) for hit in hits}
    assert spoken[f"{talk.id}#1"] > 0
    assert spoken[f"{talk.id}#2"] == 0


def test_recall_follows_a_mentioned_title_into_another_scope(book):
    plan = {"title": "Harbour atlas", "source_type": "file", "content_type": "text-note"}
    atlas = bring(book, BOB, ["Depths and tides"], **plan)
    bring(book, GARDENERS, ["The heron stands where the Harbour atlas says"])
    hits = ask(book, QUERY, own(), of_team(), as_guest(BOB, atlas), threshold=0.0, explain=True)
    lifted = {hit.id for hit in hits.hits if hit.parts.get("title")}
    assert lifted == {f"{atlas.id}#1"}


def test_recall_distinguishes_passages_with_equal_numbers_across_scopes(book):
    first = bring(book, GARDENERS, [HERON])
    second = bring(book, BOB, ["The heron stands in the reeds"])
    found = ask(book, QUERY, own(), of_team(), as_guest(BOB, second)).hits
    texts = {hit.id: hit.text for hit in found}
    assert texts == {
        f"{first.id}#1": HERON,
        f"{second.id}#1": "The heron stands in the reeds",
    }


def test_recall_as_of_and_known_at_apply_to_team_and_guest_sources(book, clock):
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


def test_recall_log_records_own_hits_only(open_book):
    book = open_book(recall_log=True)
    me = book.user("ana")
    mine = me.remember("The heron in my garden stands on one leg").id
    theirs = bring(book, GARDENERS, [HERON])
    assert ids(ask(book, QUERY, own(), of_team())) == {mine, f"{theirs.id}#1"}
    (asked,) = me.why().asked
    assert asked.query == QUERY
    assert [hit.id for hit in asked.returned] == [mine]
