"""A message with its recent turns: cue words, and the shape of a follow-up.

ABOUT    "what about sarah?", "and her brother?", "email too?", «ומה עם שרה?», «ויוסי?»
PLACE    "in chicago", "and on Friday?", «ובחיפה?»
WORD     "why?", "with whom?", «למה?»
ACTION   "should I do it?", "is it a good idea?", «כדאי לי לעשות את זה?»
PRONOUN  "where does she live?", "how much did it cost?", «איפה הוא גר?»
WHOLE    anything else
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from commonplace.language.query.question import find_persons
from commonplace.language.text.lexicon import load_patterns
from commonplace.language.text.normalise import fold_case

USER_ROLE = "user"
MAX_MESSAGE_CHARACTERS = 4000  # read for cues; a longer message contains its own text
MAX_RECENT_TURNS = 8  # a follow-up refers to recent turns only
MAX_TURN_CHARACTERS = 2000  # read per turn, from its end


@dataclass(frozen=True, slots=True)
class RecentTurn:
    text: str
    role: str | None = None  # None: unknown speaker

    @property
    def is_from_user(self) -> bool:
        return self.role in (None, USER_ROLE)

    @property
    def asks(self) -> bool:
        return "?" in self.text[-MAX_TURN_CHARACTERS:]


def latest_turns(turns: Sequence[RecentTurn]) -> list[RecentTurn]:
    return [
        RecentTurn(turn.text[-MAX_TURN_CHARACTERS:].strip(), turn.role)
        for turn in turns[-MAX_RECENT_TURNS:]
    ]


def last_user_turn(turns: Iterable[RecentTurn]) -> RecentTurn | None:
    """The user's last turn. If no roles are given, the last question: later turns may be its
    answer."""
    user_turns = [turn for turn in turns if turn.is_from_user]
    if not user_turns:
        return None
    if user_turns[-1].role is None:
        return next((turn for turn in reversed(user_turns) if turn.asks), user_turns[-1])
    return user_turns[-1]


CUE_LANGUAGES = ("en", "he")

_APOSTROPHES = str.maketrans("\u2019\u02bc\u2018\u201c\u201d\u05f4\u05f3", "'''\"\"\"'")
_NEGATED = re.compile(r"\b(ca|wo|\w+)n't\b")
_IRREGULAR = {"ca": "can", "wo": "will"}
_SHORT_IS = re.compile(r"\b(what|how|who|where|when|why|that|it|there|here|he|she)'s\b")
_CONTRACTIONS = {"'m": " am", "'re": " are", "'ve": " have", "'ll": " will", "'d": " would"}
_CONTRACTED = re.compile(r"(?<=\w)(?:'m|'re|'ve|'ll|'d)\b")
_SPACES = re.compile(r"\s+")
_PUNCTUATION = re.compile(r"[.,;!?…—–]+")
# Hebrew writes "and" and "that" as prefix letters.
_EDGES = {"en": (r"(?<![\w'])", r"(?![\w'])"), "he": (r"(?<![\w'])[וש]?", "")}
_ANY_WORDS = r"(?:\S+ ){0,3}"


def plain_message(text: str) -> str:
    """Folded text, contractions expanded, punctuation replaced by spaces."""
    folded = fold_case(text).translate(_APOSTROPHES)
    folded = _NEGATED.sub(lambda m: f"{_IRREGULAR.get(m[1], m[1])} not", folded)
    folded = _CONTRACTED.sub(lambda m: _CONTRACTIONS[m[0]], _SHORT_IS.sub(r"\1 is", folded))
    return _SPACES.sub(" ", _PUNCTUATION.sub(" ", folded)).strip()


def _cue_table() -> Mapping[str, Any]:
    return load_patterns("query/cues")


def reason_text(cue: str) -> str:
    """The text of a reason; stable, so that programs can compare it."""
    sentence: str = _cue_table()["sentences"][cue]
    return sentence


@cache
def cue_words(language: str, name: str) -> frozenset[str]:
    return frozenset(_cue_table()[language]["words"].get(name, "").split())


@cache
def cue_words_of_all_languages(name: str) -> frozenset[str]:
    return frozenset().union(*(cue_words(language, name) for language in CUE_LANGUAGES))


@cache
def cue_patterns(kind: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Cues of a kind (strong, weak, tasks) with their patterns, in all languages."""
    return tuple(
        (cue, _cue_pattern(language, phrases))
        for language in CUE_LANGUAGES
        for cue, phrases in _cue_table()[language][kind].items()
    )


def _cue_pattern(language: str, phrases: list[str]) -> re.Pattern[str]:
    before, after = _EDGES[language]
    written = sorted(map(_phrase_pattern, phrases), key=len, reverse=True)
    return re.compile(f"{before}(?:{'|'.join(written)}){after}")


def _phrase_pattern(phrase: str) -> str:
    """ "how did the … go": allows up to three words between."""
    return _ANY_WORDS.join(re.escape(part.lstrip()) for part in phrase.split("…"))


MAX_FOLLOW_UP_WORDS = 12  # a longer message states its topic
_MAX_FRAGMENT_WORDS = 6

