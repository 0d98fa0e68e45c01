"""What a text is like besides its words: does it ask, name a number, a time, a name; its script.

One small number, kept beside the terms, so that ranking needs no text to know whether a passage
could answer "when …", "how many …" or "who …".
"""

from __future__ import annotations

import re
from enum import IntFlag
from functools import cache

from commonplace.language.detect import Script, script
from commonplace.language.statements.lexicon import data, plain_word
from commonplace.language.wordlists import word_lists
from commonplace.language.words import words


class Trait(IntFlag):
    KNOWN = 1  # traits were looked at: a text of an older version has none
    ASKS = 2
    NUMBER = 4
    TIME = 8
    NAME = 16
    WONDERS = 32  # asks something on the way


SCRIPT_SHIFT = 8
_SCRIPTS = tuple(Script)

_QUESTION_END = re.compile(r"[?؟]\W*(?:\[[^\[\]]*\])?\W*$")  # before an aside in brackets, too
_QUESTION = re.compile(r"[?؟](?:\s|$|[\"'”’)])")
_DIGIT = re.compile(r"\d")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_CLOCK = re.compile(r"\b\d{1,2}(?::\d\d|\s?[ap]\.?m\b)", re.IGNORECASE)
# A capital after a word in small letters, or something quoted.
_CAPITAL_INSIDE = re.compile(r"(?<=[a-zß-ÿа-яё0-9,;:] )[A-ZÀ-ÞА-ЯЁ][\w'’]+")
_QUOTED = re.compile(r"[\"“«„][^\"”»“]{2,80}[\"”»“]")
_OF_ENGLISH_I = re.compile(r"^I(?:['’]\w+)?$")


def traits_of(text: str) -> int:
    found = Trait.KNOWN
    spoken = set(words(text))
    if _QUESTION.search(text):
        found |= Trait.WONDERS
    if _QUESTION_END.search(text):
        found |= Trait.ASKS
    if _DIGIT.search(text) or spoken & listed("number"):
        found |= Trait.NUMBER
    if spoken & time_words() or _YEAR.search(text) or _CLOCK.search(text):
        found |= Trait.TIME
    if _names_something(text):
        found |= Trait.NAME
    return int(found) | (_SCRIPTS.index(script(text)) << SCRIPT_SHIFT)


def script_codes(readable: frozenset[Script]) -> list[int]:
    """How these scripts are written in a traits' upper part."""
    return [place for place, each in enumerate(_SCRIPTS) if each in readable]


def _names_something(text: str) -> bool:
    if _QUOTED.search(text):
        return True
    return any(not _OF_ENGLISH_I.match(word) for word in _CAPITAL_INSIDE.findall(text))


@cache
def listed(what: str) -> frozenset[str]:
    """A list of questions.txt, of all languages together."""
    lists = word_lists("questions.txt")
    return frozenset().union(*(lists[name] for name in lists if name.split()[1] == what))


@cache
def time_words() -> frozenset[str]:
    named = {word for numbered in months().values() for word in numbered} | set(weekdays())
    return listed("time") | (named - ambiguous_months())


@cache
def months() -> dict[int, frozenset[str]]:
    """The names of each month, 1 to 12, in every language that is known."""
    found: dict[int, set[str]] = {number: set() for number in range(1, 13)}
    for table in data("calendar").values():
        for number, forms in enumerate(table.get("months", "").split(), 1):
            found[number] |= {plain_word(form) for form in forms.split("|")}
    return {number: frozenset(forms) for number, forms in found.items()}


@cache
def weekdays() -> frozenset[str]:
    return frozenset(
        plain_word(form)
        for table in data("calendar").values()
        for forms in table.get("days", "").split()
        for form in forms.split("|")
    )


@cache
def ambiguous_months() -> frozenset[str]:
    """Words that are months or days only with a capital: may, march, sun."""
    return frozenset(map(plain_word, data("calendar")["words"]["ambiguous"].split()))
