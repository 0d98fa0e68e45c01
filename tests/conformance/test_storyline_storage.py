"""What the store promises of storylines, macros, archived sources and removed links."""

from __future__ import annotations

from datetime import timedelta

import pytest

from commonplace.engine.maintenance.reembed import reembed
from commonplace.errors import StaleDecision, StoreError
from commonplace.language.embedders.hashing import HashingEmbedder
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import (
    Bookkeeping,
    ClearScope,
    UnlinkMemories,
    build_link,
)
from commonplace.model.delta import net_changes
from commonplace.model.graph.salience import NEVER_READ
from commonplace.model.graph.steps import PutStory, SetArchived
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.memory.memory import Link, Sensitivity
from commonplace.model.sources.source import SourceType
from commonplace.store.cache.graph_cache import GraphCache
from commonplace.store.queries import (
    EmbedderIdentity,
    GraphQuery,
    JournalQuery,
    UnembeddedQuery,
)
from support.clock import START
from support.graph_making import (
    a_macro,
    a_node,
    a_node_telling,
    a_storyline,
    an_extraction,
    changing_node,
    changing_story,
    cited,
    extracted,
    putting_node,
    putting_story,
    removing_stories,
    story_sources,
)
from support.making import ANA, BOB, EMBEDDER, a_memory, changeset, put
from support.stores import all_rows, raw

EVERYTHING = GraphQuery(storylines=None, macros=None)


@pytest.fixture
def mira(store):
    node = a_node("Mira")
    store.apply(changeset(putting_node(node)))
    return node


@pytest.fixture
def told(store, mira):
    """A closed storyline, an open one, and their macro."""
    first = a_storyline(mira.id, 0, 1, 2, 3, 5, closed_at=START + timedelta(days=95))
    second = a_storyline(mira.id, 200, 201, 202, 203, 205, description="Mira plays the cello.")
    macro = a_macro(mira.id, first, second)
    store.apply(changeset(*map(putting_story, (first, second, macro))))
    return first, second, macro


def pictures(store):
    return GraphCache(store, EMBEDDER.dimension)


def test_storylines_and_macros_round_trip_every_field(store, mira):
    sources = (
        *story_sources(0, 1, 2, weight=0.25),
        *story_sources(9, scope=Scope.of_team("t").key, is_sensitive=True),
    )
    fields = {
        "written_by": "a model",
        "is_dirty": False,
        "sensitivity": Sensitivity.HIGH,
        "team_id": "t",
        "version": 3,
    }
    storyline = a_storyline(mira.id, sources=sources, closed_at=START, **fields)
    macro = a_macro(mira.id, storyline, **fields)
    store.apply(changeset(putting_story(storyline), putting_story(macro)))
    found = store.graph_items(ANA, EVERYTHING)
    assert (found.storylines, found.macros) == ([storyline], [macro])
    by_id = GraphQuery(storylines=[storyline.id], macros=["macro:none"])
    found = store.graph_items(ANA, by_id)
    assert (found.storylines, found.macros) == ([storyline], [])
    whole = store.whole_graph(ANA)
    assert (whole.storylines, whole.macros) == ((storyline,), (macro,))
    assert whole.texts[storyline.id] == storyline.search_text
    assert whole.texts[macro.id] == macro.search_text


def test_storyline_apply_refuses_a_stale_decision_and_writes_nothing(store, store_url, told):
    _, second, macro = told
    store.apply(changeset(changing_story(second, description="Mira sings.")))
    store.apply(changeset(changing_story(macro, description="Mira sings.")))
    before = all_rows(store_url)
    for stale in (second, macro):
        with pytest.raises(StaleDecision):
            store.apply(changeset(changing_story(stale, description="Mira dances.")))
    assert all_rows(store_url) == before


def test_storyline_anchor_has_one_open_storyline_and_one_macro(store, told, mira):
    with pytest.raises(StoreError):
        store.apply(changeset(putting_story(a_storyline(mira.id))))
    with pytest.raises(StoreError):
        store.apply(changeset(putting_story(a_macro(mira.id))))
    closed = a_storyline(mira.id, closed_at=START)
    store.apply(changeset(putting_story(closed)))
    assert len(store.graph_items(ANA, EVERYTHING).storylines) == 3


def test_storyline_that_is_open_can_change_in_one_changeset(store, told):
    first, second, _ = told
    store.apply(
        changeset(
            changing_story(first, closed_at=None),
            changing_story(second, closed_at=START + timedelta(days=300)),
        )
    )
    states = {each.id: each.is_open for each in store.graph_items(ANA, EVERYTHING).storylines}
    assert states == {first.id: True, second.id: False}


