"""Story questions: "what's happening lately?", "how is the Google job going?", "the story of …".

They ask for a story and not for a fact: for what happened over weeks or months, of everything or of
one thing. The patterns are in story_questions.toml.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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
    is_history: bool = False  # how it came about, and not only how it goes now

    @property
    def is_of_all(self) -> bool:
        return not self.subject


@dataclass(frozen=True, slots=True)
class _StoryPatterns:
    openers: re.Pattern[str]
    lately: Sequence[re.Pattern[str]]
    going_on: Sequence[re.Pattern[str]]
    history: Sequence[re.Pattern[str]]
    pronouns: re.Pattern[str]

    def subject(self, asked: str, among: Sequence[re.Pattern[str]]) -> str | None:
        """What a question of these patterns is about; a pronoun names nothing."""
        for each in among:
            found = each.fullmatch(asked)
            if found is None or self.pronouns.fullmatch(found["subject"]):
                continue
            if len(found["subject"].split()) <= MAX_SUBJECT_WORDS:
                return found["subject"]
        return None


def parse_story_question(text: str) -> StoryQuestion | None:
    """None: it asks for no story."""
    words = " ".join(_NO_WORD.sub(" ", fold_case(text).replace("’", "'")).split())
    for name in _LANGUAGES:
        patterns = _load_story_patterns(name)
        asked = patterns.openers.sub("", words)
        if any(each.fullmatch(asked) for each in patterns.lately):
            return StoryQuestion("")
        if subject := patterns.subject(asked, patterns.history):
            return StoryQuestion(subject, is_history=True)
        if subject := patterns.subject(asked, patterns.going_on):
            return StoryQuestion(subject)
    return None


@cache
def _load_story_patterns(language: str) -> _StoryPatterns:
    table = load_patterns("query/story_questions")[language]
    words = {"{time}": table["time"], "{areas}": table["areas"], "{subject}": _SUBJECT}

    def compiled(kind: str) -> list[re.Pattern[str]]:
        return [re.compile(_fill(written, words)) for written in table[kind]]

    return _StoryPatterns(
        openers=re.compile(rf"^(?:(?:{table['openers']}) )+"),
        lately=compiled("lately"),
        going_on=compiled("going_on"),
        history=compiled("history"),
        pronouns=re.compile(table["pronouns"]),
    )


def _fill(written: str, words: Mapping[str, str]) -> str:
    for name, expression in words.items():
        written = written.replace(name, expression)
    return written
