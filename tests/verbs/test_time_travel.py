"""as_of: what was true then. known_at: what was known then. Both at once, and never what is
forgotten."""

from __future__ import annotations

import itertools
from datetime import datetime, timedelta, timezone

import pytest

from commonplace.errors import CategoryNotAllowed, InvalidInput, NotFound
from support.embedders import Switchable

JANUARY, FEBRUARY, MARCH, APRIL = ("2026-01-10", "2026-02-10", "2026-03-10", "2026-04-10")


def lists(handle, **then):
    return {memory.content for memory in handle.list(**then).memories}


def finds(handle, query, **then):
    return [hit.text for hit in handle.recall(query, **then).hits]


@pytest.fixture
def to(clock):
    """Moves the clock to a day."""

    def move(day):
        clock.now = datetime.fromisoformat(day).replace(tzinfo=clock.now.tzinfo)

    return move


@pytest.fixture
def moved(me, to):
    """Rome since January; on 10 April we hear that it has been Berlin since 1 March."""
    to(JANUARY)
    rome = me.remember("Ana lives in Rome", kind="fact").id
    to(APRIL)
    berlin = me.remember("Ana lives in Berlin", kind="fact", valid_from="2026-03-01").id
    to("2026-05-01")
    return rome, berlin


STORY = (
    ({}, "Berlin"),
    ({"as_of": FEBRUARY}, "Rome"),
    ({"as_of": MARCH}, "Berlin"),
    ({"known_at": FEBRUARY}, "Rome"),
    ({"known_at": MARCH}, "Rome"),
    ({"known_at": APRIL}, "Berlin"),
    ({"as_of": MARCH, "known_at": MARCH}, "Rome"),
    ({"as_of": FEBRUARY, "known_at": APRIL}, "Rome"),
    ({"as_of": MARCH, "known_at": APRIL}, "Berlin"),
)


def test_time_travel_combines_as_of_and_known_at(me, moved):
    for then, city in STORY:
        assert finds(me, "where does Ana live?", **then) == [f"Ana lives in {city}"], then
        assert lists(me, **then) == {f"Ana lives in {city}"}, then
        (many,) = me.recall_many(["where does Ana live?"], **then)
        assert [hit.text for hit in many.hits] == [f"Ana lives in {city}"], then


def test_as_of_includes_a_change_from_its_exact_instant(me, moved):
    rome, _ = moved
    at_the_change = me.show(rome).memory.valid_to
    assert lists(me, as_of=at_the_change) == {"Ana lives in Berlin"}
    a_blink_before = at_the_change - timedelta(microseconds=1)
    assert lists(me, as_of=a_blink_before) == {"Ana lives in Rome"}


def test_time_travel_before_the_first_memory_is_empty(me, moved):
    assert lists(me, as_of="2025-12-31") == lists(me, known_at="2025-12-31") == set()
    assert me.recall("Ana", known_at="2025-12-31").is_empty


def test_as_of_accepts_a_future_moment(me, to):
    to(JANUARY)
    me.remember("Ana is in Oslo", valid_from="2027-06-01", valid_to="2027-07-01")
    assert lists(me, as_of="2027-06-15") == {"Ana is in Oslo"}
    assert lists(me, as_of="2027-07-01") == lists(me, as_of="2027-05-31") == set()


def test_show_known_at_returns_the_state_of_that_time(me, moved):
    rome, berlin = moved
    shown = me.show(rome, known_at=FEBRUARY)
    assert (shown.memory.state, shown.memory.valid_to) == ("active", None)
    assert [version.memory.version for version in shown.versions] == [1]
    assert me.show(rome, known_at=APRIL).memory.state == "superseded"
    with pytest.raises(NotFound):
        me.show(berlin, known_at=FEBRUARY)
    with pytest.raises(NotFound):
        me.show(berlin, as_of=FEBRUARY)


def test_known_at_returns_and_filters_by_the_fields_of_that_time(me, to):
    to(JANUARY)
    id = me.remember("The shed needs paint", category="home", tags=["wood"], importance=1).id
    to(FEBRUARY)
    me.update(id, category="tasks", tags=["paint"], importance=5)
    to(MARCH)
    then = {"known_at": JANUARY}
    assert me.show(id, **then).memory.importance == 1
    for now, was in (
        ({"category": "tasks"}, {"category": "home"}),
        ({"tags": "paint"}, {"tags": "wood"}),
        ({"importance_min": 5}, {"importance_max": 1}),
    ):
        assert finds(me, "shed paint", filters=was, **then) == ["The shed needs paint"]
        assert finds(me, "shed paint", filters=now, **then) == []
        assert lists(me, filters=was, **then) == {"The shed needs paint"}
        assert lists(me, filters=now, **then) == set()


