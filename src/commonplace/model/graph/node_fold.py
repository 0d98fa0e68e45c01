"""Node fold: computes a node from its assertions; validation of node names.

`fold_node` recomputes a node from all its assertions. `add_mention` is the incremental path: a
well-known node has thousands of assertions, and a new one mostly adds only a mention under a known
name. Where the incremental result is not certain it returns None, and the caller folds all of them.
Pure.
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
    """The fields of a node that are computed from its assertions."""

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
    """None: it has no active assertion. ``is_taken``: another node has that key. ``root``: the
    merge target; user assertions about it take precedence over those about the nodes merged into
    it, and its names over theirs. ``key_of``: the comparison key of a name.

    Assertions of high sensitivity count only where there are no others, so that callers without
    clearance can be shown the node. Assertions that only mention the node are counted, and nothing
    else.
    """
    in_force = sorted(_in_force([t for t in assertions if t.stands]), key=_assertion_order)
    active = [assertion for assertion in in_force if not assertion.is_mention]
    if not active:
        return None
    mentions = [assertion for assertion in in_force if assertion.is_mention]
    not_sensitive = [assertion for assertion in active if not is_sensitive(assertion)]
    used = not_sensitive or active
    counted = [t for t in mentions if not (not_sensitive and is_sensitive(t))]
    own = sorted((t for t in used if t.source is None), key=lambda t: t.node == root)
    type, subtype = _type(used, own)
    rejected = _rejected_names(own)
    naming = [t for t in used if t.key]
    named = [t for t in naming if not rejected or comparable_name(t.name) not in rejected] or naming
    spellings = _names_in_order(type, named, root) or _names_as_referred_to(type, used, own, key_of)
    name, key = _name(spellings, lambda key: is_taken(type, subtype, key))
    others = dict.fromkeys(each for t in used for each in (*_asserted_names(t), *t.aliases))
    return FoldedNode(
        type=type,
        subtype=subtype,
        name=name,
        key=key,
        aliases=tuple(
            each for each in others if each != name and comparable_name(each) not in rejected
        ),
        addresses=tuple(
            dict.fromkeys(
                each for t in used for each in t.addresses if comparable_name(each) not in rejected
            )
        ),
        description=_description(used, own),
        confidence=max(t.confidence for t in used),
        sensitivity=Sensitivity.NORMAL if not_sensitive else Sensitivity.HIGH,
        mentioned=count_mentions([*used, *counted]),
    )


def _rejected_names(own: Iterable[NodeAssertion]) -> set[str]:
    """Comparison keys of the names and addresses that a user rejected and no later user assertion
    gives again."""
    rejected: set[str] = set()
    for assertion in sorted(own, key=lambda t: (t.recorded_at, bool(t.not_called))):
        given = (*_asserted_names(assertion), *assertion.aliases, *assertion.addresses)
        rejected -= set(map(comparable_name, given))
        rejected |= {comparable_name(name) for name in assertion.not_called}
    return rejected


def _asserted_names(assertion: NodeAssertion) -> tuple[str, ...]:
    """The name that this assertion gives; none where it only refers to the node."""
    return (assertion.name,) if assertion.key else ()


def is_rejected_name(name: str, assertions: Iterable[NodeAssertion]) -> bool:
    """Whether a user assertion rejects this name."""
    own = _in_force([t for t in assertions if t.source is None and t.stands])
    return comparable_name(name) in _rejected_names(own)


def count_mentions(assertions: Iterable[NodeAssertion]) -> Mentioned:
    """Each source counts once, on its own date."""
    sources = {t.source.id: t.source for t in assertions if t.source}
    dates = sorted(source.said_at for source in sources.values())
    return Mentioned(
        source_count=len(sources),
        promotion_score=sum(source.weight for source in sources.values()),
        first_at=dates[0] if dates else None,
        last_at=dates[-1] if dates else None,
        days=tuple(sorted({at.date() for at in dates})),
    )


def _in_force(assertions: Sequence[NodeAssertion]) -> list[NodeAssertion]:
    """Source assertions, and per node, user and sensitivity the latest user assertion."""
    own = sorted((t for t in assertions if t.source is None), key=lambda t: (t.recorded_at, t.id))
    last = {(t.node, t.by, t.sensitivity): t for t in own}
    return [*last.values(), *(t for t in assertions if t.source is not None)]


def _assertion_order(assertion: NodeAssertion) -> tuple[datetime, str, str, datetime, str]:
    source = assertion.source
    at, id = (source.said_at, source.id) if source else (assertion.recorded_at, "")
    return at, id, assertion.name, assertion.recorded_at, assertion.id


def _type(
    assertions: Sequence[NodeAssertion], own: Sequence[NodeAssertion]
) -> tuple[NodeType, str]:
    """That of the latest user assertion; else the one with the highest total confidence."""
    if own:
        return own[-1].type, own[-1].subtype
    weights: dict[tuple[NodeType, str], float] = {}
    for assertion in assertions:
        kind = assertion.type, assertion.subtype
        weights[kind] = weights.get(kind, 0.0) + assertion.confidence
    return max(weights, key=lambda kind: weights[kind])


def _name(spellings: Mapping[str, str], is_taken: Callable[[str], bool]) -> tuple[str, str]:
    """The first name that no other node has."""
    key = next((each for each in spellings if not is_taken(each)), None)
    if key is not None:
        return spellings[key], key
    wanted = next(iter(spellings))
    return _numbered_name(spellings[wanted], wanted, is_taken)


def _names_in_order(
    type: NodeType, assertions: Sequence[NodeAssertion], root: str | None
) -> dict[str, str]:
    """Name by key: those of the merge target first, then those of the nodes merged into it."""
    of_root = _ranked(type, [t for t in assertions if t.node == root])
    of_merged = _ranked(type, [t for t in assertions if t.node != root])
    return of_root | {key: name for key, name in of_merged.items() if key not in of_root}


def _names_as_referred_to(
    type: NodeType,
    assertions: Sequence[NodeAssertion],
    own: Sequence[NodeAssertion],
    key_of: Callable[[str], str],
) -> dict[str, str]:
    """The fallback where no remaining assertion names it: the names by which user assertions refer
    to it, then its aliases, else a placeholder."""
    referred = [t.name for t in reversed(own)]
    names = [
        name for name in (*referred, *(each for t in assertions for each in t.aliases)) if name
    ]
    spellings: dict[str, str] = {}
    for name in names or [_PLACEHOLDER_NAMES[type]]:
        spellings.setdefault(key_of(name), name)
    return spellings


def _ranked(type: NodeType, assertions: Sequence[NodeAssertion]) -> dict[str, str]:
    """Name by key, best first. User assertions come first, the latest before older ones; then a
    person's fullest name, with descriptions last, or of other types the most frequent name."""
    own = [t for t in assertions if t.source is None]
    counts = Counter(assertion.key for assertion in assertions)
    spellings: dict[str, str] = {}
    for assertion in (*reversed(own), *assertions):
        spellings.setdefault(assertion.key, assertion.name)
    fullest = type is NodeType.PERSON
    ranked = sorted(
        counts,
        key=lambda key: (
            fullest and is_description(spellings[key]),
            -len(key.split()) if fullest else 0,
            -counts[key],
        ),
    )
    return {
        key: spellings[key] for key in (*(assertion.key for assertion in reversed(own)), *ranked)
    }


