"""The page of what Cypher may say tells what is answered, and has all that is refused."""

import re
from pathlib import Path

import pytest

from commonplace.engine.graph_search.cypher.query import FUNCTION_NAMES
from commonplace.engine.graph_search.cypher.syntax.tokens import REFUSED_WORDS
from tools.cypher_reference import REFUSED, refusal

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/cypher.md").read_text()
DECISION = (ROOT / "docs/decisions/0025-cypher-engine.md").read_text()
QUERIES = [query for queries in REFUSED.values() for query in queries]


@pytest.mark.parametrize("query", QUERIES, ids=range(len(QUERIES)))
def test_cypher_page_shows_the_message_of_every_refused_example(query):
    assert refusal(query).message.replace("|", "\\|") in PAGE


@pytest.mark.parametrize("word", REFUSED_WORDS)
def test_cypher_page_lists_every_refused_keyword(word):
    assert f"`{word}`" in PAGE
    assert refusal(f"{word} x").message.startswith(f"{word} is not allowed")


def test_cypher_page_lists_every_function():
    assert all(f"`{name}`" in PAGE for name in FUNCTION_NAMES)


def test_cypher_page_has_an_example_of_every_refusal_message():
    """Each message of the code; what is left out is a misspelling."""
    folder = ROOT / "src/commonplace/engine/graph_search/cypher/syntax"
    files = ("parser", "expression_parser", "checks", "kinds")
    code = "\n".join((folder / f"{name}.py").read_text() for name in files)
    told = re.findall(r'(?:fail|BadCypher)\(\s*f?"([^"]+)"', code)
    messages = [refusal(query).message for query in QUERIES]
    missing = {
        each
        for each in told
        if not any(re.match(re.sub(r"\\\{.*?\\\}", ".+", re.escape(each)), m) for m in messages)
    }
    assert missing == MISSPELT


MISSPELT = {
    "The query is empty",
    "{self.here.shown} begins no clause",
    "A value is missing before {token.shown}",
    "CASE has no WHEN",
    "An index is missing in [ ]",
}


def test_cypher_decision_names_the_fuzzing_counts():
    soak = (ROOT / "tests/soak/test_soak_cypher_fuzz.py").read_text()
    for name, count in (("CYPHER_SOUPS", "200,000"), ("CYPHER_RUNS", "20,000")):
        assert f'"{name}", "{count.replace(",", "")}"' in soak
        assert count in DECISION
    assert "benchmarks walks --only cypher" in DECISION
