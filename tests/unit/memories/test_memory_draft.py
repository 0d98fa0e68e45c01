"""A draft is complete and holds to its kind's policy, or an error names the field."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.engine.composition import procedure_title, read_draft
from commonplace.errors import InvalidInput, MissingField, TooLong, UnknownField
from commonplace.model.memory.kinds import Kind, Stability
from commonplace.model.memory.memory import Sensitivity
from support.pure_values import texts


def test_read_draft_defaults_to_note():
    draft = read_draft({"content": "  an idea \r\n"})
    assert (draft.kind, draft.content) == (Kind.NOTE, "an idea")


@pytest.mark.parametrize(
    ("given_fields", "missing"),
    [
        ({}, "content"),
        ({"kind": "note"}, "content"),
        ({"kind": "fact"}, "content"),
        ({"kind": "event"}, "content"),
        ({"kind": "insight"}, "content"),
        ({"kind": "log"}, "content"),
        ({"kind": "summary"}, "content"),
        ({"kind": "soul"}, "content"),
        ({"kind": "rule", "evidence": ["she said so"]}, "content"),
        ({"kind": "rule", "content": "Never book flights before 9"}, "evidence"),
        ({"kind": "rule", "content": "Never book flights before 9", "evidence": []}, "evidence"),
        ({"kind": "contact"}, "metadata.name"),
        ({"kind": "contact", "content": "Somebody told me about a plumber"}, "metadata.name"),
        ({"kind": "contact", "metadata": {"name": "  "}}, "metadata.name"),
        ({"kind": "contact", "metadata": {"phone": "555"}}, "metadata.name"),
        ({"kind": "kv", "metadata": {"value": 500}}, "metadata.subject"),
        ({"kind": "kv", "metadata": {"subject": "bill"}}, "metadata.value"),
        ({"kind": "kv", "content": "I paid the bill"}, "metadata.subject"),
        ({"kind": "procedure"}, "steps"),
        ({"kind": "procedure", "content": "Make tea"}, "steps"),
        ({"kind": "procedure", "content": "Make tea", "steps": []}, "steps"),
    ],
)
def test_read_draft_error_names_the_missing_field(given_fields, missing):
    with pytest.raises(MissingField) as caught:
        read_draft(given_fields)
    assert caught.value.field == missing
    assert missing in caught.value.message


@pytest.mark.parametrize(
    ("given_fields", "field"),
    [
        ({"kind": "rule", "content": "x", "evidence": ["e"], "confidence": 0.79}, "confidence"),
        (
            {"kind": "rule", "content": "x", "evidence": ["e"], "stability": "volatile"},
            "stability",
        ),
        ({"kind": "soul", "content": "x", "stability": "stable"}, "stability"),
        ({"kind": "soul", "content": "x", "ttl_days": 3}, "expires_at"),
        ({"content": "x", "stability": "permanent", "expires_at": "2027-01-01"}, "expires_at"),
        ({"content": "x", "ttl_days": 1, "expires_at": "2027-01-01"}, "expires_at"),
        ({"content": "x", "steps": ["one"]}, "steps"),
        ({"content": "x", "importance": 6}, "importance"),
        ({"content": "x", "importance": True}, "importance"),
        ({"content": "x", "confidence": 1.5}, "confidence"),
        ({"content": "x", "ttl_days": -1}, "ttl_days"),
        ({"content": "x", "stability": "eternal"}, "stability"),
        ({"content": "x", "sensitivity": "secret"}, "sensitivity"),
        ({"content": "x", "kind": "poem"}, "kind"),
        ({"content": "x", "kind": ["note"]}, "kind"),
        ({"content": "x", "tags": "home"}, "tags"),
        ({"content": "x", "valid_from": "once"}, "valid_from"),
        ({"content": ["x"]}, "content"),
        ({"kind": "contact", "metadata": {"name": 5}}, "metadata.name"),
        ({"kind": "kv", "metadata": {"subject": ["a"], "value": 1}}, "metadata.subject"),
    ],
)
def test_read_draft_error_names_the_invalid_field(given_fields, field):
    with pytest.raises(InvalidInput) as caught:
        read_draft(given_fields)
    assert caught.value.field == field


def test_read_draft_classifies_content_without_a_kind():
    draft = read_draft({"content": "Remember that the gate code is 1948#"})
    assert (draft.kind, draft.content) == (Kind.KV, "the gate code is 1948#")
    assert draft.metadata == {"subject": "gate code", "value": "1948#"}


def test_read_draft_keeps_a_given_kind_and_content():
    draft = read_draft({"kind": "note", "content": "Remember that the gate code is 1948#"})
    assert (draft.kind, draft.content) == (Kind.NOTE, "Remember that the gate code is 1948#")
    assert draft.metadata == {}


def test_read_draft_given_metadata_overrides_extracted_fields():
    said = {"content": "Dana from the bank, 052-1234567", "metadata": {"name": "Dana Levi"}}
    draft = read_draft(said)
    assert draft.kind is Kind.CONTACT
    assert draft.metadata["name"] == "Dana Levi"
    assert draft.metadata["phone"] == "052-1234567"


@pytest.mark.parametrize(
    ("kind", "content", "metadata"),
    [
        ("kv", "bill is 500", {"subject": "bill", "value": "500"}),
        ("contact", "Dan the plumber", {"name": "Dan", "role": "plumber"}),
    ],
)
def test_read_draft_extracts_the_fields_of_a_given_kind(kind, content, metadata):
    draft = read_draft({"kind": kind, "content": content})
    assert (draft.content, draft.metadata) == (content, metadata)


def test_read_draft_extracts_nothing_when_required_fields_are_given():
    given_fields = {
        "kind": "contact",
        "content": "Dan, 052-1234567",
        "metadata": {"name": "Daniel"},
    }
    assert read_draft(given_fields).metadata == {"name": "Daniel"}


def test_read_draft_refuses_an_unknown_field():
    with pytest.raises(UnknownField, match="colour"):
        read_draft({"content": "x", "colour": "red"})


def test_read_draft_accepts_field_names_of_the_seed():
    draft = read_draft({"content": "x", "scope": "preference", "sensitivity": "sensitive"})
    assert (draft.facet, draft.sensitivity) == ("preference", Sensitivity.HIGH)
    assert read_draft({"content": "x", "scope": "a", "facet": "b"}).facet == "b"


def test_read_draft_accepts_rules_at_the_policy_limits():
    rule = {"kind": "rule", "content": "x", "evidence": ["e"], "confidence": 0.8}
    assert read_draft(rule).stability is None
    assert read_draft({**rule, "stability": "permanent"}).stability is Stability.PERMANENT


@pytest.mark.parametrize(
    ("kind", "metadata", "content"),
    [
        ("kv", {"subject": "electricity bill", "value": 500}, "electricity bill is 500"),
        ("kv", {"subject": "door", "value": False}, "door is False"),
        ("contact", {"name": "Dan"}, "Dan"),
        (
            "contact",
            {
                "name": "Dan",
                "role": "plumber",
                "phone": "555-1234",
                "email": "dan@x.org",
                "description": "cheap",
            },
            "Dan, plumber, phone 555-1234, email dan@x.org, cheap",
        ),
    ],
)
def test_read_draft_renders_content_from_metadata(kind, metadata, content):
    assert read_draft({"kind": kind, "metadata": metadata}).content == content


def test_read_draft_keeps_given_content_with_metadata():
    draft = read_draft({"kind": "contact", "content": "My plumber Dan", "metadata": {"name": "D"}})
    assert draft.content == "My plumber Dan"


@pytest.mark.parametrize(
    ("given_fields", "content", "steps"),
    [
        ({"steps": ["Boil", "Pour"]}, "1. Boil\n2. Pour", ["Boil", "Pour"]),
        (
            {"content": "Make tea", "steps": ["Boil", "Boil"]},
            "Make tea\n1. Boil\n2. Boil",
            ["Boil", "Boil"],
        ),
        ({"content": "Make tea\n1. Boil\n2) Pour"}, "Make tea\n1. Boil\n2) Pour", ["Boil", "Pour"]),
        ({"metadata": {"steps": ["Boil"]}}, "1. Boil", ["Boil"]),
    ],
)
def test_read_draft_reads_steps_from_a_list_or_numbered_lines(given_fields, content, steps):
    draft = read_draft({"kind": "procedure", **given_fields})
    assert draft.content == content
    assert draft.metadata["steps"] == steps


def test_read_draft_refuses_steps_that_are_too_long_together():
    with pytest.raises(TooLong):
        read_draft({"kind": "procedure", "steps": ["x" * 2000] * 20})


def test_procedure_title_is_the_text_without_steps():
    assert procedure_title("Make tea\n1. Boil\n2. Pour") == "Make tea"
    assert procedure_title("1. Boil") is None


@given(st.lists(texts, min_size=1, max_size=6))
def test_read_draft_keeps_the_order_of_steps(steps):
    draft = read_draft({"kind": "procedure", "steps": steps})
    assert draft.metadata["steps"] == steps
    assert draft.content == "\n".join(f"{n}. {step}" for n, step in enumerate(steps, 1))
