"""Whatever bytes come in: a Reading, or one of our errors. Never a stack trace."""

from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from commonplace.engine.sources.formats import input
from commonplace.engine.sources.formats.parse import READERS, format_of, parse_source
from commonplace.engine.sources.process import split_turns
from commonplace.errors import BadText, CommonplaceError, InvalidInput, TooLong
from commonplace.model.parameters import SourceFormat
from commonplace.model.sources.source import ParsedSource

DAY = datetime(2026, 3, 1, 9, tzinfo=UTC)

# Pieces that formats are made of, so that broken originals look like real ones for a while.
PIECES = st.sampled_from(
    [
        *("From: ", "Subject: ", "=?utf-8?q?=C3?=", "=?nope?b?4?=", "Content-Type: ", "text/html"),
        *("multipart/mixed; boundary=", "a", "--a", "--a--", "\n", "\n\n", "> ", "On 1/1 A wrote:"),
        *(
            "WEBVTT\n\n",
            "00:00:01.000 --> 99:99:99.999\n",
            "<v Ana>",
            "</v>",
            "um, ",
            "I I ",
            "Ana: ",
        ),
        *(
            "{",
            "}",
            "[",
            "]",
            '"text"',
            '"ts"',
            '"role"',
            ":",
            ",",
            '"\\ud800"',
            "1e400",
            "-1",
            "null",
        ),
        *("# ", "---\n", "```", "<p>", "<blockquote>", "</", "&#0;", "<!--", "-- \n", "בברכה,\n"),
        *(
            "Content-Transfer-Encoding: base64\n",
            "charset=utf-16",
            "Date: Mon, 99 Foo",
            "é",
            "\x00",
        ),
    ]
)
ORIGINALS = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=200),
    st.lists(PIECES, max_size=25).map("".join),
    st.lists(PIECES, max_size=25).map(lambda pieces: "".join(pieces).encode()),
)


@given(raw=ORIGINALS, format=st.sampled_from([None, *SourceFormat]))
@settings(max_examples=250, deadline=None)
@example(raw=b"\xff\xfe", format=SourceFormat.TEXT)
@example(raw="[" * 100_000, format=SourceFormat.CONVERSATION)
@example(raw='{"text": "hi", "time": ' + "9" * 5000 + "}", format=SourceFormat.CONVERSATION)
@example(raw='{"text": "hi", "time": NaN}', format=SourceFormat.CONVERSATION)
@example(raw='[{"ts": "1e300", "text": "hi"}]', format=SourceFormat.SLACK)
@example(raw="[99/99/9999, 99:99:99] Ana: hi", format=SourceFormat.WHATSAPP)
@example(raw="[1/1/1, 1:11] Ana: hi", format=SourceFormat.WHATSAPP)
@example(raw="WEBVTT\n\n999:59:59.999 --> 999:59:59.999\nhi", format=SourceFormat.TRANSCRIPT)
def test_parse_source_returns_a_source_or_a_commonplace_error(raw, format):
    try:
        reading = parse_source(raw, format=format, started_at=DAY)
    except CommonplaceError:
        return
    assert isinstance(reading, ParsedSource)
    for piece in split_turns(reading.turns):
        assert piece.text.strip() == piece.text != ""
        piece.text.encode()  # no lone surrogate
        assert "\x00" not in piece.text


@given(raw=st.one_of(st.binary(max_size=300), st.lists(PIECES, max_size=25).map("".join)))
@settings(max_examples=100, deadline=None)
def test_parse_source_reads_any_broken_mail(raw):
    """Nobody can correct a mail that was sent: only what is no mail at all is refused."""
    if raw.strip() and not isinstance(raw, str):
        raw = b"Subject: x\n\n" + raw
    elif raw.strip():
        raw = "Subject: x\n\n" + raw
    else:
        return
    assert parse_source(raw, format="email").turns[0].text


@pytest.mark.parametrize("raw", ["", b"", " \n ", b"\n\n"])
def test_parse_source_refuses_an_empty_original(raw):
    with pytest.raises(BadText, match="is empty"):
        parse_source(raw)


@pytest.mark.parametrize("format", sorted(READERS))
def test_parse_source_refuses_oversized_originals_in_every_format(format, monkeypatch):
    monkeypatch.setattr(input, "MAX_CHARACTERS", 100)
    with pytest.raises(TooLong, match="MAX_CHARACTERS"):
        parse_source("Ana: hello\n" * 50, format=format)


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"%PDF-1.7 ...", "a PDF"),
        (b"PK\x03\x04 word/document.xml", "ZIP"),
        (b"\x89PNG\r\n", "a picture"),
        (b"{\\rtf1 hello}", "RTF"),
    ],
)
def test_parse_source_refuses_binary_files_by_type(raw, told):
    with pytest.raises(InvalidInput, match=told) as refused:
        parse_source(raw)
    assert "plain text" in refused.value.remedy


def test_parse_source_refuses_nul_bytes_other_encodings_and_surrogates():
    with pytest.raises(BadText, match="NUL"):
        parse_source(b"hello\x00world")
    with pytest.raises(BadText, match="byte 3 cannot be read") as refused:
        parse_source("caf\xe9 noir".encode("latin-1"))
    assert "UTF-8" in refused.value.remedy
    with pytest.raises(BadText, match="surrogate"):
        parse_source("half \ud83d of a smile")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_parse_source_reads_texts_with_a_byte_order_mark(encoding):
    assert (
        parse_source("שלום, world\r\nagain".encode(encoding)).turns[0].text == "שלום, world\nagain"
    )


