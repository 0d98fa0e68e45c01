"""Unicode normal forms in time linear in the length of the text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Literal

NormalForm = Literal["NFC", "NFD", "NFKC", "NFKD"]

# More combining marks on one letter are not text. Unicode's Stream-Safe Text Format has the same
# limit: sorting a run of marks takes time quadratic in its length.
MAX_MARKS = 30
_MAY_BE_MARKS = re.compile(rf"(?:[^\w\s\x00-\x7f]|[\uff9e\uff9f]){{{MAX_MARKS + 1},}}+")
_INVISIBLE = re.compile("[\u00ad\u200b]")  # soft hyphen, zero-width space
_HALFWIDTH_MARKS = "\uff9e\uff9f"  # letters that NFKC turns into marks
_ASCII = re.compile(r"[\x00-\x7f]")
# A call of the standard library on more characters would hold up other threads.
_CHARACTERS_AT_ONCE = 100_000


def normal_form(text: str, form: NormalForm) -> str:
    """The text in a Unicode normal form, in linear time; marks beyond `MAX_MARKS` are dropped."""
    if text.isascii():
        return text
    if len(text) <= _CHARACTERS_AT_ONCE:
        return unicodedata.normalize(form, _MAY_BE_MARKS.sub(_without_excess_marks, text))
    return "".join(normal_form(piece, form) for piece in _pieces(text))


def _pieces(text: str) -> Iterator[str]:
    """Cut before an ASCII character where there is one: it never combines with what precedes."""
    start = 0
    while start < len(text):
        least = start + _CHARACTERS_AT_ONCE // 2
        found = _ASCII.search(text, least, start + _CHARACTERS_AT_ONCE)
        end = found.start() if found else start + _CHARACTERS_AT_ONCE
        yield text[start:end]
        start = end


def _without_excess_marks(run: re.Match[str]) -> str:
    kept: list[str] = []
    marks = 0
    for character in run[0]:
        is_mark = character in _HALFWIDTH_MARKS or unicodedata.category(character)[0] == "M"
        marks = marks + 1 if is_mark else 0
        if marks <= MAX_MARKS:
            kept.append(character)
    return "".join(kept)


def has_surrogate(text: str) -> bool:
    """Whether the text holds half of a UTF-16 pair, which cannot be stored."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def fold_for_search(text: str) -> str:
    """Without regard to case, white space and invisible hyphens: lines may be wrapped
    differently."""
    return " ".join(_INVISIBLE.sub("", text).casefold().split())
