"""What was learned goes from the bytes of the files with what told it, or by itself."""

from __future__ import annotations

import pytest

from support.stored_bytes import gather_statistics
from support.whole import assert_whole


def learned(me, secret):
    """The secret as the name of people and things, in what relates them, in notes and memories, in
    a source that grew, in what was merged, split and forgotten; what told it."""
    name = secret.capitalize()
    talk = f"Ana: My friend {name} Chen works at {name} Labs. {name} Chen is allergic to {secret}."
    ids = [me.ingest(talk, format="transcript", external_id="talk").id]
    me.extract()
    me.ingest(f"{talk}\nAna: {name} Chen moved to Haifa.", format="transcript", external_id="talk")
    mail = f"From: {name} Chen <{secret}@example.com>\nTo: ana@example.com\nSubject: {secret}\n\n"
    ids.append(me.ingest(f"{mail}My phone is 052-555-0199. My brother {name} Levi is here.").id)
    me.extract()
    assert {f"{name} Chen", f"{name} Labs"} <= {
        node.name for page in (me.people(), me.entities()) for node in page.nodes
    }
    return ids


def said(me, secret):
    """The same by the owner's own word."""
    name = secret.capitalize()
    one, other = me.nodes_add(f"{name} Cohen").node, me.nodes_add(f"{name} Katz").node
    edge = me.relate("me", one.id, "friend", description=f"Friends since {secret}")
    me.relate(one.id, other.id, "colleague", description=secret)
    note = me.note(one.id, f"Plays the {secret}", lifetime="forever")
    me.note(edge.edge.id, f"They met at {secret}")
    made = me.artifacts_create(f"Letter to {secret}", f"Dear {secret}", description=secret)
    me.nodes_update(other.id, description=f"The one of {secret}")
    me.merge([one.id, other.id])
    me.split(other.id)
    me.forget(note.id)
    return [note.id, edge.edge.id, made.artifact.id, one.id, other.id]


@pytest.mark.parametrize("tell", [learned, said])
@pytest.mark.parametrize("way", ["by ids", "by user"])
def test_erase_now_leaves_no_bytes_of_the_graph(open_book, store_url, secret, holding, tell, way):
    book = open_book(extraction="on-demand")
    me = book.user("ana")
    me.nodes_add("Somebody else")
    ids = tell(me, secret)
    me.explore(text_matches=[f"{secret} chen"], granularity=3)
    me.recall(f"Where does {secret.capitalize()} Chen live?")
    gather_statistics(store_url)
    book.flush()
    assert holding(secret)
    if way == "by ids":
        me.erase(ids, now=True)
        assert "Somebody else" in {node.name for node in me.people().nodes}
    else:
        me.erase_user(now=True)
    assert me.verify_forget(secret).clean
    assert holding(secret) == holding(secret.capitalize()) == []
    book.close()
    assert holding(secret) == []
    assert_whole(store_url, "ana")
