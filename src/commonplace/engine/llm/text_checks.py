"""Texts that a model wrote, checked against the texts that it was given. Pure.

Each name and each number of a text must be in what was given. It must also comply with the writing
policy, and hold neither secrets nor anything that reads like instructions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from commonplace.language.fields.writing_policy import check_writing, speaks_of_itself
from commonplace.language.grounding.checks.names import name_words, unknown_names
from commonplace.language.grounding.checks.numbers import TextNumbers, numbers_of, unknown_numbers
from commonplace.language.safety.plain_line import plain_line
from commonplace.language.safety.secrets import find_secrets
from commonplace.language.text.detect import detect_language
from commonplace.language.text.normalise import fold
from commonplace.language.text.sentences import split_sentences
from commonplace.language.text.terms import analyse
from commonplace.model.memory.kinds import Kind

MAX_KEYWORD, MAX_TAG = 60, 40  # characters
_ALWAYS = frozenset(("question", "context", "neutral"))  # rules that hold for every text


@dataclass(frozen=True, slots=True)
class TextStyle:
    max_characters: int
    min_sentences: int
    max_sentences: int
    has_pronouns: bool = True  # whether "she" and "it" may stand in it


SUMMARY = TextStyle(280, 1, 2)
DESCRIPTION = TextStyle(280, 1, 2)
INSIGHT = TextStyle(280, 1, 2, has_pronouns=False)
STORYLINE = TextStyle(600, 2, 3)
MACRO = TextStyle(900, 3, 4)
TITLE = TextStyle(80, 1, 1)


@dataclass(frozen=True)
class GivenTexts:
    """What a model was given, as data."""

    texts: Sequence[str]
    days: frozenset[date] = frozenset()  # of the texts: "in March" may stand for one of them

    @cached_property
    def whole(self) -> str:
        return "\n".join(self.texts)

    @cached_property
    def names(self) -> frozenset[str]:
        return name_words(self.whole).union(*(name_words(f"{day:%B %A}") for day in self.days))

    @cached_property
    def compact(self) -> str:
        return "".join(fold(self.whole).split())

    @cached_property
    def terms(self) -> frozenset[str]:
        return frozenset(analyse(self.whole))

    @cached_property
    def numbers(self) -> tuple[TextNumbers, ...]:
        return tuple(numbers_of(text, detect_language(text)) for text in self.texts)

    def has_all_of(self, text: str) -> bool:
        """Whether its names and numbers are given."""
        language = detect_language(text)
        if unknown_names(text, language, self.names, self.compact):
            return False
        latest = max(self.days, default=date.min)
        return not unknown_numbers(text, language, self.numbers, self.days, latest)


def ground_text(text: object, given: GivenTexts, style: TextStyle) -> str | None:
    """The text as one line; None if it fails a check."""
    line = plain_line(text, style.max_characters)
    if line is None or any(find_secrets(line)):
        return None
    if not style.min_sentences <= len(split_sentences(line)) <= style.max_sentences:
        return None
    if speaks_of_itself(line) or not _is_well_written(line, style):
        return None
    return line if given.has_all_of(line) else None


def _is_well_written(text: str, style: TextStyle) -> bool:
    broken = {remark.code for remark in check_writing(Kind.INSIGHT, text)}
    return broken.isdisjoint(_ALWAYS if style.has_pronouns else _ALWAYS | {"pronoun"})


def ground_title(text: object, given: GivenTexts) -> str | None:
    line = plain_line(text, TITLE.max_characters)
    if line is None or any(find_secrets(line)) or speaks_of_itself(line):
        return None
    return line if given.has_all_of(line) else None


def ground_keywords(listed: object, given: GivenTexts, most: int) -> tuple[str, ...]:
    """Those whose words are all given."""
    return _distinct(
        (word for word in _words(listed, MAX_KEYWORD) if given.terms.issuperset(analyse(word))),
        most,
    )


def ground_tags(listed: object, given: GivenTexts, most: int) -> tuple[str, ...]:
    """Topics may be in words that nobody said, but name nothing that was not given."""
    return _distinct(
        (word.casefold() for word in _words(listed, MAX_TAG) if given.has_all_of(word)), most
    )


def _words(listed: object, longest: int) -> Iterator[str]:
    if isinstance(listed, list | tuple):
        for each in listed:
            word = plain_line(each, longest)
            if word is not None and not any(find_secrets(word)):
                yield word


def _distinct(words: Iterator[str], most: int) -> tuple[str, ...]:
    """The first of those with the same terms."""
    found: dict[tuple[str, ...], str] = {}
    for word in words:
        found.setdefault(tuple(analyse(word)), word)
    return tuple(found.values())[:most]
