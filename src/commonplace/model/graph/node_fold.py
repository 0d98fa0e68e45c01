"""Node fold: computes a node from its assertions; validation of node names.

Of those who are well known thousands of sources tell, and most say nothing new: that they were
mentioned, on that day, under a name that is known. Then the node is what it was, with one mention
more. Wherever that is not plain the answer is None, and all of it is folded. Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count

from commonplace.errors import BadText, InvalidInput
from commonplace.model import validation
from commonplace.model.graph.assertion import NOTE_PREFIX, CitedSource, NodeAssertion, is_sensitive
from commonplace.model.graph.elements import (
    ARTIFACT_PREFIX,
    EDGE_PREFIX,
    NODE_PREFIX,
    Mentioned,
    Node,
)
from commonplace.model.graph.types import NodeType, comparable_name, is_description
from commonplace.model.memory.memory import Sensitivity
from commonplace.model.profile.fields import ABBREVIATION_PREFIX, PROFILE_PREFIX, PROPOSAL_PREFIX
from commonplace.model.sources.source import SOURCE_PREFIX

_PLACEHOLDER_NAMES = {
    NodeType.PERSON: "Somebody",
    NodeType.CONCEPT: "Something",
    NodeType.ENTITY: "Something",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldedNode:
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


def fold_node(
    assertions: Iterable[NodeAssertion],
    is_taken: Callable[[NodeType, str, str], bool] = lambda type, subtype, key: False,
    root: str | None = None,
    key_of: Callable[[str], str] = comparable_name,
) -> FoldedNode | None:
    """None: nothing that stands tells of it. ``is_taken``: another node has that key. ``root``:
    the node that speaks for the others; somebody's word about it counts before one about them, and
    its own names before theirs. ``key_of``: how names are compared.

    What is marked sensitivity high shapes a node only where nothing else tells of it, so that
    whoever is not cleared can be shown the node as it is.
    """
    standing = sorted(_in_force([t for t in assertions if t.stands]), key=_assertion_order)
    if not standing:
        return None
    open_ones = [assertion for assertion in standing if not is_sensitive(assertion)]
    told = open_ones or standing
    own = sorted((t for t in told if t.source is None), key=lambda t: t.node == root)
    type, subtype = _type(told, own)
    denied = _rejected_names(own)
    naming = [t for t in told if t.key]
    named = [t for t in naming if not denied or comparable_name(t.name) not in denied] or naming
    spelt = _names_in_order(type, named, root) or _names_as_referred_to(type, told, own, key_of)
    name, key = _name(spelt, lambda key: is_taken(type, subtype, key))
    others = dict.fromkeys(each for t in told for each in (*_asserted_names(t), *t.aliases))
    return FoldedNode(
        type=type,
        subtype=subtype,
        name=name,
        key=key,
        aliases=tuple(
            each for each in others if each != name and comparable_name(each) not in denied
        ),
        addresses=tuple(
            dict.fromkeys(
                each for t in told for each in t.addresses if comparable_name(each) not in denied
            )
        ),
        description=_description(told, own),
        confidence=max(t.confidence for t in told),
        sensitivity=Sensitivity.NORMAL if open_ones else Sensitivity.HIGH,
        mentioned=count_mentions(told),
    )


def _rejected_names(own: Iterable[NodeAssertion]) -> set[str]:
    """Names and addresses that are not its by somebody's word, unless a later word gives them
    again."""
    denied: set[str] = set()
    for assertion in sorted(own, key=lambda t: (t.recorded_at, bool(t.not_called))):
        given = (*_asserted_names(assertion), *assertion.aliases, *assertion.addresses)
        denied -= set(map(comparable_name, given))
        denied |= {comparable_name(name) for name in assertion.not_called}
    return denied


def _asserted_names(assertion: NodeAssertion) -> tuple[str, ...]:
    """What it is called by this telling: none, where it is only spoken of."""
    return (assertion.name,) if assertion.key else ()


def is_rejected_name(name: str, told: Iterable[NodeAssertion]) -> bool:
    """Whether somebody has said that this is not what it is called."""
    own = _in_force([t for t in told if t.source is None and t.stands])
    return comparable_name(name) in _rejected_names(own)


def count_mentions(told: Iterable[NodeAssertion]) -> Mentioned:
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


def _in_force(assertions: Sequence[NodeAssertion]) -> list[NodeAssertion]:
    """Of somebody's own words about a node the last one, and the last one that is guarded."""
    own = sorted((t for t in assertions if t.source is None), key=lambda t: (t.recorded_at, t.id))
    last = {(t.node, t.by, t.sensitivity): t for t in own}
    return [*last.values(), *(t for t in assertions if t.source is not None)]


