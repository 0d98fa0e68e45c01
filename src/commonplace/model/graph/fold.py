"""What the tellings of a node come to. The order in which they came does not matter. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count

from commonplace.model.graph.naming import alike, describes
from commonplace.model.graph.node import Mentioned
from commonplace.model.graph.telling import NodeTelling, is_high
from commonplace.model.graph.words import NodeType
from commonplace.model.memory import Sensitivity

_NAMELESS = {
    NodeType.PERSON: "Somebody",
    NodeType.CONCEPT: "Something",
    NodeType.ENTITY: "Something",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """The fields of a node that follow from what was told of it."""

    type: NodeType
    subtype: str
    name: str
    key: str
    aliases: tuple[str, ...]
    addresses: tuple[str, ...]
    description: str
    confidence: float
    sensitivity: Sensitivity
    mentioned: Mentioned


def fold(
    tellings: Iterable[NodeTelling],
    is_taken: Callable[[NodeType, str, str], bool] = lambda type, subtype, key: False,
    root: str | None = None,
    key_of: Callable[[str], str] = alike,
) -> Folded | None:
    """None: nothing that stands tells of it. ``is_taken``: another node has that key. ``root``:
    the node that speaks for the others; somebody's word about it counts before one about them, and
    its own names before theirs. ``key_of``: how names are compared.

    What is marked sensitivity high shapes a node only where nothing else tells of it, so that
    whoever is not cleared can be shown the node as it is.
    """
    standing = sorted(_in_force([t for t in tellings if t.stands]), key=_in_time)
    if not standing:
        return None
    open_ones = [telling for telling in standing if not is_high(telling)]
    told = open_ones or standing
    own = sorted((t for t in told if t.source is None), key=lambda t: t.node == root)
    type, subtype = _type(told, own)
    denied = _denied(own)
    naming = [t for t in told if t.key]
    named = [t for t in naming if not denied or alike(t.name) not in denied] or naming
    spelt = _names_in_order(type, named, root) or _as_spoken_of(type, told, own, key_of)
    name, key = _name(spelt, lambda key: is_taken(type, subtype, key))
    others = dict.fromkeys(each for t in told for each in (*_said_name(t), *t.aliases))
    return Folded(
        type=type,
        subtype=subtype,
        name=name,
        key=key,
        aliases=tuple(each for each in others if each != name and alike(each) not in denied),
        addresses=tuple(
            dict.fromkeys(each for t in told for each in t.addresses if alike(each) not in denied)
        ),
        description=_description(told, own),
        confidence=max(t.confidence for t in told),
        sensitivity=Sensitivity.NORMAL if open_ones else Sensitivity.HIGH,
        mentioned=mentioned(told),
    )


def _denied(own: Iterable[NodeTelling]) -> set[str]:
    """Names and addresses that are not its by somebody's word, unless a later word gives them
    again."""
    denied: set[str] = set()
    for telling in sorted(own, key=lambda t: (t.recorded_at, bool(t.not_called))):
        given = (*_said_name(telling), *telling.aliases, *telling.addresses)
        denied -= set(map(alike, given))
        denied |= {alike(name) for name in telling.not_called}
    return denied


def _said_name(telling: NodeTelling) -> tuple[str, ...]:
    """What it is called by this telling: none, where it is only spoken of."""
    return (telling.name,) if telling.key else ()


def is_denied(name: str, told: Iterable[NodeTelling]) -> bool:
    """Whether somebody has said that this is not what it is called."""
    own = _in_force([t for t in told if t.source is None and t.stands])
    return alike(name) in _denied(own)


def mentioned(told: Iterable[NodeTelling]) -> Mentioned:
    """Each source counts once, on its own date."""
    sources = {t.source.id: t.source for t in told if t.source}
    dates = sorted(source.said_at for source in sources.values())
    return Mentioned(
        source_count=len(sources),
        promotion_score=sum(source.weight for source in sources.values()),
        first_at=dates[0] if dates else None,
        last_at=dates[-1] if dates else None,
        days=tuple(sorted({at.date() for at in dates})),
    )


def _in_force(tellings: Sequence[NodeTelling]) -> list[NodeTelling]:
    """Of somebody's own words about a node the last one, and the last one that is guarded."""
    own = sorted((t for t in tellings if t.source is None), key=lambda t: (t.recorded_at, t.id))
    last = {(t.node, t.by, t.sensitivity): t for t in own}
    return [*last.values(), *(t for t in tellings if t.source is not None)]


