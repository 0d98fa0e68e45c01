"""Every heading of the contract and of the design documents has its line on the coverage page, and
every test that the page names exists."""

import re
import tomllib
from inspect import signature
from pathlib import Path

import pytest

from commonplace import User

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/coverage.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/.:]+)`", PAGE)))
HEADINGS = tomllib.loads((ROOT / "tests/docs/headings.toml").read_text(encoding="utf-8"))
CONTRACT = HEADINGS.pop("contract")


def rows_of(section):
    """The cells of each line of its table."""
    _, _, after = PAGE.partition(f"\n## {section}\n")
    lines = after.partition("\n## ")[0].splitlines()
    tables = [line for line in lines if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in tables[1:]]


@pytest.mark.parametrize("named", NAMED)
def test_a_named_test_exists(named):
    file, _, name = named.partition("::")
    text = (ROOT / file).read_text()
    assert f"def {name or 'test_'}" in text


def test_the_page_names_tests():
    assert len(NAMED) > 40


@pytest.mark.parametrize("document", HEADINGS)
def test_every_heading_of_a_design_document_has_one_line(document):
    assert [row[0] for row in rows_of(document)] == HEADINGS[document]


@pytest.mark.parametrize(("number", "heading"), list(enumerate(CONTRACT, 1)))
def test_every_heading_of_the_contract_has_a_line(number, heading):
    told = [row[0] for row in rows_of("The contract")]
    named = [each for each in told if re.search(rf"§{number}\b", each)]
    assert named, f"§{number} {heading}"


@pytest.mark.parametrize("section", ["The contract", *HEADINGS])
def test_every_line_names_a_test_or_says_why_there_is_none(section):
    for heading, *_, proof in rows_of(section):
        is_said = proof == "–" or proof.startswith("Later: ")
        assert is_said or "`tests/" in proof, heading


@pytest.mark.parametrize("section", ["The contract", *HEADINGS])
def test_every_line_says_what(section):
    for heading, what, _ in rows_of(section):
        assert what, heading


def test_what_the_contract_asks_for_and_is_not_there_is_said():
    (recall,) = [row[1] for row in rows_of("The contract") if row[0].startswith("§8 Recall, one")]
    built = {
        name for name in ("include_archived", "strict") if name in signature(User.recall).parameters
    }
    missing = recall.partition("Missing: ")[2]
    assert missing
    assert not [name for name in built if f"`{name}`" in missing]
