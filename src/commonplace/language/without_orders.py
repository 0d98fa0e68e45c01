"""What of a suspicious text may be believed: what stands apart from its orders.

An order is left out with the sentence before it, which may be what it is about, and with all that
follows in its paragraph: what it asks for follows it. Nothing is won by an order, then, and little
is lost by a joke about one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from commonplace.language.sentences import sentences
from commonplace.language.suspicious import is_suspicious

_SENTENCES_OF_AN_ORDER = 3  # a line break ends one, too
_BETWEEN_PARAGRAPHS = re.compile(r"\n[^\S\n]*\n")
_LETTER = re.compile(r"\S")


def without_orders(text: str) -> str:
    """With the orders blotted out, one space for one character, so that places hold. All of it,
    where what is suspicious cannot be told from the rest."""
    left = "".join(_without_orders(paragraph) for paragraph in _paragraphs(text))
    return _blotted(text) if left == text or is_suspicious(left) else left


def _paragraphs(text: str) -> Iterator[str]:
    """With the space between them."""
    start = 0
    for gap in _BETWEEN_PARAGRAPHS.finditer(text):
        yield text[start : gap.end()]
        start = gap.end()
    yield text[start:]


def _without_orders(paragraph: str) -> str:
    places: list[tuple[int, int]] = []
    for sentence in sentences(paragraph):
        start = paragraph.index(sentence, places[-1][1] if places else 0)
        places.append((start, start + len(sentence)))
    for last in range(len(places)):
        for first in range(last, max(last - _SENTENCES_OF_AN_ORDER, -1), -1):
            if is_suspicious(paragraph[places[first][0] : places[last][1]]):
                since = places[max(first - 1, 0)][0]
                return paragraph[:since] + _blotted(paragraph[since:])
    return paragraph


def _blotted(text: str) -> str:
    return _LETTER.sub(" ", text)
