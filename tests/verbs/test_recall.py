"""recall: what is relevant, best first, within the limits that were asked for."""

from __future__ import annotations

import pytest

from commonplace.language.text.tokens import count_tokens


@pytest.fixture
def garden(me):
    """Six memories about a garden, one about tea."""
    me.remember_many(
        [
            {"content": "The garden gate needs a new lock", "tags": ["gate"], "importance": 4},
            {"content": "The garden hose leaks near the tap", "tags": ["hose"], "role": "user"},
            {"content": "The garden shed holds the lawn mower", "category": "things"},
            {"content": "The garden party is on Friday", "kind": "event", "run_id": "r1"},
            {"kind": "kv", "metadata": {"subject": "garden area", "value": "40 sqm"}},
            {"content": "The garden wall is painted white", "pinned": True, "thread": "t1"},
            {"content": "Dana drinks green tea"},
        ]
    )
    return me


def texts(answer):
    return [hit.text for hit in answer.hits]


def test_recall_finds_the_relevant_memory_first(garden):
    answer = garden.recall("garden gate lock")
    assert texts(answer)[0] == "The garden gate needs a new lock"
    assert answer.is_search
    assert not answer.is_empty
    assert not answer.degraded
    assert answer.tokens == count_tokens(answer.text)


def test_recall_hit_has_all_fields(garden):
    hit = garden.recall("garden gate lock").hits[0]
    stored = garden.show(hit.id).memory
    assert (hit.text, hit.kind, hit.category) == (stored.content, "fact", stored.category)
    assert (hit.date, hit.importance, hit.tags) == (stored.updated_at, 4, ("gate",))
    assert hit.similarity > 0.5
    assert hit.score > 0.5
    assert hit.forgettable
    assert not hit.suspicious
    assert hit.disputed is None


@pytest.mark.parametrize("query", ["rocket engine nozzle", "Kubernetes"])
def test_recall_without_a_relevant_memory_is_weak_and_strictly_empty(garden, query):
    assert all(hit.weak for hit in garden.recall(query).hits)
    answer = garden.recall(query, strict=True)
    assert answer.is_empty
    assert (answer.text, answer.tokens) == ("", 0)


@pytest.mark.parametrize("query", ["??", "the of and"])
def test_recall_of_nothing_in_particular_is_empty(garden, query):
    assert garden.recall(query).is_empty


def test_recall_on_an_empty_store_is_empty(me):
    assert me.recall("anything").is_empty


def test_recall_returns_at_most_k_hits(garden):
    assert len(garden.recall("garden", k=2).hits) == 2
    assert len(garden.recall("garden", k=50).hits) == 6


def test_recall_stays_within_the_token_budget(garden):
    for budget in (0, 1, 5, 12, 25, 60, 1000):
        answer = garden.recall("garden", k=50, budget_tokens=budget)
        assert count_tokens(answer.text) == answer.tokens <= budget


def test_recall_threshold_applies_to_similarity(garden):
    everything = garden.recall("garden gate lock", k=50, threshold=0.0)
    best = max(hit.similarity for hit in everything.hits)
    just_below = garden.recall("garden gate lock", k=50, threshold=best - 0.001)
    assert [hit.similarity for hit in just_below.hits] == [best]
    assert garden.recall("garden gate lock", threshold=1.0).is_empty


def test_recall_keeps_a_full_term_match_below_the_similarity_floor(me):
    long = "Remember the wombat. " + "Other things were said that day about the weather. " * 20
    me.remember(long)
    (hit,) = me.recall("wombat").hits
    assert hit.similarity < 0.5


FILTERED = [
    ({"kinds": "kv"}, {"garden area is 40 sqm"}),
    ({"kinds": ["kv", "event"]}, {"garden area is 40 sqm", "The garden party is on Friday"}),
    ({"categories": "things"}, {"The garden shed holds the lawn mower"}),
    ({"filters": {"tags": ["gate", "moon"]}}, {"The garden gate needs a new lock"}),
    ({"filters": {"importance_min": 3}}, {"The garden gate needs a new lock"}),
    ({"filters": {"pinned": True}}, {"The garden wall is painted white"}),
    ({"filters": {"thread_id": "t1"}}, {"The garden wall is painted white"}),
    ({"filters": {"role": "user"}}, {"The garden hose leaks near the tap"}),
    ({"filters": {"run_id": "r1"}}, {"The garden party is on Friday"}),
    ({"filters": {"created_before": "2020-01-01"}}, set()),
    ({"kinds": "kv", "filters": {"pinned": True}}, set()),
]


def test_recall_and_list_apply_the_same_filters(garden):
    for asked, found in FILTERED:
        assert set(texts(garden.recall("garden", k=50, **asked))) == found
        listed = {m.content for m in garden.list(**asked).memories}
        assert {text for text in listed if "garden" in text} == found


def test_recall_filter_finds_a_low_ranked_match(me):
    me.remember_many([f"garden garden garden {n}" for n in range(150)])
    rare = me.remember("a garden, mentioned once in a long and winding sentence", tags=["rare"])
    (hit,) = me.recall("garden", k=1, filters={"tags": "rare"}).hits
    assert hit.id == rare.id


def test_recall_explain_parts_sum_to_the_score(garden):
    hit = garden.recall("garden gate lock", explain=True).hits[0]
    assert hit.why.startswith("Recalled because its meaning is similar")
    assert hit.score == pytest.approx(sum(hit.parts.values()), abs=1e-5)
    silent = garden.recall("garden gate lock").hits[0]
    assert (silent.why, silent.parts) == (None, None)


def test_recall_many_equals_separate_recalls(garden):
    queries = ["garden gate", "green tea", "rocket"]
    together = garden.recall_many(queries, k=3)
    assert [a.hits for a in together] == [garden.recall(q, k=3).hits for q in queries]


def test_recall_excludes_superseded_and_forgotten_memories(me):
    old = me.remember("The garden gate needs a new lock", kind="fact").id
    new = me.update(old, content="The garden gate has a new lock").id
    assert [hit.id for hit in me.recall("garden gate lock").hits] == [new]
    me.forget(new)
    assert me.recall("garden gate lock").is_empty


def test_recall_shows_linked_memories_as_related_bullets(me):
    me.remember("The garden gate needs a new lock before winter")
    me.remember("The garden gate needs a new lock before summer")
    question = "garden gate needs new lock winter"
    answer = me.recall(question, k=1)
    (hit,) = answer.hits
    assert hit.text.endswith("winter")
    assert [r.text for r in hit.related] == ["The garden gate needs a new lock before summer"]
    assert answer.text.endswith("  - related: The garden gate needs a new lock before summer")
    (squeezed,) = me.recall(question, k=1, budget_tokens=count_tokens(hit.bullet)).hits
    assert squeezed.related == ()


def test_list_pages_are_newest_first(me, clock):
    ids = []
    for n in range(5):
        ids.append(me.remember(f"note {n}").id)
        clock.tick(minutes=1)
    first = me.list(limit=2)
    second = me.list(limit=2, after=first.next)
    third = me.list(limit=2, after=second.next)
    shown = [m.id for page in (first, second, third) for m in page.memories]
    assert shown == ids[::-1]
    assert third.next is None
