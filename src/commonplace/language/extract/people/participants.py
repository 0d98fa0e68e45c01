"""Participants of a source: names and addresses, the owner, other first-person speakers.

The owner's profile may have "Ana" where a transcript has "Ana Stein". Such a speaker is the owner
if no other participant matches the name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from commonplace.language.extract.names.gazetteer import (
    COMMON_WORDS,
    GIVEN_NAMES,
    HEBREW_GIVEN_NAMES,
    NON_NAMES,
    kind_suffix_words,
    known_names,
    load_name_table,
)
from commonplace.language.extract.people.entity_resolution import (
    PersonName,
    is_fuller_or_shorter,
    is_same_given_name,
    parse_person_name,
)
from commonplace.language.extract.values import (
    GROUP,
    ORGANIZATION,
    PRODUCT,
    ExtractionInput,
    OwnerIdentity,
)
from commonplace.language.fields.names import SPEAKER_ROLES, fold_name

_NAME_WITH_ADDRESS = re.compile(r"\s*+(?P<name>[^<>]{0,200}?)\s*+<(?P<address>[^<>\s]{3,320})>\s*")
_ADDRESS = re.compile(r"[^\s@<>]{1,64}@[^\s@<>]{1,255}")
_WITHOUT_LETTERS = re.compile(r"[\W\d_]*$")
_NON_PERSON_WORDS = frozenset(load_name_table("no_names")["parts"].split())
_AMBIGUOUS_FAMILY_NAMES = frozenset(load_name_table("organisations")["en"]["also_families"].split())
_MAX_NAME_WORDS = 5


@dataclass(frozen=True, slots=True)
class ParticipantEntry:
    name: str
    address: str = ""


@dataclass(frozen=True, slots=True)
class Participant(ParticipantEntry):
    passages: tuple[int, ...] = ()  # that they wrote or said


def list_participants(source: ExtractionInput) -> tuple[Participant, ...]:
    """Participants without duplicates by name and address; roles and machines are left out."""
    passages_by_participant: dict[tuple[str, str], list[int]] = {}
    for listed in source.participants:
        passages_by_participant.setdefault(_parse_name_and_address(listed), [])
    for passage in source.passages:
        if passage.speaker and not passage.by_machine and not passage.by_owner:
            passages_by_participant.setdefault(_parse_name_and_address(passage.speaker), []).append(
                passage.number
            )
    boxes = {name for name, address in passages_by_participant if _is_a_mailbox(name, address)}
    return tuple(
        Participant(name, address, tuple(passages))
        for (name, address), passages in passages_by_participant.items()
        if is_person_name(name) and name not in boxes
    )


def parse_participant(listed: str) -> ParticipantEntry:
    return ParticipantEntry(*_parse_name_and_address(listed))


def _parse_name_and_address(listed: str) -> tuple[str, str]:
    """A name and an address; one of them may be empty."""
    both = _NAME_WITH_ADDRESS.fullmatch(listed)
    name, address = (both["name"], both["address"]) if both else (listed.strip(), "")
    name = name.strip("\"' ")
    if _ADDRESS.fullmatch(name) and not address:
        name, address = "", name
    return name or _name_from_address(address), address.casefold()


def _name_from_address(address: str) -> str:
    """The name in "dana.levi@…", if its first part is a known given name."""
    parts = [part for part in re.split(r"[._-]", address.partition("@")[0]) if part.isalpha()]
    if parts and fold_name(parts[0]) in GIVEN_NAMES:
        return " ".join(part.capitalize() for part in parts)
    return ""


def is_person_name(name: str) -> bool:
    words = [word for word in map(fold_name, _name_words(name)) if word]
    if not words or len(words) > _MAX_NAME_WORDS:
        return False
    if (
        words[0] in SPEAKER_ROLES | _NON_PERSON_WORDS
        or words[-1] in SPEAKER_ROLES | _NON_PERSON_WORDS
    ):
        return False
    if words[0] not in GIVEN_NAMES and _is_known_thing(words):
        return False
    heads = kind_suffix_words(ORGANIZATION) | kind_suffix_words(GROUP)
    is_family = words[0] in GIVEN_NAMES and words[-1] in _AMBIGUOUS_FAMILY_NAMES
    return len(words) == 1 or words[-1] not in heads or is_family


def _is_known_thing(words: Sequence[str]) -> bool:
    """ "Google Calendar", "LinkedIn": begins with the name of a company or a product."""
    return any(
        kind in (ORGANIZATION, PRODUCT) and is_sure
        for length in range(1, len(words) + 1)
        for kind, is_sure in known_names().get(tuple(words[:length]), ())
    )


def _is_a_mailbox(name: str, address: str) -> bool:
    """ "Wolt <no-reply@wolt.com>" is a mailbox; Noa Stein at info@ is a person."""
    box, first = address.partition("@")[0], fold_name(name).partition(" ")[0]
    return box in _NON_PERSON_WORDS and first not in GIVEN_NAMES


def _name_words(name: str) -> Iterator[str]:
    for word in name.split():
        if not _WITHOUT_LETTERS.fullmatch(word):
            yield word.strip("().,")


_ID_SUFFIX = re.compile(r"(?<=[^\W\d_]{3})[\d_]+$")  # "dana77"


def identify_owner(owner: OwnerIdentity, listed: Iterable[ParticipantEntry]) -> OwnerIdentity:
    """The owner with the names of the participants that are the owner."""
    owner_names = {fold_name(name) for name in (owner.name, *owner.names)}
    addresses = {address.casefold() for address in owner.addresses}
    persons = [one for one in listed if is_person_name(one.name)]
    exactly = [
        one
        for one in persons
        if fold_name(one.name) in owner_names
        or (one.address in addresses and could_write_as(one.name, owner_names))
    ]
    if exactly:
        return replace(
            owner,
            names=owner.names | {one.name for one in exactly},
            addresses=owner.addresses
            | {each.address for each in exactly if _is_owner_address(owner, each)},
        )
    fitting = {
        one.name: parse_person_name(fold_name(one.name))
        for one in persons
        if fold_name(one.name) not in owner.others and not (one.address and addresses)
    }
    names = [
        parse_person_name(key) for each in owner_names if (key := _ID_SUFFIX.sub("", each).strip())
    ]
    found = {name: parts for name, parts in fitting.items() if _fits_fullest_name(parts, names)}
    if any(not is_fuller_or_shorter(a, b) for a, b in combinations(found.values(), 2)):
        return owner  # two participants share the owner's first name: ambiguous
    return replace(owner, names=owner.names | frozenset(found))


def could_write_as(name: str, names: Iterable[str]) -> bool:
    """Whether a person with one of these names may use that name with the same address: a family
    may share one, and Ben is not Maya."""
    first = parse_person_name(fold_name(name)).first
    firsts = [parse_person_name(fold_name(each)).first for each in names if each.strip()]
    return first not in GIVEN_NAMES | HEBREW_GIVEN_NAMES or any(
        is_same_given_name(first, each) for each in firsts
    )


def _is_owner_address(owner: OwnerIdentity, one: ParticipantEntry) -> bool:
    """Whether the address is the owner's, by name: the full name, or the owner's only name if no
    other address of the owner is known."""
    if not one.address or fold_name(one.name) not in {fold_name(name) for name in owner.names}:
        return False
    return " " in one.name or (fold_name(one.name) == fold_name(owner.name) and not owner.addresses)


def _fits_fullest_name(name: PersonName, names: Sequence[PersonName]) -> bool:
    """A person known as Ana Stein is not Ana Brown."""
    fullest = [
        one
        for one in names
        if not any(len(o.parts) > len(one.parts) and is_fuller_or_shorter(o, one) for o in names)
    ]
    return any(is_fuller_or_shorter(name, each) for each in fullest)


_WORD = r"[^\W\d_][\w.'’-]{0,30}"
_NAME = rf"(?P<name>[^\W\d_][\w.'’-]{{1,30}}(?: {_WORD}){{0,2}}?)"
_INDENT = r"^[> \t]{0,8}(?:[-*•]\s{1,4}|\d{1,2}[.)]\s{1,4})?"
_TIMESTAMP = r"[\d./:, -]{4,24}(?:[ap]\.?m\.?)?"
# "Ravi: …", "12/03/2026, 10:03 - Ravi: …", "> **Ravi Rao**: …", "- Ravi: …"
_NAME_BEFORE_LINE = re.compile(
    rf"{_INDENT}(?:[\[(]?{_TIMESTAMP}[\])]?[ –—-]{{0,4}})?"
    rf"\*{{0,2}}{_NAME}(?: \d{{1,2}})?\*{{0,2}} ?:\*{{0,2}} (?P<said>[^\n]*)",
    re.MULTILINE | re.IGNORECASE,
)
# "Ravi  10:03 AM", "Ravi Rao [10:03]", "Ravi — Today at 10:03": the text is on the next lines.
_NAME_ABOVE_LINE = re.compile(
    rf"{_INDENT}{_NAME}(?: [–—|-]|,)?\s{{1,8}}[\[(]?"
    r"(?:(?:today|yesterday|at|היום|אתמול|בשעה|[\d./-]{6,10})[, ]{1,2}){0,3}"
    r"\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]\.?m\.?)?[\])]?[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_PHRASES = load_name_table("letter_phrases")
_LETTER_FROM = re.compile(
    rf"{_INDENT}(?:{_PHRASES['from']}) {_NAME}[^\n:]{{0,30}}:?[ \t]*$"
    rf"|{_INDENT}{_NAME.replace('name', 'writer')} (?:{_PHRASES['wrote']})[^\n:]{{0,30}}:[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_LETTER_TO = re.compile(
    rf"{_INDENT}(?:{_PHRASES['dear']}) {_NAME}[,!:]?[ \t]*$", re.MULTILINE | re.IGNORECASE
)
_LETTER_SIGNATURE = re.compile(
    rf"^[ \t]{{0,8}}(?:{_PHRASES['regards']})(?:,[ \t]*\n?[ \t]*|[ \t]*\n[ \t]*){_NAME}[.!]?\s*\Z",
    re.MULTILINE | re.IGNORECASE,
)
_SPEAKER_ROLES = frozenset(_PHRASES["parts"].split())
_FIRST_PERSON = re.compile(_PHRASES["first_person"], re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _SpeakerLine:
    """The speaker's name before a line, and the line's text."""

    name: str  # folded
    text: str


def has_other_speaker(texts: Iterable[str], owner: Collection[str]) -> bool:
    """Whether the first person is, or may be, not the owner. ``owner``: the owner's names."""
    whole = list(texts)
    me = [parse_person_name(key) for name in owner if (key := fold_name(name).strip())]
    return (
        has_several_speakers(whole)
        or _has_first_person_of_other(whole, me)
        or any(_is_letter_by_other(text, me) for text in whole)
    )


