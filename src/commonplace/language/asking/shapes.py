"""What a message leaves to the conversation: nothing, or a part of it. Pure.

ABOUT    "what about sarah?", "and her brother?", «ומה עם שרה?», «ויוסי?»
PLACE    "in chicago", "and on Friday?", «ובחיפה?»
WORD     "why?", "with whom?", «למה?»
DEED     "should I do it?", "is it a good idea?", «כדאי לי לעשות את זה?»
POINTS   "where does she live?", "how much did it cost?", «איפה הוא גר?»
WHOLE    anything else
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from commonplace.language.asking.cues import either, plain, word_set
from commonplace.language.asking.persons import persons_in

MOST_WORDS = 12  # a longer message says what it is about
_FEW = 6

_AND = r"(?:and|but|so|or|also|plus|ok|okay|then|oh)"
_ABOUT = re.compile(rf"(?:{_AND} )*(?:what|how) about (?P<x>.+)", re.IGNORECASE)
_ABOUT_HE = re.compile(r"(?:אז |ו|אבל )?מה (?:עם|לגבי|בנוגע ל) ?(?P<x>.+)")
_WORD = re.compile(
    rf"(?:{_AND} )*(?P<x>why|when|where|who|how|how come|how much|how many|how long|how often|"
    r"since when|until when|with whom|with who|who with|to whom|from whom|where to|what for|"
    r"which one|which ones|what else|who else|where else|why not|what time|at what time)",
    re.IGNORECASE,
)
_WORD_HE = re.compile(
    r"ו?(?P<x>למה|מדוע|מתי|איפה|היכן|מי|איך|כמה|ממתי|עד מתי|עם מי|למי|ממי|מאיפה|לאן|מה עוד|מי עוד|"
    r"למה לא|באיזה שעה|באיזו שעה|איזה|איזו)"
)
_DEED = re.compile(
    r"\b(?:do|did|done|doing|tried|try|decide|decided|regret) (?:it|that|this|so)\b"
    r"|\b(?:is|was|would|be) (?:it|that|this) (?:be )?(?:really )?(?:a )?(?:good|bad|smart|wise|"
    r"mistake|worth|right|wrong|crazy|stupid)\b|\bgo (?:for|through with) (?:it|that)\b"
    r"|לעשות (?:את )?(?:זה|זאת)|עשיתי (?:את )?(?:זה|זאת)|זה (?:רעיון|טעות|שווה|נכון|כדאי)"
)
_POINTING = re.compile(
    r"\b(?:on|with|for|about|of|from|to|pay|like|mean|say|is|was|are) (?:that|this|those|these)"
    r"(?= |$)(?! [a-z]+ (?:is|was|do|does|did)\b)|^(?:and )?(?:is|was|does|did|are) (?:that|this)\b"
    r"|\b(?:me|us|you|him) (?:that|this)$"
)


class Shape(StrEnum):
    WHOLE = "whole"
    ABOUT = "about"
    PLACE = "place"
    WORD = "word"
    DEED = "deed"
    POINTS = "points"


@dataclass(frozen=True, slots=True)
class Read:
    """A message's shape, and for ABOUT, PLACE and WORD the part that says something."""

    shape: Shape
    part: str = ""


WHOLE = Read(Shape.WHOLE)


def shape_of(message: str, known: Collection[str] = ()) -> Shape:
    return read_shape(message, known).shape


def read_shape(message: str, known: Collection[str] = ()) -> Read:
    said = bare(message)
    spoken = plain(said).split()
    if not spoken or len(spoken) > MOST_WORDS or "\n" in said:
        return WHOLE
    for pattern in (_WORD, _WORD_HE):
        if found := pattern.fullmatch(said):
            return Read(Shape.WORD, found["x"])
    for pattern in (_ABOUT, _ABOUT_HE):
        if found := pattern.fullmatch(said):
            return _about(found["x"])
    if part := _fragment(said, spoken, known):
        return _about(part)
    if _DEED.search(plain(said)):
        return Read(Shape.DEED)
    return Read(Shape.POINTS) if _points(spoken, said, known) else WHOLE


def bare(message: str) -> str:
    """Without what ends it."""
    return message.strip().rstrip("?!.… ").strip()


def _about(part: str) -> Read:
    first = part.lower().split()[0]
    is_place = first in word_set("en", "place") or _glued_place(part)
    return Read(Shape.PLACE if is_place else Shape.ABOUT, part)


def _glued_place(part: str) -> bool:
    return re.match(r"ב[א-ת]{3}|ל[א-ת]{4}|מ[א-ת]{4}", part) is not None and not persons_in(part)


_LEADING = re.compile(rf"(?:{_AND} )+", re.IGNORECASE)


def _fragment(said: str, spoken: list[str], known: Collection[str]) -> str:
    """ "in chicago", "and Tom": a few words without a verb; "" if it is none."""
    if len(spoken) > _FEW or set(spoken) & either("sentence"):
        return ""
    if said[:1] == "ו" and len(said) > 2:
        return _hebrew_fragment(said[1:], known)
    lead = _LEADING.match(said)
    part = said[lead.end() :] if lead else said
    first = part.lower().split()[0] if part.split() else ""
    if first in word_set("en", "place") and len(part.split()) > 1:
        return part
    return part if lead and lead[0].lower().startswith(("and", "or", "also", "plus")) else ""


def _hebrew_fragment(part: str, known: Collection[str]) -> str:
    """«ובחיפה», «ויוסי», «והרופא»: "and" is a letter, so what is left must look like a word."""
    first = part.split()[0]
    if first in word_set("he", "question") or len(part.split()) > 4:
        return ""
    named = any(mention.start == 0 for mention in persons_in(part, known))
    return part if named or re.match(r"[בלמה][א-ת]{3}|של ", part) else ""


def _points(spoken: list[str], said: str, known: Collection[str]) -> bool:
    """A pronoun that nothing before it in the message explains."""
    words = set(spoken)
    if words & either("somebody"):
        return not persons_in(said, known)
    if words & either("something"):
        return not _has_own_thing(spoken)
    return _POINTING.search(" ".join(spoken)) is not None


def _has_own_thing(spoken: list[str]) -> bool:
    """ "my passport, when does it expire": the thing stands before the pronoun."""
    first = next(place for place, word in enumerate(spoken) if word in either("something"))
    return any(word in ("my", "our", "the") for word in spoken[:first])
