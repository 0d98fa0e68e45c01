"""Names in small letters, as people type in chats: "met sarah today", "moved to berlin".

Only what is known to be a name, and better where the words around it say so as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from commonplace.language.extracting.cues import cues_around
from commonplace.language.extracting.mention import DOUBTFUL, GUESSED, KNOWN, Mention, Vote, mention
from commonplace.language.extracting.vocabulary import (
    COMMON,
    ONLY_GIVEN,
    PERSON,
    data,
    known_at,
    listed,
)
from commonplace.language.extracting.written import Passage, Word

_CUED = 0.7  # from here on a cue makes a known name a kept one
_SHORTEST = 3
_ALSO_WORDS = frozenset(listed(data("things")["product"]["also_words"]))


def named_in_small_letters(passage: Passage) -> Iterator[Mention]:
    words = passage.words
    at = 0
    while at < len(words):
        length, kinds = _known(words, at)
        if length:
            votes = tuple(_votes(words, at, at + length, kinds))
            if votes:
                yield mention(passage, at, at + length, votes)
        at += max(length, 1)


def _known(words: Sequence[Word], at: int) -> tuple[int, tuple[str, ...]]:
    word = words[at]
    if word.capital or word.hebrew or len(word.key) < _SHORTEST:
        return 0, ()
    length, kinds = known_at(words, at)
    sure = tuple(kind for kind, only in kinds if only and word.key not in _ALSO_WORDS)
    if sure and not (length == 1 and word.key in COMMON):
        return length, sure
    is_given = word.key in ONLY_GIVEN and word.key not in COMMON
    return (1, (PERSON,)) if is_given else (0, ())


def _votes(words: Sequence[Word], start: int, end: int, kinds: tuple[str, ...]) -> Iterator[Vote]:
    cued = {
        vote.kind: vote.weight for vote in cues_around(words, start, end) if vote.weight >= DOUBTFUL
    }
    for kind in kinds:
        if kind in cued:
            yield Vote(kind, KNOWN if cued[kind] >= _CUED else DOUBTFUL, "small")
        elif kind == PERSON:
            yield Vote(kind, GUESSED, "small")
