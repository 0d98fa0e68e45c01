"""Does a text stand in an original, though its bytes are written otherwise?

Mail is kept as it came: in base64 or quoted-printable, in any charset. JSON and HTML spell
letters as escapes. Whoever asks whether a text is gone means what a reader would see.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from email import message_from_bytes

from commonplace.desk import Desk
from commonplace.ingest.mail_text import decoded_words, part_text
from commonplace.model.filters import Visibility
from commonplace.model.memory import State
from commonplace.model.scope import Scope
from commonplace.store.port import EVERYTHING, SourceListing

ORIGINALS = "originals"  # the store's name for where they are kept

_ALL = SourceListing(states=tuple(State), visibility=Visibility(cleared=True), limit=EVERYTHING)
_MAIL = re.compile(rb"^(?:content-[a-z-]+|mime-version|from|subject):", re.I | re.M)
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|([nrtbf"/\\]))')
_SHORT = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_HIDDEN = re.compile("[\u00ad\u200b]")  # soft hyphens and the like, which nobody sees


def stands_in_originals(desk: Desk, scope: Scope, text: str) -> bool:
    sought = _folded(text)
    return any(
        sought in _folded(said)
        for source in desk.store.source_page(scope, _ALL)
        for raw in desk.store.original(scope, source.id)
        for said in readings(raw)
    )


def readings(raw: bytes) -> Iterator[str]:
    """The ways in which it can be read."""
    yield from _unescaped(_decoded(raw))
    if _MAIL.search(raw):
        yield from _of_mail(raw)


def _folded(text: str) -> str:
    """As lines are wrapped differently, one space is like another."""
    return " ".join(_HIDDEN.sub("", text).casefold().split())


def _decoded(raw: bytes) -> str:
    wide = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
    return raw.decode("utf-16" if wide else "utf-8", "replace")


def _unescaped(text: str) -> Iterator[str]:
    yield text
    if "\\" in text:
        yield (
            _ESCAPE.sub(_letter, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        )
    if "&" in text:
        yield html.unescape(text)


def _letter(escape: re.Match[str]) -> str:
    code, short = escape.groups()
    return chr(int(code, 16)) if code else _SHORT.get(short, short)


def _of_mail(raw: bytes) -> Iterator[str]:
    """Its headers, its texts and what hangs on it, quotations and signatures included."""
    try:
        parts = list(message_from_bytes(raw.lstrip(b"\r\n")).walk())
    except RecursionError:  # such a mail is refused when it comes
        return
    for part in parts:
        yield " ".join(decoded_words(str(value)) for value in part.values())
        if not part.is_multipart():
            yield from _unescaped(part_text(part))
