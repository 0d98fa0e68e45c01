"""One engine for a file of tests: starting it takes longer than asking it."""

import pytest

from commonplace.recall.cypher.cypher import Cypher
from support.small_graph import NOW, small_graph


@pytest.fixture(scope="module")
def engine():
    made = Cypher(processes=1)
    yield made
    made.close()


@pytest.fixture
def ask(engine):
    """The rows of an answer over the small graph, as tuples."""

    def asked(query, **params):
        return list(engine.run("small", small_graph, NOW, query, params).rows)

    return asked
