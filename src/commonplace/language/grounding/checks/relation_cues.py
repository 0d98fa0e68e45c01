"""Whether the words of turns carry the type of a relation, and how somebody feels.

Two names in one turn are no couple and no boss: what they are to each other must be said. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from functools import cache, lru_cache
from itertools import pairwise

from commonplace.language.grounding.checks.actors import verb_stem
from commonplace.language.grounding.checks.predicates import stems_of
from commonplace.language.grounding.relation_types import read_role, role_type
from commonplace.language.text.lexicon import load_patterns
from commonplace.language.text.normalise import split_words

_PLACED = frozenset(("lives-in", "works-at", "located-in"))
_SMALL = frozenset(
    (
        "in",
        "on",
        "at",
        "to",
        "of",
        "for",
        "by",
        "with",
        "from",
        "is",
        "has",
        "the",
        "a",
        "an",
        "and",
    )
)
_BETWEEN = r"(?:[ ,]+(?:is|are|was|am|up|down|over|out|back|now|still|all|currently|living))*[ ,]+"
_BETWEEN_JOB = rf"{_BETWEEN}(?:an? (?:\w+ ){{1,4}})?(?:(?:out|up|over|down) )?"
_AT = r"(?:in|at|near|from|of|with|@)[ ,]+(?:the )?"
_IS_AT = re.compile(
    rf"(?:\bhe|\bshe|\bthey|\bi|\bwe|\b\w+)(?:['’]?(?:s|re|m))\b{_BETWEEN_JOB}{_AT}$", re.I
)
_SPOKEN_ROLE = re.compile(
    r"^(?P<name>[^,.]{2,60}?) (?:is|was) (?:the user's|the user['’]s) (?:\w+ )?(?P<role>[\w-]+)\W*$"
)
_NEUTRAL_ATTITUDE = 3
_CACHED_TEXTS = 64  # several relations rest on the same turns


def says_relation(
    type: str, written: str, near: str, ends: tuple[str, str], *, is_described: bool
) -> bool:
    """``near``: the turn of the quote and those around it. ``is_described``: a description in the
    words of the turns goes with it: enough for types that claim little."""
    table = load_patterns("grounding/checks/relation_cues")
    if type in table["free"].split():
        return True
    stems = stems_of(near)
    if not stems.isdisjoint(_cues(type)) or _has_role(type, near):
        return True
    if not _words_of(written).isdisjoint(stems) or _has_verb(written, near):
        return True
    if type in _PLACED and _stands_beside(near, *ends):
        return True
    return is_described and type not in table["strict"]


def felt(attitude: int | None, quoted: str) -> int | None:
    """A feeling that the words tell; None where they do not."""
    if attitude is None or attitude == _NEUTRAL_ATTITUDE:
        return attitude
    listed = _feelings("warm" if attitude > _NEUTRAL_ATTITUDE else "cold")
    return None if stems_of(quoted).isdisjoint(listed) else attitude


def is_role_of_another(type: str, near: str, ends: Iterable[str], names: Set[str]) -> bool:
    """Whether each word for the role stands right before the name of somebody else: "my son Ori",
    of Dr Levi. ``names``: words of names, folded."""
    own = frozenset(word for end in ends for word in split_words(end))
    after = [following for role, following in _roles_in(near) if role == type]
    return bool(after) and all(word in names and word not in own for word in after)


def gives_role_of_another(text: str, near: str) -> bool:
    """ "Dr Levi is the user's son", of "my son Ori had a fever, took him to Dr Levi"."""
    said = _SPOKEN_ROLE.match(text)
    if said is None or read_role(said["role"].casefold()) is None:
        return False
    role, name = said["role"].casefold(), said["name"]
    names = frozenset(
        word for part in re.findall(r"\b[A-Z][\w'-]*", near) for word in split_words(part)
    )
    own = frozenset(split_words(name))
    words = split_words(near)
    after = [one for before, one in pairwise(words) if before == role]
    return bool(after) and all(word in names and word not in own for word in after)


def _has_role(type: str, near: str) -> bool:
    return any(role == type for role, _ in _roles_in(near))


def _has_verb(written: str, near: str) -> bool:
    """ "taught-by", of "teaches"."""
    first = split_words(written.replace("-", " ").replace("_", " "))[:1]
    verbs = {verb_stem(word) for word in first if word not in _SMALL}
    return not verbs.isdisjoint(_verbs_in(near))


@lru_cache(maxsize=_CACHED_TEXTS)
def _verbs_in(near: str) -> frozenset[str]:
    return frozenset(map(verb_stem, set(split_words(near))))


@lru_cache(maxsize=_CACHED_TEXTS)
def _roles_in(near: str) -> tuple[tuple[str, str], ...]:
    """The types of all words for roles, each with the word after it."""
    return tuple(
        (role, following)
        for word, following in pairwise((*split_words(near), ""))
        if (role := role_type(word)) is not None
    )


def _stands_beside(near: str, source: str, target: str) -> bool:
    """ "Stan from Kowalczyk Meats", "she's up in Darwin"."""
    folded = near.casefold()
    place = folded.find(target.casefold())
    while place >= 0:
        before = folded[max(0, place - 60) : place]
        if _IS_AT.search(before) or _follows(before, source):
            return True
        place = folded.find(target.casefold(), place + 1)
    return False


def _follows(before: str, source: str) -> bool:
    named = "|".join(re.escape(word) for word in source.casefold().split() if len(word) > 1)
    if not named:
        return False
    return re.search(rf"\b(?:{named})(?:{_BETWEEN}?{_AT}|[ ,]+[במ])$", before) is not None


def _words_of(written: str) -> frozenset[str]:
    words = re.split(r"[^\w]+", written.casefold().replace("_", " "))
    return stems_of(" ".join(word for word in words if word not in _SMALL)) - {""}


@cache
def _cues(type: str) -> frozenset[str]:
    table = load_patterns("grounding/checks/relation_cues")
    listed = table["strict"].get(type) or table["loose"].get(type) or ""
    return _stems_listed(listed)


@cache
def _feelings(name: str) -> frozenset[str]:
    return _stems_listed(load_patterns("grounding/checks/relation_cues")[name])


def _stems_listed(listed: str) -> frozenset[str]:
    words = listed.split()
    return frozenset(words) | stems_of(" . ".join(word for word in words if "_" not in word))
