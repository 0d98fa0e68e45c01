"""What a caller did not give is derived."""

from __future__ import annotations

from datetime import timedelta

import pytest

from commonplace.engine.composition import compose_memory, read_draft
from commonplace.errors import InvalidInput, NotAllowed
from commonplace.model.access.principal import Principal
from support.clock import START

ANA = Principal("ana")


def composed(principal=ANA, **given):
    return compose_memory(read_draft(given), "m1", principal, START)


def test_summary_tags_and_category_are_derived():
    made = composed(content="I prefer green tea. Coffee keeps me awake for hours. " * 5)
    assert made.summary == "I prefer green tea."
    assert made.category == "preferences"
    assert {"tea", "coffee"} <= set(made.tags)


def test_what_is_given_stands():
    made = composed(content="I prefer tea", summary="Tea!", category="food", tags=[])
    assert (made.summary, made.category, made.tags) == ("Tea!", "food", ())


@pytest.mark.parametrize(
    ("kind", "category"),
    [("note", "preferences"), ("fact", "preferences"), ("event", "event"), ("log", "activity")],
)
def test_only_kinds_whose_default_says_little_are_categorised_by_words(kind, category):
    assert composed(kind=kind, content="I prefer green tea over coffee").category == category


def test_words_that_fit_no_rule_get_the_kinds_category():
    assert composed(content="Zebras sleep standing").category == "knowledge"


def test_a_procedure_is_summed_up_by_its_title():
    made = composed(kind="procedure", content="Make strong tea", steps=["Boil", "Pour"])
    assert made.summary == "Make strong tea"


def test_times_are_those_of_the_clock():
    made = composed(content="x")
    assert {made.created_at, made.updated_at, made.arrived_at, made.valid_from} == {START}
    earlier = START - timedelta(days=900)
    assert composed(content="x", valid_from=earlier).valid_from == earlier


def test_nothing_is_stored_that_has_ended_already():
    for ends in ({"expires_at": START}, {"ttl_days": 0}):
        with pytest.raises(InvalidInput, match="expired") as caught:
            composed(content="x", **ends)
        assert caught.value.field == "expires_at"


def test_an_agent_signs_with_its_own_name_only():
    helper = ANA.as_agent("helper")
    assert composed(helper, content="x").agent_id == "helper"
    assert composed(helper, content="x", agent_id="helper").agent_id == "helper"
    assert composed(content="x", agent_id="helper").agent_id == "helper"
    with pytest.raises(NotAllowed):
        composed(helper, content="x", agent_id="writer")
