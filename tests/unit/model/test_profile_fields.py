"""What may stand in a field of the profile."""

from __future__ import annotations

import pytest

from commonplace.errors import InvalidInput
from commonplace.model.profile.fields import describe_field, field_name, read_field_value


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Asia/Jerusalem", "UTC"])
def test_a_time_zone_is_one_that_computers_know(zone):
    assert read_field_value("time_zone", zone) == zone


@pytest.mark.parametrize("zone", ["Berlin", "Mars/Olympus", "../etc/passwd", "UTC+2", 2, ["UTC"]])
def test_another_one_is_refused(zone):
    with pytest.raises(InvalidInput) as refused:
        read_field_value("time_zone", zone)
    assert refused.value.field == "value"


@pytest.mark.parametrize("given", ["run", ["run"], ("run", "run")])
def test_goals_are_a_list_each_once(given):
    assert read_field_value("goals", given) == ["run"]


@pytest.mark.parametrize("given", [5, None, {"a": 1}, [5], ["a\x00"], ""])
def test_what_is_no_text_is_no_goal(given):
    with pytest.raises(InvalidInput):
        read_field_value("goals", given)


def test_goals_are_added_one_at_a_time():
    assert read_field_value("goals_add", "run") == read_field_value("goals_add", ["run"]) == "run"
    with pytest.raises(InvalidInput):
        read_field_value("goals_add", ["run", "read"])


@pytest.mark.parametrize("given", ["Haifa", True, 41, 1.5, ["a", "b"]])
def test_other_fields_are_free(given):
    assert read_field_value("anything", given) == given


@pytest.mark.parametrize("name", ["anything", "goals", "goals_add"])
def test_nothing_is_no_value(name):
    """What could never be accepted cannot be proposed."""
    with pytest.raises(InvalidInput):
        read_field_value(name, [])


@pytest.mark.parametrize("given", [["warm", "brief"], 5, True, "", None])
def test_a_tone_is_one_text(given):
    assert read_field_value("tone", "warm and brief") == "warm and brief"
    with pytest.raises(InvalidInput):
        read_field_value("tone", given)


def test_a_name_is_spelled_one_way():
    assert field_name("Preferred Name") == field_name("preferred-name") == "preferred_name"


def test_how_a_field_reads():
    assert describe_field("preferred_name", "Ana") == "Preferred name is Ana"
    assert describe_field("goals", ["run", "read"]) == "Goals are run; read"
