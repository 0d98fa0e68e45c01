"""Text of a language model as one plain line, or not at all. Pure."""

from __future__ import annotations

import unicodedata

from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.language.text.terms import analyse
from commonplace.model.unicode_text import normal_form

_MARKUP = frozenset("<>{}[]`|\\")
_UNPRINTABLE = frozenset(("Cc", "Cs", "Co", "Cn"))


def plain_line(text: object, most: int) -> str | None:
    """None if it is no text, says nothing, is longer than ``most`` characters, has markup, or reads
    like instructions."""
    if not isinstance(text, str) or len(text) > 4 * most:
        return None
    line = " ".join(normal_form(text, "NFC").split())
    if not line or len(line) > most or not _MARKUP.isdisjoint(line) or not analyse(line):
        return None
    if any(unicodedata.category(character) in _UNPRINTABLE for character in line):
        return None
    return None if is_suspicious(line) else line
