"""Those who take part in a source: speakers, and participants as they are listed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from commonplace.language.extracting.found import GROUP, ORGANIZATION, PRODUCT, Account
from commonplace.language.extracting.vocabulary import GIVEN, data, gazetteer, last_words
from commonplace.language.names import ROLES, bare

_LISTED = re.compile(r"\s*(?P<name>[^<>]{0,200}?)\s*<(?P<address>[^<>\s]{3,320})>\s*")
_ADDRESS = re.compile(r"[^\s@<>]{1,64}@[^\s@<>]{1,255}")
_NUMBERED = re.compile(r"[\W\d_]*$")
_NOBODY = frozenset(data("no_names")["parts"].split())
_ALSO_FAMILIES = frozenset(data("organisations")["en"]["also_families"].split())
_MOST_WORDS = 5


@dataclass(frozen=True, slots=True)
class Listed:
    name: str
    address: str = ""


@dataclass(frozen=True, slots=True)
class TakesPart(Listed):
    passages: tuple[int, ...] = ()  # that they said


def taking_part(account: Account) -> tuple[TakesPart, ...]:
    """Each one once by name and address; roles and machines are nobody."""
    said: dict[tuple[str, str], list[int]] = {}
    for listed in account.participants:
        said.setdefault(_both(listed), [])
    for passage in account.said:
        if passage.speaker and not passage.by_machine and not passage.by_owner:
            said.setdefault(_both(passage.speaker), []).append(passage.number)
    boxes = {name for name, address in said if _is_a_mailbox(name, address)}
    return tuple(
        TakesPart(name, address, tuple(passages))
        for (name, address), passages in said.items()
        if is_person(name) and name not in boxes
    )


def as_listed(listed: str) -> Listed:
    return Listed(*_both(listed))


def _both(listed: str) -> tuple[str, str]:
    """A name and an address, of which one may be missing."""
    both = _LISTED.fullmatch(listed)
    name, address = (both["name"], both["address"]) if both else (listed.strip(), "")
    name = name.strip("\"' ")
    if _ADDRESS.fullmatch(name) and not address:
        name, address = "", name
    return name or _from_address(address), address.casefold()


def _from_address(address: str) -> str:
    """ "dana.levi@…" says a name, where the first part of it is one."""
    parts = [part for part in re.split(r"[._-]", address.partition("@")[0]) if part.isalpha()]
    if parts and bare(parts[0]) in GIVEN:
        return " ".join(part.capitalize() for part in parts)
    return ""


def is_person(name: str) -> bool:
    words = [word for word in map(bare, _words(name)) if word]
    if not words or len(words) > _MOST_WORDS:
        return False
    if words[0] in ROLES | _NOBODY or words[-1] in ROLES | _NOBODY:
        return False
    if words[0] not in GIVEN and _is_known_thing(words):
        return False
    heads = last_words(ORGANIZATION) | last_words(GROUP)
    is_family = words[0] in GIVEN and words[-1] in _ALSO_FAMILIES
    return len(words) == 1 or words[-1] not in heads or is_family


def _is_known_thing(words: Sequence[str]) -> bool:
    """ "Google Calendar", "LinkedIn": what begins with a company's name or a product's."""
    return any(
        kind in (ORGANIZATION, PRODUCT) and is_sure
        for length in range(1, len(words) + 1)
        for kind, is_sure in gazetteer().get(tuple(words[:length]), ())
    )


def _is_a_mailbox(name: str, address: str) -> bool:
    """ "Wolt <no-reply@wolt.com>"; but Noa Stein may write from info@."""
    box, first = address.partition("@")[0], bare(name).partition(" ")[0]
    return box in _NOBODY and first not in GIVEN


def _words(name: str) -> Iterator[str]:
    for word in name.split():
        if not _NUMBERED.fullmatch(word):
            yield word.strip("().,")
