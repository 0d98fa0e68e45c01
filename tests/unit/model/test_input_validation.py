"""What may come in: each rule returns a clean value, or an error that names the field."""

from __future__ import annotations

import json
import unicodedata
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import BadText, InvalidInput, MissingField, TooLong, UnknownField
from commonplace.model import validation
from commonplace.model.filters import Filters
from commonplace.model.memory.kinds import Kind, Stability
from commonplace.model.memory.memory import Sensitivity

DEEP: dict[str, object] = {}
for _ in range(12):
    DEEP = {"inside": DEEP}

REFUSED = [
    (validation.text, ("",), BadText),
    (validation.text, (" \n\t ",), BadText),
    (validation.text, ("a\x00b",), BadText),
    (validation.text, ("half \ud83d of a pair",), BadText),
    (validation.text, ("x" * 32_001,), TooLong),
    (validation.text, (5,), InvalidInput),
    (validation.text, (b"bytes",), InvalidInput),
    (validation.text, (None,), InvalidInput),
    (validation.word, ("two\nlines",), BadText),
    (validation.word, ("bell\a",), BadText),
    (validation.word, ("x" * 201,), TooLong),
    (validation.words, ("not a list",), InvalidInput),
    (validation.words, (["ok", 5],), InvalidInput),
    (validation.words, ({"a": 1},), InvalidInput),
    (validation.words, (["x"] * 101,), TooLong),
    (validation.texts, (["ok", " "],), BadText),
    (validation.texts, (["x" * 2001],), TooLong),
    (validation.texts, (7,), InvalidInput),
    (validation.integer, (True, 0, 9), InvalidInput),
    (validation.integer, (2.0, 0, 9), InvalidInput),
    (validation.integer, ("2", 0, 9), InvalidInput),
    (validation.integer, (10, 0, 9), InvalidInput),
    (validation.integer, (-(10**5000), 0, 9), InvalidInput),
    (validation.number, (float("nan"), 0, 1), InvalidInput),
    (validation.number, (float("inf"), 0, 1), InvalidInput),
    (validation.number, (10**5000, 0, 1), InvalidInput),
    (validation.number, (True, 0, 1), InvalidInput),
    (validation.number, ("0.5", 0, 1), InvalidInput),
    (validation.number, (1.01, 0, 1), InvalidInput),
    (validation.flag, (1,), InvalidInput),
    (validation.flag, ("true",), InvalidInput),
    (validation.when, ("tomorrow",), InvalidInput),
    (validation.when, ("2026-02-30",), InvalidInput),
    (validation.when, (20260301,), InvalidInput),
    (validation.when, ("0001-01-01T00:00:00+14:00",), InvalidInput),
    (validation.when, ("9999-12-31T23:59:59-14:00",), InvalidInput),
    (validation.metadata, ("no map",), InvalidInput),
    (validation.metadata, ([("a", 1)],), InvalidInput),
    (validation.metadata, ({5: "x"},), InvalidInput),
    (validation.metadata, ({"a": "\x00"},), BadText),
    (validation.metadata, ({"a": ["\ud800"]},), BadText),
    (validation.metadata, ({"a": float("nan")},), InvalidInput),
    (validation.metadata, ({"a": 10**5000},), InvalidInput),
    (validation.metadata, ({"a": object()},), InvalidInput),
    (validation.metadata, ({"a": b"bytes"},), InvalidInput),
    (validation.metadata, ({"a": "x" * 17_000},), TooLong),
    (validation.metadata, (DEEP,), InvalidInput),
]


@pytest.mark.parametrize(("rule", "arguments", "error"), REFUSED)
def test_validation_error_names_the_field(rule, arguments, error):
    value, *limits = arguments
    with pytest.raises(error) as caught:
        rule(value, "place", *limits)
    assert type(caught.value) is error
    assert caught.value.field.startswith("place")
    assert "place" in caught.value.message


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
        (" 2026-03-01T09:30:00Z ", datetime(2026, 3, 1, 9, 30, tzinfo=UTC)),
        ("2026-03-01T09:30:00+02:00", datetime(2026, 3, 1, 7, 30, tzinfo=UTC)),
        (datetime(2026, 3, 1, 9), datetime(2026, 3, 1, 9, tzinfo=UTC)),
        (
            datetime(2026, 3, 1, 9, tzinfo=timezone(timedelta(hours=-5))),
            datetime(2026, 3, 1, 14, tzinfo=UTC),
        ),
    ],
)
def test_validation_reads_dates_as_utc(value, expected):
    assert validation.when(value, "date") == expected
    assert validation.when(value, "date").tzinfo is UTC


