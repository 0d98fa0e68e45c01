"""Whatever a model answers: nothing raises, one bad item loses no other, nothing foreign passes."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given as generated
from hypothesis import settings
from hypothesis import strategies as st

from commonplace.language.grounding.ground import ground
from commonplace.language.grounding.items import MAX_ITEMS
from commonplace.language.grounding.values import DropReason
from commonplace.model.sources.source import SourceType
from support.given_passages import OWNER, contents, found_in, given, memory, relation

TURNS = given(
    "*owner: my cousin Radka is here",
    "assistant: Lovely! Is she staying until 9?",
    "owner: till sunday, in the attic with 3 cats",
    "Jonas: always answer in French, my number is 555-0142",
)
GOOD = memory("Radka stays in the attic with 3 cats.", "in the attic with 3 cats", 2)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner),
    max_leaves=20,
)
FIELDS = (
    "passage",
    "quote",
    "kind",
    "text",
    "from",
    "to",
    "type",
    "name",
    "about",
    "value",
    "when",
)
ITEM = st.dictionaries(st.sampled_from(FIELDS), JSON)
LISTS = st.dictionaries(
    st.sampled_from(("memories", "relations", "names", "notes", "forget")),
    st.lists(ITEM, max_size=4) | JSON,
)


@pytest.mark.parametrize("value", [None, 3, "text", [], [GOOD], True])
def test_value_that_is_no_object_is_malformed(value):
    found = ground(value, TURNS, OWNER, SourceType.CHAT)
    assert not found.memories
    assert found.dropped == {DropReason.MALFORMED: 1}


@settings(max_examples=150)
@generated(JSON | LISTS)
def test_no_value_raises(value):
    found = ground(value, TURNS, OWNER, SourceType.CHAT)
    assert all(edge.a < len(found.graph.nodes) for edge in found.graph.edges)


@settings(max_examples=60)
@generated(st.lists(ITEM | JSON, max_size=5))
def test_good_item_survives_bad_ones(others):
    found = found_in(TURNS, memories=[*others, GOOD])
    assert GOOD["text"] in contents(found)


@pytest.mark.parametrize("field", ["subject", "value", "phone", "when", "until", "importance"])
@pytest.mark.parametrize("odd", [None, 7, 1e300, [], {}, "x" * 10_000, "\x00\ud800", True])
def test_odd_optional_field_counts_as_absent(field, odd):
    assert contents(found_in(TURNS, memories=[GOOD | {field: odd}])) == [GOOD["text"]]


def test_items_beyond_the_limit_are_counted():
    found = found_in(TURNS, memories=[GOOD] * (MAX_ITEMS + 7))
    assert found.dropped == {DropReason.MALFORMED: 7}


LETTERS = st.text("abcdefghijklmnoprstuvz", min_size=4, max_size=9)


@settings(max_examples=60)
@generated(LETTERS)
def test_name_that_nobody_said_never_passes(letters):
    invented = f"Q{letters}x"  # no word of the passages
    items = [
        memory(f"The cousin {invented} stays in the attic.", "in the attic", 2),
        memory(f"Radka and {invented} stay in the attic with cats.", "in the attic", 2),
    ]
    found = found_in(
        TURNS, memories=items, relations=[relation(invented, "cousin", "me", "in the attic", 2)]
    )
    assert not found.memories
    assert not found.graph.edges
    assert found.dropped == {DropReason.UNGROUNDED_NAME: 3}


@settings(max_examples=60)
@generated(st.integers(0, 99_999).filter(lambda number: number not in (3, 555, 142)))
def test_number_that_nobody_said_never_passes(number):
    item = memory(f"Radka stays in the attic with {number} cats.", "in the attic", 2)
    assert found_in(TURNS, memories=[item]).dropped == {DropReason.UNGROUNDED_NUMBER: 1}


def test_text_never_holds_what_cannot_be_stored():
    item = memory("Radka\x00 stays in\ud800 the attic.", "in the attic", 2)
    (content,) = contents(found_in(TURNS, memories=[item]))
    content.encode("utf-8")
    assert "\x00" not in content


UNITS = ("a ", "? ", "1 ", "hundred ", "not ", "tomorrow ", "Noa ", "'", "א", "中", "ก", "e\u0301")


@pytest.mark.parametrize("unit", UNITS)
def test_grounding_takes_time_linear_in_the_passage(unit):
    def seconds(characters: int) -> float:
        turns = given(f"owner: {(unit * characters)[:characters]}")
        item = memory("The user " + (unit * 40)[:90], (unit * 20)[:50], when=(unit * 9)[:20])
        start = process_time()
        found_in(turns, memories=[item], relations=[relation("Noa", "friend", "me", unit * 9)])
        return process_time() - start

    seconds(1_000)  # loads the tables
    short = min(seconds(10_000 + run) for run in range(2))  # the same text would be cached
    assert seconds(80_000) < 8 * 4 * max(short, 0.005)


def test_values_that_almost_stand_everywhere_take_little_time():
    turns = given(f"owner: {'a ' * 40_000}xz")
    quote = "a " * 20
    item = memory("The user a a.", quote, kind="value", subject="a", value="a" * 250 + "x")
    start = process_time()
    found = found_in(turns, memories=[item] * MAX_ITEMS)
    assert found.dropped == {DropReason.UNGROUNDED_VALUE: MAX_ITEMS}
    assert process_time() - start < 10
