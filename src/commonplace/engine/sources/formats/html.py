"""HTML pages as text, as a reader sees them.

Blocks become lines, paragraphs are separated by an empty line, list items begin with "- ", a table
row is one line. Quoted lines begin with ">" as in plain mail, so that one rule removes both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from commonplace.engine.sources.formats import plain_text
from commonplace.engine.sources.formats.input import (
    ParseHints,
    clean_text,
    clean_word,
    decode_text,
    unescape,
)
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
_MAY_HIDE = re.compile(r"hidden|style", re.I)
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_SPACE = re.compile(r"[ \t\n\r\f\v\xa0]+")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")


def html_to_text(html: str) -> str:
    writer = _TextWriter()
    for token in _tokens(_without_comments(html)):
        if isinstance(token, str):
            writer.add_text(unescape(token))
            continue
        if not token.is_end:
            writer.start(token.name, token.attributes)
        if token.is_end or token.is_closed:
            writer.end(token.name)
    return writer.text()


def _without_comments(html: str) -> str:
    """Remove comments first: they may hold tags."""
    pieces: list[str] = []
    start = 0
    while (opens := html.find("<!--", start)) >= 0:
        pieces.append(html[start:opens])
        closes = html.find("-->", opens)
        if closes < 0:  # unclosed: the rest is text
            return "".join([*pieces, html[opens:].replace("<!--", " ")])
        start = closes + len("-->")
    return "".join([*pieces, html[start:]])


@dataclass(frozen=True, slots=True)
class _Tag:
    name: str  # in lower case
    attributes: str = ""
    is_end: bool = False

    @property
    def is_closed(self) -> bool:
        """<br/>"""
        return self.attributes.endswith("/")


_MARKUP = re.compile(r"<(?=[a-zA-Z/!?])")
_TAG_NAME = re.compile(r"/?[a-zA-Z][^\s/>\x00]*+")
_TAG_PIECE = re.compile(r"[^\"'>]*+(?:([\"'])|>)")
_CONDITION = re.compile(r"!\[\s*(?:if|else|endif)\b", re.I)
_RAW = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.I) for name in ("script", "style")
}  # no tags inside


def _tokens(page: str) -> Iterator[str | _Tag]:
    """Tags and the texts between them, in one pass: unlike `html.parser`, no unclosed tag makes it
    read the rest of the page again, and no malformed one raises."""
    ends = _TagEnds(page)
    position = 0
    while found := _MARKUP.search(page, position):
        start = found.start()
        if start > position:
            yield page[position:start]
        name = _TAG_NAME.match(page, start + 1)
        end = ends.after_tag(name.end()) if name else ends.after_declaration(start + 1)
        if end is None:
            position = start
            break  # an unclosed tag is text, and no tag can follow it
        position = end
        if name is None:
            continue
        tag = _Tag(
            name[0].lstrip("/").lower(), page[name.end() : end - 1].rstrip(), name[0][0] == "/"
        )
        yield tag
        if tag.name in _RAW and not tag.is_end and not tag.is_closed:
            closing = _RAW[tag.name].search(page, position)
            position = closing.start() if closing else len(page)
    if position < len(page):
        yield page[position:]


class _TagEnds:
    """Finds where tags end. What is known to be absent from the rest is not searched again."""

    def __init__(self, page: str):
        self._page = page
        self._last_quote = {quote: page.rfind(quote) for quote in "\"'"}
        self._last_section_end = page.rfind("]]>")
        self._quotes_count = True

    def after_tag(self, position: int) -> int | None:
        """A ">" within quotes does not end a tag, unless none would end it."""
        place = position
        while self._quotes_count and (piece := _TAG_PIECE.match(self._page, place)):
            place = piece.end()
            if piece[1] is None:
                return place
            if self._last_quote[piece[1]] >= place:
                place = self._page.index(piece[1], place) + 1
        self._quotes_count = False
        return self._after(">", position)

    def after_declaration(self, position: int) -> int | None:
        """<!doctype html>, <![CDATA[…]]>, <?xml …?>, </ >"""
        is_section = (
            self._last_section_end >= position
            and self._page.startswith("![", position)
            and not _CONDITION.match(self._page, position)
        )
        return self._after("]]>" if is_section else ">", position)

    def _after(self, sign: str, position: int) -> int | None:
        found = self._page.find(sign, position)
        return None if found < 0 else found + len(sign)


_CHARACTERS_AT_ONCE = 100_000  # of one call into `re`, which holds up other threads


class _TextWriter:
    """Receives tags and texts and writes the lines that a reader sees."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._line: list[str] = []  # its pieces; none is empty
        self._quotes = 0
        self._preformatted = 0
        self._dropped: list[str] = []  # the open elements that are not displayed

    def text(self) -> str:
        self._break()
        lines = "\n".join(line.rstrip() for line in self._lines)
        return _BLANK_LINES.sub("\n\n", lines).strip("\n")

    def start(self, tag: str, attributes: str) -> None:
        if self._dropped:
            if tag == self._dropped[-1]:
                self._dropped.append(tag)
            return
        if tag not in _VOID and (tag in _DROPPED or _is_hidden(attributes)):
            self._dropped.append(tag)
            return
        self._open(tag)

    def end(self, tag: str) -> None:
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

    def add_text(self, text: str) -> None:
        if self._dropped:
            return
        if self._preformatted:
            first, *others = text.split("\n")
            self._add(first)
            for line in others:
                self._break(even_if_empty=True)
                self._add(line)
            return
        for start in range(0, len(text), _CHARACTERS_AT_ONCE):
            words = _SPACE.sub(" ", text[start : start + _CHARACTERS_AT_ONCE])
            follows_space = not self._line or self._line[-1].endswith(" ")
            self._add(words.lstrip() if follows_space else words)

    def _add(self, text: str) -> None:
        if text:
            self._line.append(text)

    def _open(self, tag: str) -> None:
        if tag == "br":
            self._break(even_if_empty=True)
        elif tag == "hr":
            self._break()
            self._add(_RULER)
            self._break()
        elif tag in _PARAGRAPHS:
            self._paragraph()
            self._preformatted += tag == "pre"
        elif tag in _CELLS:
            self._trim()
            if self._line:
                self._add(_BETWEEN_CELLS)
        elif tag in _BLOCKS:
            self._break()
            self._quotes += tag == "blockquote"
            if tag == "li":
                self._add("- ")

    def _break(self, even_if_empty: bool = False) -> None:
        line = "".join(self._line).rstrip().removesuffix(_BETWEEN_CELLS.strip()).rstrip()
        if line and line != "-":
            self._put(line)
        elif even_if_empty:
            self._put("")
        self._line = []

    def _trim(self) -> None:
        """Remove the space at the end of the line."""
        while self._line:
            last = self._line.pop().rstrip()
            if last:
                self._line.append(last)
                return

    def _paragraph(self) -> None:
        self._break()
        if self._lines:
            self._put("")

    def _put(self, line: str) -> None:
        self._lines.append(f"> {line}" if self._quotes else line)


_ATTRIBUTE = re.compile(
    r"([^\s/>=][^\s/>=]*+)\s*+(?:=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s>]*+)))?"
)


def _is_hidden(attributes: str) -> bool:
    """Hidden elements are left out: senders put preview texts there, or instructions."""
    if not _MAY_HIDE.search(attributes):
        return False
    given = {
        name.lower(): unescape(double or single or bare)
        for name, double, single, bare in reversed(_ATTRIBUTE.findall(attributes))
    }
    return "hidden" in given or _HIDDEN.search(given.get("style", "")) is not None


_TITLE = re.compile(r"<title[^<>]*>([^<>]*)</title", re.I)


def read(raw: bytes | str, hints: ParseHints) -> ParsedSource:
    page = decode_text(raw)
    named = _TITLE.search(page)
    title = hints.title or (clean_word(unescape(named[1])) if named else None)
    return plain_text.read_plain_text(clean_text(html_to_text(page)), replace(hints, title=title))
