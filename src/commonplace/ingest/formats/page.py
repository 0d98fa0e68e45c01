"""A page of HTML: its text, as a reader sees it."""

from __future__ import annotations

import html
import re
from dataclasses import replace

from commonplace.ingest.decode import text_of
from commonplace.ingest.formats import plain
from commonplace.ingest.hints import Hints
from commonplace.ingest.html_text import html_to_text
from commonplace.ingest.lenient import clean_text, clean_word
from commonplace.model.source import Reading

_TITLE = re.compile(r"<title[^<>]*>([^<>]*)</title", re.I)


def read(raw: bytes | str, hints: Hints) -> Reading:
    page = text_of(raw)
    named = _TITLE.search(page)
    title = hints.title or (clean_word(html.unescape(named[1])) if named else None)
    return plain.read(clean_text(html_to_text(page)), replace(hints, title=title))
