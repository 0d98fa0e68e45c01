"""Which phrase stands for whom: "my manager, Dana", "my sister Noa", "Dana is my manager"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from commonplace.language.extracting.mention import Mention
from commonplace.language.extracting.table import not_told
from commonplace.language.extracting.unnamed import words_for

_BEFORE_A_NAME = re.compile(
    r"(?: there| here| at work| now)?,? |'s (?:called|named) |'s name is "
    r"|(?: is|,) (?:named|called) | will be | was |'s "
    r"|[^.;!?]{0,60}[,;] (?:her|his) name(?:'s| is) "  # "my aunt is here, her name is Ruth"
    r"| is (?:still |now |actually )?| \(|: | קוראים ל| שמה | היא | הוא | יהיה | תהיה |, "
)
_AFTER_A_NAME = re.compile(r", | is |'s | \(|, who is | היא | הוא ")
_CLOSED = re.compile(r"\s*(?:$|[,.;:)!?\n—–])| (?:from|at) ")
_IS = re.compile(r" is |'s | היא | הוא ")
_OWNS = re.compile(r"['’]s [a-z]")
DENIED = re.compile(
    r"(?:\b(?:not|never|no longer)|n['’]t)\s+(?:really |actually |truly )?$", re.IGNORECASE
)
_ASKED = re.compile(r"(?:^|[.!?\n]\s*)(?:[Ii]s|[Ww]as)(?:n['’]t)?(?: [A-Z]\w*){1,3} $")
_NEAR, _SAID_WITH = 80, 300  # characters that are looked at
_SENTENCE = re.compile(r"[.!?;:\n]\s")


def is_denied(text: str, phrase: Mention) -> bool:
    """ "Gil is not my friend", "is Dan my brother?": it is nobody there. (Of "I don't like my
    manager" it is somebody.)"""
    near = max(0, phrase.start - _NEAR)
    denied = DENIED.search(text, near, phrase.start) or _ASKED.search(text, near, phrase.start)
    return denied is not None


def same_as(text: str, mentions: Sequence[Mention]) -> Iterator[tuple[Mention, Mention]]:
    """Pairs of a phrase and the name that it stands for; mentions in the text's order."""
    outermost = list(_outermost(mentions))
    starts = {each.start for each in outermost}
    for one, other in pairwise(outermost):
        if one.phrase == other.phrase or _is_one_of_two(text, one, other):
            continue
        between = text[one.end : other.start]
        if _IS.fullmatch(between) and not _is_stated(text, one.start, other.end):
            continue
        if _IS.fullmatch(between) and _OWNS.match(text, other.end):
            continue  # "my sister is Dana's friend"
        if one.phrase and _BEFORE_A_NAME.fullmatch(between):
            if not between.startswith(",") or _CLOSED.match(text, other.end):
                yield one, other
        elif other.end + 1 in starts:
            continue  # "Tom is my sister Shira's husband"
        elif other.phrase and _AFTER_A_NAME.fullmatch(between):
            listed = text[: one.start].endswith((", ", "and "))
            closed = _CLOSED.match(text, other.end) and not (between == ", " and listed)
            if closed or _IS.fullmatch(between):
                yield other, one


def _is_one_of_two(text: str, one: Mention, other: Mention) -> bool:
    """ "Tom or Luca is my boss": nobody knows which."""
    return text.endswith((" or ", " או "), 0, one.start) or text.startswith(
        (" or ", " או "), other.end
    )


def _is_stated(text: str, start: int, end: int) -> bool:
    """Not "it is not true that Dan is my brother", "I wish Dan was", nor a question."""
    before, after = text[max(0, start - _SAID_WITH) : start], text[end : end + _SAID_WITH]
    ends = _SENTENCE.search(after)
    is_question = after[: ends.end() if ends else None].rstrip().endswith("?")
    return not is_question and not not_told().search(_SENTENCE.split(before)[-1])


def _outermost(mentions: Sequence[Mention]) -> Iterator[Mention]:
    """Without the names inside phrases: of "Dana's husband Tom" the phrase and Tom."""
    reached = 0
    for each in mentions:
        if each.start >= reached:
            yield each
        reached = max(reached, each.end)


def says_who(phrase: Mention) -> bool:
    """Whether it can stand for one person alone: people have many friends."""
    return words_for("many").isdisjoint(phrase.key.split())