def test_time_travel_covers_profile_fields(me, to):
    to(JANUARY)
    me.profile_set("city", "Rome")
    to(MARCH)
    me.profile_set("city", "Berlin")
    for then in ({"as_of": FEBRUARY}, {"known_at": FEBRUARY}):
        assert finds(me, "which city?", **then) == ["City is Rome"]
        assert me.show("profile:city", **then).memory.metadata["value"] == "Rome"
    assert finds(me, "which city?", as_of=MARCH) == ["City is Berlin"]


# ——— what is never seen ———


@pytest.fixture
def told(me, to):
    to(JANUARY)
    id = me.remember("The safe opens with 4711", kind="note").id
    to(MARCH)
    return id


def is_seen(me, id):
    then = {"as_of": FEBRUARY, "known_at": FEBRUARY}
    seen = bool(lists(me, **then))
    assert seen == bool(finds(me, "the safe opens", **then))
    assert seen == bool(lists(me, known_at=FEBRUARY)) == bool(lists(me, as_of=FEBRUARY))
    return seen


def test_time_travel_hides_forgotten_memories_until_restore(me, told):
    assert is_seen(me, told)
    me.forget(told)
    assert not is_seen(me, told)
    with pytest.raises(NotFound):
        me.show(told, known_at=FEBRUARY)
    me.restore(told)
    assert is_seen(me, told)


def test_known_at_during_a_forgotten_period_excludes_the_memory(me, to, told):
    me.forget(told)
    to("2026-03-25")
    me.restore(told)
    assert lists(me, known_at="2026-03-20") == set()
    assert is_seen(me, told)


def test_time_travel_excludes_erased_memories(me, told):
    assert is_seen(me, told)
    me.erase(told)
    assert not is_seen(me, told)


def test_time_travel_excludes_overridden_memories(me, to):
    to(JANUARY)
    value = {"subject": "The safe opens with", "value": "4711"}
    old = me.remember(kind="kv", metadata=value).id
    to(MARCH)
    assert is_seen(me, old)
    me.remember(kind="kv", metadata={**value, "value": "0815"}, on_conflict="override")
    assert not is_seen(me, old)


def test_time_travel_excludes_expired_memories_before_and_after_tidy(me, to):
    to(JANUARY)
    id = me.remember("The safe opens with 4711", kind="note", ttl_days=70).id
    to(MARCH)
    assert is_seen(me, id)
    to(APRIL)
    assert not is_seen(me, id)
    me.tidy()
    assert not is_seen(me, id)


def test_known_at_shows_a_memory_with_an_expiry_removed_later(me, to):
    to(JANUARY)
    id = me.remember("Ana is on leave", kind="note", ttl_days=10).id
    to("2026-01-12")
    me.update(id, expires_at="never")
    assert lists(me, known_at="2026-01-11") == {"Ana is on leave"}


def test_time_travel_hides_forgotten_versions_of_a_profile_field_set_again(me, to):
    to(JANUARY)
    me.profile_set("city", "Rome")
    to(FEBRUARY)
    me.forget("profile:city")
    to(MARCH)
    me.profile_set("city", "Berlin")
    for then in ({"known_at": JANUARY}, {"as_of": JANUARY}):
        assert lists(me, **then) == set()


def test_known_at_omits_values_held_later(me, to):
    to(JANUARY)
    value = {"subject": "door code", "value": "1"}
    me.remember(kind="kv", metadata=value)
    to(FEBRUARY)
    asked = me.remember(kind="kv", metadata={**value, "value": "2"})
    assert asked.conflict
    assert me.recall("door code").hits[0].disputed
    (hit,) = me.recall("door code", known_at=JANUARY).hits
    assert hit.disputed is None
    assert me.show(hit.id, known_at=JANUARY).held == ()


# ——— who sees what ———


def test_known_at_hides_memories_sensitive_then_or_now(book, me, to):
    to(JANUARY)
    was = me.remember("Ana takes lithium", sensitivity="high").id
    became = me.remember("Ana sees a therapist").id
    to(FEBRUARY)
    me.update(was, sensitivity="normal")
    me.update(became, sensitivity="high")
    to(MARCH)
    planner = me.agent("planner")
    for then in ({"known_at": JANUARY}, {"as_of": JANUARY, "known_at": JANUARY}):
        for handle in (me, planner):
            assert lists(handle, **then) == set()
            assert finds(handle, "Ana takes lithium, sees a therapist", **then) == []
        cleared = book.user("ana", cleared=True)
        assert lists(cleared, **then) == {"Ana takes lithium", "Ana sees a therapist"}
    for id in (was, became):
        assert me.show(id, known_at=JANUARY).memory.id == id  # the owner, by id
        with pytest.raises(NotFound):
            planner.show(id, known_at=JANUARY)