def test_storylines_of_another_scope_are_neither_readable_nor_writable(store, told):
    _, second, macro = told
    assert store.graph_items(BOB, EVERYTHING).storylines == []
    store.apply(changeset(removing_stories(second, macro), scope=BOB))
    with pytest.raises(StaleDecision):
        store.apply(changeset(changing_story(second), scope=BOB))
    assert len(store.graph_items(ANA, EVERYTHING).storylines) == 2
    assert len(store.graph_items(ANA, EVERYTHING).macros) == 1


# ——— the cache ———


def same_as_new(store, cache):
    kept, new = cache.of(ANA), pictures(store).of(ANA)
    assert kept.snapshot == new.snapshot
    assert kept.ids == new.ids
    assert (kept.matrix == new.matrix).all()
    return kept


def test_graph_cache_catches_up_with_storylines(store, mira):
    cache = pictures(store)
    cache.of(ANA)
    first = a_storyline(mira.id)
    store.apply(changeset(putting_story(first)))
    graph = same_as_new(store, cache)
    assert graph.snapshot.storylines == {first.id: first}
    assert graph.ids == (mira.id, first.id)
    store.apply(changeset(putting_story(a_macro(mira.id, first))))
    assert len(same_as_new(store, cache).snapshot.macros) == 1
    store.apply(changeset(changing_story(first, description="Mira sings.")))
    assert "sings" in same_as_new(store, cache).snapshot.storylines[first.id].description
    store.apply(changeset(removing_stories(first, event=Event.DELETE)))
    assert same_as_new(store, cache).snapshot.storylines == {}


def test_graph_snapshot_shows_storylines_at_the_merge_target(store, mira, told):
    ruth = a_node("Ruth")
    store.apply(changeset(putting_node(ruth), changing_node(mira, merged_into=ruth.id)))
    snapshot = pictures(store).of(ANA).snapshot
    stories = (*snapshot.storylines.values(), *snapshot.macros.values())
    assert [each.anchor for each in stories] == [ruth.id] * 3


def test_graph_snapshot_excludes_storylines_of_hidden_anchors(store, mira, told):
    cache = pictures(store)
    assert len(cache.of(ANA).snapshot.storylines) == 2
    store.apply(changeset(changing_node(mira, purge_at=START)))
    graph = cache.of(ANA)
    assert (graph.snapshot.storylines, graph.snapshot.macros, graph.ids) == ({}, {}, ())


def test_graph_mentions_say_whose_source_it_is_and_what_it_weighs(store):
    team = Scope.of_team("t").key
    node = a_node("Mira")
    mail = cited("source:mail", source_type=SourceType.EMAIL, sensitivity=Sensitivity.HIGH)
    shared = cited("source:shared", scope=team)
    told = [a_node_telling(node, source=source) for source in (mail, shared)]
    store.apply(changeset(putting_node(node, *told)))
    mentions = {each.source: each for each in pictures(store).of(ANA).snapshot.mentions}
    of_mail, of_team = mentions["source:mail"], mentions["source:shared"]
    assert (of_mail.scope, of_mail.weight, of_mail.is_sensitive) == ("user:ana", 0.5, True)
    assert (of_team.scope, of_team.weight, of_team.is_sensitive) == (team, 1.0, False)


# ——— vectors ———


def test_storyline_without_a_vector_is_embedded_late(store, mira):
    cache = pictures(store)
    first = a_storyline(mira.id, name="Mira – storyline", description="Line one\nline two")
    macro = a_macro(mira.id, first)
    for story in (first, macro):
        store.apply(changeset(PutStory(None, story, putting_story(story).entry)))
    assert cache.of(ANA).ids == (mira.id,)
    waiting = dict(store.unembedded(ANA, UnembeddedQuery(10)).graph)
    assert waiting == {first.ref: first.search_text, macro.ref: macro.search_text}
    assert len(store.unembedded(ANA, UnembeddedQuery(1)).graph) == 1
    vectors = {ref: bytes(EMBEDDER.dimension * 4) for ref in waiting}
    store.record(Bookkeeping(ANA, START, graph_vectors=vectors))
    assert same_as_new(store, cache).ids == (mira.id, first.id, macro.id)
    assert store.unembedded(ANA, UnembeddedQuery(10)).graph == []


def test_storyline_vector_of_an_old_text_is_dropped(store, told):
    _, second, _ = told
    after = second.evolve(version=2, description="Mira sings.")
    store.apply(changeset(PutStory(second, after, putting_story(after, second).entry)))
    assert second.id not in pictures(store).of(ANA).ids
    late = Bookkeeping(ANA, START, graph_vectors={second.ref: bytes(EMBEDDER.dimension * 4)})
    store.record(late)
    assert second.id not in pictures(store).of(ANA).ids


