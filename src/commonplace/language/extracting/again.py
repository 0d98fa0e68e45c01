"""Where those who are known by now are spoken of again, in words that alone would not show it.

So "sarah" in small letters, a name at a sentence's beginning, and all that machines say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from commonplace.language.extracting.found import Span
from commonplace.language.extracting.individuals import Individual
from commonplace.language.extracting.vocabulary import COMMON, GIVEN, ORDINARY_GIVEN, PERSON
from commonplace.language.extracting.written import Passage, Word, beside
from commonplace.language.names import bare

_LONGEST = 6
_GLUED = "בלמהושכ"
_SHORT = 3  # letters: with one more in front it is mostly another word
_HEADS = frozenset(("חברת", "פרויקט", "ארגון", "עמותת", "אפליקציית", "סטארטאפ"))
_Rows = dict[tuple[str, ...], int]


def spoken_of_again(
    individuals: Sequence[Individual], passages: Iterable[Passage], spans: Iterable[Span]
) -> list[Span]:
    rows = _rows(individuals)
    taken: dict[int, set[int]] = {}
    for span in spans:
        taken.setdefault(span.passage, set()).update(range(span.start, span.end))
    return [
        span
        for passage in passages
        for span in _in_passage(passage, rows, individuals, taken.get(passage.number, set()))
    ]


def _rows(individuals: Sequence[Individual]) -> _Rows:
    """Every spelling as a row of words; a row that several share stands for nobody."""
    owners: dict[tuple[str, ...], set[int]] = {}
    for number, one in enumerate(individuals):
        for spelling in _spellings(one):
            if spelling and len(spelling) <= _LONGEST:
                owners.setdefault(spelling, set()).add(number)
    return {row: numbers.pop() for row, numbers in owners.items() if len(numbers) == 1}


def _spellings(one: Individual) -> Iterator[tuple[str, ...]]:
    for spelling in one.spellings:
        yield tuple(bare(word) for word in spelling.replace(".", " ").split())
        yield _without_head(spelling)
    if one.name is not None:
        yield one.name.parts[:1]
        if one.name.is_full:
            yield one.name.parts[-1:]


def _without_head(spelling: str) -> tuple[str, ...]:
    """«נטעים» of «חברת נטעים»."""
    head, _, name = spelling.partition(" ")
    return (bare(name),) if head in _HEADS and " " not in name else ()


def _in_passage(
    passage: Passage, rows: _Rows, individuals: Sequence[Individual], taken: set[int]
) -> Iterator[Span]:
    words, at = passage.words, 0
    while at < len(words):
        length, number, glued = _longest(words, at, rows, individuals)
        if length:
            start, end = words[at].start + glued, words[at + length - 1].end
            if not taken.intersection(range(start, end)):
                yield Span(passage.number, start, end, number)
        at += max(length, 1)


def _longest(
    words: Sequence[Word], at: int, rows: _Rows, individuals: Sequence[Individual]
) -> tuple[int, int, int]:
    """How many words, who, and how many letters are glued to the first: «מנטעים»."""
    row: tuple[str, ...] = ()
    found = (0, 0, 0)
    for place in range(at, min(len(words), at + _LONGEST)):
        if place > at and not beside(words[place - 1], words[place]):
            break
        row = (*row, words[place].key)
        number = rows.get(row)
        if number is not None and _is_meant(words[at : place + 1], individuals[number]):
            found = (len(row), number, 0)
    bare_key = words[at].key[1:]
    if not found[0] and words[at].hebrew and words[at].key[0] in _GLUED and len(bare_key) > _SHORT:
        number = rows.get((bare_key,))
        if number is not None and individuals[number].kind != PERSON:
            found = (1, number, 1)
    return found


def _is_meant(row: Sequence[Word], one: Individual) -> bool:
    """A word like others needs its capital, and so does the name of a thing."""
    if any(word.hebrew for word in row):
        return True
    capital = any(word.capital for word in row)
    if len(row) > 1:
        return capital or one.kind == PERSON
    word = row[0]
    if word.key in COMMON or word.key in ORDINARY_GIVEN or len(word.key) < 3:
        return word.tells
    return capital or (one.kind == PERSON and word.key in GIVEN)
