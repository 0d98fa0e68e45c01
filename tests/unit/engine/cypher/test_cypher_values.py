"""Equality, comparison, order and grouping of values agree with each other; temporal values come
back from their text, and their arithmetic from what was added."""

from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.engine.graph_search.cypher import values
from commonplace.engine.graph_search.cypher.execution.budget import (
    QueryBudget,
    QueryLimits,
)
from commonplace.engine.graph_search.cypher.execution.operators import (
    adder,
    comparisons,
    divide,
    remainder,
    sliced,
    subtract,
)
from commonplace.engine.graph_search.cypher.temporal.arithmetic import add_durations, between, plus
from commonplace.engine.graph_search.cypher.temporal.construction import (
    make_date,
    make_datetime,
    make_localdatetime,
    make_localtime,
    make_time,
    parse_duration,
)
from commonplace.engine.graph_search.cypher.temporal.types import (
    DAY,
    CypherDate,
    CypherDateTime,
    CypherDuration,
    CypherTime,
    CypherZone,
    civil,
    days_of,
    from_python,
    named_zone,
)
from commonplace.errors import BadCypher

BUDGET = QueryBudget(QueryLimits(seconds=10**9, steps=10**15))
COMPARISONS = comparisons(BUDGET)
compare = partial(values.compare, BUDGET)
equals = partial(values.equals, BUDGET)
group_key = partial(values.group_key, BUDGET)
is_in = partial(values.is_in, BUDGET)
sort_key = partial(values.sort_key, BUDGET)

DAYS = st.integers(-700_000, 2_900_000)
NANOS = st.integers(0, DAY - 1)
OFFSETS = st.integers(-18 * 60, 18 * 60).map(lambda minutes: minutes * 60)
DURATIONS = st.builds(
    CypherDuration,
    st.integers(-5_000, 5_000),
    st.integers(-50_000, 50_000),
    st.integers(-(10**15), 10**15),
)
TEMPORAL = st.one_of(
    st.builds(CypherDate, DAYS),
    st.builds(CypherTime, NANOS, st.none() | OFFSETS),
    st.builds(CypherDateTime, DAYS, NANOS, st.none() | st.builds(CypherZone, OFFSETS)),
    DURATIONS,
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-3, 3),
    st.floats(),
    st.floats(-3, 3).map(round).map(float),
    st.text(max_size=3),
    TEMPORAL,
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=6,
)


@given(VALUES, VALUES)
def test_cypher_equality_is_symmetric_and_agrees_with_grouping(left, right):
    assert equals(left, right) is equals(right, left)
    if equals(left, right) is True:
        assert group_key(left) == group_key(right)
        assert sort_key(left) == sort_key(right)
    if equals(left, right) is False and not _has_nan(left) and not _has_nan(right):
        assert group_key(left) != group_key(right)


@given(VALUES)
def test_cypher_group_and_sort_keys_of_a_value_are_stable(value):
    assert group_key(value) == group_key(value)
    assert hash(group_key(value)) == hash(group_key(value))
    assert sort_key(value) == sort_key(value)
    assert equals(value, value) in (True, None) or _has_nan(value)


@given(st.lists(VALUES, max_size=8))
def test_cypher_sort_key_orders_any_values_with_null_last(values):
    ordered = sorted(values, key=sort_key)
    backwards = sorted(values, key=sort_key, reverse=True)
    assert [sort_key(one) for one in backwards[::-1]] == [sort_key(one) for one in ordered]
    nulls = [value is None for value in ordered]
    assert nulls == sorted(nulls)  # null comes last


@given(VALUES, VALUES)
def test_cypher_comparison_is_antisymmetric_and_agrees_with_order(left, right):
    found = compare(left, right)
    assert compare(right, left) == (None if found is None else -found)
    if found is not None and not _has_null(left) and not _has_null(right):
        keys = sort_key(left), sort_key(right)
        assert (found < 0) == (keys[0] < keys[1])
    for sign, other in (("<", ">"), ("<=", ">="), ("=", "="), ("<>", "<>")):
        assert COMPARISONS[sign](left, right) is COMPARISONS[other](right, left)


