"""Every verb that searches looks into one's teams and into what others share, as long as one may
read it."""

from __future__ import annotations

import pytest

from support.sources import letter

HERON = "The heron nests behind the boathouse."
ASKED = "Where does the heron nest?"


@pytest.fixture
def bob(book, me):
    """Ana and Bob are in two teams."""
    bob = book.user("bob")
    for team in ("Birds", "Boats"):
        bob.teams_create(team)
        bob.teams_invite(team, "ana")
        me.teams_join(team)
    return bob


SEARCHES = {
    "recall": lambda me: me.recall(ASKED),
    "recall many": lambda me: me.recall_many([ASKED])[0],
    "query": lambda me: me.query(ASKED),
    "context": lambda me: me.context(ASKED, thread="new"),
    "whole context": lambda me: me.whole_context(ASKED),
}


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_search_verbs_return_team_sources_until_leave(me, bob, search):
    bob.ingest(HERON, team="Birds")
    assert "boathouse" in search(me).text
    assert "boathouse" in search(me.agent("researcher")).text
    me.teams_leave("Birds")
    assert "boathouse" not in search(me).text
    assert "boathouse" not in search(me.agent("researcher")).text


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_search_verbs_return_accepted_sources_until_unshare(me, book, search):
    me.remember("I am a user of this store")
    bob = book.user("bob")
    shared = bob.ingest(HERON, participants=["ana"])
    bob.ingest("The heron eats in the harbour, says the gardener.")
    assert "boathouse" not in search(me).text
    me.sources_accept(shared.id)
    assert "boathouse" in search(me).text
    assert "harbour" not in search(me).text
    bob.sources_unshare(shared.id, with_user="ana")
    assert "boathouse" not in search(me).text


def test_context_citations_name_team_and_author(me, bob):
    bob.ingest(letter(HERON), team="Birds")
    team = next(each for each in me.teams() if each.name == "Birds")
    for found in (me.context(ASKED, thread="new"), me.whole_context(ASKED)):
        (source,) = [cited.source for cited in found.citations if cited.source]
        assert (source.team, source.brought_by) == (team.id, "bob")
    assert "## From email" in me.whole_context(ASKED).text


def test_recall_with_an_active_team_searches_others_only_by_named_source(me, bob):
    nest = bob.ingest(HERON, team="Birds").id
    pier = bob.ingest("The heron nests under the pier, too.", team="Boats").id
    me.teams_use("Boats")
    assert {hit.citation.source for hit in me.recall(ASKED).hits} == {pier}
    named = me.recall(ASKED, sources=[nest]).hits
    assert {hit.citation.source for hit in named} == {nest}
    me.teams_use()
    assert {hit.citation.source for hit in me.recall(ASKED).hits} == {nest, pier}


def test_recall_known_at_covers_team_sources_until_leave(me, bob, clock):
    before = clock()
    clock.tick(days=2)
    bob.ingest(HERON, team="Birds")
    clock.tick(days=2)
    assert not me.recall(ASKED, known_at=before).hits
    assert len(me.recall(ASKED, known_at=clock()).hits) == 1
    me.teams_leave("Birds")
    assert not me.recall(ASKED, known_at=clock()).hits


def test_understand_knows_participants_of_team_sources(me, bob):
    """A question about somebody whom only the team knows is a question to search for."""
    bob.ingest(HERON, team="Birds", participants=["Zebulon Quist"])
    assert me.understand("Zebulon?").needs_search
