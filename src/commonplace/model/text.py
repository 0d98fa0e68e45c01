"""The form in which text is stored."""

from __future__ import annotations

import re
import unicodedata

_NEWLINE = re.compile("\r\n?")


def stored_form(text: str) -> str:
    """NFC, one kind of newline, no space around it."""
    return unicodedata.normalize("NFC", _NEWLINE.sub("\n", text)).strip()
