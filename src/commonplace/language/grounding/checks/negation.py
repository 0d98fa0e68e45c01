"""Whether a text says the opposite of the words that it rests on.

Only what is certain counts: the same word is denied in one of them and asserted in the other, and
the other has no word of denial at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from commonplace.language.text.detect import detect_latin_language
from commonplace.language.text.lexicon import (
    STOP_WORD_LANGUAGES,
    exclusive_words,
    load_patterns,
    negation_words,
)
from commonplace.language.text.normalise import fold_case, split_words
from commonplace.language.text.terms import term_of

_LIKES, _HATES = "likes", "hates"
# Of the groups of words that exclude each other, those that nobody paraphrases.
_EXCLUSIVE = frozenset(("direction", "compass", "colour", "season", "marital"))
_SCOPE = 4  # words after a negation
_SCOPE_BEFORE = 2  # in languages where it follows: "trinkt nicht"
_NEGATED_AFTER = frozenset(("de", "nl"))
# Not inside of a run of marks: a long one would be read again from each of its characters.
_CLAUSE_END = re.compile(r"(?<![,.;:!?…()\n])[,.;:!?…()\n]++(?:\s|$)|\s[–—-]++\s")


@dataclass(frozen=True, slots=True)
class Polarity:
    """The words of a text that it denies and that it asserts, as terms."""

    denied: frozenset[str]
    asserted: frozenset[str]
    has_negation: bool
    has_denial: bool  # of any kind
    feeling: str = ""  # the only one that it has


def is_opposite(text: str, basis: str, ignored: frozenset[str]) -> bool:
    """``ignored``: terms that are no statement, such as names."""
    said, given = polarity_of(text), polarity_of(basis)
    is_plain = not (said.has_negation or given.has_negation)
    if is_plain and (_feels_otherwise(said, given) or _has_other_word(text, basis)):
        return True
    if _denies_an_end(said, given) or _denies_an_end(given, said):
        return True
    if not given.has_denial:
        return bool((said.denied & given.asserted) - given.denied - ignored)
    if not said.has_denial:
        return bool((given.denied & said.asserted) - given.asserted - ignored)
    return False


def _denies_an_end(denying: Polarity, other: Polarity) -> bool:
    """ "I never sold it" and "sold it": both have a word of denial, and yet they differ."""
    if not denying.has_negation or other.has_negation:
        return False
    return bool((denying.denied & other.asserted & _ends()) - denying.asserted)


def _feels_otherwise(said: Polarity, given: Polarity) -> bool:
    return {said.feeling, given.feeling} == {_LIKES, _HATES}


def _has_other_word(text: str, basis: str) -> bool:
    """A word that excludes the one of the basis: "right" for "left"."""
    known = exclusive_words(detect_latin_language(split_words(basis)))
    said, given = (
        {
            (found.group, found.name)
            for word in split_words(each)
            if (found := known.get(word)) and found.group in _EXCLUSIVE
        }
        for each in (text, basis)
    )
    groups = {group for group, _ in given}
    return any(group in groups and (group, name) not in given for group, name in said)


def polarity_of(text: str) -> Polarity:
    denied: set[str] = set()
    asserted: set[str] = set()
    plain = _without_idioms(fold_case(text).replace("’", "'"))
    every = split_words(plain)
    language = detect_latin_language(every)
    has_negation = any(map(_is_negation, every))
    for clause in _CLAUSE_END.split(plain):
        words = split_words(clause)
        scope = _denied_places(words, language)
        for place, word in enumerate(words):
            if _is_negation(word) or word in _listed("stand_ins"):
                continue
            if (term := term_of(word, language)) is not None:
                (denied if place in scope else asserted).add(term)
    denials = _listed("opposite") | _listed(_HATES)
    has_denial = has_negation or _has_one_of(denials, every)
    return Polarity(
        frozenset(denied), frozenset(asserted), has_negation, has_denial, _feeling(every)
    )


def _feeling(words: Sequence[str]) -> str:
    found = [name for name in (_LIKES, _HATES) if _has_one_of(_listed(name), words)]
    return found[0] if len(found) == 1 else ""


def _denied_places(words: Sequence[str], language: str) -> set[int]:
    places: set[int] = set()
    for place, word in enumerate(words):
        if not _is_negation(word):
            continue
        for following in range(place + 1, min(place + 1 + _SCOPE, len(words))):
            if words[following] in _listed("breaks"):
                break
            places.add(following)
        if language in _NEGATED_AFTER:
            places.update(range(max(0, place - _SCOPE_BEFORE), place))
    return places


def is_denial(word: str) -> bool:
    """Whether a word says a denial without a negation: "skips", "closed"."""
    return _has_one_of(_listed("opposite") | _listed(_HATES), (word.casefold(),))


def _has_one_of(listed: frozenset[str], words: Iterable[str]) -> bool:
    """Also with the Hebrew "and" or "that" before it."""
    return any(word in listed or (word[:1] in "וש" and word[1:] in listed) for word in words)


def _is_negation(word: str) -> bool:
    return _has_one_of(_negations(), (word,))


def _without_idioms(plain: str) -> str:
    return _idioms().sub(" ", plain)


@cache
def _idioms() -> re.Pattern[str]:
    listed = sorted(map(fold_case, _table()["idioms"]), key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, listed))})(?!\w)")


@cache
def _negations() -> frozenset[str]:
    every = frozenset().union(*map(negation_words, STOP_WORD_LANGUAGES))
    return every | frozenset(word for word in _table()["turns"].split() if "'" not in word)


@cache
def _ends() -> frozenset[str]:
    """Terms of the words that deny by themselves."""
    listed = _listed("opposite")
    return frozenset(term for word in listed if (term := term_of(word, "en")) is not None)


@cache
def _listed(name: str) -> frozenset[str]:
    return frozenset(_table()[name].split())


@cache
def _table() -> dict[str, str]:
    return load_patterns("grounding/checks/negation")
