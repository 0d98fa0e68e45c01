"""Whatever is wrong with a request: an error with its code, and not a byte has changed."""

from __future__ import annotations

import pytest

from commonplace.errors import CommonplaceError

HUGE = 10**5000
LATE = "9999-12-31T23:59:59-14:00"

# verb, arguments, keywords, code
TABLE = [
    ("remember", (), {}, "missing_field"),
    ("remember", ("",), {}, "bad_text"),
    ("remember", (" \n ",), {}, "bad_text"),
    ("remember", ("a\x00b",), {}, "bad_text"),
    ("remember", ("\ud800",), {}, "bad_text"),
    ("remember", ("x" * 32_001,), {}, "too_long"),
    ("remember", ("\ufdfa" * 2000,), {}, "too_long"),  # each stands for 18 characters
    ("recall", ("\ufdfa" * 2000,), {}, "too_long"),
    ("remember", (5,), {}, "invalid_input"),
    ("remember", (["x"],), {}, "invalid_input"),
    ("remember", ("x",), {"kind": "poem"}, "invalid_input"),
    ("remember", ("x",), {"importance": 0}, "invalid_input"),
    ("remember", ("x",), {"importance": HUGE}, "invalid_input"),
    ("remember", ("x",), {"confidence": float("nan")}, "invalid_input"),
    ("remember", ("x",), {"confidence": HUGE}, "invalid_input"),
    ("remember", ("x",), {"tags": "home"}, "invalid_input"),
    ("remember", ("x",), {"tags": ["a\x00"]}, "bad_text"),
    ("remember", ("x",), {"tags": ["t"] * 101}, "too_long"),
    ("remember", ("x",), {"category": "two\nlines"}, "bad_text"),
    ("remember", ("x",), {"metadata": "no map"}, "invalid_input"),
    ("remember", ("x",), {"metadata": {"a": HUGE}}, "invalid_input"),
    ("remember", ("x",), {"metadata": {"a": "\x00"}}, "bad_text"),
    ("remember", ("x",), {"metadata": {"a": "x" * 20_000}}, "too_long"),
    ("remember", ("x",), {"expires_at": "soon"}, "invalid_input"),
    ("remember", ("x",), {"expires_at": LATE}, "invalid_input"),
    ("remember", ("x",), {"expires_at": "2020-01-01"}, "invalid_input"),
    ("remember", ("x",), {"ttl_days": -1}, "invalid_input"),
    ("remember", ("x",), {"ttl_days": 1e300}, "invalid_input"),
    ("remember", ("x",), {"pinned": "yes"}, "invalid_input"),
    ("remember", ("x",), {"thread": ""}, "bad_text"),
    ("remember", ("x",), {"kind": "soul", "ttl_days": 1}, "invalid_input"),
    ("remember", ("x",), {"kind": "rule", "evidence": ["e"], "confidence": 0.5}, "invalid_input"),
    ("remember_many", ("one text",), {}, "invalid_input"),
    ("remember_many", ([{"content": "x", "colour": "red"}],), {}, "unknown_field"),
    ("remember_many", (["x"] * 1001,), {}, "too_long"),
    ("recall_many", (["x"] * 1001,), {}, "too_long"),
    ("remember", ("x",), {"metadata": {"merged_from": ["a"]}}, "invalid_input"),
    ("remember", ("x",), {"valid_from": "2026-01-02", "valid_to": "2026-01-01"}, "invalid_input"),
    ("update", ("x",), {"query": "y", "importance": 3}, "invalid_input"),
    ("forget", ("x",), {"query": "y"}, "invalid_input"),
    ("recall", ("",), {}, "bad_text"),
    ("recall", (None,), {}, "invalid_input"),
    ("recall", ("x",), {"k": 0}, "invalid_input"),
    ("recall", ("x",), {"k": "5"}, "invalid_input"),
    ("recall", ("x",), {"k": HUGE}, "invalid_input"),
    ("recall", ("x",), {"budget_tokens": -1}, "invalid_input"),
    ("recall", ("x",), {"threshold": 2}, "invalid_input"),
    ("recall", ("x",), {"kinds": "poem"}, "invalid_input"),
    ("recall", ("x",), {"filters": {"colour": "red"}}, "unknown_field"),
    ("recall", ("x",), {"filters": {"created_after": "soon"}}, "invalid_input"),
    ("recall", ("x",), {"kinds": "kv", "filters": {"kind": "fact"}}, "invalid_input"),
    ("recall", ("x",), {"explain": 1}, "invalid_input"),
    ("recall_many", ("x",), {}, "invalid_input"),
    ("list", (), {"limit": 0}, "invalid_input"),
    ("list", (), {"limit": HUGE}, "invalid_input"),
    ("list", (), {"forgotten": "yes"}, "invalid_input"),
    ("show", ("no-such-id",), {}, "not_found"),
    ("show", ("a\x00",), {}, "bad_text"),
    ("show", (5,), {}, "invalid_input"),
    ("show", ("OTHERS",), {}, "not_found"),
    ("update", ("MINE",), {}, "missing_field"),
    ("update", (), {"content": "x"}, "missing_field"),
    ("update", ("OTHERS",), {"content": "x"}, "not_found"),
    ("update", ("MINE",), {"content": ""}, "bad_text"),
    ("update", ("MINE",), {"importance": 9}, "invalid_input"),
    ("update", ("MINE",), {"metadata": {"a": HUGE}}, "invalid_input"),
    ("update", ("MINE",), {"expires_at": LATE}, "invalid_input"),
    ("forget", (), {}, "missing_field"),
    ("forget", ([],), {}, "missing_field"),
    ("forget", (["MINE", "OTHERS"],), {}, "not_found"),
    ("forget", ([str(n) for n in range(1001)],), {}, "too_long"),
    ("forget", ("source:1#2",), {}, "not_found"),
    ("forget", (), {"older_than_days": -1}, "invalid_input"),
    ("forget", (), {"older_than_days": HUGE}, "invalid_input"),
    ("forget", (), {"filters": ["pinned"]}, "invalid_input"),
    ("restore", ("OTHERS",), {}, "not_found"),
    ("restore", (None,), {}, "invalid_input"),
    ("erase", ("OTHERS",), {}, "not_found"),
    ("erase", ("MINE",), {"now": "yes"}, "invalid_input"),
    ("merge", (["MINE"],), {}, "invalid_input"),
    ("merge", (["MINE", "OTHERS"],), {}, "not_found"),
    ("verify_forget", ("",), {}, "bad_text"),
    ("changes", ("",), {}, "bad_text"),
    ("changes", ("t",), {"since": -1}, "invalid_input"),
    ("changes", ("t",), {"since": HUGE}, "invalid_input"),
    ("history", ("OTHERS",), {}, "not_found"),
    ("change_log", ("t",), {"limit": 0}, "invalid_input"),
    ("events", (), {"limit": "all"}, "invalid_input"),
    ("profile_set", ("1st", "x"), {}, "invalid_input"),
    ("profile_set", ("city", "\x00"), {}, "bad_text"),
    ("profile_set", ("city", {"a": 1}), {}, "invalid_input"),
    ("profile_set", ("city", float("nan")), {}, "invalid_input"),
    ("profile_set", ("city", HUGE), {}, "invalid_input"),
    ("profile_set", ("city", None), {}, "invalid_input"),
    ("profile_set", ("time_zone", "Mars"), {}, "invalid_input"),
    ("profile_set", ("goals", 5), {}, "invalid_input"),
    ("propose", ("1st", "x"), {}, "invalid_input"),
    ("propose", ("city", "\x00"), {}, "bad_text"),
    ("propose", ("tone", "x"), {"confidence": 2}, "invalid_input"),
    ("propose", ("tone", "x"), {"evidence": "x"}, "invalid_input"),
    ("propose", ("tone", "x" * 1001), {}, "too_long"),
    ("proposals", (), {"limit": 0}, "invalid_input"),
    ("accept", ("proposal:1",), {}, "not_found"),
    ("accept", (5,), {}, "invalid_input"),
    ("decline", ("OTHERS",), {}, "not_found"),
    ("profile_note", ("",), {}, "bad_text"),
    ("profile_note", (5,), {}, "invalid_input"),
    ("import_", (["{"],), {}, "invalid_input"),
    ("import_", ("text",), {}, "invalid_input"),
    ("import_", ([],), {}, "invalid_input"),
    ("doctor", (), {"all_users": "yes"}, "invalid_input"),
    ("agent", ("",), {}, "bad_text"),
]


