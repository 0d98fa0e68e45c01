"""Whatever was told comes back as it was told: property tests over random tellings."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.model.access.principal import Scope
from commonplace.model.graph.assertion import CitedSource, EdgeAssertion, NodeAssertion
from commonplace.model.graph.types import NodeType
from commonplace.model.memory.memory import Sensitivity
from commonplace.model.sources.source import SourceType
from commonplace.store.queries import AssertionQuery
from support.graph_making import a_node, an_edge, putting_edge, putting_node
from support.making import changeset

TEXTS = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=40)
NAMES = TEXTS.filter(bool)
MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))
DEGREES = st.none() | st.integers(1, 5)
CITED = st.none() | st.builds(
    CitedSource,
    scope=NAMES,
    id=NAMES,
    source_type=st.sampled_from(SourceType),
    said_at=MOMENTS,
    sensitivity=st.sampled_from(Sensitivity),
    passage=st.none() | st.integers(0, 2**40),
)
TOLD = {
    "id": st.uuids().map(str),
    "source": CITED,
    "by": NAMES,
    "recorded_at": MOMENTS,
    "description": TEXTS,
    "confidence": st.floats(0, 1),
    "stands": st.booleans(),
}
OF_NODES = st.fixed_dictionaries(
    {
        **TOLD,
        "type": st.sampled_from(NodeType),
        "name": NAMES,
        "key": NAMES,
        "subtype": TEXTS,
        "aliases": st.lists(TEXTS, max_size=4).map(tuple),
        "addresses": st.lists(TEXTS, max_size=4).map(tuple),
    }
)
OF_EDGES = st.fixed_dictionaries(
    {
        **TOLD,
        "type": NAMES,
        "valid_from": MOMENTS,
        "valid_to": st.none() | MOMENTS,
        "ends": st.booleans(),
        "attitude": DEGREES,
        "proximity": DEGREES,
    }
)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(OF_NODES, max_size=5, unique_by=lambda told: told["id"]),
    st.lists(OF_EDGES, max_size=5, unique_by=lambda told: told["id"]),
)
def test_assertions_round_trip_for_random_values(shared_store, of_nodes, of_edges):
    scope = Scope.of_user(f"ana {uuid.uuid4()}")
    mira, noa = a_node("Mira", user_id=scope.name), a_node("Noa", user_id=scope.name)
    edge = an_edge(mira, noa)
    nodes = [NodeAssertion(node=mira.id, **told) for told in of_nodes]
    edges = [EdgeAssertion(edge=edge.id, a=mira.id, b=noa.id, **told) for told in of_edges]
    shared_store.apply(
        changeset(
            putting_node(mira, *nodes),
            putting_node(noa),
            putting_edge(edge, *edges),
            scope=scope,
        )
    )
    whole = shared_store.whole_graph(scope)
    if nodes:  # without any, the helper makes one up
        assert sorted(
            shared_store.assertions(scope, AssertionQuery(nodes=[mira.id])).nodes, key=by_id
        ) == by_ids(nodes)
        assert {told.id for told in nodes} <= {told.id for told in whole.node_assertions}
    if edges:
        assert sorted(
            shared_store.assertions(scope, AssertionQuery(ends=[noa.id])).edges, key=by_id
        ) == by_ids(edges)
        assert sorted(whole.edge_assertions, key=by_id) == by_ids(edges)


def by_id(told):
    return told.id


def by_ids(assertions):
    return sorted(assertions, key=by_id)