def test_known_at_requires_access_to_past_and_present_category_for_an_agent(me, to):
    to(JANUARY)
    was = me.remember("Ana likes tea", category="knowledge").id
    became = me.remember("Ana likes jazz", category="diary").id
    me.remember("Ana likes maps", category="knowledge")
    to(FEBRUARY)
    me.update(was, category="diary")
    me.update(became, category="knowledge")
    helper = me.agent("helper")  # whose list has knowledge, and not diary
    for then in ({"known_at": JANUARY}, {"as_of": JANUARY, "known_at": JANUARY}):
        assert lists(helper, **then) == {"Ana likes maps"}
        assert finds(helper, "what does Ana like?", **then) == ["Ana likes maps"]
        assert len(lists(me, **then)) == 3
        for id in (was, became):
            with pytest.raises(NotFound):
                helper.show(id, **then)
        with pytest.raises(CategoryNotAllowed):
            helper.recall("Ana likes", categories="diary", **then)
    # Of what it may see now, it is not told what was kept from it then.
    assert [v.memory.category for v in helper.show(became, as_of=FEBRUARY).versions] == [
        "knowledge"
    ]


def test_known_at_hides_the_soul_of_another_agent(me, to):
    to(JANUARY)
    me.remember("I am thorough", kind="soul", agent_id="planner")
    to(FEBRUARY)
    assert lists(me.agent("planner"), known_at=JANUARY) == {"I am thorough"}
    assert lists(me.agent("writer"), known_at=JANUARY) == set()
    assert finds(me.agent("writer"), "who am I, thorough?", known_at=JANUARY) == []


def test_as_of_is_isolated_between_users(book, me, moved):
    assert lists(book.user("bob"), as_of=FEBRUARY) == set()


# ——— it is only a look ———


def test_time_travel_does_not_count_as_access(me, moved):
    rome, _ = moved
    me.recall("where does Ana live?", as_of=FEBRUARY)
    me.recall("where does Ana live?", known_at=APRIL)
    me.list(as_of=FEBRUARY)
    me.show(rome, as_of=FEBRUARY)
    assert {row["op"] for row in me.events()} >= {"search"}  # that somebody asked is noted
    for id in moved:
        assert me.show(id).memory.access_count == 0


def test_recall_without_as_of_and_known_at_is_unchanged(me, moved):
    plain = me.recall("where does Ana live?")
    assert me.recall("where does Ana live?", as_of=None, known_at=None).hits == plain.hits


def test_recall_known_at_has_the_ranking_of_that_time(me, to):
    to(JANUARY)
    for text in ("The kettle is blue", "The kettle is old", "A blue garden chair", "Tea is ready"):
        me.remember(text)
    to("2026-01-11")
    then = me.recall("the blue kettle", k=10, explain=True)
    to(MARCH)
    me.remember("The blue kettle leaks")
    me.remember("Another blue kettle came")
    back = me.recall("the blue kettle", k=10, explain=True, known_at="2026-01-11")
    told = [(hit.text, hit.similarity, hit.score, hit.parts) for hit in then.hits]
    assert [(hit.text, hit.similarity, hit.score, hit.parts) for hit in back.hits] == told


def test_list_known_at_pages_are_complete(me, to):
    to(JANUARY)
    me.remember_many([f"Thing number {n}" for n in range(7)])
    to(FEBRUARY)
    me.remember("Something later")
    seen, after = [], None
    while True:
        page = me.list(limit=3, after=after, known_at=JANUARY)
        seen += [memory.content for memory in page.memories]
        after = page.next
        if after is None:
            break
    assert sorted(seen) == [f"Thing number {n}" for n in range(7)]


def test_recall_known_at_works_during_an_embedder_outage(open_book, to):
    embedder = Switchable()
    me = open_book(embedder=embedder).user("ana")
    to(JANUARY)
    me.profile_set("city", "Rome")
    to(FEBRUARY)
    me.profile_set("city", "Berlin")
    embedder.down = True
    answer = me.recall("which city", known_at=JANUARY)
    assert answer.degraded
    assert [hit.text for hit in answer.hits] == ["City is Rome"]


# ——— sources ———

CHAT = """{"speaker": "Noa", "text": "Where are the spare keys?", "time": "2026-01-02"}
{"speaker": "Tal", "text": "In the blue drawer, under the maps.", "time": "2026-02-20"}
"""
MORE = """{"speaker": "Tal", "text": "The keys moved to the kitchen.", "time": "2026-02-25"}
"""


