"""The page about sources says what the code does."""

import re
from pathlib import Path

import pytest

from commonplace.engine.sources.formats.input import MAX_CHARACTERS
from commonplace.engine.sources.formats.parse import SourceFormat, format_of, parse_source
from commonplace.model.sources.source import ContextType, ProcessingStatus, SourceType

PAGE = (Path(__file__).parents[2] / "docs/sources.md").read_text()
FORMATS = dict(re.findall(r"^\| `(\w+)` \| .+ \| ([a-z-]+) \|$", PAGE, re.M))
EXAMPLES = dict(re.findall(r"```(\w+)\n(.*?)```", PAGE, re.S))


def test_every_format_has_a_row_and_an_example():
    assert FORMATS.keys() == set(SourceFormat)
    assert EXAMPLES.keys() == {*SourceFormat, "python"}


@pytest.mark.parametrize("format", SourceFormat)
def test_an_example_is_known_and_becomes_what_the_page_says(format):
    assert format_of(EXAMPLES[format]) is format
    reading = parse_source(EXAMPLES[format])
    assert reading.content_type == FORMATS[format]
    assert reading.turns


@pytest.mark.parametrize(
    ("name", "words"),
    [("source_type", SourceType), ("context_type", ContextType), ("status", ProcessingStatus)],
)
def test_the_closed_lists_are_whole(name, words):
    (listed,) = re.findall(rf"^- `{name}`, [^:]+: (.*)\.$", PAGE, re.M)
    assert listed.split(", ") == list(words)


def test_the_limit_is_the_codes():
    assert f"at most {MAX_CHARACTERS:,} characters" in PAGE


def test_its_example_runs():
    exec(compile(EXAMPLES["python"], "docs/sources.md", "exec"), {})
