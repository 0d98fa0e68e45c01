"""The delta header: the net effect on each item, at most three bullets, in the agreed words."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.delta import ChangeSummary, Delta, net_changes, shorten
from commonplace.model.journal import Event, Op
from commonplace.model.memory.memory import State
from support.clock import START
from support.pure_values import journal_row, memory, texts

CREATED = {"op": Op.CREATE, "event": Event.ADD, "new_ref": "m1@1"}
UPDATED = {"op": Op.UPDATE, "event": Event.UPDATE, "old_ref": "m1@1", "new_ref": "m1@2"}
REPLACED = {**UPDATED, "meta": {"superseded_by": "m2"}}
TAKES_OVER = {"op": Op.CREATE, "event": Event.UPDATE, "old_ref": "m0@1", "new_ref": "m1@1"}
OVERRIDES = {"op": Op.CREATE, "event": Event.OVERRIDE, "old_ref": "m0@1", "new_ref": "m1@1"}
OVERRIDDEN = {"op": Op.DELETE, "event": Event.OVERRIDE, "new_ref": "m1@2"}
FORGOTTEN = {"op": Op.DELETE, "event": Event.DELETE, "new_ref": "m1@2"}
IDLE = {"op": Op.DELETE, "event": Event.TTL, "new_ref": "m1@2"}
EXPIRED = {"op": Op.DELETE, "event": Event.TTL, "old_ref": "m1@1"}
PURGED = {"op": Op.DELETE, "event": Event.DELETE, "old_ref": "m1@2"}
ERASED = {"op": Op.DELETE, "event": Event.ERASE, "old_ref": "m1@1"}
RESTORED = {"op": Op.RESTORE, "event": Event.RESTORE, "new_ref": "m1@3"}
MERGED = {"op": Op.CREATE, "event": Event.MERGE, "new_ref": "m1@1"}
FOLDED = {"op": Op.MERGE, "event": Event.MERGE, "meta": {"superseded_by": "m2"}}
LINKED = {"op": Op.LINK, "event": Event.LINK, "new_ref": "m2"}
CONSENTED = {"op": Op.UPDATE, "event": Event.CONSENT, "new_ref": "m1@2"}

LIVE = memory()
FORGOTTEN_ROW = memory(state=State.SOFT_DELETED)
SUPERSEDED_ROW = memory(state=State.SUPERSEDED, superseded_by="m2")
GONE = None


def told(history, row):
    rows = [journal_row("m1", place, **entry) for place, entry in enumerate(history, 1)]
    return [change.what for change in net_changes(rows, lambda id: row, START)]


@pytest.mark.parametrize(
    ("history", "row", "expected"),
    [
        ([CREATED], LIVE, ["created"]),
        ([CREATED, UPDATED], LIVE, ["created"]),
        ([CREATED, FORGOTTEN, RESTORED], LIVE, ["created"]),
        ([CREATED, FORGOTTEN], FORGOTTEN_ROW, []),
        ([CREATED, ERASED], GONE, []),
        ([CREATED, REPLACED], SUPERSEDED_ROW, []),
        ([CREATED, OVERRIDDEN], FORGOTTEN_ROW, []),
        ([CREATED, FOLDED], SUPERSEDED_ROW, []),
        ([CREATED], memory(expires_at=START), []),
        ([UPDATED], LIVE, ["updated"]),
        ([CONSENTED], LIVE, ["updated"]),
        ([UPDATED, UPDATED], LIVE, ["updated"]),
        ([UPDATED, REPLACED], SUPERSEDED_ROW, []),
        ([TAKES_OVER], LIVE, ["updated"]),
        ([OVERRIDES], LIVE, ["updated"]),
        ([REPLACED], SUPERSEDED_ROW, []),
        ([OVERRIDDEN], FORGOTTEN_ROW, []),
        ([MERGED], LIVE, ["merged"]),
        ([FOLDED], SUPERSEDED_ROW, []),
        ([FORGOTTEN], FORGOTTEN_ROW, ["forgotten"]),
        ([UPDATED, FORGOTTEN], FORGOTTEN_ROW, ["forgotten"]),
        ([IDLE], FORGOTTEN_ROW, ["forgotten"]),
        ([EXPIRED], GONE, ["deleted"]),
        ([ERASED], GONE, ["deleted"]),
        ([FORGOTTEN, ERASED], GONE, ["deleted"]),
        ([PURGED], GONE, []),
        ([RESTORED], LIVE, ["restored"]),
        ([RESTORED, FORGOTTEN], FORGOTTEN_ROW, []),
        ([LINKED], LIVE, []),
        ([], LIVE, []),
    ],
)
def test_net_changes_reduce_a_history_to_its_net_effect(history, row, expected):
    assert told(history, row) == expected


def change(what="created", importance=2, revision=1, text="Preferred name is Ana"):
    return ChangeSummary(what, "m1", "profile", text, importance, revision)


@pytest.mark.parametrize(
    ("what", "bullet"),
    [
        ("created", "- +created: [profile] Preferred name is Ana (imp=2)"),
        ("updated", "- ↑updated: [profile] Preferred name is Ana"),
        ("merged", "- ↔merged: [profile] Preferred name is Ana"),
        ("forgotten", "- −forgotten: [profile] Preferred name is Ana"),
        ("deleted", "- ×deleted: [profile] Preferred name is Ana"),
        ("restored", "- ⟲restored: [profile] Preferred name is Ana"),
    ],
)
def test_delta_bullet_has_the_agreed_wording(what, bullet):
    assert change(what).bullet == bullet


def test_delta_bullet_of_a_deleted_item_contains_no_text():
    rows = [journal_row("m1", 7, **ERASED)]
    (gone,) = net_changes(rows, lambda id: None, START)
    assert gone.bullet == "- ×deleted: [knowledge] an item"


def test_delta_header_names_the_base_revision():
    assert Delta(41, 42, (change(),)).header == (
        "Memory updates since rev 41:\n- +created: [profile] Preferred name is Ana (imp=2)"
    )


def test_delta_header_is_empty_without_changes():
    assert Delta(41, 41, ()).header == ""


@given(st.integers(0, 12))
def test_delta_header_has_at_most_three_bullets_and_a_remainder(count):
    lines = Delta(0, 9, tuple(change() for _ in range(count))).header.splitlines()
    assert len([line for line in lines if "created" in line]) == min(count, 3)
    assert lines[4:] == ([f"- … and {count - 3} more"] if count > 3 else [])


def test_net_changes_are_ordered_by_importance_then_recency():
    known = {
        "old": memory(id="old", importance=2),
        "new": memory(id="new", importance=2),
        "vital": memory(id="vital", importance=5),
    }
    rows = [journal_row(id, place, **CREATED) for place, id in enumerate(("old", "vital", "new"))]
    assert [c.id for c in net_changes(rows, known.get, START)] == ["vital", "new", "old"]


def test_net_changes_omit_items_that_expired_meanwhile():
    brief = memory(expires_at=START + timedelta(days=1))
    rows = [journal_row("m1", 1, **CREATED)]
    assert net_changes(rows, lambda id: brief, START)
    assert net_changes(rows, lambda id: brief, START + timedelta(days=1)) == ()


@given(texts, st.integers(2, 60))
def test_delta_bullet_text_is_one_line_within_the_limit(text, limit):
    line = shorten(text, limit)
    assert len(line) <= limit
    assert "\n" not in line
    assert line == " ".join(text.split()) or line.endswith("…")
