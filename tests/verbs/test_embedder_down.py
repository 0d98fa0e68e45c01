"""While the embedder is down nothing fails and nothing is lost; afterwards all is as usual."""

from __future__ import annotations

import pytest

from commonplace.language.embedders.hashing import HashingEmbedder
from support.embedders import Switchable


@pytest.fixture
def embedder():
    return Switchable()


@pytest.fixture
def me(open_book, embedder):
    return open_book(embedder=embedder).user("ana")


def test_remember_and_recall_work_by_terms_while_the_embedder_is_down(me, embedder):
    embedder.down = True
    answer = me.remember("The garden gate needs a new lock")
    assert "vector follows" in answer.warnings[0]
    found = me.recall("garden gate")
    assert [hit.id for hit in found.hits] == [answer.id]
    assert found.degraded
    assert found.hits[0].similarity is None


def test_tidy_adds_missing_vectors_when_the_embedder_is_back(me, embedder):
    embedder.down = True
    me.remember("The garden gate needs a new lock")
    assert me.tidy().vectors == 0
    assert "vectors" in [finding.what for finding in me.doctor() if not finding.ok]
    embedder.down = False
    revision = me.revision
    assert me.tidy().vectors == 1
    assert me.revision == revision
    assert all(finding.ok for finding in me.doctor())
    found = me.recall("garden gate")
    assert not found.degraded
    assert found.hits[0].similarity > 0.5


def test_write_verbs_work_while_the_embedder_is_down(me, embedder):
    embedder.down = True
    kv = me.remember(kind="kv", metadata={"subject": "bill", "value": 500}).id
    fact = me.remember("Dana lives in Haifa", kind="fact").id
    new = me.update(kv, metadata={"value": 600}).id
    summary = me.merge([new, fact]).id
    me.restore(fact)
    me.erase(fact)
    me.profile_set("city", "Haifa")
    assert {m.id for m in me.list().memories} == {summary, "profile:city"}
    embedder.down = False
    assert me.tidy().vectors > 0
    assert all(finding.ok for finding in me.doctor() if finding.what != "erasure")


def test_embedder_exception_of_any_type_counts_as_an_outage(open_book):
    class Broken(HashingEmbedder):
        def embed(self, texts):
            raise TimeoutError("no answer")

    me = open_book(embedder=Broken()).user("ana")
    assert me.remember("The kettle is red").warnings
    assert me.recall("kettle red").degraded


def test_tidy_adds_links_with_late_vectors(open_book):
    model = Switchable()
    me = open_book(embedder=model).user("ana")
    first = me.remember("Dana lives in Haifa near the port", kind="note").id
    model.down = True
    late = me.remember("Dana lives in Haifa near the old port", kind="note").id
    assert me.show(late).links == ()
    model.down = False
    me.tidy()
    assert [{link.a, link.b} for link in me.show(late).links] == [{first, late}]
