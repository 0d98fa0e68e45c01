"""Which known node is meant: by address, by name or alias, by part of a name, or almost. Pure.

Whoever is mistaken for another is harder to mend than one who is there twice (`merge` mends that),
so a name that could be several people's is nobody's, unless one of them takes part.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum

from rapidfuzz import process
from rapidfuzz.distance import JaroWinkler

from commonplace.graph.known import Known, bare_key, key_of
from commonplace.language.contacts import email_key
from commonplace.language.extracting.vocabulary import GIVEN, HEBREW_GIVEN
from commonplace.model.graph.naming import describes
from commonplace.model.graph.node import Node
from commonplace.model.graph.words import NodeType

ALIKE = 0.94  # Jaro-Winkler
SHORTEST_MISSPELT = 6  # letters: shorter names that are alike are mostly different ones
_VOWELS = "aeiouyה"  # a name with one more at its end is mostly another's
_GIVEN = frozenset(map(key_of, GIVEN | HEBREW_GIVEN))


class Ambiguous(StrEnum):
    SEVERAL = "several"


SEVERAL = Ambiguous.SEVERAL


def resolve(
    known: Known,
    type: NodeType,
    names: Iterable[str],
    *,
    subtype: str = "",
    addresses: Collection[str] = (),
    present: Collection[str] = (),
) -> str | Ambiguous | None:
    """A node's id; None: it is a new one. ``present``: nodes that take part."""
    for address in addresses:
        if id := known.by_address.get(email_key(address) or ""):
            return id
    spelt = list(dict.fromkeys(names))
    proper = [name for name in spelt if not describes(name)]
    ways = (
        *(_called(known, type, subtype, name, present, proper) for name in spelt),
        *(_almost(known, type, subtype, name) for name in spelt),
    )
    return next((found for found in ways if found is not None), None)


def _called(
    known: Known,
    type: NodeType,
    subtype: str,
    name: str,
    present: Collection[str],
    proper: Sequence[str],
) -> str | Ambiguous | None:
    key = key_of(name)
    exact = known.by_key.get((type, key), ())
    if type is NodeType.ENTITY:
        exact = _of_subtype(known, exact or known.by_bare_key.get(bare_key(name), ()), subtype)
    if type is NodeType.PERSON and describes(name):
        exact = tuple(id for id in exact if _not_another(proper, known.nodes[id]))
    if called := [id for id in exact if known.nodes[id].key == key]:
        return _one_of(called, present)
    if type is not NodeType.PERSON or describes(name) or (exact and " " in key):
        return _one_of(exact, present)
    # "Tom", that one Tom is called, is no more his than that of another whose name it is part of.
    return _one_of(dict.fromkeys((*exact, *_by_part(known, key))), present)


def _not_another(proper: Sequence[str], node: Node) -> bool:
    """One manager may follow another, and there may be two brothers: words that only describe
    somebody mean whoever has no name yet, or has that of whom they mean."""
    theirs = {key_of(name) for name in node.names if not describes(name)}
    ours = [key_of(name) for name in proper]
    if not theirs or not ours:
        return True
    return any(key in theirs or _may_be(key.split(), node) for key in ours)


def _of_subtype(known: Known, ids: Iterable[str], subtype: str) -> tuple[str, ...]:
    """A company and a place may share a name. Where one of the two is of no known sort, they are
    taken for one."""
    return tuple(id for id in ids if not subtype or known.nodes[id].subtype in ("", subtype))


def _one_of(ids: Collection[str], present: Collection[str]) -> str | Ambiguous | None:
    if len(ids) > 1:
        here = [id for id in ids if id in present]
        return here[0] if len(here) == 1 else SEVERAL
    return next(iter(ids), None)


def _by_part(known: Known, key: str) -> tuple[str, ...]:
    """Sarah is Sarah Chen, and Sarah Chen is Sarah, as long as nothing in their names disagrees."""
    words = key.split()
    met = dict.fromkeys(id for word in words for id in known.by_part.get(word, ()))
    meant = [id for id in met if _may_be(words, known.nodes[id])]
    if len(words) > 1 and any(_is_full_name_with(words[0], known.nodes[id]) for id in met):
        # Beside Tom Chen and Tom Levi, who is only known as Tom may be each of them.
        meant = [id for id in meant if len(_fullest(known.nodes[id])) > 1]
    return tuple(meant)


def _is_full_name_with(first: str, node: Node) -> bool:
    fullest = _fullest(node)
    return len(fullest) > 1 and fullest[0] == first


def _fullest(node: Node) -> list[str]:
    names = [name for name in node.names if not describes(name)]
    return max((key_of(name).split() for name in names), key=len)


def _may_be(words: list[str], node: Node) -> bool:
    fullest = _fullest(node)
    shorter, longer = sorted((words, fullest), key=len)
    if len(shorter) == len(longer):
        return _initials_agree(shorter, longer)
    return len(shorter) == 1 and len(shorter[0]) > 1 and shorter[0] in (longer[0], longer[-1])


def _initials_agree(one: list[str], other: list[str]) -> bool:
    """S. Chen and Sarah Chen."""
    return one[-1] == other[-1] and all(
        a == b or (min(len(a), len(b)) == 1 and a[0] == b[0])
        for a, b in zip(one, other, strict=True)
    )


def _almost(known: Known, type: NodeType, subtype: str, name: str) -> str | None:
    """Misspelt: long, alike, with as many words, and the same figures in it."""
    key = key_of(name)
    if len(key) < SHORTEST_MISSPELT or describes(name):
        return None
    keys = [
        other
        for (kind, other), ids in known.by_key.items()
        if kind is type
        and len(other.split()) == len(key.split())
        and _figures(other) == _figures(key)
        and (type is not NodeType.ENTITY or _of_subtype(known, ids, subtype))
    ]
    best = process.extractOne(key, keys, scorer=JaroWinkler.similarity, score_cutoff=ALIKE)
    if best is None or not _one_slip(key, best[0]):
        return None
    if type is NodeType.PERSON and _is_another_name(key, best[0]):
        return None
    ids = known.by_key[type, best[0]]
    return ids[0] if len(ids) == 1 else None


def _figures(text: str) -> str:
    return "".join(character for character in text if character.isdigit())


def _one_slip(one: str, other: str) -> bool:
    """Each word is the same but for one long one, which begins alike: Jonathon for Jonathan. Of
    short ones (Levi, Levin) a letter more makes another name."""
    differ = [(a, b) for a, b in zip(one.split(), other.split(), strict=True) if a != b]
    return len(differ) == 1 and all(
        len(a) >= SHORTEST_MISSPELT and abs(len(a) - len(b)) <= 1 and a[0] == b[0]
        for a, b in differ
    )


def _is_another_name(one: str, other: str) -> bool:
    """Of people, words that are alike are often names that are both in use: Stephen and Stephan,
    Daniel and Daniela."""
    differ = [(a, b) for a, b in zip(one.split(), other.split(), strict=True) if a != b]
    return any(
        {a, b} <= _GIVEN or any(long == short + end for end in _VOWELS)
        for a, b in differ
        for short, long in [sorted((a, b), key=len)]
    )
