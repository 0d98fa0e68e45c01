"""The prompts for reading: their placeholders, their schemas, and that their examples hold."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import fastjsonschema
import pytest

from commonplace.language.grounding.ground import ground
from commonplace.language.grounding.items import MEMORY_KINDS
from commonplace.language.grounding.memories import PROFILE_FIELDS
from commonplace.language.grounding.values import GivenPassage, SpokenBy
from commonplace.language.llm.prompts import load_prompt
from commonplace.language.text.tokens import count_tokens
from commonplace.model.sources.source import SourceType
from support.given_passages import OWNER, contents, edges

PLACES = {
    "read_turns": ("owner", "known", "context", "turns"),
    "extract_source": ("owner", "about", "passages"),
}
MOST_TOKENS = 3_100
_BY = {"owner": SpokenBy.OWNER, "assistant": SpokenBy.MACHINE}


def example(name: str) -> tuple[list[GivenPassage], object]:
    text = load_prompt(name).system.partition("# Example")[2]
    lines = re.findall(r'^\{"passage".*$', text, re.MULTILINE)
    answer = re.search(r"^Answer:\n(.*)$", text, re.MULTILINE)
    assert answer
    passages = []
    for row in map(json.loads, lines):
        by = _BY.get(row["by"], SpokenBy.OTHER)
        at = datetime.strptime(row["at"], "%A %Y-%m-%d %H:%M").replace(tzinfo=UTC)
        speaker = row["by"] if by is SpokenBy.OTHER else None
        passages.append(
            GivenPassage(number=row["passage"], text=row["text"], at=at, by=by, speaker=speaker)
        )
    return passages, json.loads(answer[1])


@pytest.mark.parametrize("name", PLACES)
def test_all_places_of_the_prompt_are_filled(name):
    prompt = load_prompt(name)
    request = prompt.request({place: f"<{place}>" for place in PLACES[name]})
    user = request.messages[-1].content
    assert "{{" not in user
    assert all(f"<{place}>" in user for place in PLACES[name])
    assert count_tokens(prompt.system) <= MOST_TOKENS


@pytest.mark.parametrize("name", PLACES)
def test_schema_is_strict(name):
    """Strict modes want every property listed as required, and no others."""

    def check(schema):
        if schema.get("type") == "object":
            assert schema["required"] == list(schema["properties"])
            assert schema["additionalProperties"] is False
            for each in schema["properties"].values():
                check(each)
        elif schema.get("type") == "array":
            check(schema["items"])

    check(dict(load_prompt(name).schema))


@pytest.mark.parametrize("name", PLACES)
def test_example_has_the_form_of_the_schema(name):
    fastjsonschema.compile(dict(load_prompt(name).schema))(example(name)[1])


@pytest.mark.parametrize(
    ("name", "source_type"), [("read_turns", SourceType.CHAT), ("extract_source", SourceType.EMAIL)]
)
def test_example_is_grounded(name, source_type):
    passages, answer = example(name)
    found = ground(answer, passages, OWNER, source_type)
    assert not found.dropped
    assert len(contents(found)) == len(answer["memories"])
    assert len(edges(found)) == len(answer["relations"])


def test_kinds_and_fields_of_the_schema_are_those_of_the_code():
    item = load_prompt("read_turns").schema["properties"]["memories"]["items"]["properties"]
    assert set(item["kind"]["enum"]) == MEMORY_KINDS
    assert set(item["profile"]["enum"]) == {"", *PROFILE_FIELDS}
