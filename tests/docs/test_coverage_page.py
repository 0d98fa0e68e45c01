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
def test_coverage_page_named_tests_exist(named):
    file, _, name = named.partition("::")
    text = (ROOT / file).read_text()
    assert f"def {name or 'test_'}" in text


def test_coverage_page_names_more_than_40_tests():
    assert len(NAMED) > 40


@pytest.mark.parametrize("document", HEADINGS)
def test_coverage_page_has_a_row_per_design_heading(document):
    assert [row[0] for row in rows_of(document)] == HEADINGS[document]


@pytest.mark.parametrize(("number", "heading"), list(enumerate(CONTRACT, 1)))
def test_coverage_page_has_a_row_per_contract_section(number, heading):
    told = [row[0] for row in rows_of("The contract")]
    named = [each for each in told if re.search(rf"§{number}\b", each)]
    assert named, f"§{number} {heading}"


@pytest.mark.parametrize("section", ["The contract", *HEADINGS])
def test_coverage_page_rows_name_a_test_or_a_reason(section):
    for heading, *_, proof in rows_of(section):
        is_said = proof == "–" or proof.startswith("Later: ")
        assert is_said or "`tests/" in proof, heading


@pytest.mark.parametrize("section", ["The contract", *HEADINGS])
def test_coverage_page_rows_have_a_description(section):
    for heading, what, _ in rows_of(section):
        assert what, heading


def test_coverage_page_lists_no_existing_recall_parameter_as_missing():
    missing = " ".join(row[1].partition("Missing: ")[2] for row in rows_of("The contract"))
    assert missing.strip()
    assert not [name for name in signature(User.recall).parameters if f"`{name}`" in missing]