def _in_time(telling: NodeTelling) -> tuple[datetime, str, str, datetime, str]:
    source = telling.source
    at, id = (source.said_at, source.id) if source else (telling.recorded_at, "")
    return at, id, telling.name, telling.recorded_at, telling.id


def _type(told: Sequence[NodeTelling], own: Sequence[NodeTelling]) -> tuple[NodeType, str]:
    """Somebody's own word decides; else what is told with the most confidence, all in all."""
    if own:
        return own[-1].type, own[-1].subtype
    weights: dict[tuple[NodeType, str], float] = {}
    for telling in told:
        kind = telling.type, telling.subtype
        weights[kind] = weights.get(kind, 0.0) + telling.confidence
    return max(weights, key=lambda kind: weights[kind])


def _name(spelt: Mapping[str, str], is_taken: Callable[[str], bool]) -> tuple[str, str]:
    """One that another node has already gives way to the next."""
    key = next((each for each in spelt if not is_taken(each)), None)
    if key is not None:
        return spelt[key], key
    wanted = next(iter(spelt))
    return _numbered(spelt[wanted], wanted, is_taken)


def _names_in_order(
    type: NodeType, told: Sequence[NodeTelling], root: str | None
) -> dict[str, str]:
    """Of the node that speaks first, then of those that it speaks for."""
    spelt = _ranked(type, [t for t in told if t.node == root])
    spoken_for = _ranked(type, [t for t in told if t.node != root])
    return spelt | {key: name for key, name in spoken_for.items() if key not in spelt}


def _as_spoken_of(
    type: NodeType,
    told: Sequence[NodeTelling],
    own: Sequence[NodeTelling],
    key_of: Callable[[str], str],
) -> dict[str, str]:
    """Where nothing that is left names it: what those called it who said something of it, then its
    other names. Whom they meant by an id alone is somebody."""
    spoken = [t.name for t in reversed(own)]
    names = [name for name in (*spoken, *(each for t in told for each in t.aliases)) if name]
    spelt: dict[str, str] = {}
    for name in names or [_NAMELESS[type]]:
        spelt.setdefault(key_of(name), name)
    return spelt


def _ranked(type: NodeType, told: Sequence[NodeTelling]) -> dict[str, str]:
    """Each by its key. Somebody's own word; else a person's fullest name, before words that only
    describe them, and of other things the most usual one."""
    own = [t for t in told if t.source is None]
    counts = Counter(telling.key for telling in told)
    spelt: dict[str, str] = {}
    for telling in (*reversed(own), *told):
        spelt.setdefault(telling.key, telling.name)
    fullest = type is NodeType.PERSON
    ranked = sorted(
        counts,
        key=lambda key: (
            fullest and describes(spelt[key]),
            -len(key.split()) if fullest else 0,
            -counts[key],
        ),
    )
    return {key: spelt[key] for key in (*(telling.key for telling in reversed(own)), *ranked)}


def _numbered(name: str, key: str, is_taken: Callable[[str], bool]) -> tuple[str, str]:
    """Others have all its names: nothing may fail because of that, so it is told apart."""
    number = next(n for n in count(2) if not is_taken(f"{key} {n}"))
    return f"{name} ({number})", f"{key} {number}"


def _description(told: Sequence[NodeTelling], own: Sequence[NodeTelling]) -> str:
    """Somebody's own word; else that of the last source that says what it is."""
    said = [t.description for t in own if t.description]
    told_in_time = [t.description for t in told if t.description]
    return next(reversed(said or told_in_time), "")
