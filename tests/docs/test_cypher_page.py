"""The page of what Cypher may say tells what is answered, and has all that is refused."""

import re
from pathlib import Path

import pytest

from commonplace.recall.cypher.words import functions, refused_words
from tools.cypher_reference import REFUSED, refusal

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/cypher.md").read_text()
DECISION = (ROOT / "docs/decisions/0025-cypher-engine.md").read_text()
QUERIES = [query for queries in REFUSED.values() for query in queries]


@pytest.mark.parametrize("query", QUERIES, ids=range(len(QUERIES)))
def test_every_example_is_refused_in_the_words_of_the_page(query):
    assert refusal(query).message.replace("|", "\\|") in PAGE


@pytest.mark.parametrize("word", refused_words())
def test_every_word_that_is_refused_stands_there_and_is_refused(word):
    assert f"`{word}`" in PAGE
    assert refusal(f"{word} x").message.startswith(f"{word} is not allowed")


def test_every_function_stands_there():
    assert all(f"`{each.name}`" in PAGE for each in functions().values())


def test_what_the_reader_itself_refuses_has_an_example():
    """Each refusal of a construct, by its words in the code; what is left out is a misspelling."""
    folder = ROOT / "src/commonplace/recall/cypher"
    files = ("reader", "patterns", "atoms", "expressions", "write", "rewrite", "lambdas", "repeats")
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
    "{self.here.told} begins no clause",
    "A value is missing before {token.told}",
    "CASE without WHEN",
    "An index is missing in [ ].",
    "A path from {least} to {most} hops cannot be",
    "The query is too long, once its expressions are written out.",
    "{call.name}() takes a unit such as 'month', and a moment.",
    "duration() takes a text such as 'P7D', or a map such as {days: 7}.",
}


def test_the_decision_tells_how_much_was_made_up():
    soak = (ROOT / "tests/soak/test_fuzzing_cypher.py").read_text()
    for name, count in (("CYPHER_SOUPS", "200,000"), ("CYPHER_RUNS", "20,000")):
        assert f'"{name}", "{count.replace(",", "")}"' in soak
        assert count in DECISION
    assert "bench walks --only cypher" in DECISION
