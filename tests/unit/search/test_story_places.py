"""Where storylines that are asked for stand among other hits."""

from __future__ import annotations

from datetime import UTC, datetime

from commonplace.engine.search.graph.story_places import StorySubject, place_stories
from commonplace.engine.search.pack import Citation, Hit
from commonplace.language.text.terms import analyse

TOLD = datetime(2026, 2, 1, tzinfo=UTC)
OLD, NEW, NEWEST = (datetime(2026, month, 1, tzinfo=UTC) for month in (1, 3, 4))
GOOGLE = StorySubject(TOLD, names=[frozenset(analyse("Google"))], sources={"source:b"})


def hit(id, date, score, text="Nothing.", kind="passage", **more):
    return Hit(id, text, kind, "history", date, None, score, **more)


STORY = hit("storyline:1", TOLD, 0.3, kind="storyline")


def test_storyline_stands_before_other_hits_and_after_what_is_newer():
    old = hit("old", OLD, 0.9, "Google called.")
    new = hit("new", NEW, 0.5, "Google wrote.", weak=True)
    newest = hit("newest", NEWEST, 0.2, citation=Citation("source:b"))
    other = hit("other", NEWEST, 0.4, "The cat slept.")
    placed = place_stories([old, new, other, newest], [STORY], GOOGLE)
    assert [each.id for each in placed] == ["newest", "new", "storyline:1", "old", "other"]
    scores = [each.score for each in placed]
    assert scores == sorted(scores, reverse=True)
    assert not placed[1].weak


def test_edge_is_never_newer_than_a_storyline():
    edge = hit("edge:1", NEWEST, 0.9, "The user works at Google.", kind="edge")
    assert [each.id for each in place_stories([edge], [STORY], GOOGLE)] == [STORY.id, "edge:1"]


def test_memory_is_as_old_as_the_source_that_it_was_made_of():
    memory = hit("fact", NEWEST, 0.9, "Google called.", "fact", citation=Citation("source:a"))
    said = StorySubject(TOLD, GOOGLE.names, said_at={"source:a": OLD})
    assert [each.id for each in place_stories([memory], [STORY], said)] == [STORY.id, "fact"]


def test_everything_is_the_subject_of_a_question_for_news():
    cat = hit("cat", NEW, 0.4, "The cat slept.")
    placed = place_stories([cat], [STORY], StorySubject(TOLD))
    assert [each.id for each in placed] == ["cat", STORY.id]