def _assertion_order(assertion: NodeAssertion) -> tuple[datetime, str, str, datetime, str]:
    source = assertion.source
    at, id = (source.said_at, source.id) if source else (assertion.recorded_at, "")
    return at, id, assertion.name, assertion.recorded_at, assertion.id


def _type(told: Sequence[NodeAssertion], own: Sequence[NodeAssertion]) -> tuple[NodeType, str]:
    """Somebody's own word decides; else what is told with the most confidence, all in all."""
    if own:
        return own[-1].type, own[-1].subtype
    weights: dict[tuple[NodeType, str], float] = {}
    for assertion in told:
        kind = assertion.type, assertion.subtype
        weights[kind] = weights.get(kind, 0.0) + assertion.confidence
    return max(weights, key=lambda kind: weights[kind])


def _name(spelt: Mapping[str, str], is_taken: Callable[[str], bool]) -> tuple[str, str]:
    """One that another node has already gives way to the next."""
    key = next((each for each in spelt if not is_taken(each)), None)
    if key is not None:
        return spelt[key], key
    wanted = next(iter(spelt))
    return _numbered_name(spelt[wanted], wanted, is_taken)


def _names_in_order(
    type: NodeType, told: Sequence[NodeAssertion], root: str | None
) -> dict[str, str]:
    """Of the node that speaks first, then of those that it speaks for."""
    spelt = _ranked(type, [t for t in told if t.node == root])
    spoken_for = _ranked(type, [t for t in told if t.node != root])
    return spelt | {key: name for key, name in spoken_for.items() if key not in spelt}


def _names_as_referred_to(
    type: NodeType,
    told: Sequence[NodeAssertion],
    own: Sequence[NodeAssertion],
    key_of: Callable[[str], str],
) -> dict[str, str]:
    """Where nothing that is left names it: what those called it who said something of it, then its
    other names. Whom they meant by an id alone is somebody."""
    spoken = [t.name for t in reversed(own)]
    names = [name for name in (*spoken, *(each for t in told for each in t.aliases)) if name]
    spelt: dict[str, str] = {}
    for name in names or [_PLACEHOLDER_NAMES[type]]:
        spelt.setdefault(key_of(name), name)
    return spelt


def _ranked(type: NodeType, told: Sequence[NodeAssertion]) -> dict[str, str]:
    """Each by its key. Somebody's own word; else a person's fullest name, before words that only
    describe them, and of other things the most usual one."""
    own = [t for t in told if t.source is None]
    counts = Counter(assertion.key for assertion in told)
    spelt: dict[str, str] = {}
    for assertion in (*reversed(own), *told):
        spelt.setdefault(assertion.key, assertion.name)
    fullest = type is NodeType.PERSON
    ranked = sorted(
        counts,
        key=lambda key: (
            fullest and is_description(spelt[key]),
            -len(key.split()) if fullest else 0,
            -counts[key],
        ),
    )
    return {key: spelt[key] for key in (*(assertion.key for assertion in reversed(own)), *ranked)}


def _numbered_name(name: str, key: str, is_taken: Callable[[str], bool]) -> tuple[str, str]:
    """Others have all its names: nothing may fail because of that, so it is told apart."""
    number = next(n for n in count(2) if not is_taken(f"{key} {n}"))
    return f"{name} ({number})", f"{key} {number}"


def _description(told: Sequence[NodeAssertion], own: Sequence[NodeAssertion]) -> str:
    """Somebody's own word; else that of the last source that says what it is."""
    said = [t.description for t in own if t.description]
    told_in_time = [t.description for t in told if t.description]
    return next(reversed(said or told_in_time), "")


