"""E-mail headers and parts as text, in whatever character set they declare."""

from __future__ import annotations

import codecs
import re
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message

# Fallbacks for a wrong declaration: the first fits nearly all recent mail, the others can decode
# any bytes. The Hebrew one is tried before the western one if the bytes look Hebrew.
_WESTERN = "cp1252"
_HEBREW = "cp1255"
_HEBREW_WORD = re.compile(rb"[\xe0-\xfa]{2,}")  # accented letters of western words are isolated

# Charset names of mail programs that Python does not know.
_ALIASES = {
    "iso-8859-8-i": "iso-8859-8",
    "iso-8859-8-e": "iso-8859-8",
    "unicode-1-1-utf-7": "utf-7",
    "x-sjis": "shift_jis",
    "ks_c_5601-1987": "cp949",
    "gb2312": "gb18030",  # often declared for the larger set
    "iso-8859-1": _WESTERN,  # the same
    "us-ascii": "utf-8",
    "ascii": "utf-8",
}
_LONGEST_HEADER = 20_000  # characters that are decoded: the decoder is slow on very long ones
_FLOWED_SIGN = "-- "
_ENCODED_GAP = re.compile(r"(?<=\?=)\s+(?==\?)")


def header_text(message: Message, name: str) -> str:
    """A decoded header; empty if it is missing."""
    value = message.get(name)
    return "" if value is None else decoded_words(str(value))


def decoded_words(value: str) -> str:
    """Decode encoded words (=?utf-8?q?…?=) and raw bytes in a header."""
    plain = _raw_bytes_read(" ".join(value[:_LONGEST_HEADER].split()))
    if "=?" not in plain:
        return plain
    try:
        pieces = decode_header(_ENCODED_GAP.sub(" ", plain))
    except (HeaderParseError, ValueError):
        return plain
    return "".join(
        piece if isinstance(piece, str) else bytes_to_text(piece, charset or "utf-8")
        for piece, charset in pieces
    )


def _raw_bytes_read(value: str) -> str:
    """Decode non-ASCII bytes, which the parser returns as lone surrogates."""
    if value.isascii():
        return value
    return bytes_to_text(value.encode("utf-8", "surrogateescape"), "utf-8")


def part_text(part: Message) -> str:
    """The text of one part, with transfer encoding and charset decoded."""
    payload = part.get_payload(decode=True)
    raw = payload if isinstance(payload, bytes) else b""
    text = bytes_to_text(raw, _charset(part))
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    flowed = str(part.get_param("format", "")).casefold() == "flowed"
    return unflowed(text) if flowed and part.get_content_type() == "text/plain" else text


def _charset(part: Message) -> str:
    try:
        return part.get_content_charset() or "utf-8"
    except (LookupError, ValueError, TypeError):
        return "utf-8"


def bytes_to_text(raw: bytes, charset: str) -> str:
    """Decode as declared, else as UTF-8, else as a Windows code page."""
    for name in (_known(charset), "utf-8"):
        try:
            return raw.decode(name)
        except (UnicodeError, LookupError):
            continue
    beyond_ascii = sum(byte >= 0x80 for byte in raw)
    is_hebrew = 2 * sum(map(len, _HEBREW_WORD.findall(raw))) > beyond_ascii
    declared = _known(charset)
    if declared not in (
        "utf-8",
        "utf-16",
        "utf-32",
    ):  # declared correctly, with a few invalid bytes
        return raw.decode(declared, "replace")
    return raw.decode(_HEBREW if is_hebrew else _WESTERN, "replace")


def _known(charset: str) -> str:
    name = charset.strip().strip("'\"").casefold()
    name = _ALIASES.get(name, name)
    try:
        info = codecs.lookup(name)
    except (LookupError, ValueError):
        return "utf-8"
    # Python's codecs include hex and zip, which do not decode to text.
    return info.name if getattr(info, "_is_text_encoding", True) else "utf-8"


def unflowed(text: str) -> str:
    """format=flowed: join a line that ends with a space to the next."""
    lines: list[list[str]] = []  # the pieces of each
    goes_on = False
    for line in text.split("\n"):
        line = line.removeprefix(" ") if not line.startswith(" >") else line
        quoted = line.startswith(">")
        if goes_on and not quoted and line != _FLOWED_SIGN and line:
            lines[-1].append(line)
        else:
            lines.append([line])
        goes_on = line.endswith(" ") and line != _FLOWED_SIGN and not quoted
    return "\n".join("".join(pieces) for pieces in lines)
