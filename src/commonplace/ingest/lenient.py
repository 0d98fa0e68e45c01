"""Names and lines out of originals that nobody can correct: cleaned, never refused.

A recording or a mail is history. What is wrong in it is put right where it is read; only what
programs write (JSON) is held to the rules of `model.check`.
"""

from __future__ import annotations

import re
import unicodedata

from commonplace.model.check import MAX_WORD
from commonplace.model.text import stored_form

_UNWANTED = re.compile("[\x00\ud800-\udfff]")


def clean_text(text: str) -> str:
    """Text as it is stored, without what cannot be stored."""
    return stored_form(_UNWANTED.sub("", text))


def clean_word(text: str) -> str | None:
    """One short line, or None when nothing is left of it."""
    shown = "".join(" " if unicodedata.category(c) == "Cc" else c for c in clean_text(text))
    return " ".join(shown.split())[:MAX_WORD].strip() or None