def test_as_of_uses_the_turn_time_and_known_at_the_arrival_of_a_passage(me, to):
    to(MARCH)
    id = me.ingest(CHAT, title="Keys").id
    to(APRIL)
    asked = {"query": "the spare keys, blue drawer", "sources": "only"}
    assert len(me.recall(**asked).hits) == 2
    assert [h.text for h in me.recall(**asked, as_of=JANUARY).hits] == ["Where are the spare keys?"]
    assert me.recall(**asked, known_at=FEBRUARY).is_empty
    assert len(me.recall(**asked, known_at=MARCH).hits) == 2
    assert [p.number for p in me.show(id, as_of=JANUARY).passages] == [1]
    assert [source.passages for source in me.sources(as_of=JANUARY).sources] == [1]
    assert me.sources(known_at=FEBRUARY).sources == ()
    with pytest.raises(NotFound):
        me.show(id, known_at=FEBRUARY)
    with pytest.raises(NotFound):
        me.recall("keys", sources=id, known_at=FEBRUARY)


def test_known_at_excludes_passages_appended_later(me, to):
    to(MARCH)
    id = me.ingest(CHAT, external_id="keys").id
    to(APRIL)
    me.ingest(MORE, external_id="keys", append=True)
    to("2026-05-01")
    shown = me.show(id, known_at=MARCH)
    assert [passage.number for passage in shown.passages] == [1, 2]
    assert shown.source.passages == 2
    assert (shown.source.summary, shown.source.keywords) == ("", ())  # of which there is no version
    assert len(me.show(id, known_at=APRIL).passages) == 3
    assert me.show(id, known_at=APRIL).source.summary
    assert finds(me, "keys moved to the kitchen", sources=id, known_at=MARCH, threshold=0.9) == []


def test_known_at_excludes_a_source_replaced_later(me, to):
    to(JANUARY)
    id = me.ingest("The rent is 900.", external_id="lease").id
    to(MARCH)
    me.ingest("The rent is 1200.", external_id="lease")
    to(APRIL)
    assert finds(me, "how much is the rent?", known_at=FEBRUARY) == []
    with pytest.raises(NotFound):
        me.show(id, known_at=FEBRUARY)
    assert finds(me, "how much is the rent?", known_at=MARCH) == ["The rent is 1200."]


def test_known_at_excludes_a_forgotten_source(me, to):
    to(JANUARY)
    id = me.ingest(CHAT, title="Keys").id
    to(MARCH)
    me.forget(id)
    assert me.recall("spare keys", known_at=FEBRUARY).is_empty
    assert me.sources(known_at=FEBRUARY).sources == ()


def test_known_at_of_imported_memories_starts_with_the_import(book, me, moved, to):
    other = book.user("bob")
    to("2026-06-01")
    other.import_(me.export())
    assert lists(other, known_at="2026-05-20") == set()
    assert lists(other, known_at="2026-06-01") == {"Ana lives in Berlin"}
    assert lists(other, as_of=FEBRUARY) == {"Ana lives in Rome"}


# ——— moments ———


def test_as_of_accepts_time_zones_and_defaults_to_utc(me, moved):
    rome, _ = moved
    at_the_change = me.show(rome).memory.valid_to
    east = at_the_change.astimezone(timezone(timedelta(hours=9)))
    naive = at_the_change.replace(tzinfo=None)
    for moment in (at_the_change, east, naive, east.isoformat(), naive.isoformat()):
        assert lists(me, as_of=moment) == {"Ana lives in Berlin"}


NO_MOMENTS = ("yesterday", "2026-13-01", "", "0001-01-01", 5, True, ["2026-01-01"], {})


def test_time_travel_refuses_invalid_moments(me):
    verbs = (
        lambda then: me.recall("x", **then),
        lambda then: me.recall_many(["x"], **then),
        lambda then: me.list(**then),
        lambda then: me.show("x", **then),
        lambda then: me.sources(**then),
    )
    for verb, name, bad in itertools.product(verbs, ("as_of", "known_at"), NO_MOMENTS):
        with pytest.raises(InvalidInput) as refused:
            verb({name: bad})
        assert refused.value.field == name


def test_known_at_refuses_a_future_moment(me, clock):
    with pytest.raises(InvalidInput) as refused:
        me.recall("x", known_at=clock() + timedelta(seconds=1))
    assert refused.value.field == "known_at"
    assert me.list(known_at=clock()).memories == ()


def test_list_and_sources_refuse_forgotten_with_as_of(me):
    for verb in (me.list, me.sources):
        with pytest.raises(InvalidInput) as refused:
            verb(forgotten=True, as_of=JANUARY)
        assert refused.value.field == "forgotten"