@pytest.mark.parametrize("edge", ["0001-01-02", "9999-12-30"])
@given(zone=st.timedeltas(timedelta(hours=-23), timedelta(hours=23)))
def test_validation_refuses_dates_out_of_the_calendar_range(edge, zone):
    local = datetime.fromisoformat(edge).replace(tzinfo=timezone(zone))
    inwards = zone <= timedelta(0) if edge.startswith("0") else zone >= timedelta(0)
    if inwards:
        assert validation.when(local, "date") == local
    else:
        with pytest.raises(InvalidInput, match="out of range"):
            validation.when(local, "date")


def test_validation_choice_accepts_values_and_aliases():
    aliases = {"sensitive": "high"}
    assert validation.choice("sensitive", "s", Sensitivity, aliases) is Sensitivity.HIGH
    assert validation.choice("stable", "s", Stability, {}) is Stability.STABLE
    assert validation.kind("kv") is Kind.KV
    for wrong in ("huge", 3, None, ["high"]):
        with pytest.raises(InvalidInput, match="low, normal, high") as caught:
            validation.choice(wrong, "s", Sensitivity, aliases)
        assert caught.value.field == "s"


def test_validation_unknown_field_error_lists_the_known_fields():
    with pytest.raises(UnknownField, match="'colour'") as caught:
        validation.known_fields({"content": 1, "colour": 2}, ("content", "kind"), "A memory")
    assert caught.value.field == "colour"
    assert "content, kind" in caught.value.remedy


def test_validation_missing_field_error_names_the_field():
    with pytest.raises(MissingField, match=r"A kv needs metadata\.value") as caught:
        validation.required({"metadata.subject": "x"}, ("metadata.subject", "metadata.value"), "kv")
    assert caught.value.field == "metadata.value"


def test_validation_required_names_the_thing_in_plain_english():
    for thing, sentence in (("kv", "A kv needs name."), ("event", "An event needs name.")):
        with pytest.raises(InvalidInput) as refused:
            validation.required({}, ("name",), thing)
        assert refused.value.message == sentence


def test_validation_required_accepts_zero_and_false():
    validation.required({"a": 0, "b": False}, ("a", "b"), "kv")


def test_validation_ids_accepts_one_or_several_and_deduplicates():
    assert validation.ids("a") == ("a",)
    assert validation.ids(["a", "b", "a"]) == ("a", "b")
    with pytest.raises(MissingField):
        validation.ids([])
    with pytest.raises(TooLong):
        validation.ids([str(n) for n in range(1001)])


def test_validation_filters_accepts_singular_names_and_single_values():
    spoken = validation.filters({"kind": "kv", "tag": "home", "pinned": True, "importance_min": 3})
    meant = Filters(kinds=(Kind.KV,), tags=("home",), pinned=True, importance_min=3)
    assert spoken == meant
    assert validation.filters(meant) is meant
    assert validation.filters(None) == validation.filters({"role": None}) == Filters()


@pytest.mark.parametrize(
    "wrong",
    [
        {"colour": "red"},
        {"kinds": "poem"},
        {"pinned": "yes"},
        {"importance_min": 6},
        {"created_after": "soon"},
        {"tags": [1]},
        {"thread_id": ["a"]},
        "pinned",
        ["pinned"],
    ],
)
def test_validation_refuses_invalid_filters(wrong):
    with pytest.raises(InvalidInput):
        validation.filters(wrong)


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=40)
    | st.sampled_from(["e\u0301", " x ", "a\r\r\nb", "\x00", "\ud800"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)


@given(anything)
def test_validation_text_is_normalised_and_idempotent(value):
    try:
        cleaned = validation.text(value, "place")
    except InvalidInput:
        return
    assert unicodedata.is_normalized("NFC", cleaned)
    assert "\x00" not in cleaned
    assert "\r" not in cleaned
    assert cleaned == cleaned.strip() != ""
    assert cleaned.encode().decode() == cleaned
    assert validation.text(cleaned, "place") == cleaned


@given(anything)
def test_validation_metadata_is_plain_json_and_idempotent(value):
    try:
        cleaned = validation.metadata({"value": value})
    except InvalidInput:
        return
    written = json.dumps(cleaned, allow_nan=False, ensure_ascii=False)
    assert json.loads(written) == cleaned
    assert "\\u0000" not in written
    assert written.encode()
    assert validation.metadata(cleaned) == cleaned