def _numbered_name(name: str, key: str, is_taken: Callable[[str], bool]) -> tuple[str, str]:
    """All its names are taken. That must not fail a write, so a number makes the name unique."""
    number = next(n for n in count(2) if not is_taken(f"{key} {n}"))
    return f"{name} ({number})", f"{key} {number}"


def _description(assertions: Sequence[NodeAssertion], own: Sequence[NodeAssertion]) -> str:
    """The latest user description; else that of the latest source that has one."""
    by_user = [t.description for t in own if t.description]
    by_date = [t.description for t in assertions if t.description]
    return next(reversed(by_user or by_date), "")


_NAME_WORD = re.compile(
    r"[^\W_]+|[^\w\s.,'’-]+"
)  # the words of a comparison key; a symbol is one, too


def add_mention(node: Node, assertion: NodeAssertion) -> Node | None:
    """The node with one more mention; None: it has to be folded again. ``node``: as it was folded,
    and not a merge target; ``assertion``: of a source that asserted nothing about it before."""
    source = assertion.source
    if source is None or not assertion.stands or not node.mentioned.source_count:
        return None
    if is_sensitive(assertion) or node.sensitivity is Sensitivity.HIGH or not node.stands:
        return None
    if assertion.is_mention:
        mentioned = _mentions_with(node.mentioned, source)
        return node.evolve(mentioned=mentioned) if _keeps_names(node) else None
    if (assertion.type, assertion.subtype) != (node.type, node.subtype) or assertion.description:
        return None
    if not _has_no_new_name(node, assertion) or not _has_no_new_address(node, assertion):
        return None
    confidence = node.confidence if node.is_owner else max(node.confidence, assertion.confidence)
    return node.evolve(confidence=confidence, mentioned=_mentions_with(node.mentioned, source))


def _keeps_names(node: Node) -> bool:
    """Whether its names are its first choice, also if another node that had one is gone by now. The
    owner's own name is fixed, and that of the sources is an alias."""
    if any(name.endswith(")") for name in node.names):
        return False
    return len(node.aliases) <= 1 if node.is_owner else _is_first(node)


def _has_no_new_name(node: Node, assertion: NodeAssertion) -> bool:
    """All its names are known, and neither the first name nor the order of aliases can change.
    Aliases are in the order of time, so a mention could reorder two of them."""
    if assertion.name == node.name and not assertion.aliases and not node.is_owner:
        return _is_first(node)
    known = {assertion.name, *assertion.aliases} <= {node.name, *node.aliases}
    return known and len(node.aliases) <= 1 and _stays_first(node, assertion)


def _stays_first(node: Node, assertion: NodeAssertion) -> bool:
    """The owner's first name comes from user assertions. A person's first name is the fullest one,
    whatever the counts, except for numbered names, which several nodes share."""
    if node.is_owner:
        return True
    if assertion.name == node.name:
        return _is_first(node)
    if node.type is not NodeType.PERSON or node.name.endswith(")"):
        return False
    return _rank(node.name, node.key) < _rank(assertion.name, assertion.key)


def _is_first(node: Node) -> bool:
    """Whether the name is certainly the best ranked one. A name may be a second choice because
    another node had the first one, and that node may be gone by now. For types other than Person
    the ranking needs counts, so any other name makes it uncertain."""
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


# The limit of a lookup by name: a longer name could never be found.
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
# They reorder neighbouring characters, so that a name is displayed as a different one.
_BIDI_CONTROL = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def check_node_name(value: object, field: str) -> str:
    """The name with single spaces."""
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
