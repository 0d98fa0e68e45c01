"""What agents and owners tried with the graph, and what became of it."""

from __future__ import annotations

import pytest

SECRET = "Ana: My therapist Quinn Oxblood works at Hushclinic."
OPENLY = "Ana: My sister Noa Levi works at Acme."


@pytest.fixture
def cleared(book, me):
    """The owner as they see all of theirs."""
    return book.user("ana", cleared=True)


@pytest.fixture
def agent(me):
    return me.agent("helper")


def read(me, said, **more):
    source = me.ingest(said, format="transcript", **{"date": "2026-01-05", **more}).id
    me.extract([source])
    return source


def person(me, name):
    return next((node for node in me.people().nodes if node.name == name), None)


def names(me):
    pages = (me.people(), me.concepts(), me.entities())
    return {node.name for page in pages for node in page.nodes if not node.is_owner}


# ——— what a source tells stays the source's ———


@pytest.mark.parametrize("change", [{"ttl_policy": "keep_forever"}, {"description": "A pianist"}])
def test_changing_a_node_takes_no_words_out_of_its_sources(me, change):
    source = read(me, OPENLY)
    assert person(me, "Noa Levi").aliases == ("My sister",)
    me.nodes_update("Noa Levi", **change)
    me.erase(source, now=True)
    assert me.verify_forget("My sister").clean
    left = person(me, "Noa Levi")
    if "ttl_policy" in change:
        assert left is None
    else:
        assert (left.addresses, left.aliases, left.description) == ((), (), "A pianist")


def test_a_change_keeps_what_the_same_teller_said_before(me):
    me.nodes_add("Sarah Chen", aliases=["Sar"], description="A cellist")
    me.nodes_update("Sarah Chen", addresses=["sarah@example.org"])
    sarah = me.node("Sarah Chen").node
    assert sarah.description == "A cellist"
    assert sarah.addresses == ("sarah@example.org",)
    assert "Sar" in sarah.aliases
