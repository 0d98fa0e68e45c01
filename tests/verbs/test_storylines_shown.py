"""Storylines and macros are shown: listed, in full, by explore, by recall and in a context."""

from __future__ import annotations

import pytest

from commonplace.errors import InvalidInput, NotFound
from support.story_making import ingest_days, put_macro, put_storyline

GOOGLE = {
    "2026-01-05": "Google asked me for an interview. I met my friend Dana Levi.",
    "2026-01-09": "The interview at Google went well, and Dana Levi called.",
    "2026-01-16": "Google offered me the job. I asked about compensation.",
}
KITCHEN = {
    "2026-02-02": "We measured the Kitchen with the builder Omri Katz.",
    "2026-02-08": "The Kitchen cabinets are ordered, Omri Katz says.",
    "2026-02-20": "The Kitchen is finished and we love it.",
}
OFFER = "Google interviewed the user in January. It then made an offer."
BUILT = "The kitchen was measured and built in February. It is finished."
WORK = "The user looked for a new job all winter. Google made an offer. The home was rebuilt."
CATEGORIES = """
allowlists:
  historian: [history, relationships, knowledge]
  secretary: [relationships, knowledge]
"""


@pytest.fixture
def book(open_book, tmp_path):
    file = tmp_path / "categories.yaml"
    file.write_text(CATEGORIES)
    return open_book(categories=str(file), worker="off")


@pytest.fixture
def me(book):
    return book.user("ana")


@pytest.fixture
def google(me):
    me.nodes_add("Google", node_type="Entity", type="organization")
    me.nodes_add("Kitchen", node_type="Entity", type="project")
    sources = ingest_days(me, GOOGLE)
    me.extract()
    return put_storyline(me, "Google", sources, OFFER)


@pytest.fixture
def kitchen(me, google):
    sources = ingest_days(me, KITCHEN)
    me.extract()
    return put_storyline(me, "Kitchen", sources, BUILT)


@pytest.fixture
def winter(me, google, kitchen):
    return put_macro(me, "Google", [google, kitchen], WORK)


# ——— lists, and one in full ———


def test_storylines_are_listed_newest_first_and_by_anchor(me, google, kitchen):
    assert [each.id for each in me.storylines().storylines] == [kitchen.id, google.id]
    assert [each.id for each in me.storylines(anchor="Google").storylines] == [google.id]
    first = me.storylines(limit=1)
    assert [each.id for each in first.storylines] == [kitchen.id]
    rest = me.storylines(limit=1, after=first.next)
    assert [each.id for each in rest.storylines] == [google.id]
    assert rest.next is None


def test_storylines_that_are_over_are_listed_apart(me, google, clock):
    old = ingest_days(me, {f"2025-03-{day}": f"Google news of day {day}." for day in (10, 12, 15)})
    me.extract()
    closed = put_storyline(me, "Google", old, "Google was quiet.", closed_at=clock())
    assert [each.id for each in me.storylines(open=True).storylines] == [google.id]
    assert [each.id for each in me.storylines(open=False).storylines] == [closed.id]


def test_storylines_of_an_unknown_anchor_are_an_error(me, google):
    with pytest.raises(NotFound):
        me.storylines(anchor="Nobody At All")
    with pytest.raises(NotFound):
        me.macros(anchor="Nobody At All")


def test_storyline_is_shown_with_its_sources_and_macros(me, google, winter):
    whole = me.show(google.id)
    assert whole.storyline.description == OFFER
    assert whole.storyline.anchor.name == "Google"
    assert [each.title for each in whole.sources] == [f"Log of {day}" for day in reversed(GOOGLE)]
    assert [each.macro_id for each in whole.macros] == [winter.id]


def test_macro_is_shown_with_its_storylines_and_sources(me, google, kitchen, winter):
    whole = me.show(winter.id)
    assert [each.id for each in whole.storylines] == [kitchen.id, google.id]
    assert len(whole.sources) == whole.macro.total_source_count == 6
    assert [each.id for each in me.macros().macros] == [winter.id]


def test_storyline_of_another_user_is_unknown(book, google):
    with pytest.raises(NotFound):
        book.user("bob").show(google.id)
    assert book.user("bob").storylines().storylines == ()


