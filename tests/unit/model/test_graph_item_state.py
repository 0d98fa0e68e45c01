"""How present nodes, edges, sources and artifacts are, and which state follows."""

from datetime import timedelta
from math import exp

import pytest

from commonplace.model.graph.salience import NEVER_READ, AccessStats, current_salience
from commonplace.model.memory.kinds import TtlPolicy
from support.clock import START
from support.graph_making import a_macro, a_storyline
from support.pictures import a_node, a_source, an_artifact, an_edge

BEN, EVA = a_node("Ben"), a_node("Eva")
FADED = AccessStats(salience=0.001, access_count=3, touched_at=START)


def later(days):
    return START + timedelta(days=days)


@pytest.mark.parametrize(
    "kept", [a_node("Ana", is_owner=True), a_node("Ana", ttl_policy=TtlPolicy.KEEP_FOREVER)]
)
def test_salience_of_owner_and_kept_items_stays_at_one(kept):
    stands = current_salience(kept, FADED, later(3000))
    assert (stands.salience, stands.state) == (1.0, "core")


@pytest.mark.parametrize("thing", [BEN, an_edge(BEN, EVA), a_source("talk"), an_artifact("Draft")])
def test_salience_state_of_faded_items_is_archived(thing):
    assert current_salience(thing, NEVER_READ, START).state == "candidate"
    assert current_salience(thing, FADED, START).is_archived


@pytest.mark.parametrize(("thing", "days"), [(a_node, 90), (an_artifact, 30)])
def test_ephemeral_items_are_archived_at_the_end_of_their_ttl(thing, days):
    brief = thing("Tea", ttl_policy=TtlPolicy.EPHEMERAL)
    read_often = AccessStats(salience=1.0, access_count=50, touched_at=later(days - 1))
    assert current_salience(brief, read_often, later(days - 1)).state == "core"
    assert current_salience(brief, read_often, later(days)).is_archived


def test_owner_node_is_never_archived_as_ephemeral():
    owner = a_node("Ana", is_owner=True, ttl_policy=TtlPolicy.EPHEMERAL)
    assert not current_salience(owner, NEVER_READ, later(1000)).is_archived


def test_salience_of_items_without_confidence_decays_at_the_base_rate():
    assert current_salience(a_source("talk"), NEVER_READ, later(10)).salience == pytest.approx(
        0.5 * exp(-0.2)
    )
    assert current_salience(a_node("Ben", confidence=0.9), NEVER_READ, later(10)).salience == 0.5


WEEKS = range(0, 300, 7)
CLOSED = later(294 + 90)


def test_storyline_decays_from_its_last_source_whenever_it_was_made():
    growing = a_storyline("node:ben", *WEEKS, closed_at=CLOSED)
    assert current_salience(growing, NEVER_READ, later(294)).salience == 0.5
    read_early = AccessStats(access_count=1, recall_frequency=1, touched_at=later(10))
    assert current_salience(growing, read_early, later(294)).salience == 0.5
    assert current_salience(growing, NEVER_READ, later(304)).salience == pytest.approx(
        0.5 * exp(-0.2)
    )
    imported = a_storyline("node:ben", *WEEKS, created_at=later(1000), closed_at=CLOSED)
    assert current_salience(imported, NEVER_READ, later(1000)).salience == 0.5


def test_macro_decays_from_its_last_event():
    macro = a_macro("node:ben", last_event_at=later(60), ttl_policy=TtlPolicy.DECAY)
    assert current_salience(macro, NEVER_READ, later(60)).salience == 0.5


def test_open_storyline_is_never_archived():
    open_line = a_storyline("node:ben", *WEEKS)
    assert current_salience(open_line, FADED, later(WEEKS[-1] + 80)).state == "active"
    assert current_salience(open_line, FADED, later(9000)).is_archived  # though no night closed it
    closed = a_storyline("node:ben", *WEEKS, closed_at=CLOSED)
    assert current_salience(closed, FADED, later(9000)).is_archived
