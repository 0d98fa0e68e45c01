"""export and import of storylines, macros and archived sources."""

from __future__ import annotations

import json

import pytest

from commonplace.model.access.principal import Scope
from commonplace.model.graph.steps import SetArchived
from commonplace.model.graph.storylines import StorySource
from commonplace.model.journal import Entry, Op
from support.clock import START
from support.graph_making import (
    a_macro,
    a_node,
    a_node_telling,
    a_storyline,
    an_extraction,
    extracted,
    putting_node,
    putting_story,
)
from support.making import ANA, changeset

BEN = Scope.of_user("ben")


@pytest.fixture
def book(open_book):
    """Jobs run when a test says so: a worker would have a night of its own."""
    return open_book(worker="off")


@pytest.fixture
def store(book):
    return book._engine.store


@pytest.fixture
def told(store):
    """A closed storyline of Ana's, an open one, and their macro."""
    owner = a_node("Ana", is_owner=True)
    store.apply(changeset(putting_node(owner, a_node_telling(owner, source=None))))
    mira = a_node("Mira", has_meso=True, has_macro=True)
    first = a_storyline(mira.id, closed_at=START)
    second = a_storyline(mira.id, 200, 205)
    macro = a_macro(mira.id, first, second)
    store.apply(changeset(putting_node(mira), *map(putting_story, (first, second, macro))))
    return first, second, macro


@pytest.fixture
def mira_of_ben(store):
    mira = a_node("Mira", user_id="ben")
    store.apply(changeset(putting_node(mira), scope=BEN))
    return mira


def test_import_storylines_follow_their_anchor_to_an_existing_node(
    book, me, store, told, mira_of_ben
):
    first, second, macro = told
    assert not book.user("ben").import_(list(me.export())).whole
    graph = store.whole_graph(BEN)
    assert [each.id for each in graph.storylines] == [first.id, second.id]
    assert {each.anchor for each in graph.storylines} == {mira_of_ben.id}
    assert [(each.id, each.anchor) for each in graph.macros] == [(macro.id, mira_of_ben.id)]
    assert {source.scope for each in graph.storylines for source in each.sources} == {"user:ben"}
    revision = store.counters(BEN).graph
    book.user("ben").import_(list(me.export()))
    assert store.counters(BEN).graph == revision


def test_import_leaves_out_an_open_storyline_where_the_anchor_has_one(
    book, me, store, told, mira_of_ben
):
    first, _, _ = told
    mine = a_storyline(mira_of_ben.id, user_id="ben", description="As Ben has it")
    store.apply(changeset(putting_story(mine), scope=BEN))
    book.user("ben").import_(list(me.export()))
    graph = store.whole_graph(BEN)
    assert {each.id for each in graph.storylines} == {first.id, mine.id}
    assert graph.macros == (), "one storyline of it is left out"


def test_import_of_a_storyline_names_the_sources_that_are_there(book, me, store, told):
    ben = book.user("ben")
    known = ben.ingest("Mira plays the cello.", external_id="letter").id
    mine = me.ingest("Mira plays the cello.", external_id="letter").id
    letter = StorySource(START, mine, ANA.key)
    store.apply(
        changeset(putting_story(a_storyline(a_mira(store), sources=(letter,), closed_at=START)))
    )
    ben.import_(list(me.export()))
    cited = {s.id for each in store.whole_graph(BEN).storylines for s in each.sources}
    assert known in cited
    assert mine not in cited


def a_mira(store):
    return next(node.id for node in store.whole_graph(ANA).nodes if not node.is_owner)


def test_import_keeps_which_sources_are_archived(book, me, store, told):
    entry = Entry(op=Op.UPDATE, subject="source:1")
    store.apply(changeset(extracted(an_extraction()), SetArchived(("source:1",), START, entry)))
    lines = list(me.export())
    ben = book.user("ben")
    assert ben.import_(lines).whole
    assert store.archived_sources(BEN) == {"source:1"}
    assert list(ben.export())[1:] == lines[1:]


def test_import_reads_a_file_without_storylines(book, me, store, told):
    older = [line for line in me.export() if json.loads(line)["type"] not in ("storyline", "macro")]
    assert book.user("ben").import_(older).whole
    assert store.whole_graph(BEN).storylines == ()
    assert len(store.whole_graph(BEN).nodes) == 2, "and the owner's"