def test_parse_source_error_lists_the_known_formats():
    with pytest.raises(InvalidInput, match="text, markdown"):
        parse_source("hello", format="spreadsheet")


RECIPE = """Flour: 500 g, sifted twice
Water: 350 g
Salt: 10 g
Flour: another 20 g for the table
Water: a splash more if it is dry
"""


@pytest.mark.parametrize(
    ("name", "raw", "format"),
    [
        ("notes.md", "no heading at all", SourceFormat.MARKDOWN),
        ("a.eml", "hello", SourceFormat.EMAIL),
        ("call.vtt", "hello", SourceFormat.TRANSCRIPT),
        ("call.SRT", "hello", SourceFormat.TRANSCRIPT),
        ("log.jsonl", "hello", SourceFormat.CONVERSATION),
        ("page.html", "hello", SourceFormat.HTML),
        ("notes.txt", "# Plan\n\nGo.", SourceFormat.MARKDOWN),
        (None, "A note.\n\nWith two paragraphs: one and two.", SourceFormat.TEXT),
        (None, "Note: buy milk\nRemember: eggs\nAlso: bread", SourceFormat.TEXT),
        (
            None,
            '{"speaker": "Ana", "text": "hi"}\n{"speaker": "Dan", "text": "ho"}',
            "conversation",
        ),
        ("chat.json", '[{"role": "user", "content": "hi"}]', SourceFormat.CONVERSATION),
        ("chat.json", '{\n "messages": [\n {"role": "user", "content": "hi"}]}', "conversation"),
        (
            "c.json",
            '[{"type": "message", "user": "U1", "ts": "1700000000.0001"}]',
            SourceFormat.SLACK,
        ),
        (None, "WEBVTT\n\n00:01.000 --> 00:02.000\nhi", SourceFormat.TRANSCRIPT),
        (None, "1\n00:00:01,000 --> 00:00:02,000\nhi", SourceFormat.TRANSCRIPT),
        (None, "Ana: hi\nDan: hello\nAna: how are you?", SourceFormat.TRANSCRIPT),
        (
            None,
            "12/03/2026, 10:01 - Ana: hi\n12/03/2026, 10:02 - Dan: hello\n"
            "12/03/2026, 10:03 - Ana: how are you?",
            SourceFormat.WHATSAPP,
        ),
        (None, "[04/02/2026, 19:04:02] Dana: we broke up", SourceFormat.WHATSAPP),
        (None, "2/4/26, 7:02\u202fPM - Dana: we broke up", SourceFormat.WHATSAPP),
        ("_chat.txt", "\u200e[4.2.2026, 19:04:02] Dana: we broke up", SourceFormat.WHATSAPP),
        (None, "[2026-02-04 19:04:02] ERROR: the disk is full", SourceFormat.TEXT),
        (None, "04/02/2026, 19:02 - the boiler was repaired", SourceFormat.TEXT),
        (None, "The talk:\n[04/02/2026, 19:04:02] Dana: we broke up", SourceFormat.TEXT),
        (
            None,
            "Ana: look at this:\n```\nx = 1\ny = 2\nz = 3\n```\nDan: nice.\nAna: is it not?",
            SourceFormat.TRANSCRIPT,
        ),
        (
            None,
            "Ana: I need this.\nand that\nDan: fine.\nAna: namely:\n- one\n- two\n- three",
            SourceFormat.TRANSCRIPT,
        ),
        (None, "From: ana@x.org\nTo: dan@x.org\nSubject: Hi\n\nHello", SourceFormat.EMAIL),
        (None, "From: ana@x.org\r\nSubject: Hi\r\n\r\nHello", SourceFormat.EMAIL),
        (None, "<!DOCTYPE html><html><body>Hi</body></html>", SourceFormat.HTML),
        (None, "Dear Ana,\nSee you: at noon.\n", SourceFormat.TEXT),
        (None, "To: the moon\nFrom: the earth\n\nA poem.", SourceFormat.TEXT),
        (None, "Milk: 2\nEggs: 12\nMilk: 3\nEggs: 6", SourceFormat.TEXT),
        (None, RECIPE, SourceFormat.TEXT),
        (
            None,
            "Flour: sift it twice.\nWater: add it.\nSalt: a pinch.\nFlour: dust.",
            SourceFormat.TEXT,
        ),
        (None, "Todo: buy some milk.\nTodo: call Noa.\nTodo: pay the rent.", SourceFormat.TEXT),
        (None, "Q: what?\nA: this one.\nQ: why?\nA: because of that.", SourceFormat.TEXT),
        (None, "Weekly\nAna, Dan\n\nAna: Good day.\nDan: Hi there.\nAna: We begin.", "transcript"),
    ],
)
def test_format_of_detects_the_format_by_name_and_content(name, raw, format):
    assert format_of(raw, name) == format
    assert format_of(raw.encode(), name) == format


def test_format_of_detects_mail_in_a_legacy_charset():
    raw = "From: a@x.org\nSubject: Caf\xe9\n\nBientôt".encode("latin-1")
    assert format_of(raw) is SourceFormat.EMAIL
    assert parse_source(raw).turns[0].text == "Bientôt"
