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


def test_compose_memory_derives_summary_tags_and_category():
    made = composed(content="I prefer green tea. Coffee keeps me awake for hours. " * 5)
    assert made.summary == "I prefer green tea."
    assert made.category == "preferences"
    assert {"tea", "coffee"} <= set(made.tags)


def test_compose_memory_keeps_given_fields():
    made = composed(content="I prefer tea", summary="Tea!", category="food", tags=[])
    assert (made.summary, made.category, made.tags) == ("Tea!", "food", ())


@pytest.mark.parametrize(
    ("kind", "category"),
    [("note", "preferences"), ("fact", "preferences"), ("event", "event"), ("log", "activity")],
)
def test_compose_memory_derives_category_by_words_for_generic_kinds_only(kind, category):
    assert composed(kind=kind, content="I prefer green tea over coffee").category == category


def test_compose_memory_falls_back_to_the_category_of_the_kind():
    assert composed(content="Zebras sleep standing").category == "knowledge"


def test_compose_memory_summarises_a_procedure_by_its_title():
    made = composed(kind="procedure", content="Make strong tea", steps=["Boil", "Pour"])
    assert made.summary == "Make strong tea"


def test_compose_memory_takes_times_from_the_clock():
    made = composed(content="x")
    assert {made.created_at, made.updated_at, made.arrived_at, made.valid_from} == {START}
    earlier = START - timedelta(days=900)
    assert composed(content="x", valid_from=earlier).valid_from == earlier


def test_compose_memory_refuses_an_expired_memory():
    for ends in ({"expires_at": START}, {"ttl_days": 0}):
        with pytest.raises(InvalidInput, match="expired") as caught:
            composed(content="x", **ends)
        assert caught.value.field == "expires_at"


def test_compose_memory_refuses_another_agents_id():
    helper = ANA.as_agent("helper")
    assert composed(helper, content="x").agent_id == "helper"
    assert composed(helper, content="x", agent_id="helper").agent_id == "helper"
    assert composed(content="x", agent_id="helper").agent_id == "helper"
    with pytest.raises(NotAllowed):
        composed(helper, content="x", agent_id="writer")
