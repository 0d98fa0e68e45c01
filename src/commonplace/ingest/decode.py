"""From bytes to text, or a clear word on why not."""

from __future__ import annotations

import codecs
import re

from commonplace.errors import BadText, InvalidInput, TooLong

MAX_CHARACTERS = 10_000_000  # of one original

_LONGEST_ENCODING = 4  # bytes of one character, in every encoding that is read here
_SURROGATE = re.compile("[\ud800-\udfff]")

# The longer mark first: UTF-32's begins like UTF-16's.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

# How files begin that hold no text to be read here.
_BINARY = (
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive, as Word, Excel and PowerPoint write"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Microsoft Office file"),
    (b"{\\rtf", "an RTF document"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"\x1f\x8b", "compressed"),
    (b"ID3", "a sound recording"),
    (b"OggS", "a sound recording"),
    (b"SQLite format 3\x00", "a database"),
)


def text_of(raw: bytes | str) -> str:
    """The original as text with one kind of newline."""
    refuse_size(raw)
    text = raw if isinstance(raw, str) else _decoded(raw)
    text = text.removeprefix("\ufeff")
    if "\x00" in text:
        raise BadText("The original contains a NUL byte.")
    if _SURROGATE.search(text):
        raise BadText("The source contains a lone surrogate.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def refuse_size(raw: bytes | str) -> None:
    limit = MAX_CHARACTERS if isinstance(raw, str) else MAX_CHARACTERS * _LONGEST_ENCODING
    if len(raw) > limit:
        raise _too_long()


def refuse_binary(raw: bytes) -> None:
    for beginning, what in _BINARY:
        if raw.startswith(beginning):
            raise InvalidInput(
                f"The original is {what}, not text.",
                remedy="Save it as plain text and ingest that.",
            )


def _decoded(raw: bytes) -> str:
    refuse_binary(raw)
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS if raw.startswith(mark)), "utf-8")
    if encoding == "utf-8" and b"\x00" in raw:
        raise BadText(
            "The source contains NUL bytes: it is not a text file.",
            remedy="Ingest a text file; UTF-16 needs its byte order mark.",
        )
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as broken:
        raise BadText(
            f"The original is not {encoding.upper()}: byte {broken.start:,} cannot be read.",
            remedy="Save it as UTF-8 and ingest that.",
        ) from None
    if len(text) > MAX_CHARACTERS:
        raise _too_long()
    return text


def _too_long() -> TooLong:
    return TooLong(
        f"The original is longer than {MAX_CHARACTERS:,} characters (MAX_CHARACTERS).",
        remedy="Split it into several sources.",
    )


def nothing_to_read(what: str = "The original") -> BadText:
    return BadText(f"{what} is empty.")
