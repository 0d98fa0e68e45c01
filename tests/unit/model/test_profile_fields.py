"""What may stand in a field of the profile."""

from __future__ import annotations

import pytest

from commonplace.errors import InvalidInput
from commonplace.model.profile.fields import describe_field, field_name, read_field_value


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Asia/Jerusalem", "UTC"])
def test_profile_time_zone_accepts_iana_names(zone):
    assert read_field_value("time_zone", zone) == zone


@pytest.mark.parametrize("zone", ["Berlin", "Mars/Olympus", "../etc/passwd", "UTC+2", 2, ["UTC"]])
def test_profile_time_zone_refuses_unknown_zones(zone):
    with pytest.raises(InvalidInput) as refused:
        read_field_value("time_zone", zone)
    assert refused.value.field == "value"


@pytest.mark.parametrize("given", ["run", ["run"], ("run", "run")])
def test_profile_goals_are_a_deduplicated_list(given):
    assert read_field_value("goals", given) == ["run"]


@pytest.mark.parametrize("given", [5, None, {"a": 1}, [5], ["a\x00"], ""])
def test_profile_goals_refuse_values_that_are_no_text(given):
    with pytest.raises(InvalidInput):
        read_field_value("goals", given)


def test_profile_goals_add_accepts_one_goal_only():
    assert read_field_value("goals_add", "run") == read_field_value("goals_add", ["run"]) == "run"
    with pytest.raises(InvalidInput):
        read_field_value("goals_add", ["run", "read"])


@pytest.mark.parametrize("given", ["Haifa", True, 41, 1.5, ["a", "b"]])
def test_profile_custom_fields_accept_plain_values(given):
    assert read_field_value("anything", given) == given


@pytest.mark.parametrize("name", ["anything", "goals", "goals_add"])
def test_profile_fields_refuse_an_empty_list(name):
    """What could never be accepted cannot be proposed."""
    with pytest.raises(InvalidInput):
        read_field_value(name, [])


@pytest.mark.parametrize("given", [["warm", "brief"], 5, True, "", None])
def test_profile_tone_accepts_one_text_only(given):
    assert read_field_value("tone", "warm and brief") == "warm and brief"
    with pytest.raises(InvalidInput):
        read_field_value("tone", given)


def test_profile_field_name_is_normalised():
    assert field_name("Preferred Name") == field_name("preferred-name") == "preferred_name"


def test_profile_field_description_reads_as_a_sentence():
    assert describe_field("preferred_name", "Ana") == "Preferred name is Ana"
    assert describe_field("goals", ["run", "read"]) == "Goals are run; read"