@pytest.fixture
def ids(book, me):
    """What the names in the table stand for."""
    return {
        "MINE": me.remember("The garden gate needs a new lock").id,
        "OTHERS": book.user("ben").remember("The safe code is 4711").id,
    }


def placed(value, ids):
    """The table's names replaced, in lists too."""
    if isinstance(value, list | tuple):
        return type(value)(placed(item, ids) for item in value)
    return ids.get(value, value) if isinstance(value, str) else value


def complaints(me, ids):
    """Every row of the table that is not refused as it should be."""
    for verb, arguments, keywords, code in TABLE:
        try:
            getattr(me, verb)(*placed(arguments, ids), **keywords)
            answer = "no error"
        except CommonplaceError as error:
            complete = error.message and error.remedy and len(error.message) < 500
            answer = error.code if complete else "an error without words"
        if answer != code:
            yield f"{verb}{str(arguments)[:60]} {str(keywords)[:60]}: {answer}, not {code}"


def test_invalid_requests_raise_the_expected_code_and_change_nothing(book, me, ids):
    everything = [book.user(name) for name in ("ana", "ben")]
    before = [list(user.export()) for user in everything]
    assert list(complaints(me, ids)) == []
    assert [list(user.export()) for user in everything] == before


@pytest.mark.parametrize("user_id", ["", " ", "a\x00", "x" * 201, 5, None])
def test_user_rejects_malformed_user_ids(book, user_id):
    with pytest.raises(CommonplaceError):
        book.user(user_id)


def test_unknown_keyword_arguments_raise_type_error(me):
    with pytest.raises(TypeError, match="colour"):
        me.remember("x", colour="red")
