"""A memory as lines of JSON comes back as it was, and a wrong line is named by its number."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.errors import InvalidInput
from commonplace.model.changeset import build_link
from commonplace.model.export.archive import ScopeExport, from_lines, to_lines
from commonplace.model.memory.memory import Link, Version
from support.clock import START
from support.pure_values import journal_row, journal_rows, memories, memory, proposals, shares


@st.composite
def belongings(draw):
    """Whole ones: versions and links speak of memories that are there."""
    owned = draw(st.lists(memories, max_size=4, unique_by=lambda m: m.id))
    versions = [Version(each, each.created_at, None) for each in owned]
    pairs = [(a, b) for a in owned for b in owned if a.id < b.id]
    links = [Link.between(a.id, b.id, draw(shares), START) for a, b in pairs]
    journal = draw(st.lists(journal_rows, max_size=4, unique_by=lambda row: row.seq))
    revision = max([draw(st.integers(0, 100)), *(row.revision for row in journal)])
    numbers = draw(st.integers(0, 9))
    waiting = draw(st.lists(proposals(), max_size=3, unique_by=lambda each: each.id))
    return ScopeExport(
        tuple(owned),
        tuple(versions),
        tuple(links),
        tuple(journal),
        revision,
        numbers,
        proposals=tuple(waiting),
    )


def as_carried(owned):
    """When this store got an item is not carried along."""
    bare = lambda m: m.evolve(arrived_at=None)  # noqa: E731
    return ScopeExport(
        tuple(bare(m) for m in owned.memories),
        tuple(Version(bare(v.memory), v.recorded_at, v.invalidated_at) for v in owned.versions),
        owned.links,
        owned.journal,
        owned.revision,
        owned.profile_numbers,
        proposals=owned.proposals,
    )


@settings(max_examples=30)
@given(belongings())
def test_export_lines_round_trip(owned):
    lines = list(to_lines("ana", owned))
    assert all("\n" not in line for line in lines)
    assert from_lines(lines, "ana") == as_carried(owned)


@settings(max_examples=30)
@given(belongings())
def test_export_lines_belong_to_the_importer(owned):
    taken = from_lines(to_lines("ana", owned), "ben")
    assert {m.user_id for m in taken.memories} <= {"ben"}
    assert {row.user_id for row in taken.journal} <= {"ben"}


SMALL = ScopeExport(
    (memory(), memory(id="m2")),
    (Version(memory(), START, None),),
    (Link.between("m1", "m2", 0.9, START),),
    (journal_row("m1"), journal_row("m2", 2, op="link")),
    3,
    0,
)
LINES = list(to_lines("ana", SMALL))
HEADER, FIRST, SECOND, VERSION, LINK, JOURNAL, _ = LINES


def with_field(line, name, value):
    return json.dumps({**json.loads(line), name: value})


def without(line, name):
    return json.dumps({key: value for key, value in json.loads(line).items() if key != name})


WRONG = {
    "no json": (["{", FIRST], 1),
    "no map": ([HEADER, "5"], 2),
    "a list": ([HEADER, "[]"], 2),
    "nested without end": ([HEADER, "[" * 100_000], 2),
    "no header": ([FIRST], 1),
    "two headers": ([HEADER, HEADER], 2),
    "another format": ([with_field(HEADER, "format", 2)], 1),
    "a negative revision": ([with_field(HEADER, "revision", -1)], 1),
    "an unknown type": ([HEADER, '{"type": "poem"}'], 2),
    "an unknown field": ([HEADER, with_field(FIRST, "colour", "red")], 2),
    "a field too few": ([HEADER, without(FIRST, "tags")], 2),
    "an unknown kind": ([HEADER, with_field(FIRST, "kind", "poem")], 2),
    "a wrong type": ([HEADER, with_field(FIRST, "pinned", "yes")], 2),
    "tags that are no list": ([HEADER, with_field(FIRST, "tags", "abc")], 2),
    "a NUL byte": ([HEADER, with_field(FIRST, "category", "a\x00b")], 2),
    "half a surrogate pair": ([HEADER, with_field(FIRST, "summary", "\ud800")], 2),
    "an absurd size": ([HEADER, with_field(FIRST, "content", "x" * 33_000)], 2),
    "a bad date": ([HEADER, "", with_field(FIRST, "created_at", "soon")], 3),
    "an importance of nine": ([HEADER, with_field(FIRST, "importance", 9)], 2),
    "the same memory twice": ([HEADER, FIRST, SECOND, FIRST], 4),
    "a version of nothing": ([HEADER, VERSION], 2),
    "the same version twice": ([HEADER, FIRST, VERSION, VERSION], 4),
    "a link to nothing": ([HEADER, FIRST, LINK], 3),
    "the same link twice": ([HEADER, FIRST, SECOND, LINK, LINK], 5),
    "the same journal line twice": ([HEADER, JOURNAL, JOURNAL], 3),
    "an unknown event": ([HEADER, with_field(JOURNAL, "event", "PARTY")], 2),
    "a line that is no text": ([HEADER, None], 2),
}


@pytest.mark.parametrize("name", WRONG)
def test_export_lines_error_names_the_line_number(name):
    lines, number = WRONG[name]
    with pytest.raises(InvalidInput, match=rf"^Line {number}\b") as caught:
        from_lines(lines, "ana")
    assert "commonplace export" in caught.value.remedy


@pytest.mark.parametrize("nothing", [[], ["", "  "], "one long text", None, 5])
def test_export_lines_refuse_input_without_lines(nothing):
    with pytest.raises(InvalidInput):
        from_lines(nothing, "ana")


def test_link_endpoints_are_stored_in_sorted_order():
    assert build_link(Link.between("z", "a", 0.8, START)).link == Link("a", "z", 0.8, START)