def test_storyline_cannot_be_forgotten_without_its_sources(me, google):
    for remove in (me.forget, me.erase):
        with pytest.raises(InvalidInput) as refused:
            remove([google.id])
        assert "sources" in refused.value.remedy
    assert me.show(google.id).storyline.description == OFFER


def test_archived_storyline_leaves_lists_and_explore_but_not_show(me, google, clock):
    clock.tick(days=300)
    assert me.storylines().storylines == ()
    assert [each.id for each in me.storylines(include_archived=True).storylines] == [google.id]
    assert me.explore("Google", granularity=2).episodic.storylines == ()
    found = me.explore("Google", granularity=2, include_archived=True).episodic.storylines
    assert [each.storyline_id for each in found] == [google.id]
    assert me.show(google.id).storyline.state == "archived"


def test_storyline_is_over_by_its_dates_before_a_night_closes_it(me, google, clock):
    clock.tick(days=100)
    assert me.show(google.id).storyline.is_open is False
    assert me.storylines(open=True).storylines == ()
    assert [each.id for each in me.storylines(open=False).storylines] == [google.id]


def test_archived_storyline_is_recalled_only_if_asked_for(me, google, clock):
    clock.tick(days=300)
    question = "Who interviewed the user in January and then made an offer?"
    assert google.id not in [hit.id for hit in me.recall(question).hits]
    found = me.recall(question, include_archived=True).hits
    assert google.id in [hit.id for hit in found]
    assert me.recall("What is new?", include_archived=True).hits[0].id == google.id


# ——— explore ———


def test_explore_meso_returns_whole_storylines_with_previews(me, google, winter):
    found = me.explore("How is the Google job going?", granularity=2)
    hit = found.episodic.storylines[0]
    assert (hit.storyline_id, hit.description, hit.source_count) == (google.id, OFFER, 3)
    assert hit.anchor.name == "Google"
    assert "Dana Levi" in [node.name for node in hit.top_people]
    assert [each.started_at.day for each in hit.preview_sources] == [16, 9, 5]
    previews = {s.entity_key for each in found.episodic.storylines for s in each.preview_sources}
    assert {each.entity_key for each in found.episodic.sources} == previews
    assert [(each.macro_id, each.name) for each in found.episodic.macros] == [
        (winter.id, winter.name)
    ]
    assert not hasattr(found.episodic.macros[0], "description")
    assert found.semantic.entities[0].name == "Google"


def test_explore_macro_returns_whole_macros_with_their_storylines(me, google, kitchen, winter):
    found = me.explore("What's happening lately?", granularity=3)
    (hit,) = found.episodic.macros
    assert (hit.macro_id, hit.storyline_count, hit.total_source_count) == (winter.id, 2, 6)
    assert [each.one_liner for each in hit.storylines] == [
        "Google interviewed the user in January.",
        "The kitchen was measured and built in February.",
    ]
    assert [each.storyline_id for each in found.episodic.storylines] == [google.id, kitchen.id]
    assert found.episodic.sources == ()
    assert [each.name for each in found.semantic.entities] == ["Google"]


def test_explore_macro_has_the_newest_storylines_where_there_are_no_macros(me, google, kitchen):
    found = me.explore("What's happening lately?", granularity=3)
    assert [each.storyline_id for each in found.episodic.storylines] == [kitchen.id, google.id]
    assert {each.name for each in found.semantic.entities} == {"Google", "Kitchen"}


def test_explore_micro_has_the_newest_sources_for_what_is_new(me, google, kitchen):
    found = me.explore("What's happening lately?", granularity=1).episodic.sources
    days = [(each.started_at.month, each.started_at.day) for each in found]
    assert days == [(2, 20), (2, 8), (2, 2), (1, 16), (1, 9)]


def test_explore_micro_names_storylines_and_macros_of_sources(me, google, kitchen, winter):
    found = me.explore("Google", granularity=1).episodic
    assert google.id in [each.storyline_id for each in found.storylines]
    refs = {ref.storyline_id for each in found.sources for ref in each.storyline_refs}
    assert google.id in refs
    assert {ref.macro_id for each in found.sources for ref in each.macro_refs} == {winter.id}
    assert not hasattr(found.storylines[0], "description")


