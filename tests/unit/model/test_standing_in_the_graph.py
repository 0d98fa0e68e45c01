"""How present nodes, edges, sources and artifacts are, and which state follows."""

from datetime import timedelta
from math import exp

import pytest

from commonplace.model.graph.salience import NEVER_READ, AccessStats, current_salience
from commonplace.model.memory.kinds import TtlPolicy
from support.clock import START
from support.pictures import a_node, a_source, an_artifact, an_edge

BEN, EVA = a_node("Ben"), a_node("Eva")
FADED = AccessStats(salience=0.001, access_count=3, touched_at=START)


def later(days):
    return START + timedelta(days=days)


@pytest.mark.parametrize(
    "kept", [a_node("Ana", is_owner=True), a_node("Ana", ttl_policy=TtlPolicy.KEEP_FOREVER)]
)
def test_the_owner_and_what_is_kept_for_ever_stay_as_present_as_can_be(kept):
    stands = current_salience(kept, FADED, later(3000))
    assert (stands.salience, stands.state) == (1.0, "core")


@pytest.mark.parametrize("thing", [BEN, an_edge(BEN, EVA), a_source("talk"), an_artifact("Draft")])
def test_what_has_faded_is_archived(thing):
    assert current_salience(thing, NEVER_READ, START).state == "candidate"
    assert current_salience(thing, FADED, START).is_archived


@pytest.mark.parametrize(("thing", "days"), [(a_node, 90), (an_artifact, 30)])
def test_what_is_ephemeral_is_archived_on_its_day(thing, days):
    brief = thing("Tea", ttl_policy=TtlPolicy.EPHEMERAL)
    read_often = AccessStats(salience=1.0, access_count=50, touched_at=later(days - 1))
    assert current_salience(brief, read_often, later(days - 1)).state == "core"
    assert current_salience(brief, read_often, later(days)).is_archived


def test_the_owner_is_never_ephemeral():
    owner = a_node("Ana", is_owner=True, ttl_policy=TtlPolicy.EPHEMERAL)
    assert not current_salience(owner, NEVER_READ, later(1000)).is_archived


def test_what_has_no_confidence_fades_plainly():
    assert current_salience(a_source("talk"), NEVER_READ, later(10)).salience == pytest.approx(
        0.5 * exp(-0.2)
    )
    assert current_salience(a_node("Ben", confidence=0.9), NEVER_READ, later(10)).salience == 0.5