_AND = r"(?:and|but|so|or|also|plus|ok|okay|then|oh)"
_ABOUT = re.compile(rf"(?:{_AND} )*(?:what|how) about (?P<x>.+)", re.IGNORECASE)
_TOO = re.compile(
    rf"(?:{_AND} ){{0,3}}(?P<x>.{{1,120}}?),? (?:too|as well)|(?P<he>.{{1,120}}?),? גם",
    re.IGNORECASE,
)
_ABOUT_HE = re.compile(r"(?:אז |ו|אבל )?מה (?:עם|לגבי|בנוגע ל) ?(?P<x>.+)")
_QUESTION_WORD = re.compile(
    rf"(?:{_AND} )*(?P<x>why|when|where|who|how|how come|how much|how many|how long|how often|"
    r"since when|until when|with whom|with who|who with|to whom|from whom|where to|what for|"
    r"which one|which ones|what else|who else|where else|why not|what time|at what time)",
    re.IGNORECASE,
)
_QUESTION_WORD_HE = re.compile(
    r"ו?(?P<x>למה|מדוע|מתי|איפה|היכן|מי|איך|כמה|ממתי|עד מתי|עם מי|למי|ממי|מאיפה|לאן|מה עוד|מי עוד|"
    r"למה לא|באיזה שעה|באיזו שעה|איזה|איזו)"
)
_ACTION = re.compile(
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


class FollowUpShape(StrEnum):
    WHOLE = "whole"
    ABOUT = "about"
    PLACE = "place"
    WORD = "word"
    ACTION = "deed"
    PRONOUN = "points"


@dataclass(frozen=True, slots=True)
class ShapedMessage:
    """A message's shape; for ABOUT, PLACE and WORD also its topic."""

    shape: FollowUpShape
    part: str = ""


WHOLE_MESSAGE = ShapedMessage(FollowUpShape.WHOLE)


def message_shape(message: str, known: Collection[str] = ()) -> FollowUpShape:
    return read_shape(message, known).shape


def read_shape(message: str, known: Collection[str] = ()) -> ShapedMessage:
    text = strip_ending(message)
    words = plain_message(text).split()
    if not words or len(words) > MAX_FOLLOW_UP_WORDS or "\n" in text:
        return WHOLE_MESSAGE
    for pattern in (_QUESTION_WORD, _QUESTION_WORD_HE):
        if found := pattern.fullmatch(text):
            return ShapedMessage(FollowUpShape.WORD, found["x"])
    for pattern in (_ABOUT, _ABOUT_HE):
        if found := pattern.fullmatch(text):
            return _shape_of_part(found["x"])
    if _is_short_phrase(words) and (found := _TOO.fullmatch(text)):
        return _shape_of_part(found["x"] or found["he"])
    if part := _fragment(text, words, known):
        return _shape_of_part(part)
    if _ACTION.search(plain_message(text)):
        return ShapedMessage(FollowUpShape.ACTION)
    return (
        ShapedMessage(FollowUpShape.PRONOUN)
        if _has_open_pronoun(words, text, known)
        else WHOLE_MESSAGE
    )


def _is_short_phrase(words: list[str]) -> bool:
    """ "email too": a few words without a verb."""
    return len(words) <= _MAX_FRAGMENT_WORDS and not (
        set(words) & cue_words_of_all_languages("sentence")
    )


def strip_ending(message: str) -> str:
    return message.strip().rstrip("?!.… ").strip()


def _shape_of_part(part: str) -> ShapedMessage:
    first = part.lower().split()[0]
    is_place = first in cue_words("en", "place") or _has_place_prefix(part)
    return ShapedMessage(FollowUpShape.PLACE if is_place else FollowUpShape.ABOUT, part)


def _has_place_prefix(part: str) -> bool:
    return re.match(r"ב[א-ת]{3}|ל[א-ת]{4}|מ[א-ת]{4}", part) is not None and not find_persons(part)


_LEADING = re.compile(rf"(?:{_AND} )+", re.IGNORECASE)


def _fragment(text: str, words: list[str], known: Collection[str]) -> str:
    """ "in chicago", "and Tom": a few words without a verb; "" for anything else."""
    if not _is_short_phrase(words):
        return ""
    if text[:1] == "ו" and len(text) > 2:
        return _hebrew_fragment(text[1:], known)
    lead = _LEADING.match(text)
    part = text[lead.end() :] if lead else text
    first = part.lower().split()[0] if part.split() else ""
    if first in cue_words("en", "place") and len(part.split()) > 1:
        return part
    return part if lead and lead[0].lower().startswith(("and", "or", "also", "plus")) else ""


def _hebrew_fragment(part: str, known: Collection[str]) -> str:
    """«ובחיפה», «ויוסי», «והרופא»: "and" is a prefix letter, so the rest must be a word."""
    first = part.split()[0]
    if first in cue_words("he", "question") or len(part.split()) > 4:
        return ""
    named = any(mention.start == 0 for mention in find_persons(part, known))
    return part if named or re.match(r"[בלמה][א-ת]{3}|של ", part) else ""


def _has_open_pronoun(in_order: list[str], text: str, known: Collection[str]) -> bool:
    """Whether a pronoun has no antecedent within the message."""
    words = set(in_order)
    if words & cue_words_of_all_languages("somebody"):
        return not find_persons(text, known)
    if words & cue_words_of_all_languages("something"):
        return not _has_own_thing(in_order)
    return _POINTING.search(" ".join(in_order)) is not None


def _has_own_thing(words: list[str]) -> bool:
    """ "my passport, when does it expire": the antecedent precedes the pronoun."""
    first = next(
        place for place, word in enumerate(words) if word in cue_words_of_all_languages("something")
    )
    return any(word in ("my", "our", "the") for word in words[:first])
