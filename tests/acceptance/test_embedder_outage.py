"""The embedder is down: nothing fails and nothing is lost, and its work is made up for later."""

from __future__ import annotations

import pytest

from commonplace.engine.maintenance.vectors import VECTORS_AT_ONCE
from support.children import die_while_filling_vectors
from support.embedders import Switchable
from support.processes import Child
from support.whole import assert_whole


@pytest.fixture
def embedder():
    return Switchable()


@pytest.fixture
def me(open_book, embedder):
    return open_book(embedder=embedder).user("ana")


def finding(me, what):
    return next(finding for finding in me.doctor() if finding.what == what)


def test_embedder_outage_remember_warns_and_recall_uses_terms(me, embedder):
    embedder.down = True
    kept = me.remember("The wifi password is tulip42")
    assert "embedder is down" in kept.warnings[0]
    assert me.show(kept.id).memory.content == "The wifi password is tulip42"
    found = me.recall("wifi password")
    assert found.degraded
    assert [(hit.id, hit.similarity) for hit in found.hits] == [(kept.id, None)]
    assert not finding(me, "vectors").ok


def test_embedder_outage_does_not_break_other_verbs(me, embedder, store_url):
    old = me.remember("Dana lives in Haifa", kind="fact")
    logs = [me.remember(f"Lunch with {name}", kind="log").id for name in ("Dan", "Eva", "Kim")]
    embedder.down = True
    new = me.update(old.id, content="Dana lives in Porto")
    me.update(new.id, metadata={"description": "by the sea"})
    many = me.remember_many(["The cat sleeps", "The dog barks"])
    assert all(each.warnings for each in many)
    summary = me.merge(logs)
    me.erase(logs[0])
    assert "Dan" not in me.show(summary.id).memory.content
    me.forget(many[0].id)
    me.restore(many[0].id)
    me.profile_note("Likes short answers")
    assert me.tidy().vectors == 0
    assert me.recall("Where does Dana live?").hits[0].id == new.id
    embedder.down = False
    assert me.tidy().vectors == 5
    assert_whole(store_url, "ana")


def test_tidy_after_embedder_outage_adds_vectors_and_restores_similarity(me, embedder, store_url):
    embedder.down = True
    kept = me.remember("The gardener prunes roses")
    embedder.down = False
    # No word in common; only the vector sees that "gardening" and "gardener" look alike.
    assert kept.id not in [hit.id for hit in me.recall("gardenerish rosess", threshold=0.1).hits]
    assert me.tidy().vectors == 1
    found = me.recall("gardenerish rosess", threshold=0.1)
    assert not found.degraded
    assert found.hits[0].id == kept.id
    assert found.hits[0].similarity > 0.1
    assert finding(me, "vectors").ok
    assert_whole(store_url, "ana")


def test_tidy_after_embedder_outage_reaches_the_cache_of_another_instance(me, embedder, open_book):
    """The index of a reader catches up with vectors as it does with memories."""
    reader = open_book().user("ana")
    embedder.down = True
    kept = me.remember("The gardener prunes roses")
    assert reader.recall("gardener").hits[0].similarity is None
    embedder.down = False
    me.tidy()
    hit = reader.recall("gardener").hits[0]
    assert hit.id == kept.id
    assert hit.similarity is not None


def test_tidy_killed_while_adding_vectors_resumes(me, embedder, open_book, store_url):
    left_over = 40
    embedder.down = True
    me.remember_many([f"The {n}th sentence" for n in range(VECTORS_AT_ONCE + left_over)])
    with Child(die_while_filling_vectors, store_url, "ana", 1) as child:
        assert child.rest() == []
        assert child.was_killed()
    assert f"{left_over} wait" in finding(me, "vectors").detail
    embedder.down = False
    assert me.tidy().vectors == left_over
    assert len(assert_whole(store_url, "ana").memories) == VECTORS_AT_ONCE + left_over
