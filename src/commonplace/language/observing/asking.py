"""What is said to the assistant about its memory and manners: forgetting, rules, identity, jobs.

Patterns are in asking.toml.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from commonplace.language.observing.patterns import Bilingual, any_of, data
from commonplace.language.observing.profile import named_group

_DATA = data("asking")
_WORDS = _DATA["words"]


def _each(name: str) -> tuple[Bilingual, ...]:
    return tuple(any_of([one], _WORDS) for one in _DATA[name])


_FORGET, _SOUL, _HEARSAY = _each("forget"), _each("soul"), _each("hearsay")
_RULE = any_of(_DATA["rule"], _WORDS)
_JOB = any_of(_DATA["job"], _WORDS)
_NO_SPEAKER = any_of(_DATA["no_speaker"], _WORDS)
_INTRODUCTION = 600  # characters in which somebody says who the assistant is
_AFTERTHOUGHT = re.compile(
    r",\s+(?:it|that|he|she|they|הוא|היא|זה|הם)\b.*$|\s+(?:please|בבקשה)\W*$", re.I
)
_POLITE = re.compile(
    r"^(?:(?:please|hey|hi|hello|ok|okay|so|and|also|oh|remember|reminder|important|note|rule|"
    r"בבקשה|נא|תזכור|תזכרי)\b[,:!]*\s+)+(?=\S)",
    re.IGNORECASE,
)


def forget_asked(sentence: str) -> str | None:
    """What the user wants forgotten."""
    found = _first(_FORGET, sentence)
    what = named_group(found, "what") if found else None
    return _AFTERTHOUGHT.sub("", what).strip(" .,!?") if what else None


def rule_given(sentence: str) -> str | None:
    """An instruction for the time to come, without the words that only announce it."""
    if not _RULE.search(sentence) or sentence.rstrip().endswith("?"):
        return None
    said = _POLITE.sub("", sentence).strip()
    return said[:1].upper() + said[1:]


_CALLED = {"what_name": "The agent's name is {}.", "what_name_he": "שמו של הסוכן הוא {}."}
_CALLED["what_name_given"] = _CALLED["what_name"]


def identity_given(turn: str) -> str | None:
    """What the assistant is told to be, when it is told in so many words; a name as a sentence."""
    found = _first(_SOUL, turn[:_INTRODUCTION])
    what = (named_group(found, "what") or "").strip(" ,;)") if found else ""
    if found is None or not what.strip("."):
        return None
    sentence = _CALLED.get(found.lastgroup or "")
    return sentence.format(what.strip(". !")) if sentence else what


def is_finished_job(text: str) -> bool:
    return _JOB.search(text) is not None and not text.rstrip().endswith("?")


@dataclass(frozen=True, slots=True)
class Hearsay:
    who: str
    what: str


def hearsay_in(sentence: str) -> Hearsay | None:
    """What somebody else is said to have said; None without a speaker who has a name."""
    found = _first(_HEARSAY, sentence)
    if found is None:
        return None
    who, what = named_group(found, "who"), named_group(found, "what")
    if who is None or what is None or _NO_SPEAKER.match(who):
        return None
    return Hearsay(who, what.strip(" .,!"))


def _first(patterns: tuple[Bilingual, ...], text: str) -> re.Match[str] | None:
    return next((found for one in patterns if (found := one.match(text))), None)
