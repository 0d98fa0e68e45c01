"""Mentions become individuals: one for each person and thing, however they are written."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from commonplace.language.extracting.found import ORGANIZATION, PROJECT
from commonplace.language.extracting.mention import Mention
from commonplace.language.extracting.people import (
    PersonName,
    forms_of,
    fuller_or_shorter,
    initials,
    person_name,
    same_person,
    titles_disagree,
)
from commonplace.language.extracting.vocabulary import PERSON, data, listed

_MOST = 500  # individuals of one source: more is a list, and no telling
_MOST_COMPARED = 20  # people of one name in one source
_PREFIX = 3
_LEGAL = frozenset(listed(data("organisations")["en"]["legal"]))
_SMALL = frozenset(("of", "the", "and", "for", "&", "de"))


@dataclass(slots=True)
class Individual:
    kind: str
    weight: float = 0.0
    spellings: dict[str, int] = field(default_factory=dict)  # as written → how often
    name: PersonName | None = None  # of a person: the fullest
    keys: set[str] = field(default_factory=set)  # of a person: all names, as they are compared
    phrases: dict[str, int] = field(default_factory=dict)  # "my manager", "Tom's boss" → passage
    addresses: tuple[str, ...] = ()
    passages: tuple[int, ...] = ()
    is_owner: bool = False
    seen: int = 0  # when it was last met

    @property
    def name_key(self) -> str:
        return " ".join(self.name.parts) if self.name else ""

    def spelt(self, text: str) -> None:
        self.spellings[text] = self.spellings.get(text, 0) + 1


class Roster:
    """Everybody and everything that has been met in one source."""

    def __init__(self, others: Collection[str] = ()) -> None:
        """``others``: names of people who are known, and not the owner."""
        self._others = others
        self.individuals: list[Individual] = []
        self._people: dict[object, list[int]] = {}
        self._things: dict[tuple[str, str], int] = {}
        self._openings: dict[str, int | None] = {}  # "Brightwell" of "Brightwell Analytics"
        self._letters: dict[str, int] = {}
        self._phrases: dict[str, int] = {}
        self._clock = 0

    @property
    def has_room(self) -> bool:
        return len(self.individuals) < _MOST

    # ——— people ———

    def add_person(self, name: str, key: str, *, certain: float) -> int:
        """One who is known to take part and is not the owner; joined with whoever has the name."""
        number = self.person(key)
        if number is None or self.individuals[number].is_owner:
            number = self._new(Individual(PERSON))
        self.call(number, name, key, certain)
        return number

    def person(self, key: str) -> int | None:
        """Who is meant by a name; nobody who is known yet, where it could be several."""
        name = person_name(key)
        near: set[int] = set()
        for form in _index(name):
            near.update(self._people.get(form, ())[-_MOST_COMPARED:])
        meant = [one for one in near if self._is(one, key, name)]
        called = [one for one in meant if key in self.individuals[one].keys]
        if len(called or meant) == 1:
            return (called or meant)[0]
        return max(called, key=lambda one: self.individuals[one].seen, default=None)

    def _is(self, number: int, key: str, name: PersonName) -> bool:
        one = self.individuals[number]
        if one.name is None or key in one.keys:
            return one.name is not None
        if one.is_owner and key in self._others:
            return False
        if name.title and any(titles_disagree(name, person_name(each)) for each in one.keys):
            return False
        same = fuller_or_shorter if one.is_owner and not one.name.is_full else same_person
        return same(name, one.name)

    def call(self, number: int, written: str, key: str, weight: float) -> None:
        """Note that a person is called so."""
        one, name = self.individuals[number], person_name(key)
        one.spelt(written)
        one.keys.add(key)
        one.weight = max(one.weight, weight)
        self._meet(one)
        if one.name is None or len(name.parts) > len(one.name.parts) or _is_longer(name, one.name):
            one.name = name
        for form in _index(name):
            people = self._people.setdefault(form, [])
            if number not in people[-_MOST_COMPARED:]:
                people.append(number)

    # ——— phrases ———

    def phrase(self, key: str) -> int | None:
        return self._phrases.get(key)

    def call_by_phrase(self, number: int, written: str, passage: int, key: str) -> None:
        one = self.individuals[number]
        if written:
            one.phrases[written] = passage
        self._phrases[key] = number
        self._meet(one)

    # ——— things ———

    def thing(self, kind: str, key: str, doubtful: bool) -> int | None:
        """What is meant by a name; one that says little of its kind may be of any."""
        number = self._things.get((kind, canonical(kind, key)))
        if number is None and kind == ORGANIZATION:
            number = self._letters.get(key.replace(".", ""))
        return self._openings.get(key) if number is None and doubtful else number

    def call_thing(self, number: int, mention: Mention, weight: float) -> None:
        one = self.individuals[number]
        one.spelt(mention.text)
        one.weight = max(one.weight, weight)
        same = canonical(one.kind, mention.key)
        self._things[one.kind, same] = number
        for short in (same, same.split()[0]):
            if self._openings.setdefault(short, number) != number:
                self._openings[short] = None  # "Acme Labs" and "Acme Bank"
        letters = "".join(word[0] for word in mention.key.split() if word not in _SMALL)
        if len(letters) > 1:
            self._letters.setdefault(letters, number)
        self._meet(one)

    def new(self, kind: str) -> int:
        return self._new(Individual(kind))

    def _new(self, one: Individual) -> int:
        self.individuals.append(one)
        return len(self.individuals) - 1

    def _meet(self, one: Individual) -> None:
        self._clock += 1
        one.seen = self._clock


def _is_longer(name: PersonName, known: PersonName) -> bool:
    """ "Sarah Chen" rather than "S. Chen"."""
    return len(name.parts) == len(known.parts) and len(name.first) > len(known.first) == 1


def _index(name: PersonName) -> Iterable[object]:
    """Under what a person is looked up."""
    yield from forms_of(name.first)
    yield name.last
    if len(name.first) >= _PREFIX:
        yield ("begins", name.first[:_PREFIX])


def canonical(kind: str, key: str) -> str:
    """What spellings of one thing share: "Acme Inc" and "Acme", "Project Apollo" and "Apollo"."""
    words = key.split()
    if len(words) > 1 and words[0] == "the":
        words = words[1:]
    if kind == ORGANIZATION and len(words) > 1 and words[-1].strip(".") in _LEGAL:
        words = words[:-1]
    if kind == PROJECT and len(words) > 1:
        words = [word for word in words if word != "project"] or words
    return " ".join(words)


def by_letters(key: str, people: Sequence[Individual]) -> int | None:
    """Whose initials these are, if only one person's."""
    meant = [
        number
        for number, one in enumerate(people)
        if one.name is not None and one.name.is_full and initials(one.name) == key
    ]
    return meant[0] if len(meant) == 1 else None
