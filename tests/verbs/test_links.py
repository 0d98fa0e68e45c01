"""Links: the five nearest neighbours of at least 0.75, once for each pair."""

from __future__ import annotations

from itertools import combinations


def wording(n):
    """Sentences that differ in one small word at the end."""
    return f"The garden gate needs a new lock before the winter comes to us {n}"


def test_links_connect_similar_memories_with_similarity_as_strength(me):
    one = me.remember(wording(1), kind="note").id
    other = me.remember(wording(2), kind="note").id
    (link,) = me.show(one).links
    assert {link.a, link.b} == {one, other}
    assert 0.75 <= link.strength <= 1
    assert me.show(other).links == (link,)
    assert me.history(link.a)[0]["event"] == "LINK"


def test_links_skip_unrelated_memories(me):
    one = me.remember("The garden gate needs a new lock").id
    me.remember("Dana drinks green tea")
    assert me.show(one).links == ()


def test_links_are_limited_to_the_five_nearest_memories(me):
    for n in range(8):
        me.remember(wording(n), kind="note")
    newest = me.remember(wording("at last"), kind="note").id
    links = me.show(newest).links
    assert len(links) == 5
    assert all(link.strength >= 0.75 for link in links)


def test_links_within_a_batch_store_each_pair_once(me):
    ids = [
        answer.id
        for answer in me.remember_many([{"content": wording(n), "kind": "note"} for n in range(4)])
    ]
    found = [(link.a, link.b) for id in ids for link in me.show(id).links]
    assert set(found) == {tuple(sorted(pair)) for pair in combinations(ids, 2)}
    assert len(found) == 2 * len(set(found))
    assert me.stats().links == 6


def test_links_exclude_the_superseded_version_of_a_memory(me):
    old = me.remember(wording(1), kind="note").id
    friend = me.remember(wording(2), kind="note").id
    new = me.update(old, content=wording(3)).id
    linked = {id for link in me.show(new).links for id in (link.a, link.b)} - {new}
    assert linked == {friend}


def test_links_hide_a_forgotten_memory_until_restore_and_drop_on_erase(me):
    one, other = me.remember(wording(1), kind="note").id, me.remember(wording(2), kind="note").id
    me.forget(other)
    assert me.show(one).links == ()
    me.restore(other)
    assert len(me.show(one).links) == 1
    me.erase(other)
    assert me.show(one).links == ()
    assert me.stats().links == 0
