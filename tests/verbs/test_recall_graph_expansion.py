"""A question names one thing and asks for another: what hangs on the name in the graph is found,
by whoever may see the way to it, and by nobody else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from commonplace.engine.search import candidates

QUESTION = "In which city is the company of Sarah Chen?"
NAMED = "My colleague Sarah Chen works at Lumora Labs."
HOPS_AWAY = "My neighbour Tom Baker works at Lumora Labs. The workshop moved to Rotterdam in May."
OTHERS = (
    "The company picnic is in the park.",
    "A choir of that city sings on Sundays.",
    "The city map is in the car.",
)
CATEGORIES = """
allowlists:
  historian: [history]
  secretary: [history, relationships, knowledge]
"""


@pytest.fixture
def book(open_book, tmp_path):
    file = tmp_path / "categories.yaml"
    file.write_text(CATEGORIES)
    return open_book(categories=str(file), worker="off")


@pytest.fixture
def told(me):
    """The ids of the sources by what they say, before anything is extracted."""
    return {text: me.ingest(text, format="text").id for text in (NAMED, HOPS_AWAY, *OTHERS)}


def found(who, question=QUESTION, **more):
    return [hit.citation.source for hit in who.recall(question, k=5, **more).hits]


@contextmanager
def reads(me, monkeypatch) -> Iterator[list[str]]:
    """The statements that are read with."""
    store, statements = me._engine.store, []
    reading = store._reading

    class Listening:
        def __init__(self, session):
            self._session = session

        def rows(self, statement, **values):
            statements.append(statement)
            return self._session.rows(statement, **values)

        def __getattr__(self, name):
            return getattr(self._session, name)

    @contextmanager
    def listening(scope):
        with reading(scope) as session:
            yield Listening(session)

    with monkeypatch.context() as patch:
        patch.setattr(store, "_reading", listening)
        yield statements


@contextmanager
def without_the_graph(monkeypatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr(candidates, "find_named_nodes", lambda *_: None)
        yield


def test_recall_finds_a_passage_two_hops_away_after_extract(me, told):
    assert told[HOPS_AWAY] not in found(me)
    me.extract()
    assert found(me)[0] == told[NAMED]
    assert told[HOPS_AWAY] in found(me)


def test_recall_explain_names_the_graph_signal(me, told):
    me.extract()
    hits = me.recall(QUESTION, explain=True).hits
    hit = next(hit for hit in hits if hit.citation.source == told[HOPS_AWAY])
    assert hit.parts["graph"] > 0
    assert "the graph connects it with names in the query" in hit.why


def test_recall_without_names_in_the_query_skips_the_graph(me, told, monkeypatch):
    question = "Which choir sings on Sundays?"
    before = me.recall(question).hits
    me.extract()
    assert me.recall(question).hits == before
    with reads(me, monkeypatch) as asked:
        me.recall(question)
    with without_the_graph(monkeypatch), reads(me, monkeypatch) as asked_without:
        me.recall(question)
    assert asked == asked_without


def test_recall_with_an_empty_graph_changes_neither_answer_nor_reads(me, told, monkeypatch):
    me.recall(QUESTION)  # the index is made now
    with reads(me, monkeypatch) as asked:
        answer = me.recall(QUESTION)
    with without_the_graph(monkeypatch), reads(me, monkeypatch) as asked_without:
        assert me.recall(QUESTION) == answer
    assert asked == asked_without


def test_recall_reads_the_graph_once_per_change(me, told, monkeypatch):
    me.extract()
    me.recall(QUESTION)
    with reads(me, monkeypatch) as asked:
        me.recall(QUESTION)
    assert not [statement for statement in asked if "graph" in statement]


def test_recall_hides_graph_paths_from_an_unauthorised_agent(me, told, monkeypatch):
    me.extract()
    assert told[HOPS_AWAY] in found(me.agent("secretary"))
    historian = me.agent("historian")
    answer = historian.recall(QUESTION).hits
    assert told[NAMED] in [hit.citation.source for hit in answer]
    assert told[HOPS_AWAY] not in [hit.citation.source for hit in answer]
    with without_the_graph(monkeypatch):
        assert historian.recall(QUESTION).hits == answer


@pytest.mark.parametrize(("sensitivity", "is_found"), [("normal", True), ("high", False)])
def test_recall_follows_no_graph_path_through_a_sensitive_source(me, sensitivity, is_found):
    """Two sources are open to all; what joins them is told by the third."""
    me.ingest("My colleague Sarah Chen likes the city.", format="text")
    hops_away = me.ingest(HOPS_AWAY, format="text").id
    me.ingest(NAMED, format="text", sensitivity=sensitivity)
    me.extract()
    assert (hops_away in found(me)) is is_found


def test_recall_reaches_a_document_by_a_node_name_in_its_title(me):
    """Its words name nobody; its title is on the way to what hangs on the name."""
    me.ingest("My colleague Sarah Chen works at Lumora Labs.", format="text")
    moved = {"format": "text", "external_id": "moved"}
    called = me.ingest("The workshop moved to Rotterdam in May.", title="Lumora Labs", **moved)
    plain = me.ingest("The bakery moved to Utrecht in May.", format="text", title="Other Labs")
    me.ingest("The company picnic is in the park.", format="text")
    me.extract()
    question = "In which city is the company of Sarah Chen?"
    assert called.id in found(me, question)
    assert plain.id not in found(me, question)
    me.ingest("The workshop moved to Rotterdam in May.", title="Something else", **moved)
    assert called.id not in found(me, question)


def test_recall_does_not_expand_a_person_with_the_same_first_name(me, told, monkeypatch):
    question = "In which city is the company of Sarah Miller?"
    me.extract()
    answer = me.recall(question).hits
    with without_the_graph(monkeypatch):
        assert me.recall(question).hits == answer


def test_recall_applies_source_filters_to_graph_hits(me, told):
    me.extract()
    assert found(me, sources=[told[NAMED]]) == [told[NAMED]]
    assert told[HOPS_AWAY] not in found(me, sources="none")


def test_recall_applies_the_threshold_to_graph_hits(me, told):
    me.extract()
    hits = me.recall(QUESTION, threshold=0.4).hits
    assert hits
    assert all(hit.similarity >= 0.4 for hit in hits)


def test_recall_known_at_uses_the_graph_of_that_time(me, told, clock):
    then = clock()
    clock.tick(days=1)
    me.extract()
    assert told[HOPS_AWAY] in found(me)
    assert told[HOPS_AWAY] in found(me, known_at=clock())
    assert told[HOPS_AWAY] not in found(me, known_at=then)


def test_recall_is_unaffected_by_explore_reads(me, book, open_book, told):
    me.extract()
    before = me.recall(QUESTION).hits
    for _ in range(3):
        me.explore(text_matches=["Tom Baker"], granularity=3)
    book.flush()
    another = open_book().user(me.principal.user_id)
    assert another.recall(QUESTION).hits == before


def test_recall_works_without_scipy_and_skips_the_graph(me, told, monkeypatch):
    me.extract()
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    assert told[NAMED] in found(me)
    assert told[HOPS_AWAY] not in found(me)


def test_recall_does_not_reach_an_erased_source_through_the_graph(me, told):
    me.extract()
    me.erase(told[HOPS_AWAY])
    assert told[HOPS_AWAY] not in found(me)
    assert told[NAMED] in found(me)
