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
_SENTENCE_END = re.compile(r"[.!?:\n]\s*$")


@dataclass(frozen=True, slots=True)
class ContentWord:
    written: str
    terms: tuple[str, ...]
    is_name: bool  # with a capital, inside a sentence


@dataclass(frozen=True, slots=True)
class KnownWords:
    """What the user's memory knows of a message's content words."""

    content: int = 0  # content words of the message
    in_memory: tuple[str, ...] = ()  # those that one memory holds together, as many as possible
    in_passage: tuple[str, ...] = ()
    names: tuple[str, ...] = ()  # names that occur anywhere

    @property
    def are_asked_for(self) -> bool:
        """Whether at least half of the words stand in one memory, or all of them in a passage."""
        if self.in_memory and 2 * len(self.in_memory) >= self.content:
            return True
        return bool(self.in_passage) and len(self.in_passage) == self.content

    @property
    def are_all_known(self) -> bool:
        return len(self.in_memory) == self.content > 1


NOTHING_KNOWN = KnownWords()


def content_words(message: str) -> list[ContentWord]:
    return list(_iterate_words(message))


def _iterate_words(message: str) -> Iterator[ContentWord]:
    before = ""
    for match in _WORD.finditer(message):
        word = _POSSESSIVE.sub("", fold_case(match[0]))
        is_any, before = before in _ANY_OF_THE_KIND, word
        if is_any or _says_nothing(word):
            continue
        if terms := tuple(dict.fromkeys(analyse(word, "en" if word.isascii() else None))):
            is_name = match[0][0].isupper() and _is_inside(message[: match.start()])
            yield ContentWord(match[0], terms, is_name)


def _says_nothing(word: str) -> bool:
    """True for words of any question, of time, and numbers."""
    return (
        word[0].isdigit()
        or word in question_words("everyday")
        or word in time_words()
        or word in question_words("anything")
        or any(word in cue_words_of_all_languages(name) for name in ("question", "sentence"))
    )


def _is_inside(before: str) -> bool:
    return bool(before.strip()) and _SENTENCE_END.search(before) is None
