"""Readings of a text: as a reader could understand it behind a disguise.

The first reading folds Unicode. Others undo what makes words unreadable to a search and readable to
a model: letters of other scripts, spaced letters, digits for letters, encodings. Each reading is
made in time linear in the text, and encodings are undone to a depth of two.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

from commonplace.language.text.normalise import INVISIBLE

_APOSTROPHES = str.maketrans("’‘ʼ`´", "'''''")
_SPACES = re.compile(r"[^\S\n]+")
_LINE_BREAKS = re.compile(r"\s*\n\s*")
# Accents, Hebrew points, Arabic vowel signs and tatweel: the same word is written with and without.
_MARKS = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0640\u064b-\u065f\u0670]")
_LETTER_FORMS = str.maketrans("أإآٱىئؤۓ", "ااااييوے")
_BROKEN_WORD = re.compile(r"(?<=\w)[-\u2010\u2011]\n(?=\w)")

MAX_DEPTH = 2  # of encodings in encodings
_MAX_DECODED = 20_000  # characters of one encoded piece
_MIN_READABLE = 0.85  # share of letters and spaces in what was decoded


def fold_writing(text: str) -> str:
    """Small letters, compatible forms, no accents or points, no invisible characters."""
    plain = unicodedata.normalize("NFKC", text).translate(INVISIBLE).translate(_APOSTROPHES)
    plain = unicodedata.normalize("NFD", plain.casefold())
    return unicodedata.normalize("NFC", _MARKS.sub("", plain)).translate(_LETTER_FORMS)


def readings(text: str, depth: int = 0) -> Iterator[str]:
    """The folded text, then what it says without its disguises; no reading twice."""
    seen: set[str] = set()
    for reading in _readings(text, depth):
        if reading not in seen:
            seen.add(reading)
            yield reading


def _readings(text: str, depth: int) -> Iterator[str]:
    entities = html.unescape(text) if "&" in text else text
    plain = fold_writing(entities)
    yield _tidy(plain)
    latin = _undo_look_alikes(plain)
    joined = _join_letters(latin)
    if joined != plain:
        yield _tidy(joined)
    yield from map(_tidy, _read_digits_as_letters(joined))
    if depth < MAX_DEPTH:
        for decoded in _decode(entities):
            yield from _readings(decoded, depth + 1)
    if _LATIN.search(plain):
        yield _tidy(codecs.encode(plain, "rot13"))
        yield _tidy(plain[::-1])


def _tidy(text: str) -> str:
    text = _BROKEN_WORD.sub("", _LINE_BREAKS.sub("\n", _SPACES.sub(" ", text)))
    return text.strip()


# ——— letters of other scripts ———

_LOOK_ALIKES = str.maketrans(
    # Cyrillic, Greek, Armenian, and Latin letters of other alphabets
    "асеіјорхуѕԁһԛԝѵкмтнвпгьαεικνορτυχωγηβμσοսօոցհєɡɑıᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ",
    "aceijopxysdhqwvkmthbnrbaeikvoptuxwynbusouonghegaiabcdefghijklmnoprstuvwyz",
)
_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile("[a-z]")
_NOT_LATIN = re.compile("[\u0370-\u058f\u0250-\u02af\u1d00-\u1d2f\ua730-\ua731\u0131]")


def _undo_look_alikes(plain: str) -> str:
    """Words that mix scripts are read as Latin, and in such a text also words of look-alikes
    alone."""
    if plain.isascii() or not any(_mixes(word) for word in _WORD.findall(plain)):
        return plain
    return _WORD.sub(lambda found: _as_latin(found[0]), plain)


def _mixes(word: str) -> bool:
    return bool(_LATIN.search(word) and _NOT_LATIN.search(word))


def _as_latin(word: str) -> str:
    latin = word.translate(_LOOK_ALIKES)
    return latin if latin.isascii() else word


# ——— letters apart, digits for letters ———

_SPACED = re.compile(r"(?<!\w)[^\W_](?: [^\W_]){3,}(?!\w)")
_SPACED_PAIR = re.compile(r"(?<!\w)[^\W_](?: [^\W_])+(?!\w)")
_DOTTED = re.compile(r"(?<!\w)[^\W_](?:[.·*_|/-][^\W_]){3,}(?!\w)")
_DOTTED_PAIR = re.compile(r"(?<!\w)[^\W_](?:[.·*_|/-][^\W_])+(?!\w)")


def _join_letters(text: str) -> str:
    """Words whose letters stand apart; once there is a long one, short ones count, too."""
    for apart, pair in ((_DOTTED, _DOTTED_PAIR), (_SPACED, _SPACED_PAIR)):
        if apart.search(text):
            text = pair.sub(lambda found: found[0][::2], text)
    return text


_LEET = str.maketrans("01345789@$!", "oieastbgasi")
_RUN = re.compile(r"[\w@$!]+")
_DIGIT_IN_WORD = re.compile(r"[^\W\d_][0-9@$!]|[0-9@$!][^\W\d_]")
_MIN_MIXED_WORDS = 2


def _read_digits_as_letters(text: str) -> Iterator[str]:
    if len(_DIGIT_IN_WORD.findall(text)) >= _MIN_MIXED_WORDS:
        yield _RUN.sub(lambda found: _without_digits(found[0]), text)


def _without_digits(word: str) -> str:
    return word.translate(_LEET) if _DIGIT_IN_WORD.search(word) else word


# ——— encodings ———

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{20,}={0,2}")
_HEX = re.compile(r"[0-9A-Fa-f]{2}(?:[ :]?[0-9A-Fa-f]{2}){11,}")
_ESCAPED = re.compile(r"\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}")
_PERCENT = re.compile(r"%[0-9a-fA-F]{2}")
_MIN_ESCAPES = 4


def _decode(text: str) -> Iterator[str]:
    """What is encoded in the text, in place of the encoding."""
    for pattern, decode in ((_BASE64, _from_base64), (_HEX, _from_hex)):
        pieces = (decode(found[0][:_MAX_DECODED]) for found in pattern.finditer(text))
        if said := " ".join(filter(_is_readable, pieces)):
            yield said
    if len(_PERCENT.findall(text)) >= _MIN_ESCAPES:
        yield unquote(text)
    if len(_ESCAPED.findall(text)) >= _MIN_ESCAPES:
        yield _ESCAPED.sub(lambda found: chr(int(found[0][2:], 16)), text)


def _from_base64(piece: str) -> str:
    body = piece.rstrip("=").translate(str.maketrans("-_", "+/"))
    try:
        return base64.b64decode(body + "=" * (-len(body) % 4)).decode()
    except (binascii.Error, ValueError):
        return ""


def _from_hex(piece: str) -> str:
    try:
        return bytes.fromhex(re.sub("[ :]", "", piece)).decode()
    except ValueError:
        return ""


def _is_readable(decoded: str) -> bool:
    if len(decoded) < 8:
        return False
    readable = sum(c.isalpha() or c.isspace() or unicodedata.combining(c) > 0 for c in decoded)
    marks = sum(unicodedata.category(c) in ("Mn", "Mc", "Po") for c in decoded)
    return (readable + marks) / len(decoded) >= _MIN_READABLE
