"""Readings of a text: as a reader could understand it behind a disguise.

The first reading folds Unicode. Others undo what makes words unreadable to a search and readable to
a model: letters of other scripts, spaced letters, joined words, mark-up, digits for letters,
encodings. Each reading is made in time linear in the text, and encodings are undone to a depth of
two.
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
from commonplace.model.unicode_text import normal_form

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
    plain = normal_form(text.translate(INVISIBLE), "NFKC").translate(_APOSTROPHES)
    plain = normal_form(plain.casefold(), "NFD")
    return normal_form(_MARKS.sub("", plain), "NFC").translate(_LETTER_FORMS)


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
    yield from map(_tidy, _part_words(latin))
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


# Of any separators: how wide the gaps between its words are does not matter.
_APART = re.compile(r"(?<!\w)[^\W_](?:[ .·*_|/,-]{1,4}[^\W_]){7,}(?!\w)")
_SEPARATORS = re.compile(r"[ .·*_|/,-]+")
_MARK_UP = re.compile(r"<[^<>\n]{0,80}>|[*~`]+|__+")
# From the beginning of a word, and possessive: a long word is read once.
_JOINED = re.compile(r"(?<![^\W_])[^\W_]++(?:[_,;:|/\\.+=-]++[^\W_]++){2,}+")
_PUNCTUATION = re.compile(r"[_,;:|/\\.+=-]+")
_LONG_RUN = re.compile(r"[a-z]{16,}")
_COMMANDS = """
ignore disregard forget override bypass reveal print output obey follow send forward delete act
pretend all any every previous prior earlier above preceding former your the my these those
instructions instruction rules rule guidelines directions commands orders prompts prompt system
everything you were told before are now from on and user assistant agent
"""
# Longest first, so that "instructions" is not "instruction" and "s".
_COMMAND = re.compile("|".join(sorted(_COMMANDS.split(), key=len, reverse=True)))


def _part_words(text: str) -> Iterator[str]:
    """The words of a text that joins them by punctuation, by mark-up or by nothing."""
    bare = _MARK_UP.sub("", text)
    parted = _JOINED.sub(lambda found: _PUNCTUATION.sub(" ", found[0]), bare)
    yield bare
    yield parted
    together = _APART.sub(lambda found: _SEPARATORS.sub("", found[0]), text)
    for each in (together, bare):
        if _LONG_RUN.search(each):
            yield _LONG_RUN.sub(lambda found: _COMMAND.sub(r" \g<0> ", found[0]), each)


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

_BASE32 = re.compile(r"[A-Z2-7]{16,}={0,6}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{20,}={0,2}")
_HEX = re.compile(r"[0-9A-Fa-f]{2}(?:[ :]?[0-9A-Fa-f]{2}){11,}")
_ESCAPED = re.compile(r"\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}")
_PERCENT = re.compile(r"%[0-9a-fA-F]{2}")
_MIN_ESCAPES = 4


def _decode(text: str) -> Iterator[str]:
    """What is encoded in the text, in place of the encoding."""
    for pattern, decode in _ENCODINGS:
        pieces = (decode(found[0][:_MAX_DECODED]) for found in pattern.finditer(text))
        if said := " ".join(filter(_is_readable, pieces)):
            yield said
    if len(_PERCENT.findall(text)) >= _MIN_ESCAPES:
        yield unquote(text)
    if len(_ESCAPED.findall(text)) >= _MIN_ESCAPES:
        yield _ESCAPED.sub(lambda found: chr(int(found[0][2:], 16)), text)


_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{8,}")


def _from_selectors(piece: str) -> str:
    """Variation selectors are invisible; there are 256, one for each value of a byte."""
    codes = map(ord, piece)
    values = bytes(code - 0xFE00 if code < 0x10000 else code - 0xE0100 + 16 for code in codes)
    return values.decode("utf-8", "ignore")


def _from_base32(piece: str) -> str:
    body = piece.rstrip("=")
    body = body[: len(body) - len(body) % 8] if len(body) % 8 in (1, 3, 6) else body
    try:
        return base64.b32decode(body + "=" * (-len(body) % 8)).decode()
    except (binascii.Error, ValueError):
        return ""


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


_ENCODINGS = (
    (_BASE64, _from_base64),
    (_BASE32, _from_base32),
    (_HEX, _from_hex),
    (_SELECTORS, _from_selectors),
)


def _is_readable(decoded: str) -> bool:
    if len(decoded) < 8:
        return False
    readable = sum(c.isalpha() or c.isspace() or unicodedata.combining(c) > 0 for c in decoded)
    marks = sum(unicodedata.category(c) in ("Mn", "Mc", "Po") for c in decoded)
    return (readable + marks) / len(decoded) >= _MIN_READABLE