@given(VALUES, st.lists(VALUES, max_size=4))
def test_cypher_in_equals_a_disjunction_of_equalities(value, items):
    answers = [equals(value, item) for item in items]
    expected = True if True in answers else None if None in answers else False
    assert is_in(value, items) is expected


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**40), 2**40).filter(bool))
def test_cypher_quotient_and_remainder_restore_the_dividend(left, right):
    assert divide(left, right) * right + remainder(left, right) == left
    assert abs(remainder(left, right)) < abs(right)


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1))
def test_cypher_integer_addition_is_exact_or_an_overflow_error(left, right):
    for call, total in ((adder(QueryBudget()), left + right), (subtract, left - right)):
        if -(2**63) <= total < 2**63:
            assert call(left, right) == total
        else:
            with pytest.raises(BadCypher, match="too large"):
                call(left, right)


@given(st.lists(st.integers(), max_size=6), st.integers(-8, 8), st.integers(-8, 8))
def test_cypher_adjacent_slices_restore_the_list(items, first, last):
    assert sliced(BUDGET, items, 0, first) + sliced(BUDGET, items, first, len(items)) == items
    assert set(sliced(BUDGET, items, first, last)) <= set(items)


# ——— time ———


@given(st.dates())
def test_cypher_date_from_python_keeps_calendar_fields(value):
    found = from_python(value)
    assert str(found) == value.isoformat()
    assert (found.get("week"), found.get("weekYear")) == value.isocalendar()[1::-1]
    assert found.get("weekDay") == value.isoweekday()
    assert found.get("ordinalDay") == value.timetuple().tm_yday


@given(st.datetimes())
def test_cypher_datetime_from_python_keeps_the_instant(value):
    found = from_python(value.replace(tzinfo=UTC))
    assert isinstance(found, CypherDateTime)
    assert found.epoch_nanos // 1000 == (value - datetime(1970, 1, 1)) // timedelta(microseconds=1)
    assert make_datetime(found.iso_text) == found


@given(st.integers(-999_999, 999_999), st.integers(1, 12), st.integers(1, 28))
def test_cypher_civil_date_inverts_the_day_number(year, month, day):
    assert civil(days_of(year, month, day)) == (year, month, day)


@given(TEMPORAL)
def test_cypher_temporal_values_round_trip_through_text(value):
    make = {
        CypherDate: make_date,
        CypherDuration: parse_duration,
        CypherTime: make_localtime if getattr(value, "is_local", False) else make_time,
        CypherDateTime: make_localdatetime if getattr(value, "is_local", False) else make_datetime,
    }[type(value)]
    assert make(str(value)) == value


@given(st.builds(CypherDateTime, DAYS, NANOS), st.builds(CypherDateTime, DAYS, NANOS))
def test_cypher_duration_between_added_to_the_start_gives_the_end(one, other):
    for how in ("inseconds", "between"):
        assert plus(one, between(how, one, other), 1) == other


@given(DURATIONS, DURATIONS)
def test_cypher_duration_subtraction_inverts_addition(one, other):
    assert add_durations(add_durations(one, other, 1), other, -1) == one


def test_cypher_named_zone_uses_the_offset_of_the_date():
    zone = named_zone("europe/berlin")
    winter, summer = CypherDateTime(20_454, 0, zone), CypherDateTime(20_634, 0, zone)
    assert (winter.offset, summer.offset) == (3600, 7200)
    with pytest.raises(BadCypher, match="no time zone"):
        named_zone("../etc/passwd")


def _has_nan(value):
    if isinstance(value, list | dict):
        return any(map(_has_nan, value.values() if isinstance(value, dict) else value))
    return isinstance(value, float) and value != value


def _has_null(value):
    if isinstance(value, list):
        return any(map(_has_null, value))
    return value is None
