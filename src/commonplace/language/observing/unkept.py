"""A wish not to keep: "I live in Berlin, but don't save that", «בינינו, …». It goes before all.

A wish that stands behind its matter, in the same sentence, is about that sentence. Any other, at
the beginning or by itself, is about the whole turn: what it covers cannot be known, and to keep too
little does less harm here than to keep too much.
"""

from __future__ import annotations

import re

from commonplace.language.observing.candidate import Kept
from commonplace.language.observing.own_words import blotted
from commonplace.language.observing.patterns import any_of, data
from commonplace.language.sentences import sentences

GAP = "[…]"  # where a sentence was left out

_DATA = data("unkept")
_WISH = any_of(_DATA["wish"], _DATA["words"])
_STANDING = any_of(_DATA["standing"])
_ALL_OF_IT = any_of(_DATA["all_of_it"])
# What stands before a wish and is no matter of its own: "please", "hey".
_NO_MATTER = re.compile(
    r"(?:\W|\b(?:please|hey|hi|hello|ok|okay|so|but|and|also|just|oh|well|now|look|listen|actually|"
    r"by the way|btw|this|one thing|היי|שלום|בבקשה|אבל|אז|רק|נא)\b)*",
    re.IGNORECASE,
)


def may_be_kept(turn: str) -> Kept:
    """The turn without what the speaker asks not to keep. Quotations and code ask for nothing."""
    own = blotted(turn)
    if not _WISH.search(own):
        return Kept(turn)
    kept = turn
    wishes: list[str] = []
    place = len(own)
    for sentence in reversed(sentences(own)):
        end = own.rfind(sentence, 0, place) + len(sentence)
        place = end - len(sentence)
        wish = None if _STANDING.search(sentence) else _WISH.search(sentence)
        if wish is None:
            continue
        wishes.insert(0, turn[place + wish.start() : place + wish.end()].strip(" ,.:;–—-"))
        if _ALL_OF_IT.search(wish[0]) or _NO_MATTER.fullmatch(sentence[: wish.start()]):
            return Kept("", tuple(wishes))
        kept = kept[:place] + GAP + kept[end:]
    return Kept(kept if kept.replace(GAP, "").strip() else "", tuple(wishes))
