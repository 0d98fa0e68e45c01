"""The page about remembering says what the code does."""

import re
from pathlib import Path

import pytest

from commonplace.language.fields.classify import classify
from commonplace.language.fields.writing_policy import WRITING_RULES
from commonplace.model.memory.kinds import ACTION_TABLE, Kind

PAGE = (Path(__file__).parents[2] / "docs/remembering.md").read_text()
SAID = re.findall(r"^\| `(.+?)` \| (\w+) \|(.*)\|$", PAGE, re.M)
POLICY = PAGE.partition("### Writing policy")[2].partition("\n### ")[0]
CODES = re.findall(r"^\| (\w+) \| ([a-z, ]+) \| .+ \|$", POLICY, re.M)


@pytest.mark.parametrize(("text", "kind", "fields"), SAID)
def test_remembering_page_examples_are_classified_as_shown(text, kind, fields):
    told = dict(part.strip().split(": ", 1) for part in fields.split(";") if part.strip())
    found = classify(text)
    assert (found.kind, found.metadata) == (kind, told)


def test_remembering_page_shows_every_derived_kind():
    assert {kind for _, kind, _ in SAID} == {
        Kind.NOTE,
        Kind.KV,
        Kind.CONTACT,
        Kind.RULE,
        Kind.EVENT,
        Kind.FACT,
    }


def test_remembering_page_lists_the_writing_policy():
    listed = {code: set(kinds.split(", ")) for code, kinds in CODES if code != "code"}
    assert listed == {rule.code: set(rule.kinds) for rule in WRITING_RULES}


def test_remembering_page_action_table_matches_the_code():
    """Cell by cell, an event on its own day."""
    table = PAGE.partition("### Actions")[2].partition("An event is")[0]
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()[2:]]
    columns, *cells = [row for row in rows if len(row) == 5 and set(row[0]) - {"-"}]
    shown = {
        (relation, kind): action
        for relation, *actions in cells
        for kinds, action in zip(columns[1:], actions, strict=True)
        for kind in kinds.split(", ")
    }
    assert shown == dict(ACTION_TABLE)


def test_remembering_page_examples_run():
    examples = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    assert examples
    for code in examples:  # each asserts what it shows
        exec(compile(code, "docs/remembering.md", "exec"), {})