def test_explore_finds_storylines_by_name_and_by_text(me, google, kitchen):
    named = me.explore(text_matches=["Google – storyline"], granularity=2).episodic.storylines
    assert [each.storyline_id for each in named] == [google.id]
    told = me.explore(text_matches=["measured and built"], granularity=2).episodic.storylines
    assert [each.storyline_id for each in told] == [kitchen.id]


def test_explore_explains_the_score_of_a_storyline(me, google):
    asked = me.explore("Google", granularity=2, return_explanations=True)
    (hit,) = asked.episodic.storylines
    parts = hit.explanation.parts
    assert hit.relevance_score == pytest.approx(parts.semantic + parts.time + parts.salience)
    assert parts.salience > 0


def test_explore_of_a_past_moment_has_no_storylines(me, google):
    found = me.explore("Google", granularity=2, as_of="2026-02-01").episodic
    assert (found.storylines, found.macros) == ((), ())


def test_storyline_that_is_read_becomes_active(me, google):
    me.explore("Google", granularity=2)
    me._engine.access_log.flush()
    shown = me.show(google.id).storyline
    assert (shown.state, shown.access_count) == ("active", 1)
    assert shown.salience > 0.5
    me.recall("How is the Google job going?")
    me._engine.access_log.flush()
    assert me.show(google.id).storyline.access_count == 2


# ——— who sees what ———


def test_storyline_is_not_seen_by_agents_without_category_history(me, google, winter):
    secretary = me.agent("secretary")
    assert secretary.storylines().storylines == ()
    assert secretary.macros().macros == ()
    with pytest.raises(NotFound):
        secretary.show(google.id)
    assert secretary.explore("Google", granularity=2).episodic.storylines == ()
    assert secretary.traverse(cypher="MATCH (s:Storyline|Macro) RETURN s.name").rows == ()
    kinds = {hit.kind for hit in secretary.recall("How is the Google job going?").hits}
    assert kinds.isdisjoint({"storyline", "macro"})
    historian = me.agent("historian")
    assert google.id in [each.id for each in historian.storylines().storylines]


def test_sensitive_storyline_is_seen_by_id_or_with_clearance(book, me):
    me.nodes_add("Clinic", node_type="Entity", type="organization")
    days = {f"2026-01-{day}": f"The Clinic did test {day}." for day in (10, 12, 20)}
    sources = ingest_days(me, days, sensitivity="high")
    me.extract()
    hidden = put_storyline(me, "Clinic", sources, "The clinic did tests.")
    assert me.storylines().storylines == ()
    assert me.show(hidden.id).storyline.id == hidden.id
    cleared = book.user("ana", cleared=True)
    assert [each.id for each in cleared.storylines().storylines] == [hidden.id]


def test_storyline_with_a_forgotten_source_is_not_shown(me, google):
    me.forget([google.sources[0].id])
    assert me.storylines().storylines == () or OFFER not in str(me.storylines())
    assert OFFER not in str(me.recall("How is the Google job going?").hits)
    assert OFFER not in str(me.explore("Google", granularity=2))


# ——— recall, query, context ———


def test_recall_answers_what_happens_lately_with_macros(me, google, winter):
    first = me.recall("What's happening lately?").hits[0]
    assert (first.kind, first.id, first.category) == ("macro", winter.id, "history")
    assert "looked for a new job" in first.text
    assert first.citation.source in {source.id for source in google.sources} | {
        each.id for each in me.show(winter.id).sources
    }


def test_recall_answers_what_happens_lately_with_the_newest_storyline(me, google, kitchen):
    hits = [hit.id for hit in me.recall("מה קורה לאחרונה?").hits if hit.kind == "storyline"]
    assert hits == [kitchen.id, google.id]


@pytest.mark.parametrize(
    "question",
    ["How is the Google job going?", "איך הולך עם Google?", "What's the latest on Google?"],
)
def test_recall_answers_how_something_goes_with_its_storyline(me, google, kitchen, question):
    first = me.recall(question).hits[0]
    assert (first.kind, first.id) == ("storyline", google.id)
    assert first.quoted
    assert not first.forgettable


