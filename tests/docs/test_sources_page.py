"""The page about sources says what the code does."""

import re
from pathlib import Path

import pytest

from commonplace.engine.sources.formats.input import MAX_CHARACTERS
from commonplace.engine.sources.formats.parse import format_of, parse_source
from commonplace.model.parameters import SourceFormat
from commonplace.model.sources.source import ContextType, ProcessingStatus, SourceType

PAGE = (Path(__file__).parents[2] / "docs/sources.md").read_text()
FORMATS = dict(re.findall(r"^\| `(\w+)` \| .+ \| ([a-z-]+) \|$", PAGE, re.M))
EXAMPLES = dict(re.findall(r"```(\w+)\n(.*?)```", PAGE, re.S))


def test_sources_page_has_a_row_and_an_example_per_format():
    assert FORMATS.keys() == set(SourceFormat)
    assert EXAMPLES.keys() == {*SourceFormat, "python"}


@pytest.mark.parametrize("format", SourceFormat)
def test_sources_page_examples_are_detected_and_parsed_as_shown(format):
    assert format_of(EXAMPLES[format]) is format
    reading = parse_source(EXAMPLES[format])
    assert reading.content_type == FORMATS[format]
    assert reading.turns


@pytest.mark.parametrize(
    ("name", "words"),
    [("source_type", SourceType), ("context_type", ContextType), ("status", ProcessingStatus)],
)
def test_sources_page_lists_every_source_type_context_type_and_status(name, words):
    (listed,) = re.findall(rf"^- `{name}`, [^:]+: (.*)\.$", PAGE, re.M)
    assert listed.split(", ") == list(words)


def test_sources_page_character_limit_matches_the_code():
    assert f"at most {MAX_CHARACTERS:,} characters" in PAGE


def test_sources_page_example_runs():
    exec(compile(EXAMPLES["python"], "docs/sources.md", "exec"), {})
