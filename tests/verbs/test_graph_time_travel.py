"""What was true at a moment, and what was known at a moment: both at once, too."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from commonplace.errors import InvalidInput, NotFound


@pytest.fixture
def told(me, clock):
    """Learned on 1 March: Dan works at Acme since January. On 1 April: he has been at Globex since
    February, and Ana has known him since 2020, not only since this year."""
    me.nodes_add("Dan")
    for name in ("Acme", "Globex"):
        me.nodes_add(name, node_type="Entity", type="organization")
    me.relate("Dan", "Acme", "works-at", valid_from="2026-01-01")
    me.relate("me", "Dan", "friend", valid_from="2026-01-05")
    clock.tick(days=31)
    me.relate("Dan", "Globex", "works-at", valid_from="2026-02-01")
    me.relate("me", "Dan", "friend", valid_from="2020-01-01")
    me.nodes_update("Dan", name="Daniel Cohen", description="A gardener")
    return me


def jobs(me, **moments):
    return {e.to_name for e in me.edges(types="works-at", **moments).edges}


def friends(me, **moments):
    return len(me.edges(types="friend", **moments).edges)


@pytest.mark.parametrize(
    ("as_of", "known_at", "expected"),
    [
        (None, None, {"Globex"}),
        ("2026-01-15", None, {"Acme"}),
        (None, "2026-03-10", {"Acme"}),
        ("2026-02-15", "2026-03-10", {"Acme"}),
        ("2026-02-15", None, {"Globex"}),
        ("2025-06-01", None, set()),
        (None, "2026-02-01", set()),
    ],
)
def test_edges_combine_as_of_and_known_at(told, as_of, known_at, expected):
    assert jobs(told, as_of=as_of, known_at=known_at) == expected


def test_edges_known_at_ignores_a_valid_from_recorded_later(told):
    assert friends(told, as_of="2021-01-01") == 1
    assert friends(told, as_of="2021-01-01", known_at="2026-03-10") == 0
    assert friends(told, as_of="2026-02-01", known_at="2026-03-10") == 1


def test_node_known_at_shows_the_earlier_name_and_description(told):
    id = told.node("Daniel Cohen").node.id
    then = told.node(id, known_at="2026-03-10").node
    assert (then.name, then.description) == ("Dan", "")
    assert told.node(id).node.description == "A gardener"


def test_explore_and_traverse_accept_as_of_and_known_at(told):
    acme = told.node("Acme").node.id
    near = told.traverse(seed_nodes=[acme], as_of="2026-01-15").reached
    assert "Daniel Cohen" in {each.name for each in near}
    assert "Daniel Cohen" not in {each.name for each in told.traverse(seed_nodes=[acme]).reached}
    found = told.explore(text_matches=["Dan"], granularity=1, known_at="2026-03-10")
    assert {hit.name for hit in found.semantic.people} == {"Dan"}


def test_notes_of_a_moment_are_equal_in_node_edges_and_explore(told, clock):
    """Noted on 1 April for a week; on 8 April something else."""
    dan, works = told.node("Daniel Cohen").node.id, told.edges(types="works-at").edges[0].id
    for about in (dan, works):
        told.note(about, "Has a cold", lifetime="week")
    clock.tick(days=7)
    for about in (dan, works):
        told.note(about, "Is well again", lifetime="forever")

    def shown(words, **moment):
        whole = told.node(dan, **moment)
        explored = told.explore(text_matches=["Daniel Cohen"], granularity=1, **moment).semantic
        met = told.explore(text_matches=[words], granularity=1, **moment).semantic.relationships
        return [
            [note.content for note in whole.notes],
            list(whole.node.notes_snippets),
            list(whole.edges[0].notes_snippets),
            list(told.edges(types="works-at", **moment).edges[0].notes_snippets),
            list(explored.people[0].notes_snippets),
            list(explored.relationships[0].notes_snippets),
            list(met[0].notes_snippets) if met else [],
        ]

    assert shown("cold", known_at="2026-04-03") == [["Has a cold"]] * 7
    assert shown("well") == [["Is well again"]] * 7
    assert shown("cold") == [["Is well again"]] * 6 + [[]]
    said = {each.text for each in told.contributions() if each.what == "note"}
    assert said == {"Is well again"}


def test_cypher_rejects_as_of_and_sees_edges_of_all_times(told):
    with pytest.raises(InvalidInput, match="query sees all"):
        told.traverse(cypher="MATCH (n) RETURN n", as_of="2026-01-15")
    rows = told.traverse(
        cypher="MATCH (p:Person)-[r:associated_with]-(e:Entity) WHERE r.valid_to IS NULL "
        "RETURN e.name"
    ).rows
    assert rows == (("Globex",),)


def test_relate_rejects_valid_to_before_valid_from(told):
    with pytest.raises(InvalidInput):
        told.relate("Acme", "Globex", "partner", valid_from="2026-03-01", valid_to="2026-01-01")


@pytest.mark.parametrize(
    ("said", "before", "after"),
    [
        ("Ana: I used to work at Acme.", "2025-06-01", "2026-01-06"),
        ("Ana: I worked at Acme until 2020.", "2019-06-01", "2020-06-01"),
        ("Ana: I work at Acme until the end of May.", "2026-05-20", "2026-06-02"),
    ],
)
def test_extract_edge_with_only_an_end_date_holds_before_the_end(me, said, before, after):
    me.ingest(said, format="transcript", date="2026-01-05")
    me.extract()
    assert jobs(me, as_of=before) == {"Acme"}
    assert jobs(me, as_of=after) == set()


def accepted_and_declined(me, days):
    said = {"accepted": "2026-01-01", "declined": "2026-01-15"}
    for word in days:
        me.ingest(f"Ana: I {word} the Google job offer.", format="transcript", date=said[word])
        me.extract()


@pytest.mark.parametrize("days", [("accepted", "declined"), ("declined", "accepted")])
def test_extract_declined_offer_ends_the_accepted_job_in_either_order(me, days):
    accepted_and_declined(me, days)
    edges = me.edges(past=True).edges
    told = {e.relationship_type: (e.valid_from, e.valid_to) for e in edges}
    first, then = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 15, tzinfo=UTC)
    assert told == {"works-at": (first, then), "declined-offer": (then, None)}
    assert jobs(me, as_of="2026-01-10") == {"Google"}
    assert jobs(me) == set()


def test_extract_declined_offer_alone_makes_no_works_at_edge(me):
    accepted_and_declined(me, ["declined"])
    assert jobs(me, as_of="2026-01-10") == set()
    assert [e.to_name for e in me.edges(types="declined-offer").edges] == ["Google"]


def test_erase_of_the_source_that_ended_an_edge_reopens_the_edge(me):
    accepted_and_declined(me, ["accepted", "declined"])
    declined = next(s.id for s in me.sources().sources if s.started_at.day == 15)
    me.erase([declined])
    assert jobs(me) == {"Google"}


def test_extract_edge_with_a_future_start_holds_only_from_that_day(me, clock):
    me.ingest("Ana: I work at Acme.", format="transcript", date="2026-02-01")
    said = clock()
    monday = (said + timedelta(days=7 - said.weekday())).date()
    me.ingest("Ana: I start at Initech next Monday.", format="transcript", date=said.isoformat())
    me.extract()
    assert jobs(me) == {"Acme"}
    assert jobs(me, as_of=monday.isoformat()) == {"Initech"}
    assert jobs(me, as_of=(monday - timedelta(days=1)).isoformat()) == {"Acme"}
    assert [e["relationship_type"] for e in json.loads(me.graph())["edges"]] == ["works-at"]
    clock.tick(days=8)
    assert jobs(me) == {"Initech"}


def test_extract_edge_with_a_future_end_holds_until_then(me, clock):
    said = clock()
    me.ingest("Ana: I'm leaving Acme next month.", format="transcript", date=said.isoformat())
    me.extract()
    assert jobs(me) == {"Acme"}
    clock.tick(days=40)
    assert jobs(me) == set()


def test_extract_contradicted_edge_of_the_same_day_holds_at_no_earlier_date(me, clock):
    for place in ("Haifa", "Jena"):
        me.ingest(f"Ana: I live in {place}.", format="transcript", date="2026-01-05")
        clock.tick(hours=1)
        me.extract()
    assert not me.edges(types="lives-in", as_of="2026-01-01").edges


@pytest.mark.parametrize(
    "said",
    [
        "Ana: I live in Haifa.\nBob: Ok.\nAna: I moved to Berlin.",
        "Ana: I live in Haifa. Then I moved to Berlin.\nBob: Ok.\nAna: Yes.",
    ],
)
def test_extract_prefers_the_later_statement_within_a_source(me, said):
    for number in range(8):  # whatever ids come out of the dice
        me.ingest(said, format="transcript", date="2026-01-05", external_id=f"talk {number}")
        me.extract()
        assert [edge.to_name for edge in me.edges(types="lives-in").edges] == ["Berlin"]
        me.erase_user()


@pytest.mark.parametrize(
    "said",
    [
        "I work at Wix and I teach at Technion.",
        "I work at Wix. I also teach at Technion.",
        "I work at Wix. I teach at Technion part-time.",
    ],
)
def test_extract_keeps_two_jobs_stated_together_until_a_new_job(me, said):
    id = me.ingest(f"Ana: {said}", format="transcript", date="2026-01-05").id
    me.extract([id])
    assert {edge.to_name for edge in me.edges(types="works-at").edges} == {"Wix", "Technion"}
    me.extract([me.ingest("Ana: I work at Wix.", format="transcript", date="2026-02-05").id])
    assert {edge.to_name for edge in me.edges(types="works-at").edges} == {"Wix", "Technion"}
    me.extract([me.ingest("Ana: I work at Google.", format="transcript", date="2026-02-07").id])
    assert {edge.to_name for edge in me.edges(types="works-at").edges} == {"Google"}


# ——— walking through sources ———


@pytest.fixture
def talks(me, clock):
    """Lena is spoken of with Tom in January, and with Rosa in a talk of February that comes in
    later."""
    me.profile_set("preferred name", "Ana")
    said = {
        "2026-01-05": "Ana: My friend Lena Hoffmann met my friend Tom Chen.",
        "2026-02-05": "Ana: My friend Lena Hoffmann met my friend Rosa Blum.",
    }
    for date, text in said.items():
        clock.tick(days=10)
        me.extract([me.ingest(text, format="transcript", title=date, date=date).id])
    return me


def reached(me, **moments):
    return {
        each.name for each in me.traverse("ppr", seed_nodes=["Lena Hoffmann"], **moments).reached
    }


def test_traverse_as_of_uses_only_sources_dated_by_then(talks):
    assert {"2026-01-05", "2026-02-05", "Tom Chen", "Rosa Blum"} <= reached(talks)
    then = reached(talks, as_of="2026-01-20")
    assert {"2026-01-05", "Tom Chen"} <= then
    assert not then & {"2026-02-05", "Rosa Blum"}
    assert reached(talks, as_of="2020-01-01") == set()


def test_traverse_known_at_uses_only_sources_ingested_by_then(talks, clock):
    then = reached(talks, known_at=clock() - timedelta(days=5))
    assert {"2026-01-05", "Tom Chen"} <= then
    assert not then & {"2026-02-05", "Rosa Blum"}


def test_traverse_rejects_a_seed_source_later_than_the_moment(talks):
    later = next(each for each in talks.sources().sources if each.title == "2026-02-05")
    assert talks.traverse(seed_nodes=[later.id]).reached
    for moments in ({"as_of": "2026-01-20"}, {"known_at": "2026-01-20"}):
        with pytest.raises(NotFound):
            talks.traverse(seed_nodes=[later.id], **moments)


def test_relate_newer_statement_with_an_earlier_start_holds(told, clock):
    clock.tick(days=1)
    told.relate("Dan", "Acme", "works-at", valid_from="2025-12-01")
    assert jobs(told) == {"Acme"}
    assert jobs(told, known_at="2026-04-02") == {"Globex"}
    assert jobs(told, as_of="2026-02-15") == {"Acme"}


def test_relate_after_the_clock_was_set_back_holds(told, clock):
    for name in ("Acme", "Globex"):
        clock.tick(days=-20)
        told.relate("Dan", name, "works-at")
        assert jobs(told) == {name}
    edges = told.edges(types="works-at", past=True).edges
    assert all(e.valid_to is None or e.valid_to >= e.valid_from for e in edges)


HOMES = [
    ("Dana lives in Haifa.", "2026-01-31"),
    ("Dana moved to Lisbon on 20 January 2026.", "2026-02-05"),
]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_extract_newer_source_with_an_earlier_start_holds(me, order):
    for place in order:
        text, day = HOMES[place]
        me.ingest(f"Ben: {text}", date=day)
        me.extract()
    assert {e.to_name for e in me.edges(types="lives-in").edges} == {"Lisbon"}
