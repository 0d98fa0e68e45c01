"""Erase, forget and restore of several items that concern one node, in one call, leave the store as
separate calls do."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest

from commonplace.errors import NotFound

SARAH = "Sarah Chen"
REST = "\n\n" + "The weather was mild and the streets were quiet. " * 40 + "\n\n"
PASSAGES = (
    f"My friend Sarah Chen lives in Haifa.{REST}My friend Sarah Chen plays the cello.{REST}"
    "My boss is Dana Levi."
)
HEBREW = "שרה כהן עובדת בחברת אקמה."
# Not of the state: when, how often and by which call it came about.
_HISTORY = ("journal", "version", "receipt", "job", "commonplace")
_TIMES = {"updated_at", "version", "revision", "purge_at", "scope", "versions"}


def build(user):
    first = user.ingest("My friend Sarah Chen works at Acme.", date="2026-01-05").id
    second = user.ingest(PASSAGES, date="2026-01-06").id
    hebrew = user.ingest(HEBREW, date="2026-01-07").id
    memory = user.remember("My friend Sarah Chen likes chess", kind="fact").memory.id
    user.extract()
    records = map(json.loads, user.export())
    passages = [each for each in records if each["type"] == "passage"]
    cello = next(each["number"] for each in passages if "cello" in each["text"])
    edges = user.node(SARAH).edges
    return {
        "node": user.node(SARAH).node.id,
        "acme": user.node("Acme").node.id,
        "edge": next(each.id for each in edges if each.relationship_type == "works-at"),
        "note": user.note(SARAH, "Likes tea", lifetime="forever").id,
        "source": first,
        "passages": second,
        "passage": f"{second}#1",
        "other passage": f"{second}#{cello}",
        "hebrew": hebrew,
        "memory": memory,
    }


@pytest.fixture
def pair(open_book):
    """Two users with the same memory, with the same ids."""
    book = open_book(worker="off")
    one, other = book.user("owner-one"), book.user("owner-two")
    ids = build(one)
    other.import_([line.replace("owner-one", "owner-two") for line in one.export()])
    assert state(one) == state(other)
    return one, other, ids


def state(user):
    found = []
    for line in user.export():
        record = json.loads(line.replace("owner-two", "owner-one"))
        if record["type"] == "edge" and not record["stands"]:
            del record["valid_from"]  # the one that it had when it was hidden
        if record["type"] not in _HISTORY:
            found.append(json.dumps(_without_times(record), sort_keys=True))
    return sorted(found)


def _without_times(value):
    if isinstance(value, dict):
        return {k: _without_times(each) for k, each in value.items() if k not in _TIMES}
    return [_without_times(each) for each in value] if isinstance(value, list) else value


COMBINATIONS = [
    ("source", "node"),
    ("hebrew", "source", "node"),
    ("source", "acme"),
    ("source", "edge"),
    ("source", "note"),
    ("passage", "node"),
    ("passage", "note"),
    ("memory", "node"),
    ("memory", "edge"),
    ("source", "passages"),
    ("source", "passage"),
    ("source", "memory", "passage"),
    ("source", "memory", "passage", "edge", "note"),
    ("passage", "source", "acme"),
    ("other passage", "hebrew", "edge"),
    ("source", "passage", "memory", "node", "acme"),
]


@pytest.mark.parametrize("names", COMBINATIONS, ids="+".join)
@pytest.mark.parametrize("verb", ["erase", "forget"])
def test_one_call_leaves_what_separate_calls_leave(pair, names, verb):
    together, apart, of = pair
    ids = [of[name] for name in names]
    answer = getattr(together, verb)(ids)
    assert set(ids) <= set(answer.ids)
    for id in ids:
        with suppress(NotFound):  # an edge that went with its only source
            getattr(apart, verb)(id)
    assert state(together) == state(apart)
    if verb == "forget":
        assert set(together.restore(ids[::-1]).ids) == set(ids)
        for id in ids:
            apart.restore(id)
        assert state(together) == state(apart)
