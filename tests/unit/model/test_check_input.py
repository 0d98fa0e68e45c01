"""What may come in: each rule returns a clean value, or an error that names the field."""

from __future__ import annotations

import json
import unicodedata
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import BadText, InvalidInput, MissingField, TooLong, UnknownField
from commonplace.model import check
from commonplace.model.filters import Filters
from commonplace.model.kinds import Kind, Stability
from commonplace.model.memory import Sensitivity

DEEP: dict[str, object] = {}
for _ in range(12):
    DEEP = {"inside": DEEP}

REFUSED = [
    (check.text, ("",), BadText),
    (check.text, (" \n\t ",), BadText),
    (check.text, ("a\x00b",), BadText),
    (check.text, ("half \ud83d of a pair",), BadText),
    (check.text, ("x" * 32_001,), TooLong),
    (check.text, (5,), InvalidInput),
    (check.text, (b"bytes",), InvalidInput),
    (check.text, (None,), InvalidInput),
    (check.word, ("two\nlines",), BadText),
    (check.word, ("bell\a",), BadText),
    (check.word, ("x" * 201,), TooLong),
    (check.words, ("not a list",), InvalidInput),
    (check.words, (["ok", 5],), InvalidInput),
    (check.words, ({"a": 1},), InvalidInput),
    (check.words, (["x"] * 101,), TooLong),
    (check.texts, (["ok", " "],), BadText),
    (check.texts, (["x" * 2001],), TooLong),
    (check.texts, (7,), InvalidInput),
    (check.integer, (True, 0, 9), InvalidInput),
    (check.integer, (2.0, 0, 9), InvalidInput),
    (check.integer, ("2", 0, 9), InvalidInput),
    (check.integer, (10, 0, 9), InvalidInput),
    (check.integer, (-(10**5000), 0, 9), InvalidInput),
    (check.number, (float("nan"), 0, 1), InvalidInput),
    (check.number, (float("inf"), 0, 1), InvalidInput),
    (check.number, (10**5000, 0, 1), InvalidInput),
    (check.number, (True, 0, 1), InvalidInput),
    (check.number, ("0.5", 0, 1), InvalidInput),
    (check.number, (1.01, 0, 1), InvalidInput),
    (check.flag, (1,), InvalidInput),
    (check.flag, ("true",), InvalidInput),
    (check.when, ("tomorrow",), InvalidInput),
    (check.when, ("2026-02-30",), InvalidInput),
    (check.when, (20260301,), InvalidInput),
    (check.when, ("0001-01-01T00:00:00+14:00",), InvalidInput),
    (check.when, ("9999-12-31T23:59:59-14:00",), InvalidInput),
    (check.metadata, ("no map",), InvalidInput),
    (check.metadata, ([("a", 1)],), InvalidInput),
    (check.metadata, ({5: "x"},), InvalidInput),
    (check.metadata, ({"a": "\x00"},), BadText),
    (check.metadata, ({"a": ["\ud800"]},), BadText),
    (check.metadata, ({"a": float("nan")},), InvalidInput),
    (check.metadata, ({"a": 10**5000},), InvalidInput),
    (check.metadata, ({"a": object()},), InvalidInput),
    (check.metadata, ({"a": b"bytes"},), InvalidInput),
    (check.metadata, ({"a": "x" * 17_000},), TooLong),
    (check.metadata, (DEEP,), InvalidInput),
]


@pytest.mark.parametrize(("rule", "arguments", "error"), REFUSED)
def test_refused_with_the_field_named(rule, arguments, error):
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
def test_dates_are_read_in_utc(value, expected):
    assert check.when(value, "date") == expected
    assert check.when(value, "date").tzinfo is UTC


@pytest.mark.parametrize("edge", ["0001-01-02", "9999-12-30"])
@given(zone=st.timedeltas(timedelta(hours=-23), timedelta(hours=23)))
def test_no_zone_carries_a_date_over_the_edge_of_the_calendar(edge, zone):
    local = datetime.fromisoformat(edge).replace(tzinfo=timezone(zone))
    inwards = zone <= timedelta(0) if edge.startswith("0") else zone >= timedelta(0)
    if inwards:
        assert check.when(local, "date") == local
    else:
        with pytest.raises(InvalidInput, match="out of range"):
            check.when(local, "date")


def test_choices_know_their_values_and_their_aliases():
    aliases = {"sensitive": "high"}
    assert check.choice("sensitive", "s", Sensitivity, aliases) is Sensitivity.HIGH
    assert check.choice("stable", "s", Stability, {}) is Stability.STABLE
    assert check.kind("kv") is Kind.KV
    for wrong in ("huge", 3, None, ["high"]):
        with pytest.raises(InvalidInput, match="low, normal, high") as caught:
            check.choice(wrong, "s", Sensitivity, aliases)
        assert caught.value.field == "s"


def test_an_unknown_field_is_named_and_the_known_ones_are_listed():
    with pytest.raises(UnknownField, match="'colour'") as caught:
        check.known_fields({"content": 1, "colour": 2}, ("content", "kind"), "A memory")
    assert caught.value.field == "colour"
    assert "content, kind" in caught.value.remedy


def test_a_missing_field_is_named():
    with pytest.raises(MissingField, match=r"A kv needs metadata\.value") as caught:
        check.required({"metadata.subject": "x"}, ("metadata.subject", "metadata.value"), "kv")
    assert caught.value.field == "metadata.value"


def test_zero_and_false_are_values_not_gaps():
    check.required({"a": 0, "b": False}, ("a", "b"), "kv")


def test_ids_are_one_or_several_without_repetition():
    assert check.ids("a") == ("a",)
    assert check.ids(["a", "b", "a"]) == ("a", "b")
    with pytest.raises(MissingField):
        check.ids([])
    with pytest.raises(TooLong):
        check.ids([str(n) for n in range(1001)])


def test_filters_accept_singular_names_and_single_values():
    spoken = check.filters({"kind": "kv", "tag": "home", "pinned": True, "importance_min": 3})
    meant = Filters(kinds=(Kind.KV,), tags=("home",), pinned=True, importance_min=3)
    assert spoken == meant
    assert check.filters(meant) is meant
    assert check.filters(None) == check.filters({"role": None}) == Filters()


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
def test_wrong_filters_are_refused(wrong):
    with pytest.raises(InvalidInput):
        check.filters(wrong)


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
def test_accepted_text_is_clean_storable_and_stays_as_it_is(value):
    try:
        cleaned = check.text(value, "place")
    except InvalidInput:
        return
    assert unicodedata.is_normalized("NFC", cleaned)
    assert "\x00" not in cleaned
    assert "\r" not in cleaned
    assert cleaned == cleaned.strip() != ""
    assert cleaned.encode().decode() == cleaned
    assert check.text(cleaned, "place") == cleaned


@given(anything)
def test_accepted_metadata_is_plain_json_and_stays_as_it_is(value):
    try:
        cleaned = check.metadata({"value": value})
    except InvalidInput:
        return
    written = json.dumps(cleaned, allow_nan=False, ensure_ascii=False)
    assert json.loads(written) == cleaned
    assert "\\u0000" not in written
    assert written.encode()
    assert check.metadata(cleaned) == cleaned
