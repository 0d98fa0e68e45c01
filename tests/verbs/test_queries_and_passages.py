"""Questions are embedded as queries; what is stored, and two statements, as passages."""

from __future__ import annotations

import numpy as np
import pytest

from commonplace.errors import BadSettings
from commonplace.language.embedders.hashing import HashingEmbedder

TALK = "Dana: the boat is in the harbour\nNoa: then we sail on Friday"


class Asymmetric:
    """The vectors of questions lie elsewhere than those of passages."""

    calibration = HashingEmbedder.calibration

    def __init__(self, dimension: int = 256) -> None:
        self._model = HashingEmbedder(dimension)
        self.name, self.dimension = f"asymmetric-{dimension}", dimension
        self.queries: list[list[str]] = []
        self.passages: list[list[str]] = []

    def embed_queries(self, texts):
        self.queries.append(list(texts))
        return np.roll(self._model.embed(texts), 1, axis=1)

    def embed_passages(self, texts):
        self.passages.append(list(texts))
        return self._model.embed(texts)

    def forget(self) -> None:
        self.queries, self.passages = [], []


class OneMethod:
    """An embedder of somebody's own that does not tell them apart."""

    name, dimension = "one-method", 256
    calibration = HashingEmbedder.calibration

    def embed(self, texts):
        return HashingEmbedder().embed(texts)


@pytest.fixture
def embedder() -> Asymmetric:
    return Asymmetric()


@pytest.fixture
def me(open_book, embedder):
    return open_book(embedder=embedder, worker="off").user("ana")


@pytest.fixture
def filled(me, embedder):
    told = ("Dana lives in Haifa", "The lamp is green")
    me.remember_many([{"content": each, "kind": "fact"} for each in told])
    me.ingest(TALK, format="transcript")
    me.extract()
    embedder.forget()
    return me


def test_remember_many_embeds_passages_in_one_call(me, embedder):
    me.remember_many(["Dana lives in Haifa", "The lamp is green", "Noa likes tea"])
    assert len(embedder.passages) == 1
    assert embedder.queries == []


@pytest.mark.parametrize(
    "store",
    [
        lambda me: me.remember("Noa works at the bank", kind="fact"),
        lambda me: me.ingest(TALK + " at noon", format="transcript"),
        lambda me: me.observe("I live in Acre and I work at the harbour", thread="t"),
        lambda me: me.update(me.list(kinds=["fact"]).memories[0].id, content="The lamp is red"),
        lambda me: me.profile_set("city", "Haifa"),
        lambda me: me.nodes_add("Ruth"),
    ],
    ids=["remember", "ingest", "observe", "update", "profile", "node"],
)
def test_what_is_stored_is_embedded_as_passages(filled, embedder, store):
    store(filled)
    assert embedder.queries == []


@pytest.mark.parametrize(
    "ask",
    [
        lambda me: me.recall("where does Dana live?"),
        lambda me: me.recall_many(["where does Dana live?", "which colour is the lamp?"]),
        lambda me: me.query("where does Dana live?"),
        lambda me: me.context("where does Dana live?", thread="t"),
        lambda me: me.explore(queries=[{"query": "where does Dana live?"}], granularity=1),
        lambda me: me.forget(query="where Dana lives"),
    ],
    ids=["recall", "recall_many", "query", "context", "explore", "forget"],
)
def test_questions_are_embedded_as_queries_in_one_call(filled, embedder, ask):
    ask(filled)
    assert len(embedder.queries) == 1
    assert embedder.passages == []


def test_statements_are_compared_as_passages(filled):
    """As queries they would not be similar: their vectors lie elsewhere."""
    kept = filled.remember("The green lamp stands on a desk in the hall", kind="fact")
    again = filled.remember("In the hall the green lamp stands on a desk", kind="fact")
    assert not again.is_new
    assert again.others == (kept.id,)


def test_recall_compares_query_vectors_with_passage_vectors(open_book, me, embedder):
    """This model's queries are far from every passage; those of a symmetric one are not."""
    me.remember("The lamp is green")
    assert not (me.recall("The lamp is green").hits[0].similarity or 0) > 0.5


def test_reembed_embeds_passages(filled, embedder, open_book):
    new = Asymmetric(64)
    book = open_book(embedder=embedder)
    book.reembed(new)
    assert new.queries == []
    assert "The lamp is green" in {text for batch in new.passages for text in batch}


def test_embedder_with_one_method_treats_both_alike(open_book):
    book = open_book(embedder=OneMethod())
    me = book.user("ana")
    me.remember("Dana lives in Haifa")
    assert me.recall("Dana lives in Haifa").hits[0].similarity > 0.9
    assert (book.embedder.name, book.embedder.dimension) == ("one-method", 256)


def test_embedder_without_methods_is_refused(open_book):
    with pytest.raises(BadSettings, match="object is not an embedder"):
        open_book(embedder=object())


def test_book_embedder_is_the_one_that_is_used(open_book, embedder):
    book = open_book(embedder=embedder)
    assert book.embedder is embedder
    assert book.embedder.embed_queries(["a"]).shape == (1, 256)
