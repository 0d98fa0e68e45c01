"""JSON out of what models write, and values brought nearer to a schema."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.llm.conform import (
    WrongForm,
    check_form,
    conform,
    without_wrong_items,
)
from commonplace.language.llm.json_reading import MAX_CHARS, NoJson, read_json

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=12,
)
THING = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "kind": {"type": "string", "enum": ["person", "place"]},
        "since": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "weight": {"type": ["integer", "null"]},
        "aliases": {"type": "array", "items": {"type": "string"}},
        "ended": {"type": "boolean"},
    },
    "required": ["name", "kind", "since", "weight", "aliases", "ended"],
    "additionalProperties": False,
}
SCHEMA = {
    "type": "object",
    "properties": {
        "things": {"type": "array", "items": {"$ref": "#/$defs/thing"}},
        "title": {"type": "string"},
    },
    "required": ["things", "title"],
    "additionalProperties": False,
    "$defs": {"thing": THING},
}
FULL = {"name": "Dana", "kind": "person", "since": None, "weight": 3, "aliases": [], "ended": False}


# ——— JSON in text ———


@given(JSON_VALUES)
def test_read_json_returns_what_is_json(value):
    assert read_json(json.dumps(value)) == value


@given(st.dictionaries(st.text(max_size=5), JSON_VALUES), st.text("abc .,:\n", max_size=30))
def test_read_json_finds_an_object_in_text(value, around):
    text = json.dumps(value)
    assert read_json(f"{around}\n{text}\n{around}") == value
    assert read_json(f"<think>{{}} [1] {around}</think>\n{text}") == value


@given(st.text(alphabet='{}[]",:\\`<>/think0aא\n \0\ud800'))
def test_read_json_of_anything_ends_in_a_value_or_no_json(text):
    with suppress(NoJson):
        read_json(text)


@pytest.mark.parametrize(
    "text", ["", " \n", "no", "{", '{"a": ', "[" * 100_000, '{"a":' * 50_000, "x" * (MAX_CHARS + 1)]
)
def test_read_json_refuses_what_is_none(text):
    with pytest.raises(NoJson):
        read_json(text)


def test_read_json_takes_the_longest_value():
    assert read_json('An empty one is {}, yours is {"a": [1, 2]} or [3].') == {"a": [1, 2]}


# ——— values near the schema ———


def test_conform_leaves_a_right_value_as_it_is():
    value = {"things": [FULL, {**FULL, "since": "May"}], "title": "T"}
    assert conform(value, SCHEMA) == value
    check_form(value, SCHEMA)


@pytest.mark.parametrize(
    ("thing", "right"),
    [
        ({"name": "Dana", "kind": "person"}, {**FULL, "weight": None}),
        ({**FULL, "weight": "3"}, FULL),
        ({**FULL, "weight": 3.0}, FULL),
        ({**FULL, "weight": ""}, {**FULL, "weight": None}),
        ({**FULL, "ended": "False"}, FULL),
        ({**FULL, "kind": " Person"}, FULL),
        ({**FULL, "aliases": None, "ended": None}, FULL),
        ({**FULL, "name": None}, {**FULL, "name": ""}),
        ({**FULL, "name": 42}, {**FULL, "name": "42"}),
        ({**FULL, "name": "Da\0na"}, FULL),
        ({**FULL, "certainty": 0.9}, FULL),
    ],
)
def test_conform_changes_only_what_loses_nothing(thing, right):
    found = conform({"things": [thing], "note": "!"}, SCHEMA)
    assert found == {"things": [right], "title": ""}
    check_form(found, SCHEMA)


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"error": "overloaded"},
        {"things": "none"},
        {"things": [{**FULL, "kind": "robot"}]},
        {"things": [{**FULL, "kind": None}]},
        {"things": [{"id": 7}]},
        {"things": [["Dana"]]},
        [FULL],
        "things",
        None,
    ],
)
def test_conform_does_not_hide_another_answer(value):
    with pytest.raises(WrongForm) as wrong:
        check_form(conform(value, SCHEMA), SCHEMA)
    assert "robot" not in str(wrong.value)
    assert "overloaded" not in str(wrong.value)


def test_conform_takes_a_list_for_an_object_with_one_list():
    schema = {**SCHEMA, "properties": {"things": SCHEMA["properties"]["things"]}}
    assert conform([FULL], schema) == {"things": [FULL]}


def test_conform_cuts_a_list_that_comes_to_no_end():
    schema = {"type": "object", "properties": {"words": {"type": "array", "maxItems": 2}}}
    assert conform({"words": ["a", "b", "a", "b"]}, schema) == {"words": ["a", "b"]}


def test_without_wrong_items_keeps_the_right_ones():
    value = {"things": [FULL, {**FULL, "kind": "robot"}, "Dana"], "title": "T"}
    assert without_wrong_items(value, SCHEMA) == {"things": [FULL], "title": "T"}


@given(JSON_VALUES)
def test_conform_of_any_value_ends_and_can_be_repeated(value):
    once = conform({"things": [value], "title": value}, SCHEMA)
    assert conform(once, SCHEMA) == once
