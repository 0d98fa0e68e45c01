"""traverse goes through what has been archived, and does not answer it."""

from __future__ import annotations

import pytest


@pytest.fixture
def book(open_book):
    return open_book(worker="off")


def walked(me, book, seed):
    found = {each.name for each in me.traverse(mode="ppr", seed_nodes=[seed]).reached}
    book.flush()  # what was read counts before the next look
    return found


def test_traverse_omits_archived_items(me, book, clock):
    me.ingest("My colleague Sarah Chen works at Lumora Labs.", title="Monday", format="text")
    me.extract()
    sarah = me.node("Sarah Chen").node.id
    assert walked(me, book, sarah) == {"ana", "Lumora Labs", "Monday"}
    clock.tick(days=2000)
    assert walked(me, book, sarah) == {"ana"}  # the owner never fades
    assert "Lumora Labs" in {node.name for node in me.entities(include_archived=True).nodes}
