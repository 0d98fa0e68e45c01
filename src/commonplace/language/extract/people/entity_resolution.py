"""Entity resolution in one source: spellings of one person or thing become one node.

The parts of a person's name exclude titles; the first is the given name, the last the family name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

from commonplace.language.extract.names.gazetteer import (
    HEBREW_TITLES,
    PERSON,
    TITLES,
    load_name_table,
    split_list,
)
from commonplace.language.extract.names.words import EntityMention
from commonplace.language.extract.values import (
    ORGANIZATION,
    PROJECT,
    FoundNode,
    OwnerIdentity,
    TextLocation,
)
from commonplace.language.fields.names import fold_name
from commonplace.model.graph.types import NodeType

_MIN_NICKNAME_LETTERS = 3
_MIN_STEM_LETTERS = 5  # minimum length of a name that a nickname abbreviates


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


def parse_person_name(key: str) -> PersonName:
    words = [word for word in key.replace(".", " ").split() if word]
    titles = [word for word in words if word in TITLES or word in HEBREW_TITLES]
    if titles and len(titles) < len(words) and words[0] == titles[0]:
        return PersonName(tuple(words[1:]), words[0])
    return PersonName(tuple(words))


@cache
def _load_nicknames() -> dict[str, frozenset[str]]:
    """Full names by each of their short forms."""
    text = resources.files(__package__).joinpath("nicknames.txt").read_text(encoding="utf-8")
    found: dict[str, set[str]] = {}
    for line in text.splitlines():
        full, *short = line.removeprefix("#").split()
        for form in () if line.startswith("#") else (full, *short):
            found.setdefault(fold_name(form), set()).add(fold_name(full))
    return {form: frozenset(names) for form, names in found.items()}


def given_name_forms(given: str) -> frozenset[str]:
    """The name itself and the full names it may abbreviate; forms of one name share an element."""
    return frozenset((given, *_load_nicknames().get(given, ())))


def is_same_given_name(one: str, other: str) -> bool:
    """ "Mike" and "Michael", "S" and "Sarah", "Mel" and "Melanie"; not "Sasha" and "Alex"."""
    if (
        one == other
        or one in _load_nicknames().get(other, ())
        or other in _load_nicknames().get(one, ())
    ):
        return True
    short, long = sorted((one, other), key=len)
    if len(short) == 1:
        return long.startswith(short)
    begins = len(short) >= _MIN_NICKNAME_LETTERS and len(long) >= _MIN_STEM_LETTERS
    return begins and long.startswith(short)


def is_same_person(one: PersonName, other: PersonName) -> bool:
    """Whether two names, one of them possibly short, can belong to one person."""
    if one.is_full and other.is_full:
        return _is_same_family_name(one, other) and is_same_given_name(one.first, other.first)
    short, long = (other, one) if one.is_full else (one, other)
    if short.title and long.is_full:
        return short.last == long.last or short.last == long.first
    given = is_same_given_name(short.first, long.first) and len(short.first) > 1
    return given or (long.is_full and short.last == long.last)


def is_fuller_or_shorter(one: PersonName, other: PersonName) -> bool:
    """For a known person, such as the owner: "Ana", "Ana S." and "Ana Stein" match; nicknames and
    names with a common prefix (Anabel) do not."""
    first = one.first == other.first
    if one.is_full and other.is_full:
        return first and _is_same_family_name(one, other)
    return first and len(one.first) > 1 and not one.title and not other.title


def _is_same_family_name(one: PersonName, other: PersonName) -> bool:
    short, long = sorted((one.last, other.last), key=len)
    return short == long or (len(short) == 1 and long.startswith(short))


_MALE_TITLES = frozenset(("mr", "sir", "lord", "מר", "אדון"))
_FEMALE_TITLES = frozenset(("mrs", "ms", "miss", "madam", "mme", "lady", "גברת", "גב"))


def have_conflicting_titles(one: PersonName, other: PersonName) -> bool:
    """Mr. Smith and Mrs. Smith."""
    titles = {one.title, other.title}
    return not titles.isdisjoint(_MALE_TITLES) and not titles.isdisjoint(_FEMALE_TITLES)


def initials(name: PersonName) -> str:
    return "".join(part[0] for part in name.parts)


_MAX_INDIVIDUALS = 500  # per source: more is a list, not prose
_MAX_COMPARED = 20  # people of the same name in one source
_PREFIX_LENGTH = 3
_LEGAL_FORMS = frozenset(split_list(load_name_table("organisations")["en"]["legal"]))
_SMALL_WORDS = frozenset(("of", "the", "and", "for", "&", "de"))


@dataclass(slots=True)
class Individual:
    kind: str
    weight: float = 0.0
    spellings: dict[str, int] = field(default_factory=dict)  # as written → count
    name: PersonName | None = None  # of a person: the fullest name
    keys: set[str] = field(default_factory=set)  # of a person: all names as match keys
    phrases: dict[str, int] = field(default_factory=dict)  # "my manager", "Tom's boss" → passage
    addresses: tuple[str, ...] = ()
    passages: tuple[int, ...] = ()
    is_owner: bool = False
    seen: int = 0  # when it was last mentioned

    @property
    def name_key(self) -> str:
        return " ".join(self.name.parts) if self.name else ""

    def add_spelling(self, text: str) -> None:
        self.spellings[text] = self.spellings.get(text, 0) + 1


class IndividualIndex:
    """All individuals of one source."""

    def __init__(self, others: Collection[str] = ()) -> None:
        """``others``: names of known people who are not the owner."""
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
        return len(self.individuals) < _MAX_INDIVIDUALS

    # ——— people ———

    def add_person(self, name: str, key: str, *, certain: float) -> int:
        """Add a participant other than the owner; merged with an individual of the same name."""
        number = self.person(key)
        if number is None or self.individuals[number].is_owner:
            number = self._new(Individual(PERSON))
        self.call(number, name, key, certain)
        return number

    def person(self, key: str) -> int | None:
        """The person a name refers to, the latest of equal names; None if unknown or ambiguous."""
        name = parse_person_name(key)
        nearby: set[int] = set()
        for form in _index_keys(name):
            nearby.update(self._people.get(form, ())[-_MAX_COMPARED:])
        matching = [one for one in nearby if self._is(one, key, name)]
        exact = [one for one in matching if key in self.individuals[one].keys]
        if len(exact or matching) == 1:
            return (exact or matching)[0]
        return max(exact, key=lambda one: self.individuals[one].seen, default=None)

    def _is(self, number: int, key: str, name: PersonName) -> bool:
        one = self.individuals[number]
        if one.name is None or key in one.keys:
            return one.name is not None
        if one.is_owner and key in self._others:
            return False
        if name.title and any(
            have_conflicting_titles(name, parse_person_name(each)) for each in one.keys
        ):
            return False
        same = is_fuller_or_shorter if one.is_owner and not one.name.is_full else is_same_person
        return same(name, one.name)

    def call(self, number: int, written: str, key: str, weight: float) -> None:
        """Add a name to a person."""
        one, name = self.individuals[number], parse_person_name(key)
        one.add_spelling(written)
        one.keys.add(key)
        one.weight = max(one.weight, weight)
        self._meet(one)
        if (
            one.name is None
            or len(name.parts) > len(one.name.parts)
            or _is_less_abbreviated(name, one.name)
        ):
            one.name = name
        for form in _index_keys(name):
            people = self._people.setdefault(form, [])
            if number not in people[-_MAX_COMPARED:]:
                people.append(number)

    # ——— phrases ———

    def phrase(self, key: str) -> int | None:
        return self._phrases.get(key)

    def add_phrase(self, number: int, written: str, passage: int, key: str) -> None:
        one = self.individuals[number]
        if written:
            one.phrases[written] = passage
        self._phrases[key] = number
        self._meet(one)

    # ——— things ———

    def thing(self, kind: str, key: str, doubtful: bool) -> int | None:
        """The thing a name refers to; a doubtful kind matches any kind."""
        number = self._things.get((kind, canonical_name(kind, key)))
        if number is None and kind == ORGANIZATION:
            number = self._letters.get(key.replace(".", ""))
        return self._openings.get(key) if number is None and doubtful else number

    def add_thing_name(self, number: int, mention: EntityMention, weight: float) -> None:
        one = self.individuals[number]
        one.add_spelling(mention.text)
        one.weight = max(one.weight, weight)
        same = canonical_name(one.kind, mention.key)
        self._things[one.kind, same] = number
        for short in (same, same.split()[0]):
            if self._openings.setdefault(short, number) != number:
                self._openings[short] = None  # "Acme Labs" and "Acme Bank"
        letters = "".join(word[0] for word in mention.key.split() if word not in _SMALL_WORDS)
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


def _is_less_abbreviated(name: PersonName, known: PersonName) -> bool:
    """ "Sarah Chen" rather than "S. Chen"."""
    return len(name.parts) == len(known.parts) and len(name.first) > len(known.first) == 1


def _index_keys(name: PersonName) -> Iterable[object]:
    """Lookup keys of a person."""
    yield from given_name_forms(name.first)
    yield name.last
    if len(name.first) >= _PREFIX_LENGTH:
        yield ("begins", name.first[:_PREFIX_LENGTH])


def canonical_name(kind: str, key: str) -> str:
    """A key that spellings of one thing share: "Acme Inc" and "Acme", "Project Apollo" and
    "Apollo"."""
    words = key.split()
    if len(words) > 1 and words[0] == "the":
        words = words[1:]
    if kind == ORGANIZATION and len(words) > 1 and words[-1].strip(".") in _LEGAL_FORMS:
        words = words[:-1]
    if kind == PROJECT and len(words) > 1:
        words = [word for word in words if word != "project"] or words
    return " ".join(words)


def find_by_initials(key: str, people: Sequence[Individual]) -> int | None:
    """The only person with these initials, if any."""
    matching = [
        number
        for number, one in enumerate(people)
        if one.name is not None and one.name.is_full and initials(one.name) == key
    ]
    return matching[0] if len(matching) == 1 else None


_MAX_ALIASES = 12


def build_node(
    one: Individual, owner: OwnerIdentity, mentions: Iterable[TextLocation]
) -> FoundNode:
    places = tuple(mentions)
    spellings = [*sorted(one.spellings, key=lambda each: _spelling_rank(one, each)), *one.phrases]
    name = owner.name if one.is_owner else _display_name(one, spellings[0])
    aliases = {each.casefold(): each for each in reversed(spellings)}
    aliases.pop(name.casefold(), None)
    return FoundNode(
        type=NodeType.PERSON if one.kind == PERSON else NodeType.ENTITY,
        name=name,
        subtype="" if one.kind == PERSON else one.kind,
        aliases=tuple(reversed(aliases.values()))[:_MAX_ALIASES],
        addresses=tuple(filter(None, one.addresses)),
        confidence=one.weight,
        passages=tuple(sorted({each.passage for each in places})) or one.passages[:1],
        places=places,
        is_owner=one.is_owner,
    )


def _spelling_rank(one: Individual, spelling: str) -> tuple[bool, int, bool, int]:
    """Order of spellings: persons by the fullest name, things by frequency."""
    is_uppercase = spelling.isupper() and len(spelling) > 4
    if one.kind != PERSON:
        return spelling.islower(), -one.spellings[spelling], is_uppercase, 0
    name = parse_person_name(fold_name(spelling))
    initials = sum(len(part) == 1 for part in name.parts)
    return spelling.islower(), initials - len(name.parts), is_uppercase, -len(spelling)


def _display_name(one: Individual, spelling: str) -> str:
    """ "sarah" in a chat becomes Sarah; a full name drops its title; a phrase is unchanged."""
    name = parse_person_name(fold_name(spelling))
    if one.kind == PERSON and name.title and name.is_full and one.spellings:
        return spelling.split(maxsplit=1)[1]
    if one.kind == PERSON and one.spellings and spelling.islower() and spelling.isascii():
        return spelling.title()
    return spelling