def test_reembed_replaces_vectors_of_storylines(store, store_url, told):
    store.claim_embedder(EmbedderIdentity(EMBEDDER.name, EMBEDDER.dimension))
    assert reembed(store, HashingEmbedder(16), lambda progress: None, START).memories == 4
    lengths = raw(store_url, "SELECT DISTINCT length(vector), generation FROM graph_vectors")
    assert lengths == [(64, 2)]


# ——— reads count ———


def test_storyline_reads_raise_its_salience(store, told):
    _, second, macro = told
    now = START + timedelta(days=1)
    store.record(Bookkeeping(ANA, now, read={second.id: True, macro.id: False}))
    marks = store.graph_items(ANA, GraphQuery(marks=None)).marks
    assert {id: each.access_count for id, each in marks.items()} == {second.id: 1, macro.id: 1}
    assert marks[macro.id].salience == 1.0, "a macro is kept for ever"
    assert store.statistics(ANA).loose_ends["marks without an item"] == 0
    store.apply(changeset(removing_stories(second, macro)))
    assert store.graph_items(ANA, GraphQuery(marks=None)).marks == {}


def test_archived_source_is_active_again_after_a_read(store):
    store.apply(
        changeset(extracted(an_extraction("source:1")), extracted(an_extraction("source:2")))
    )
    store.record(Bookkeeping(ANA, START, read={"source:1": True}))
    read_once = store.graph_items(ANA, GraphQuery(marks=["source:1"])).marks["source:1"]
    ids = ("source:1", "source:2")
    archive = SetArchived(ids, START, Entry(op=Op.UPDATE, subject="source:1"))
    store.apply(changeset(archive))
    assert store.archived_sources(ANA) == frozenset(ids)
    assert store.archived_sources(BOB) == frozenset()
    marks = store.graph_items(ANA, GraphQuery(marks=None)).marks
    assert marks["source:1"].access_count == read_once.access_count
    assert {each.archived_at for each in marks.values()} == {START}
    store.record(Bookkeeping(ANA, START, read={"source:1": False}))
    assert store.archived_sources(ANA) == {"source:2"}
    store.apply(changeset(SetArchived(("source:2",), None, archive.entry)))
    assert store.archived_sources(ANA) == frozenset()
    assert store.graph_items(ANA, GraphQuery(marks=["source:2"])).marks == {"source:2": NEVER_READ}


# ——— removal ———


def test_storyline_erase_leaves_no_text_and_moves_the_epoch(store, told):
    first, second, macro = told
    epoch = store.counters(ANA).epoch
    assert store.mentions(ANA, "moved to Haifa") == ["storylines"]
    assert store.mentions(ANA, "moved twice") == ["macros"]
    store.apply(changeset(removing_stories(macro), removing_stories(first, second)))
    assert store.mentions(ANA, "moved") == []
    assert store.mentions(ANA, "cello") == []
    assert store.counters(ANA).epoch == epoch + 1
    rows = store.journal(ANA, JournalQuery(subject=first.id))
    assert [row.entry.event for row in rows][-1] is Event.ERASE


def test_clear_scope_leaves_no_storylines(store, store_url, told):
    store.apply(changeset(ClearScope(Entry(op=Op.DELETE, event=Event.ERASE))))
    for table in ("storylines", "macros", "graph_vectors", "marks"):
        assert raw(store_url, f"SELECT COUNT(*) FROM {table}") == [(0,)]


def test_doctor_counts_storylines_without_an_anchor(store, store_url, told):
    raw(store_url, "DELETE FROM node_tellings")
    raw(store_url, "DELETE FROM nodes")
    loose = store.statistics(ANA).loose_ends
    assert loose["storylines without an anchor"] == 2
    assert loose["macros without an anchor"] == 1


def test_delta_header_leaves_out_what_a_worker_wrote_about_sources(store, told):
    stories = {each.id: each for each in told}
    rows = store.journal(ANA, JournalQuery())
    changes = net_changes(rows, stories.get, START)
    assert {each.id for each in changes if each.derived} >= stories.keys()


def test_unlink_memories_removes_one_link(store):
    one, two, three = memories = [a_memory(text) for text in ("One", "Two", "Three")]
    put(store, memories)
    gone, kept = (Link.between(one.id, each.id, 0.9, START) for each in (two, three))
    store.apply(changeset(build_link(gone), build_link(kept)))
    entry = Entry(op=Op.DELETE, event=Event.LINK, subject=gone.a, old_ref=gone.b)
    store.apply(changeset(UnlinkMemories(gone.a, gone.b, entry)))
    assert store.links(ANA, [one.id]) == [kept]
