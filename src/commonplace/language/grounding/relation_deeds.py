"""Whether the quoted words tell a relation in the other direction: "Mark manages Eva"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from commonplace.language.grounding.checks.actors import Deed, verb_stem
from commonplace.language.grounding.relation_types import DirectedType, read_role, told_by_verbs
from commonplace.model.graph.types import relationship_type

_PASSIVE = "by"


def is_told_turned(
    type: str, source: frozenset[str], target: frozenset[str], deeds: Iterable[Deed]
) -> bool:
    """``type``: of the edge from the source to the target, as it was read."""
    kind = relationship_type(type)
    if kind.is_mutual:
        return False
    if kind.inverse:
        type, source, target = kind.inverse, target, source
    told = [ends for deed in deeds for ends in _ends_told(type, deed)]
    return _has(told, target, source) and not _has(told, source, target)


Ends = tuple[frozenset[str], frozenset[str]]


def _has(told: Iterable[Ends], source: frozenset[str], target: frozenset[str]) -> bool:
    return any(_is_same(a, source) and _is_same(b, target) for a, b in told)


def _is_same(one: frozenset[str], other: frozenset[str]) -> bool:
    return one <= other or other <= one


def _ends_told(type: str, deed: Deed) -> Iterator[Ends]:
    """The ends of an edge of this type, where the deed tells of one."""
    actor, other = deed.actor.name, deed.other.name
    if deed.is_noun_of:
        told = read_role(deed.word)
    else:
        told = _by_verb().get((type, deed.verb, deed.marker)) or _by_name(type, deed)
    if told is not None and told.type == type:
        yield (other, actor) if told.is_turned else (actor, other)


def _by_name(type: str, deed: Deed) -> DirectedType | None:
    """ "lent-to", "taught-by": called by its verb. A noun ("mentor") may be of either end."""
    first, *rest = type.split("-")
    if read_role(type) is not None or not deed.verb or verb_stem(first) != deed.verb:
        return None
    return DirectedType(type, is_turned=rest[-1:] == [_PASSIVE])


@cache
def _by_verb() -> dict[tuple[str, str, str], DirectedType]:
    """By type, verb and preposition."""
    return {
        (told.type, verb_stem(verb), marker): told
        for phrase, told in told_by_verbs()
        for verb, _, marker in (phrase.partition("+"),)
    }
