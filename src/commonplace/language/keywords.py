"""Readable tags for a text: its own most frequent words."""

from dataclasses import dataclass

from commonplace.language.analyse import bigrams, term_of
from commonplace.language.detect import Script, latin_language, script_of_letter
from commonplace.language.stopwords import LANGUAGES, negations
from commonplace.language.words import is_cjk, words

_NEGATIONS = frozenset().union(*map(negations, LANGUAGES))


@dataclass
class _Tally:
    """What is known of one term while counting."""

    label: str
    count: int = 0


def keywords(text: str, limit: int = 5) -> tuple[str, ...]:
    """The most frequent telling words, the earlier one first when equally frequent.

    Forms of one word count together and show as the shortest form the text uses.
    """
    if limit < 0:
        raise ValueError(f"limit must not be negative, not {limit}")
    tallies: dict[str, _Tally] = {}
    for term, label in _labelled_terms(text):
        tally = tallies.setdefault(term, _Tally(label))
        tally.count += 1
        tally.label = min(tally.label, label, key=len)
    ranked = sorted(tallies.values(), key=lambda tally: -tally.count)
    return tuple(tally.label for tally in ranked[:limit])


def _labelled_terms(text: str) -> list[tuple[str, str]]:
    """Each telling word as (term to count by, form to show)."""
    found = words(text)
    latin = latin_language(found)
    labelled: list[tuple[str, str]] = []
    for word in found:
        if is_cjk(word):
            labelled.extend((pair, pair) for pair in bigrams(word) if len(pair) == 2)
        elif _is_telling(word):
            term = term_of(word, latin)
            if term is not None and term not in _NEGATIONS:
                labelled.append((term, word))
    return labelled


def _is_telling(word: str) -> bool:
    if not any(character.isalpha() for character in word):
        return False
    shortest = 2 if script_of_letter(word[0]) is Script.HEBREW else 3
    return len(word) >= shortest and word not in _NEGATIONS
