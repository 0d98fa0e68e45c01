"""The page about remembering says what the code does."""

import re
from pathlib import Path

import pytest

from commonplace.language.classify import classify
from commonplace.language.policy import RULES
from commonplace.model.kinds import Kind

PAGE = (Path(__file__).parents[2] / "docs/remembering.md").read_text()
SAID = re.findall(r"^\| `(.+?)` \| (\w+) \|(.*)\|$", PAGE, re.M)
POLICY = PAGE.partition("## How it should be written")[2]
CODES = re.findall(r"^\| (\w+) \| ([a-z, ]+) \| .+ \|$", POLICY, re.M)


@pytest.mark.parametrize(("text", "kind", "fields"), SAID)
def test_an_example_is_what_the_page_says(text, kind, fields):
    told = dict(part.strip().split(": ", 1) for part in fields.split(";") if part.strip())
    found = classify(text)
    assert (found.kind, found.metadata) == (kind, told)


def test_the_page_shows_every_kind_that_is_derived():
    assert {kind for _, kind, _ in SAID} == {Kind.NOTE, Kind.KV, Kind.CONTACT}


def test_the_page_lists_the_writing_policy():
    listed = {code: set(kinds.split(", ")) for code, kinds in CODES if code != "code"}
    assert listed == {rule.code: set(rule.kinds) for rule in RULES}