def has_several_speakers(texts: Iterable[str]) -> bool:
    """Whether a speaker's name occurs again after another speaker's."""
    known = (
        line.name.partition(" ")[0] for line in _speaker_lines(texts) if _is_given_name(line.name)
    )
    turns = [one for one, other in pairwise([*known, ""]) if one != other]
    return len(turns) > len(set(turns)) > 1


def _has_first_person_of_other(texts: Iterable[str], me: Collection[PersonName]) -> bool:
    """ "Dana: I live in Haifa", and Dana is not the owner. "Monday: I met Dana" has no speaker. An
    unknown name counts as a speaker if known names occur as well."""
    lines = list(_speaker_lines(texts))
    is_talk = any(_is_given_name(line.name) or _is_owner_name(line.name, me) for line in lines)
    return any(
        _FIRST_PERSON.search(line.text)
        and not _is_owner_name(line.name, me)
        and (_is_speaker_name(line.name) or (is_talk and _may_be_a_name(line.name)))
        for line in lines
    )


def _is_letter_by_other(text: str, me: Collection[PersonName]) -> bool:
    """Whether the letterhead or signature names another person, or the letter is addressed to the
    owner."""
    headed = [each["name"] or each["writer"] for each in _LETTER_FROM.finditer(text)]
    names = [*headed, *(each["name"] for each in _NAME_ABOVE_LINE.finditer(text))]
    if signed := _LETTER_SIGNATURE.search(text):
        names.append(signed["name"])
    if any(
        _is_given_name(fold_name(name)) and not _is_owner_name(fold_name(name), me)
        for name in names
    ):
        return True
    return any(_is_owner_name(fold_name(each["name"]), me) for each in _LETTER_TO.finditer(text))


def _speaker_lines(texts: Iterable[str]) -> Iterator[_SpeakerLine]:
    for text in texts:
        for found in _NAME_BEFORE_LINE.finditer(text):
            yield _SpeakerLine(fold_name(found["name"]), found["said"])


def _is_given_name(name: str) -> bool:
    first = name.partition(" ")[0]
    return (first in GIVEN_NAMES and first not in NON_NAMES) or first in HEBREW_GIVEN_NAMES


def _is_speaker_name(name: str) -> bool:
    """A known name, a full name, or a role in a conversation: "Guest", "Speaker 2"."""
    return _is_given_name(name) or name in _SPEAKER_ROLES or (" " in name and _may_be_a_name(name))


def _may_be_a_name(name: str) -> bool:
    return name.isascii() and not any(
        word in COMMON_WORDS or word in NON_NAMES for word in name.split()
    )


def _is_owner_name(name: str, me: Collection[PersonName]) -> bool:
    parts = parse_person_name(name)
    return bool(parts.parts) and any(is_fuller_or_shorter(parts, each) for each in me)
