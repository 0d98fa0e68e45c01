"""The words of a message that a memory can know: names and nouns, no question words, no time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from commonplace.language.query.message import cue_words_of_all_languages
from commonplace.language.text.detect import question_words, time_words
from commonplace.language.text.normalise import fold_case
from commonplace.language.text.terms import analyse

_WORD = re.compile(r"[^\W_]+(?:['’\"״-][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s$")
_ANY_OF_THE_KIND = frozenset(("a", "an", "any", "some"))
_DEFINITE = frozenset(("the", "my", "our", "that", "those"))
_DEFINITE_HEBREW = re.compile(r"ו?ש?ה[א-ת]{3,}")
_SENTENCE_END = re.compile(r"[.!?:\n]\s*$")


@dataclass(frozen=True, slots=True)
class ContentWord:
    written: str
    terms: tuple[str, ...]
    is_name: bool  # with a capital, inside a sentence
    is_definite: bool = False  # a particular one: "the farrier", «ההרכב»
    follows_name: bool = False  # "Wall" in "Berlin Wall"


@dataclass(frozen=True, slots=True)
class KnownWords:
    """What the user's memory knows of a message's content words."""

    content: int = 0  # content words of the message
    in_memory: tuple[str, ...] = ()  # those that one memory holds together, as many as possible
    in_passage: tuple[str, ...] = ()
    names: tuple[str, ...] = ()  # names that occur anywhere
    particular: tuple[str, ...] = ()  # rare words for a particular thing that occur anywhere
    has_other_names: bool = False  # names that occur nowhere, such as "Berlin Wall"

    @property
    def held_together(self) -> tuple[str, ...]:
        return max(self.in_memory, self.in_passage, key=len)

    @property
    def are_asked_for(self) -> bool:
        """Whether a memory or passage holds at least half of the words; if the message names
        somebody who is not known, all of them."""
        held = len(self.held_together)
        return held > 0 and (held if self.has_other_names else 2 * held) >= self.content

    @property
    def are_all_known(self) -> bool:
        return len(self.in_memory) == self.content > 1


NOTHING_KNOWN = KnownWords()


def content_words(message: str) -> list[ContentWord]:
    return list(_iterate_words(message))


def _iterate_words(message: str) -> Iterator[ContentWord]:
    before, after_name = "", False
    for match in _WORD.finditer(message):
        word, previous = _POSSESSIVE.sub("", fold_case(match[0])), before
        before, follows_name, after_name = word, after_name, False
        if previous in _ANY_OF_THE_KIND or _says_nothing(word):
            continue
        if terms := tuple(dict.fromkeys(analyse(word, "en" if word.isascii() else None))):
            is_name = match[0][0].isupper() and _is_inside(message[: match.start()])
            after_name = is_name
            is_definite = previous in _DEFINITE or _DEFINITE_HEBREW.fullmatch(word) is not None
            yield ContentWord(match[0], terms, is_name, is_definite, is_name and follows_name)


def _says_nothing(word: str) -> bool:
    """True for words of any question, of time, and numbers."""
    return (
        word[0].isdigit()
        or any(word in question_words(name) for name in ("everyday", "anything", "chat"))
        or word in time_words()
        or any(word in cue_words_of_all_languages(name) for name in ("question", "sentence"))
    )


def _is_inside(before: str) -> bool:
    return bool(before.strip()) and _SENTENCE_END.search(before) is None
