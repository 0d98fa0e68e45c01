"""How a document's title is mentioned elsewhere. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from pathlib import PurePath

_IN_BRACKETS = re.compile(r"\s*\([^()]*\)$")
_WORD = re.compile(r"[^\W_]+(?:[-'’.&][^\W_]+)*")
_JOINTS = re.compile(r"_+|(?<!\d)-+|-+(?!\d)")  # in names of files; a date keeps its own
SHORTEST = 4  # letters: shorter titles are words of every text
MOST_WORDS = 10


def title_of_file(name: str) -> str:
    """The name of a file as people would say it: meeting-notes_2026.txt → meeting notes 2026."""
    return " ".join(_JOINTS.sub(" ", PurePath(name).stem).split())


def title_key(title: str) -> str:
    """As texts would mention it: without what tells it from its namesakes."""
    return " ".join(_words(_IN_BRACKETS.sub("", title)))


def mentioned(text: str, titles: Collection[str]) -> Iterator[str]:
    """Of the titles' keys, those that stand in the text."""
    found = _words(text)
    seen = set()
    for start in range(len(found)):
        for end in range(start + 1, min(start + MOST_WORDS, len(found)) + 1):
            key = " ".join(found[start:end])
            if len(key) >= SHORTEST and key in titles and key not in seen:
                seen.add(key)
                yield key


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
