"""Queries over the small graph, which is loaded once for a file of tests."""

import pytest

from commonplace.engine.graph_search.cypher.query import CypherQueries
from commonplace.store.cache.bounded_cache import BoundedCache
from support.small_graph import NOW, small_graph


@pytest.fixture(scope="module")
def engine():
    return CypherQueries(BoundedCache())


@pytest.fixture
def ask(engine):
    """The rows of an answer over the small graph, as tuples."""

    def asked(query, **params):
        return list(engine.run("small", small_graph, NOW, query, params).rows)

    return asked
