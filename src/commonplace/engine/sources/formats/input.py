"""Input rules that all formats share: decoding, cleaning, hints, JSON records, times.

Recordings and mails cannot be corrected by the caller, so the parsers repair them. Only the output
of programs (JSON) must comply with the rules of `model.validation`.
"""

from __future__ import annotations

import codecs
import html
import json
import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from commonplace.errors import BadText, InvalidInput, TooLong
from commonplace.model import validation
from commonplace.model.json_structure import check_json_structure
from commonplace.model.sources.source import SourceTurn, file_title
from commonplace.model.unicode_text import has_surrogate
from commonplace.model.validation import MAX_WORD, stored_form

MAX_CHARACTERS = 10_000_000  # of one original
MAX_JSON_TOKENS = 1_000_000  # of one original: parsed values take far more memory than their text
MAX_MESSAGES = 50_000  # of one original
SPLIT_REMEDY = (
    "Split it, for example by month, and ingest each part: as a source of its own, or with append "
    "and one external_id as parts of one source."
)

_LONGEST_ENCODING = 4  # bytes of a character in any supported encoding

# The longer byte order mark first: UTF-32's begins like UTF-16's.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

# Signatures of binary files.
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


def decode_text(raw: bytes | str) -> str:
    """The original as text with normalised newlines."""
    refuse_size(raw)
    text = raw if isinstance(raw, str) else _decoded(raw)
    text = text.removeprefix("\ufeff")
    if "\x00" in text:
        raise BadText("The original contains a NUL byte.")
    if has_surrogate(text):
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


def empty_source_error(what: str = "The original") -> BadText:
    return BadText(f"{what} is empty.")


_UNWANTED = re.compile("[\x00\ud800-\udfff]")


def clean_text(text: str) -> str:
    """The text without characters that cannot be stored."""
    is_clean = "\x00" not in text and not has_surrogate(text)
    return stored_form(text if is_clean else _UNWANTED.sub("", text))


_ENDLESS_NUMBER = re.compile(r"&#[0-9]{1000,}+;?")  # the standard library raises on it


def unescape(text: str) -> str:
    """The text with its HTML character references replaced."""
    return html.unescape(_ENDLESS_NUMBER.sub("\ufffd", text))


def clean_word(text: str) -> str | None:
    """One short line; None if it is empty."""
    shown = "".join(" " if unicodedata.category(c) == "Cc" else c for c in clean_text(text))
    return " ".join(shown.split())[:MAX_WORD].strip() or None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseHints:
    name: str | None = None  # the file's, with its path
    title: str | None = None
    started_at: datetime | None = None  # the start of a recording's times

    @property
    def readable_name(self) -> str | None:
        """A title made from the file name."""
        return clean_word(file_title(self.name)) if self.name else None


# Unix times are in seconds, milliseconds or microseconds: a value that would be thousands of years
# ahead in one unit is taken as the next.
_UNITS = ((1e11, 1), (1e14, 1_000), (math.inf, 1_000_000))
# A smaller number is not a Unix time: a year, a second of a recording.
_FIRST, _LAST = datetime(1990, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)

# Dates of digits only, by their number of digits.
_COMPACT = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}


def parse_json(text: str, where: str) -> Any:
    structure = text.encode("utf-8", "surrogatepass")
    check_json_structure(structure, where, MAX_JSON_TOKENS, SPLIT_REMEDY, "original")
    try:
        return json.loads(text)
    except json.JSONDecodeError as broken:
        reason = f"{broken.msg} at character {broken.colno}"
    except RecursionError:
        reason = "it is nested too deeply"
    except ValueError:  # a number with thousands of digits
        reason = "it holds a number that is too large"
    raise InvalidInput(
        f"{where} is not valid JSON: {reason}.",
        remedy="Correct it; nothing was stored.",
    )


def parse_moment(value: object, where: str) -> datetime:
    """A time as ISO 8601 text or as Unix time."""
    if compact := _compact_date(value):
        return compact
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return validation.when(value, where)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"{where} must be a time, not {type(value).__name__}.", field="time")
    try:
        size = abs(float(value))
        unit = next(unit for limit, unit in _UNITS if size < limit)
        counted = datetime.fromtimestamp(value / unit, UTC)
    except (StopIteration, OverflowError, OSError, ValueError):
        raise InvalidInput(f"{where} is out of range.", field="time") from None
    if not _FIRST <= counted < _LAST:
        raise InvalidInput(
            f"{where} is not a date: {value:g}.",
            remedy="Write it as 2026-03-01T09:30:00+02:00, or count its seconds from 1970.",
            field="time",
        )
    return counted


def _compact_date(value: object) -> datetime | None:
    """20260301 is a date, not a Unix time."""
    written = str(value).strip() if isinstance(value, str) or _whole(value) else ""
    form = _COMPACT.get(len(written))
    if form is None or not (written.isascii() and written.isdigit()):
        return None
    try:
        found = datetime.strptime(written, form).replace(tzinfo=UTC)
    except ValueError:
        return None
    return found if _FIRST <= found < _LAST else None


def optional_word(value: object, where: str) -> str | None:
    """A name or an id; numbers are converted to text."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    spelled = (
        str(validation.integer(value, where, 0, validation.MAX_WHOLE_NUMBER))
        if _whole(value)
        else value
    )
    return validation.word(spelled, where)


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def optional_text(value: object, where: str) -> str | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    return validation.text(value, where, MAX_CHARACTERS)


def speakers_in(turns: Iterable[SourceTurn]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(turn.speaker for turn in turns if turn.speaker))


def time_span_of(turns: Sequence[SourceTurn]) -> tuple[datetime | None, datetime | None]:
    """The times of the first and the last turn."""
    known = [turn.at for turn in turns if turn.at is not None]
    return (min(known), max(known)) if known else (None, None)