_NAME_WORD = re.compile(r"[^\W_]+|[^\w\s.,'’-]+")  # as names are compared; a symbol is one, too


def add_mention(node: Node, assertion: NodeAssertion) -> Node | None:
    """``node``: as it was folded, speaking for no other; ``telling``: of a source that has told
    nothing of it before."""
    source = assertion.source
    if source is None or not assertion.stands or not node.mentioned.source_count:
        return None
    if is_sensitive(assertion) or node.sensitivity is Sensitivity.HIGH or not node.stands:
        return None
    if (assertion.type, assertion.subtype) != (node.type, node.subtype) or assertion.description:
        return None
    if not _has_no_new_name(node, assertion) or not _has_no_new_address(node, assertion):
        return None
    confidence = node.confidence if node.is_owner else max(node.confidence, assertion.confidence)
    return node.evolve(confidence=confidence, mentioned=_mentions_with(node.mentioned, source))


def _has_no_new_name(node: Node, assertion: NodeAssertion) -> bool:
    """All its names are known, which is the first stays so, and their order does, too: they stand
    in that of time, so that of two a mention might move one."""
    if assertion.name == node.name and not assertion.aliases and not node.is_owner:
        return _is_first(node)
    known = {assertion.name, *assertion.aliases} <= {node.name, *node.aliases}
    return known and len(node.aliases) <= 1 and _stays_first(node, assertion)


def _stays_first(node: Node, assertion: NodeAssertion) -> bool:
    """The owner is called what they call themself. Of others the fullest name is the first, however
    often they are called otherwise; but for names that several have, which are numbered."""
    if node.is_owner:
        return True
    if assertion.name == node.name:
        return _is_first(node)
    if node.type is not NodeType.PERSON or node.name.endswith(")"):
        return False
    return _rank(node.name, node.key) < _rank(assertion.name, assertion.key)


def _is_first(node: Node) -> bool:
    """Plainly: a name may be a second choice since the first was another one's, who may be gone by
    now. Which of two names is the more usual one would have to be counted."""
    others = [
        alias for alias in node.aliases if comparable_name(alias) != comparable_name(node.name)
    ]
    if node.type is not NodeType.PERSON:
        return not others
    first = _rank(node.name, node.key)
    return all(first < _rank(alias, " ".join(_NAME_WORD.findall(alias))) for alias in others)


def _rank(name: str, key: str) -> tuple[bool, int]:
    return is_description(name), -len(key.split())


def _has_no_new_address(node: Node, assertion: NodeAssertion) -> bool:
    return not assertion.addresses or assertion.addresses == node.addresses[:1] == node.addresses


def _mentions_with(before: Mentioned, source: CitedSource) -> Mentioned:
    at = source.said_at
    return replace(
        before,
        source_count=before.source_count + 1,
        promotion_score=before.promotion_score + source.weight,
        first_at=min(before.first_at or at, at),
        last_at=max(before.last_at or at, at),
        days=tuple(sorted({*before.days, at.date()})),
    )


# As long as what a node is asked for by: a longer name would never be found.
MAX_NODE_NAME = validation.MAX_WORD

_ID_PREFIXES = (
    ABBREVIATION_PREFIX,
    ARTIFACT_PREFIX,
    EDGE_PREFIX,
    NODE_PREFIX,
    NOTE_PREFIX,
    PROFILE_PREFIX,
    PROPOSAL_PREFIX,
    SOURCE_PREFIX,
)
_PREFIXES = "|".join(map(re.escape, _ID_PREFIXES))
_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_ID_LIKE = re.compile(rf"(?:{_PREFIXES}).*|{_UUID}", re.IGNORECASE)
# They turn what stands beside them, and show a name as another than it is.
_BIDI_CONTROL = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def check_node_name(value: object, field: str) -> str:
    """Spaces count once."""
    name = " ".join(validation.word(value, field, MAX_NODE_NAME).split())
    if _BIDI_CONTROL.search(name):
        raise BadText(
            f"{field} contains a bidirectional control character.",
            remedy="It is invisible: type the name instead of copying it.",
            field=field,
        )
    if _ID_LIKE.fullmatch(name):
        raise InvalidInput(f"{name!r} looks like an id; give a name.", field=field)
    return name
