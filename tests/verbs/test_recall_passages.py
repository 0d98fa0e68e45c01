"""Recall over passages and memories: filters, thresholds, and answers to what is not there."""

from __future__ import annotations

import pytest

from commonplace.store.queries import GraphQuery
from support.sources import chat, letter, turn


@pytest.fixture
def kept(me):
    """Three sources and two memories about herons; ids by a short name."""
    talk = me.ingest(
        chat(
            turn("Dana", "A heron stood by the harbour.", 0, role="user"),
            turn("Ilan", "Was the heron grey?", 60 * 24, role="assistant"),
        ),
        tags=["birds", "walks"],
        thread="main",
    ).id
    mail = me.ingest(letter("The heron flew to the lake.", subject="Heron news")).id
    text = me.ingest("A heron eats fish.", date="2020-05-01", tags=["birds"]).id
    about = me.remember("Herons nest in spring", kind="note", source_id=talk, tags=["birds"]).id
    plain = me.remember("The heron pub opens at noon", kind="note", importance=4).id
    return {"talk": talk, "mail": mail, "text": text, "about": about, "plain": plain}


def found(me, kept, query="heron", **asked):
    """Which of them came back, passages with their number."""
    names = {id: name for name, id in kept.items()}
    told = set()
    for hit in me.recall(query, k=50, **asked).hits:
        source, _, number = hit.id.partition("#")
        told.add(names[source] + (f" {number}" if number else ""))
    return told


FILTERED = [
    ({}, {"talk 1", "mail 1", "text 1", "about", "plain"}),  # a short reply belongs to its turn
    ({"kinds": "note"}, {"about", "plain"}),
    ({"kinds": ["note", "fact"]}, {"about", "plain"}),
    ({"categories": "history"}, {"talk 1", "mail 1", "text 1"}),
    ({"filters": {"source_type": "email"}}, {"mail 1"}),
    ({"filters": {"source_type": "chat"}}, {"talk 1"}),
    ({"filters": {"tags": ["walks"]}}, {"talk 1"}),
    ({"filters": {"tags": ["birds"]}}, {"talk 1", "text 1", "about"}),
    ({"filters": {"thread_id": "main"}}, {"talk 1"}),
    ({"filters": {"role": "assistant"}}, {"talk 2"}),
    ({"filters": {"actor_id": "Dana"}}, {"talk 1"}),
    ({"filters": {"created_before": "2021-01-01"}}, {"text 1"}),
    (
        {"filters": {"created_after": "2026-03-02", "created_before": "2026-03-03"}},
        {"talk 2"},
    ),
    ({"filters": {"importance_min": 3}}, {"plain"}),
    ({"filters": {"pinned": True}}, set()),
    ({"filters": {"facet": "anything"}}, set()),
    ({"filters": {"source_type": "email", "tags": ["birds"]}}, set()),
]


def test_recall_filters_apply_to_passages_and_memories(me, kept):
    for asked, expected in FILTERED:
        assert found(me, kept, **asked) == expected, asked


def test_recall_source_id_filter_returns_passages_and_derived_memories(me, kept):
    of_talk = {"filters": {"source_id": kept["talk"]}}
    assert found(me, kept, **of_talk) == {"talk 1", "about"}
    assert found(me, kept, **of_talk, kinds="note") == {"about"}
    assert found(me, kept, filters={"source_id": "source:none"}) == set()


def test_recall_threshold_applies_to_passages(me, kept):
    everything = me.recall("A heron eats fish", k=50).hits
    for threshold in (0.0, 0.2, 0.5, 0.9, 1.0):
        cut = me.recall("A heron eats fish", k=50, threshold=threshold).hits
        assert all(hit.similarity >= threshold for hit in cut)
        expected = {hit.id for hit in everything if hit.similarity >= threshold}
        assert expected <= {hit.id for hit in cut}
    assert [hit.id for hit in me.recall("A heron eats fish", threshold=0.95).hits] == [
        f"{kept['text']}#1"
    ]


ABOUT_SOMETHING_ELSE = (
    "How do I renew my passport in Brasília?",
    "What did Captain Nemo say about submarines?",
    "quarterly revenue forecast spreadsheet",
)


@pytest.mark.usefixtures("kept")
def test_recall_of_an_unrelated_query_is_weak_and_strictly_empty(me):
    for answer in me.recall_many(ABOUT_SOMETHING_ELSE):
        assert all(hit.weak for hit in answer.hits), answer.query
    for answer in me.recall_many(ABOUT_SOMETHING_ELSE, strict=True):
        assert answer.is_empty, answer.query
        assert (answer.text, answer.tokens) == ("", 0)


@pytest.mark.usefixtures("kept")
def test_recall_explain_of_a_passage_names_the_speaker_signal(me):
    (hit, *_) = me.recall("What did Ilan ask about the heron?", explain=True).hits
    assert hit.citation.speaker == "Ilan"
    assert hit.why.startswith("Recalled because ")
    assert "speaker" in hit.parts
    assert sum(hit.parts.values()) == pytest.approx(hit.score, abs=1e-4)
    assert me.recall("heron").hits[0].why is None


def test_recall_returns_one_passage_per_long_turn(me):
    long = " ".join(f"Sentence {n} tells of a heron and of much else besides." for n in range(60))
    done = me.ingest(chat(turn("Dana", long), turn("Ilan", "So many herons!", 1)))
    assert me.show(done.id).source.passages > 2
    turns = [p.turn for p in me.show(done.id).passages]
    hits = me.recall("heron", k=50).hits
    assert len(hits) == len(set(turns)) == 2


def test_sources_filters_and_pages(me, kept):
    def listed(**asked):
        names = {id: name for name, id in kept.items()}
        return [names[source.id] for source in me.sources(**asked).sources]

    assert set(listed()) == {"talk", "mail", "text"}
    assert listed(source_types="email") == ["mail"]
    assert set(listed(source_types=["chat", "email"])) == {"talk", "mail"}
    assert listed(tags="walks") == ["talk"]
    assert listed(thread="main") == ["talk"]
    assert listed(said_before="2021-01-01") == ["text"]
    assert set(listed(status="processed")) == {"talk", "mail", "text"}
    assert listed(status="raw") == []
    page = me.sources(limit=2)
    rest = me.sources(limit=2, after=page.next)
    assert [*page.sources, *rest.sources] == list(me.sources().sources)
    assert rest.next is None


def test_show_passage_includes_neighbouring_passages(me):
    done = me.ingest(chat(*(turn("Dana", f"Turn {n}", n) for n in range(1, 12))))
    shown = me.show(f"{done.id}#6").passages
    assert [passage.number for passage in shown] == [3, 4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize("verb", ["recall", "query"])
def test_recall_and_query_touch_the_sources_of_passages(book, me, verb):
    source = me.ingest("Dana: The orchard fence is broken near the weir.").id
    for _ in range(2):
        getattr(me, verb)("orchard fence")
        book.flush()
    marks = book._engine.store.graph_items(me.principal.own_scope, GraphQuery(marks=[source])).marks
    assert marks[source].access_count == 2
    assert marks[source].salience > 0.5
