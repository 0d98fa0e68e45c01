"""HTML pages as text, as a reader sees them.

Blocks become lines, paragraphs are separated by an empty line, list items begin with "- ", a table
row is one line. Quoted lines begin with ">" as in plain mail, so that one rule removes both.
"""

from __future__ import annotations

import html
import re
from dataclasses import replace
from html.parser import HTMLParser

from commonplace.engine.sources.formats import plain_text
from commonplace.engine.sources.formats.input import ParseHints, clean_text, clean_word, decode_text
from commonplace.model.sources.source import ParsedSource

_UNSEEN_TAGS = """
script style head title template noscript object svg math select
"""
_DROPPED = frozenset(_UNSEEN_TAGS.split())
_BLOCK_TAGS = """
address article aside body caption center dd details dir div dl dt fieldset figcaption figure
footer form header html legend main menu nav ol section summary table tbody tfoot thead ul
blockquote tr li
"""
_BLOCKS = frozenset(_BLOCK_TAGS.split())
_PARAGRAPHS = frozenset(["p", "h1", "h2", "h3", "h4", "h5", "h6", "pre"])
_CELLS = frozenset(["td", "th"])
_VOID_TAGS = """
area base br col embed hr img input link meta param source track wbr
"""
_VOID = frozenset(_VOID_TAGS.split())
_RULER = "_" * 32
_BETWEEN_CELLS = " | "
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_SPACE = re.compile(r"[ \t\n\r\f\v\xa0]+")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")


def html_to_text(html: str) -> str:
    reader = _HtmlTextParser()
    reader.feed(_without_comments(html))
    reader.close()
    return reader.text()


def _without_comments(html: str) -> str:
    """Remove comments first: the parser searches the whole rest for the end of an unclosed one."""
    pieces: list[str] = []
    start = 0
    while (opens := html.find("<!--", start)) >= 0:
        pieces.append(html[start:opens])
        closes = html.find("-->", opens)
        if closes < 0:  # unclosed: the rest is text
            return "".join([*pieces, html[opens:].replace("<!--", " ")])
        start = closes + len("-->")
    return "".join([*pieces, html[start:]])


class _HtmlTextParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._lines: list[str] = []
        self._line = ""
        self._quotes = 0
        self._preformatted = 0
        self._dropped: list[str] = []  # the open elements that are not displayed

    def text(self) -> str:
        self._break()
        lines = "\n".join(line.rstrip() for line in self._lines)
        return _BLANK_LINES.sub("\n\n", lines).strip("\n")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._dropped:
            if tag == self._dropped[-1]:
                self._dropped.append(tag)
            return
        if tag not in _VOID and (tag in _DROPPED or _is_hidden(attrs)):
            self._dropped.append(tag)
            return
        self._open(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._dropped:
            if tag == self._dropped[-1]:
                self._dropped.pop()
            return
        if tag == "blockquote":
            self._break()
            self._quotes = max(0, self._quotes - 1)
        elif tag == "pre":
            self._preformatted = max(0, self._preformatted - 1)
        if tag in _PARAGRAPHS:
            self._paragraph()
        elif tag in _BLOCKS:
            self._break()

    def handle_data(self, data: str) -> None:
        if self._dropped:
            return
        if self._preformatted:
            first, *others = data.split("\n")
            self._line += first
            for line in others:
                self._break(even_if_empty=True)
                self._line = line
            return
        words = _SPACE.sub(" ", data)
        self._line += words.lstrip() if self._line[-1:] in ("", " ") else words

    def _open(self, tag: str) -> None:
        if tag == "br":
            self._break(even_if_empty=True)
        elif tag == "hr":
            self._break()
            self._line = _RULER
            self._break()
        elif tag in _PARAGRAPHS:
            self._paragraph()
            self._preformatted += tag == "pre"
        elif tag in _CELLS:
            self._line = self._line.rstrip() + _BETWEEN_CELLS if self._line.strip() else ""
        elif tag in _BLOCKS:
            self._break()
            self._quotes += tag == "blockquote"
            if tag == "li":
                self._line = "- "

    def _break(self, even_if_empty: bool = False) -> None:
        line = self._line.rstrip().removesuffix(_BETWEEN_CELLS.strip()).rstrip()
        if line and line != "-":
            self._put(line)
        elif even_if_empty:
            self._put("")
        self._line = ""

    def _paragraph(self) -> None:
        self._break()
        if self._lines:
            self._put("")

    def _put(self, line: str) -> None:
        self._lines.append(f"> {line}" if self._quotes else line)


def _is_hidden(attrs: list[tuple[str, str | None]]) -> bool:
    """Hidden elements are left out: senders put preview texts there, or instructions."""
    given = dict(attrs)
    return "hidden" in given or _HIDDEN.search(given.get("style") or "") is not None


_TITLE = re.compile(r"<title[^<>]*>([^<>]*)</title", re.I)


def read(raw: bytes | str, hints: ParseHints) -> ParsedSource:
    page = decode_text(raw)
    named = _TITLE.search(page)
    title = hints.title or (clean_word(html.unescape(named[1])) if named else None)
    return plain_text.read_plain_text(clean_text(html_to_text(page)), replace(hints, title=title))
