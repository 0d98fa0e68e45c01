"""When two names are of one person. Pure.

Parts of a name are its words without titles; the first is the given name, the last the family's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

from commonplace.language.extracting.vocabulary import HEBREW_TITLES, TITLES
from commonplace.language.names import bare

_SHORTEST_NICKNAME = 3
_SHORTEST_STEM = 5  # of the name that a nickname begins


@dataclass(frozen=True, slots=True)
class PersonName:
    parts: tuple[str, ...]  # folded
    title: str = ""

    @property
    def first(self) -> str:
        return self.parts[0]

    @property
    def last(self) -> str:
        return self.parts[-1]

    @property
    def is_full(self) -> bool:
        return len(self.parts) > 1


def person_name(key: str) -> PersonName:
    words = [word for word in key.replace(".", " ").split() if word]
    titles = [word for word in words if word in TITLES or word in HEBREW_TITLES]
    if titles and len(titles) < len(words) and words[0] == titles[0]:
        return PersonName(tuple(words[1:]), words[0])
    return PersonName(tuple(words))


@cache
def _nicknames() -> dict[str, frozenset[str]]:
    """For each form of a name, the full names that it stands for."""
    text = resources.files(__package__).joinpath("nicknames.txt").read_text(encoding="utf-8")
    found: dict[str, set[str]] = {}
    for line in text.splitlines():
        full, *short = line.removeprefix("#").split()
        for form in () if line.startswith("#") else (full, *short):
            found.setdefault(bare(form), set()).add(bare(full))
    return {form: frozenset(names) for form, names in found.items()}


def forms_of(given: str) -> frozenset[str]:
    """What names of one person share: the name itself, and the full names it is short for."""
    return frozenset((given, *_nicknames().get(given, ())))


def same_given(one: str, other: str) -> bool:
    """ "Mike" and "Michael", "S" and "Sarah", "Mel" and "Melanie"; not "Sasha" and "Alex"."""
    if one == other or one in _nicknames().get(other, ()) or other in _nicknames().get(one, ()):
        return True
    short, long = sorted((one, other), key=len)
    if len(short) == 1:
        return long.startswith(short)
    begins = len(short) >= _SHORTEST_NICKNAME and len(long) >= _SHORTEST_STEM
    return begins and long.startswith(short)


def same_person(one: PersonName, other: PersonName) -> bool:
    """Whether two names, of which one may be short, can be of one person."""
    if one.is_full and other.is_full:
        return _same_family(one, other) and same_given(one.first, other.first)
    short, long = (other, one) if one.is_full else (one, other)
    if short.title and long.is_full:
        return short.last == long.last or short.last == long.first
    given = same_given(short.first, long.first) and len(short.first) > 1
    return given or (long.is_full and short.last == long.last)


def fuller_or_shorter(one: PersonName, other: PersonName) -> bool:
    """Of whoever is known for sure, as the owner is: "Ana" and "Ana Stein", "Ana S." too; no
    nickname, and no name that only begins alike (Anabel)."""
    first = one.first == other.first
    if one.is_full and other.is_full:
        return first and _same_family(one, other)
    return first and len(one.first) > 1 and not one.title and not other.title


def _same_family(one: PersonName, other: PersonName) -> bool:
    short, long = sorted((one.last, other.last), key=len)
    return short == long or (len(short) == 1 and long.startswith(short))


_OF_MEN = frozenset(("mr", "sir", "lord", "מר", "אדון"))
_OF_WOMEN = frozenset(("mrs", "ms", "miss", "madam", "mme", "lady", "גברת", "גב"))


def titles_disagree(one: PersonName, other: PersonName) -> bool:
    """Mr. Smith and Mrs. Smith."""
    titles = {one.title, other.title}
    return not titles.isdisjoint(_OF_MEN) and not titles.isdisjoint(_OF_WOMEN)


def initials(name: PersonName) -> str:
    return "".join(part[0] for part in name.parts)
