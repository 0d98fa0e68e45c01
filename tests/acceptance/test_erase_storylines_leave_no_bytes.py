"""What a storyline or a macro told of an erased source stands nowhere on the disk."""

from __future__ import annotations

from dataclasses import replace

import pytest

from commonplace.model.changeset import Changeset
from support.clock import START
from support.graph_making import putting_story
from support.promoted import DAYS, macros, promote, storylines, tell
from support.stored_bytes import gather_statistics

ROOF = "My friend Sarah Chen fixed part {day} of the roof."
SARAH = "Sarah Chen"


def told_by_a_model(me, text):
    """As if a model had written the secret into the later storyline and the macro."""
    scope = me.principal.scope
    steps = []
    for before in (storylines(me)[-1], *macros(me)):
        after = before.evolve(version=before.version + 1, description=text, is_dirty=False)
        steps.append(replace(putting_story(after, before), vector=None))
    me._engine.store.apply(Changeset(scope, START, "worker:sleep", tuple(steps)))


def by_source(me, source):
    me.erase(source, now=True)
    assert (len(storylines(me)), len(macros(me))) == (2, 1)


def by_sources(me, source):
    me.erase([each.id for line in storylines(me) for each in line.sources], now=True)
    assert (len(storylines(me)), len(macros(me))) == (0, 0)


def by_anchor(me, source):
    me.erase(me.node(SARAH).node.id)
    me.erase(source, now=True)
    assert (len(storylines(me)), len(macros(me))) == (0, 0)


def by_user(me, source):
    me.erase_user(now=True)


@pytest.mark.parametrize("way", [by_source, by_sources, by_anchor, by_user])
def test_erase_now_leaves_no_bytes_of_storylines(open_book, store_url, secret, holding, clock, way):
    book = open_book(extraction="on-demand", tidy_on_open=False)
    me = book.user("ana")
    clock.tick(days=150)
    tell(me, (*DAYS, *(day + 150 for day in DAYS)), ROOF)
    [source] = tell(me, [154.5], f"My friend Sarah Chen hid the {secret} key.")
    promote(me, SARAH)
    told_by_a_model(me, f"Sarah hid the {secret} key.")
    assert {"storylines", "macros"} <= set(me.verify_forget(secret).found_in)
    gather_statistics(store_url)
    book.flush()
    assert holding(secret)
    way(me, source)
    assert me.verify_forget(secret).clean
    assert holding(secret) == []
