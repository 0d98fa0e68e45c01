"""Story questions: "what's happening lately?", "how is the Google job going?".

They ask for a story and not for a fact: for what happened over weeks or months, of everything or of
one thing. The patterns are in story_questions.toml.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from commonplace.language.text.lexicon import load_patterns
from commonplace.language.text.normalise import fold_case

MAX_SUBJECT_WORDS = 6  # a longer rest is a question of its own
_LANGUAGES = ("en", "he")
_SUBJECT = r"(?P<subject>\S+(?: \S+)*?)"
_NO_WORD = re.compile(r"[^\w'\"״׳\s-]+")


@dataclass(frozen=True, slots=True)
class StoryQuestion:
    subject: str  # in lower case; empty: everything

    @property
    def is_of_all(self) -> bool:
        return not self.subject


@dataclass(frozen=True, slots=True)
class _StoryPatterns:
    openers: re.Pattern[str]
    lately: Sequence[re.Pattern[str]]
    going_on: Sequence[re.Pattern[str]]


def parse_story_question(text: str) -> StoryQuestion | None:
    """None: it asks for no story."""
    words = " ".join(_NO_WORD.sub(" ", fold_case(text).replace("’", "'")).split())
    for name in _LANGUAGES:
        patterns = _load_story_patterns(name)
        asked = patterns.openers.sub("", words)
        if any(each.fullmatch(asked) for each in patterns.lately):
            return StoryQuestion("")
        for each in patterns.going_on:
            found = each.fullmatch(asked)
            if found and len(found["subject"].split()) <= MAX_SUBJECT_WORDS:
                return StoryQuestion(found["subject"])
    return None


@cache
def _load_story_patterns(language: str) -> _StoryPatterns:
    table = load_patterns("query/story_questions")[language]
    time = table["time"]

    def compiled(written: str) -> re.Pattern[str]:
        return re.compile(written.replace("{time}", time).replace("{subject}", _SUBJECT))

    return _StoryPatterns(
        re.compile(rf"^(?:(?:{table['openers']}) )+"),
        [compiled(each) for each in table["lately"]],
        [compiled(each) for each in table["going_on"]],
    )
