"""Reading a text takes time linear in its length, whatever it says and wherever it comes in.

`tests/soak/test_soak_hostile_texts.py` tries all units and pairs of signs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

import commonplace
from commonplace.api import Commonplace, User
from commonplace.engine.sources.formats import input as formats
from commonplace.errors import InvalidInput, TooLong
from support.hostile_texts import DOORS, FEW, Stopwatch, text_of, time_limit

# Rules that took more than linear time: 19 of these took over a second, or raised, at this length.
ONCE_SLOW = {
    "remember": ["?", "? ", "؟"],
    "remember fact": ["\u0301\u0316", "\u05b0\u05bc\u0591"],
    "observe": ["?"],
    "context": [" ", "\n", "\u2028"],
    "understand": ["\t", "\r\n", "“"],
    "text": ["?", "\u0301\u0316"],
    "html": ["<a ", "<div ", "</", "<?", "<![ ", '<a ">" ', "a<b>"],
    "html mail": ["<a ", "<![ "],
    "mail": ["-- \n", ">\n\n"],
    "flowed mail": ["a \n"],
    "mail header": [";", "; a=b"],
    "multipart mail": [";"],
    "whatsapp": ["\t", "\u3000"],
    "whatsapp line": [" ~"],
    "vtt": ["<v.a.", "<v  "],
}
LENGTH = 30_000  # of a text; the limit of a memory is 32,000
SECONDS = 2.0  # of processor time; the slowest takes less than 1


@pytest.fixture(scope="module")
def one_book(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commonplace]:
    store = str(tmp_path_factory.mktemp("hostile") / "memory.db")
    with commonplace.open(store, embedder="hashing", worker="off", tidy_on_open=False) as book:
        yield book


@pytest.fixture(scope="module")
def stopwatch(one_book: Commonplace) -> Stopwatch:
    return Stopwatch(one_book)


@pytest.fixture
def me(one_book: Commonplace, request: pytest.FixtureRequest) -> User:
    return one_book.user(request.node.name)


@pytest.mark.parametrize(
    ("door", "unit"), [(door, unit) for door, units in ONCE_SLOW.items() for unit in units]
)
def test_hostile_text_of_full_length_is_read_in_seconds(me, door, unit):
    with time_limit(SECONDS):
        DOORS[door].feed(me, text_of(unit, LENGTH))


@pytest.mark.parametrize("door", DOORS)
def test_hostile_text_of_twice_the_length_takes_twice_the_time(stopwatch, door):
    slow = stopwatch.slow_units(door, FEW, share=0.25)
    assert not slow, "\n".join(map(str, slow))


def test_html_with_a_malformed_declaration_is_read(me):
    me.ingest("<html><body><p>Hello <![ there</p>", format="html")
    assert me.recall("hello").hits


def test_html_character_reference_of_thousands_of_digits_is_read(me):
    me.ingest(f"<html><body>Hello &#{'1' * 5000}; there", format="html")
    assert me.recall("hello").hits


def test_mail_nested_deeper_than_fifty_parts_is_refused(me):
    parts = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(200))
    with pytest.raises(commonplace.errors.InvalidInput, match="nested too deeply"):
        me.ingest(f"From: a@b.c\n{parts}".encode(), format="email")


def test_text_keeps_thirty_combining_marks_on_a_letter(me):
    zalgo = "e" + "\u0316" * 30
    more = "\u0316" * 5
    stored = me.remember(f"My tag is {zalgo}{more}.", kind="fact")
    assert me.show(stored.id).memory.content.count("\u0316") == 30


@pytest.mark.parametrize("format", ["slack", "conversation"])
def test_json_original_of_too_many_or_too_deep_values_is_refused_before_parsing(
    me, format, monkeypatch
):
    monkeypatch.setattr(json, "loads", lambda text: pytest.fail("it was parsed"))
    with pytest.raises(TooLong) as refused:
        me.ingest("[" + "[]," * 400_000 + "[]]", format=format)
    assert "Split it" in refused.value.remedy
    with pytest.raises(InvalidInput):
        me.ingest("[" * 1000 + "]" * 1000, format=format)


def test_original_of_too_many_messages_says_how_to_split_it(me, monkeypatch):
    monkeypatch.setattr(formats, "MAX_MESSAGES", 2)
    lines = ["Ana: Good morning", "Tal: Hello to you", "Ana: It rains today"]
    with pytest.raises(TooLong) as refused:
        me.ingest("\n".join(lines), format="transcript")
    assert "append" in refused.value.remedy
    assert me.ingest("\n".join(lines[:2]), format="transcript").id
