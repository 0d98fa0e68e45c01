"""Storylines and macros follow who mentions their anchor, whatever changes it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from commonplace.errors import NotFound
from commonplace.model.graph.storylines import CLOSED_AFTER
from commonplace.model.memory.memory import Sensitivity
from support.graph_making import putting_story
from support.making import changeset
from support.promoted import DAYS, LONG_AGO, macros, on_day, promote, stories, storylines, tell
from support.stores import raw

ROOF = "My friend Sarah Chen fixed part {day} of the roof."
GARDEN = "My friend Sarah Chen planted tree {day} in the garden."
SECRET = "My friend Sarah Chen hid the zanzibar key."
MEETING = "Ana: My colleague Sarah Chen works at Acme. Sarah fixed part {day} of the roof."
SARAH = "Sarah Chen"


@pytest.fixture
def book(open_book):
    return open_book(extraction="on-demand", tidy_on_open=False)


@pytest.fixture
def told(me):
    """An open storyline about Sarah, of five sources."""
    sources = tell(me, DAYS, ROOF)
    promote(me, SARAH)
    return sources


def only(items):
    [item] = items
    return item


def told_by_a_model(before):
    """The storyline as a model might tell it."""
    after = before.evolve(
        version=before.version + 1,
        description="Sarah hid the zanzibar key.",
        written_by="a model",
        is_dirty=False,
    )
    return replace(putting_story(after, before), vector=None)


def test_storyline_is_promoted_at_night_only(me):
    tell(me, DAYS, ROOF)
    assert storylines(me) == []
    promote(me, SARAH)
    storyline = only(storylines(me))
    assert storyline.name == "Sarah Chen – storyline"
    assert "Sarah" in storyline.description
    assert (storyline.source_count, storyline.is_open, storyline.is_dirty) == (5, True, True)
    node = me.node(SARAH).node
    assert storyline.anchor == node.id
    engine = me._engine
    [row] = engine.graph_cache.of(me.principal.scope).snapshot.storylines.values()
    assert row == storyline
    assert storyline.id in engine.graph_cache.of(me.principal.scope).ids
    assert flags(me) == (True, False)


def flags(me, name=SARAH):
    snapshot = me._engine.graph_cache.of(me.principal.scope).snapshot
    node = next(node for node in snapshot.nodes.values() if node.name == name)
    return node.has_meso, node.has_macro


def test_storyline_is_never_the_owners(me, told):
    promote(me, "me")
    assert len(storylines(me)) == 1


def test_new_source_attaches_at_extraction_and_keeps_the_text(me, told):
    before = only(storylines(me))
    [new] = tell(me, [7], ROOF)
    after = only(storylines(me))
    assert after.id == before.id
    assert [source.id for source in after.sources] == [*told, new]
    assert (after.description, after.is_dirty) == (before.description, True)


def test_source_about_others_leaves_storylines_as_they_are(me, told):
    before = stories(me)
    tell(me, [7], "My friend Dan Levi bought bike {day}.")
    assert stories(me) == before


def test_erased_source_leaves_its_storyline_as_if_never_met(me, told, book, store_url):
    [secret] = tell(me, [4], SECRET)
    promote(me, SARAH)
    storyline = only(storylines(me))
    engine, scope = me._engine, me.principal.scope
    engine.store.apply(changeset(told_by_a_model(storyline), scope=scope))
    me.erase(secret)
    after = only(storylines(me))
    assert [source.id for source in after.sources] == told
    assert (after.written_by, after.is_dirty) == ("rules", True)
    assert "zanzibar" not in after.description
    assert me.verify_forget("zanzibar").clean
    [vector] = raw(store_url, "SELECT vector FROM graph_vectors WHERE id = ?", storyline.id)
    row = engine.embed_passages([after.search_text])[0]
    assert bytes(vector[0]) == row.astype("<f4").tobytes()
    ben = book.user("ben")
    tell(ben, DAYS, ROOF)
    promote(ben, SARAH)
    assert [s.said_at for s in only(storylines(ben)).sources] == [s.said_at for s in after.sources]
    assert only(storylines(ben)).description == after.description


def test_storyline_below_the_threshold_is_gone_with_its_text(me, told):
    storyline = only(storylines(me))
    me.erase(told[2])
    assert storylines(me) == []
    assert flags(me) == (False, False)
    assert me.verify_forget("– storyline").clean
    assert me.history(storyline.id)[0]["event"] == "ERASE"


def test_forgotten_source_leaves_its_storyline_until_restored(me, told):
    [extra] = tell(me, [7], ROOF)
    before = only(storylines(me))
    me.forget(extra)
    hidden = only(storylines(me))
    assert [source.id for source in hidden.sources] == told
    me.restore(extra)
    after = only(storylines(me))
    assert (after.id, after.sources) == (before.id, before.sources)


def shown(me):
    return me._engine.graph_cache.of(me.principal.scope).snapshot.storylines


def test_storyline_of_forgotten_sources_is_hidden_until_they_are_restored(me, told, clock):
    before = only(storylines(me))
    for forgotten in (told[:1], told):
        me.forget(forgotten)
        hidden = only(storylines(me))
        assert (hidden.id, hidden.description, hidden.is_hidden) == (before.id, "", True)
        assert shown(me) == {}
        assert me.storylines(include_archived=True).storylines == ()
        with pytest.raises(NotFound):
            me.show(before.id)
        clock.tick(days=1)
        me.sleep(tasks=["storylines"])
        assert shown(me) == {}
        me.restore(forgotten)
        after = only(storylines(me))
        assert (after.id, after.sources) == (before.id, before.sources)
        assert after.is_dirty
        assert list(shown(me)) == [before.id]
        me.sleep(tasks=["storylines"])
        assert only(storylines(me)).description == before.description


def test_hidden_storyline_is_deleted_with_its_sources(me, told):
    me.forget(told[:1])
    me.erase(told[:1])
    assert storylines(me) == []
    assert flags(me) == (False, False)


def test_hidden_storyline_is_deleted_when_its_sources_are_purged(me, told, clock):
    me.forget(told[:1])
    clock.tick(days=31)
    me.sleep(tasks=["expiry"])
    assert storylines(me) == []


def test_storyline_of_a_forgotten_node_returns_with_it(me, told):
    before = only(storylines(me))
    node = me.node(SARAH).node.id
    me.forget(node)
    assert shown(me) == {}
    me.restore(node)
    assert list(shown(me)) == [before.id]
    assert only(storylines(me)).description == before.description


def test_macro_of_a_hidden_storyline_returns_with_it(me, half_a_year):
    _, later = half_a_year
    before = only(macros(me))
    me.forget(later[:1])
    assert me.macros().macros == ()
    assert only(macros(me)).description == ""
    me.restore(later[:1])
    after = only(macros(me))
    assert (after.id, after.storylines) == (before.id, before.storylines)
    assert after.description == before.description


def test_erased_passage_leaves_no_words_in_a_storyline(me, told):
    talk = (
        "Ana: My friend Sarah Chen sold the roof.\nBob: Nice.\n"
        "Ana: My friend Sarah Chen hid the zanzibar key.\n"
    )
    source = me.ingest(talk, format="transcript", date=on_day(4), external_id="talk").id
    me.extract([source])
    promote(me, SARAH)
    before = only(storylines(me))
    assert source in {each.id for each in before.sources}
    scope = me.principal.scope
    me._engine.store.apply(changeset(told_by_a_model(before), scope=scope))
    passage = next(
        f"{source}#{each.number}" for each in me.show(source).passages if "zanzibar" in each.text
    )
    me.erase(passage)
    assert "zanzibar" not in only(storylines(me)).description
    assert "storylines" not in me.verify_forget("zanzibar").found_in


def test_erasures_of_several_sources_at_once_leave_no_words_in_a_storyline(me, told):
    """A whole source, and passages of two others that tell of something else."""
    [whole] = tell(me, [4.2], SECRET)
    talk = (
        "Ana: My friend Sarah Chen sold the roof.\nBob: Nice.\n"
        "Ana: I lost the {word} key near the {word} river.\n"
    )
    talks = []
    for word in ("zanzibar", "madagascar"):
        text = talk.format(word=word)
        talks.append(me.ingest(text, format="transcript", date=on_day(4), external_id=word).id)
    me.extract(talks)
    before = only(storylines(me))
    assert before.source_count == 8
    scope = me.principal.scope
    me._engine.store.apply(changeset(told_by_a_model(before), scope=scope))
    passages = [
        f"{source}#{each.number}"
        for source in talks
        for each in me.show(source).passages
        if "river" in each.text
    ]
    assert len(passages) == 2
    me.erase([whole, *passages])
    after = only(storylines(me))
    assert {source.id for source in after.sources} == {*told, *talks}
    assert after.is_dirty
    for word in ("zanzibar", "madagascar"):
        assert "storylines" not in me.verify_forget(word).found_in


def test_merged_node_takes_its_storylines_along(me, told):
    tell(me, [day + 10 for day in DAYS], "My friend Sally Brook fixed part {day} of the roof.")
    promote(me, "Sally Brook")
    assert len(storylines(me)) == 2
    sarah, sally = (me.node(name).node.id for name in (SARAH, "Sally Brook"))
    me.merge([sally, sarah])
    storyline = only(storylines(me))
    assert (storyline.anchor, storyline.source_count) == (sally, 10)
    me.split(sarah)
    assert only(storylines(me)).source_count == 5
    assert {each.anchor for each in storylines(me)} == {sally}
    promote(me, SARAH, "Sally Brook")
    assert {each.anchor: each.source_count for each in storylines(me)} == {sarah: 5, sally: 5}


def test_split_node_loses_the_sources_that_move(me, told):
    node = me.node(SARAH).node.id
    me.split(node, name="Sarah Levi", sources=told[:1])
    assert storylines(me) == [], "four sources are no storyline"
    assert flags(me) == (False, False)


def test_erased_node_takes_its_storylines_along(me, told):
    me.erase(me.node(SARAH).node.id)
    assert stories(me).storylines == []
    assert me.verify_forget("– storyline").clean


def test_forgotten_node_hides_its_storylines_until_restored(me, told):
    node = me.node(SARAH).node.id
    cache = me._engine.graph_cache
    me.forget(node)
    assert cache.of(me.principal.scope).snapshot.storylines == {}
    me.restore(node)
    assert len(cache.of(me.principal.scope).snapshot.storylines) == 1


def test_storyline_is_sensitive_while_one_of_its_sources_is(me, told):
    [secret] = tell(me, [4], GARDEN, sensitivity="high")
    assert only(storylines(me)).sensitivity is Sensitivity.HIGH
    me.erase(secret)
    assert only(storylines(me)).sensitivity is Sensitivity.NORMAL
    again = ROOF.format(day=0)
    me.ingest(again, date=on_day(0), external_id=f"{ROOF}-0", sensitivity="high")
    assert only(storylines(me)).sensitivity is Sensitivity.HIGH


def test_renamed_node_renames_its_storyline(me, told):
    me.nodes_update(me.node(SARAH).node.id, name="Sarah Adler")
    assert only(storylines(me)).name == "Sarah Adler – storyline"


# ——— time ———


def test_storyline_is_closed_after_ninety_days_and_the_next_one_opens(me, told, clock):
    clock.tick(days=60)
    promote(me, SARAH)
    first = only(storylines(me))
    assert first.closed_at == first.last_source_at + CLOSED_AFTER
    tell(me, [day + 100 for day in DAYS], GARDEN)
    assert only(storylines(me)) == first
    promote(me, SARAH)
    assert [each.is_open for each in storylines(me)] == [False, True]
    assert storylines(me)[0].sources == first.sources


def test_late_source_attaches_to_a_closed_storyline_only_if_alike(me, told, clock, monkeypatch):
    clock.tick(days=60)
    promote(me, SARAH)
    first = only(storylines(me))
    engine = type(me._engine)
    monkeypatch.setattr(engine, "similarity", lambda self, cosine, one, other: 0.7)
    tell(me, [4], GARDEN)
    promote(me, SARAH)
    assert only(storylines(me)).sources == first.sources
    monkeypatch.setattr(engine, "similarity", lambda self, cosine, one, other: None)
    tell(me, [4.5], GARDEN)
    assert only(storylines(me)).source_count == 7, "by time alone, where nothing is known"


# ——— macros ———


@pytest.fixture
def half_a_year(me, told, clock):
    """Two storylines about Sarah and their macro."""
    clock.tick(days=150)
    later = tell(me, [day + 150 for day in DAYS], GARDEN)
    promote(me, SARAH)
    return told, later


def test_macro_tells_what_several_storylines_say(me, half_a_year):
    macro = only(macros(me))
    assert macro.name == "Sarah Chen – macro"
    assert macro.storylines == tuple(each.id for each in storylines(me))
    assert (macro.total_source_count, macro.started_at) == (10, LONG_AGO)
    assert macro.description
    assert flags(me) == (True, True)
    promote(me, SARAH)
    assert only(macros(me)) == macro, "a second night changes nothing"


def test_macro_is_not_made_where_only_storylines_are_asked_for(me, told, clock):
    clock.tick(days=150)
    tell(me, [day + 150 for day in DAYS], GARDEN)
    promote(me, SARAH, macros=False)
    assert (len(storylines(me)), macros(me)) == (2, [])


def test_macro_follows_an_erased_source(me, half_a_year):
    tell(me, [156], SECRET)
    promote(me, SARAH)
    assert only(macros(me)).total_source_count == 11
    [secret] = [s.id for s in storylines(me)[1].sources if s.said_at == on_day(156)]
    me.erase(secret)
    assert only(macros(me)).total_source_count == 10
    assert me.verify_forget("zanzibar").clean
    me.erase(half_a_year[1][0])
    assert (len(storylines(me)), macros(me)) == (1, [])
    assert flags(me) == (True, False)
    assert me.verify_forget("– macro").clean


def test_macro_takes_storylines_of_tied_anchors(me, told, clock):
    clock.tick(days=150)
    tell(me, [day + 150 for day in DAYS], "My friend Dan Levi painted wall {day}.")
    promote(me, SARAH, "Dan Levi")
    assert macros(me) == []
    me.relate(SARAH, "Dan Levi", "friend")
    promote(me, SARAH)
    macro = only(macros(me))
    assert {line.anchor for line in storylines(me) if line.id in macro.storylines} == {
        me.node(name).node.id for name in (SARAH, "Dan Levi")
    }


def test_macros_of_two_tied_anchors_are_each_about_their_own(me, told):
    tell(me, [day + 50 for day in DAYS], "My friend Dan Levi bought bike {day}.")
    promote(me, SARAH, "Dan Levi", macros=False)
    me.relate(SARAH, "Dan Levi", "friend")
    for name in (SARAH, "Dan Levi"):
        promote(me, name)
    texts = {each.name.removesuffix(" – macro"): each.description for each in macros(me)}
    assert texts.keys() == {SARAH, "Dan Levi"}
    for name, other in ((SARAH, "Dan Levi"), ("Dan Levi", SARAH)):
        assert texts[name].startswith(f"Conversations that mention {name} are from ")
        assert f"About {other}, " in texts[name]
        assert "periods" not in texts[name]


# ——— teams ———


@pytest.fixture
def team(book, me):
    """A team of Ana's and Bob's with a storyline about Sarah of each, made of its sources."""
    bob = book.user("bob")
    made = me.teams_create("roof").id
    me.teams_invite(made, "bob")
    bob.teams_join(made)
    shared = tell(me, (*DAYS, 6), MEETING, format="transcript", team=made)
    bob.extract(shared)
    for member in (me, bob):
        promote(member, SARAH)
    return bob, made, shared


def test_storyline_is_the_teams_if_all_its_sources_are(me, team):
    bob, made, _ = team
    assert {only(storylines(member)).team_id for member in (me, bob)} == {made}
    tell(me, [7], ROOF)
    assert only(storylines(me)).team_id is None
    assert only(storylines(bob)).team_id == made


def test_team_source_erased_by_its_admin_leaves_every_members_storyline(me, team):
    bob, _, shared = team
    me.erase(shared[5])
    for member in (me, bob):
        assert [source.id for source in only(storylines(member)).sources] == shared[:5]
    me.erase(shared[0])
    for member in (me, bob):
        assert storylines(member) == []
        assert member.verify_forget("– storyline").clean


def test_import_of_a_storyline_is_followed_by_an_erasure(me, book, told):
    """A node that was there before learns of it, too."""
    ben = book.user("ben")
    tell(ben, [50], ROOF)
    ben.import_(list(me.export()))
    assert flags(ben) == (True, False)
    for source in told:
        ben.erase(source)
    assert storylines(ben) == []
