"""Names that the other text spells out: "NYC", "New York City"; ת"א, תל אביב; "Sao", "São"."""

import re
import unicodedata

_INITIALS = re.compile(r"(?<![\w.-])(?:[A-Z]{2,5}|(?:[A-Z]\.){2,5})(?![\w-])")
_HEBREW = re.compile(r"(?<![א-ת])([בלמהוש]?)([א-ת]{1,4})[\"״]([א-ת])(?![א-ת])")
_ACCENTED = re.compile(r"(?<!\w)[A-ZÀ-ÖØ-Þ]\w{0,40}+")
_SHORT = 500  # characters: what is longer is no single statement
_WORD_BEFORE = re.compile(r"(\w*)\W*$")


def spelt_out(text: str, other: str) -> str:
    """The text with names as the other one writes them; initials only behind the same word."""
    if len(text) > _SHORT or len(other) > _SHORT:
        return text
    if _INITIALS.search(text):
        text = _INITIALS.sub(lambda match: _latin(match, other), text)
    if _HEBREW.search(text):
        text = _HEBREW.sub(lambda match: _hebrew(match, other), text)
    if not other.isascii():
        text = _accented(text, other)
    return text


def _accented(text: str, other: str) -> str:
    for name in set(_ACCENTED.findall(other)):
        parts = unicodedata.normalize("NFD", name)
        plain = "".join(c for c in parts if not unicodedata.combining(c))
        if plain != name:
            text = re.sub(rf"(?<!\w){re.escape(plain)}(?!\w)", name, text)
    return text


def _latin(match: re.Match[str], other: str) -> str:
    letters = match[0].replace(".", "")
    words = r"[ -]".join(rf"{letter}[^\W\d_]+" for letter in letters)
    found = re.search(rf"\b{words}\b", other)
    if found is None or _before(match.string, match.start()) != _before(other, found.start()):
        return match[0]
    return found[0]


def _hebrew(match: re.Match[str], other: str) -> str:
    """The letter in front may be a preposition, or one of the initials."""
    prefix, letters = match[1], match[2] + match[3]
    for glued, initials in ((prefix, letters), ("", prefix + letters)):
        words = r"[ -]".join(rf"{letter}[א-ת\"'״׳]+" for letter in initials)
        found = re.search(rf"(?<![א-ת]){glued}({words})(?![א-ת])", other)
        if found and _before(match.string, match.start()) == _before(other, found.start()):
            return found[0]
    return match[0]


def _before(text: str, at: int) -> str:
    found = _WORD_BEFORE.search(text, 0, at)
    return found[1].casefold() if found else ""