@pytest.mark.parametrize(
    "question",
    ["How is the Google job going?", "How is work?", "Any news on Google?", "מה קורה ב-Google?"],
)
def test_recall_answers_how_a_job_goes_with_the_storyline_and_not_the_relation(
    me, google, question
):
    me.relate("me", "Google", "works-at")
    first = me.recall(question).hits[0]
    assert (first.kind, first.id) == ("storyline", google.id)


def test_recall_puts_what_is_newer_before_the_storyline(me, google, clock):
    clock.tick(days=60)
    talks = ingest_days(
        me,
        {
            "2026-04-20": "I handed in my notice at Google.",
            "2026-04-22": "Google sent the last payslip.",
        },
    )
    me.extract()
    assert me.storylines().storylines[0].source_count == 3, "they come more than 90 days later"
    hits = me.recall("How is the Google job going?", explain=True).hits
    assert [hit.citation.source for hit in hits[:2]] == talks[::-1]
    assert hits[2].id == google.id
    scores = [hit.score for hit in hits[:4]]
    assert scores == sorted(scores, reverse=True)
    assert hits[0].score == pytest.approx(sum(hits[0].parts.values()), abs=1e-5)
    assert not hits[0].weak


def test_recall_returns_one_storyline_of_a_subject_and_its_macro_for_its_story(
    me, google, kitchen, winter, clock
):
    old = ingest_days(me, {f"2025-03-{day}": f"Google news of day {day}." for day in (10, 12, 15)})
    me.extract()
    put_storyline(me, "Google", old, "Google was quiet.", closed_at=clock())
    asked = me.recall("How is the Google job going?", k=10).hits
    assert _stories(asked) == [google.id]
    assert _stories(me.recall("What's the story of Google?", k=10).hits) == [winter.id, google.id]


def test_recall_of_a_storyline_returns_no_more_than_k(me, google, kitchen):
    for k in (1, 3):
        hits = me.recall("How is the Google job going?", k=k).hits
        assert len(hits) == k
        assert hits[0].id == google.id


def _stories(hits):
    return [hit.id for hit in hits if hit.kind in ("storyline", "macro")]


def test_recall_shows_one_macro_of_the_same_storylines(me, google, kitchen, winter):
    put_macro(me, "Kitchen", [google, kitchen], "The same.")
    assert len(_stories(me.recall("What's happening lately?").hits)) == 1
    assert len(me.explore("What's happening lately?", granularity=3).episodic.macros) == 1


def test_overview_has_no_storyline_of_another_and_its_own_comes_last(me, google, kitchen):
    assert _stories(me.recall("Who is Dana Levi?", k=20).hits) == []
    hits = me.recall("What do you know about Google?", k=20).hits
    assert _stories(hits) == [google.id]
    assert hits[-1].id == google.id


def test_recall_answers_what_was_said_with_sources(me, google, winter):
    first = me.recall("What did I say about compensation?").hits[0]
    assert first.kind == "passage"
    assert "compensation" in first.text


def test_recall_puts_no_storyline_before_the_fact_that_answers(me, google):
    me.remember("The interview at Google was on January 9.")
    hits = me.recall("When was the interview at Google?").hits
    assert hits[0].kind not in ("storyline", "macro")


def test_recall_of_a_past_moment_has_no_storylines(me, google):
    found = me.recall("How is the Google job going?", as_of="2026-02-01").hits
    assert {hit.kind for hit in found}.isdisjoint({"storyline", "macro"})


def test_context_recalls_the_storyline_that_is_asked_for(me, google):
    text = me.context("How is the Google job going?").text
    assert OFFER in text
    assert OFFER in me.whole_context("How is the Google job going?").text


def test_traverse_by_cypher_reads_storylines(me, google, winter):
    rows = me.traverse(
        cypher="MATCH (m:Macro)-[:groups]->(s:Storyline)-[:about]->(a) "
        "RETURN m.name, s.name, a.name"
    ).rows
    assert ("Google – macro", "Google – storyline", "Google") in rows
