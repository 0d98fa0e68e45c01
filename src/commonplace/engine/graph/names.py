"""Node names: name index, namesakes, and resolving a name to a node.

Wrongly joining two people is harder to repair than a duplicate node, which `merge` repairs. So a
name that could mean several people resolves to none of them, unless one is present in the source.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from rapidfuzz import process
from rapidfuzz.distance import JaroWinkler

from commonplace.errors import InvalidInput
from commonplace.language.extract.names.gazetteer import GIVEN_NAMES, HEBREW_GIVEN_NAMES
from commonplace.language.text.normalise import fold
from commonplace.lazy import lazy_imports
from commonplace.model.graph.assertion import NodeAssertion
from commonplace.model.graph.elements import Node
from commonplace.model.graph.types import NodeType, is_description

with lazy_imports(__name__):
    from commonplace.language.fields.phone_email import email_key

_LEGAL_FORM = re.compile(
    r" (?:inc|incorporated|llc|ltd|limited|corp|corporation|co|company|gmbh|ag|plc|sa|bv|בע מ|בעמ)$"
)
_COMPANY = re.compile(r"^חברת (?=\S)")
_LEFT_OUT = re.compile(r"\b(?:my|our|the|an?|being) (?=\S)")


def name_key(name: str) -> str:
    return fold(name)


def spoken_key(assertion: NodeAssertion) -> str:
    """The key of the name that it gives, or by which it mentions the node."""
    return name_key(assertion.name) if assertion.is_mention else assertion.key


def bare_key(type: NodeType, name: str) -> str:
    """Without what may be left out: "Acme Inc." is "Acme", "time with my family" is "time with
    family"."""
    key = fold(name)
    match type:
        case NodeType.ENTITY:
            return _LEGAL_FORM.sub("", _COMPANY.sub("", key)) or key
        case NodeType.CONCEPT:
            return _LEFT_OUT.sub("", key) or key
        case _:
            return key


@dataclass(frozen=True, slots=True)
class NameIndex:
    """Nodes by their folded names. Several nodes may share a name."""

    owner: Node | None
    nodes: Mapping[str, Node]
    by_key: Mapping[tuple[NodeType, str], tuple[str, ...]]
    by_bare_key: Mapping[tuple[NodeType, str], tuple[str, ...]]  # of entities and concepts
    by_address: Mapping[str, str]
    by_part: Mapping[str, tuple[str, ...]]  # people, by each word of their names

    def by_primary_name(self, type: NodeType, subtype: str, key: str) -> str | None:
        """The node whose primary name has this key; aliases do not count."""
        for id in self.by_key.get((type, key), ()):
            node = self.nodes[id]
            if node.key == key and node.subtype == subtype:
                return id
        return None


def without_owner(known: NameIndex) -> NameIndex:
    """The index without the owner's names and addresses. Extraction identifies the owner from the
    source itself, so other people there are not the owner, even if they share a name."""
    if known.owner is None:
        return known
    id = known.owner.id
    keys = {(NodeType.PERSON, name_key(name)) for name in known.owner.names}
    parts = {part for _, key in keys for part in key.split()}
    return replace(
        known,
        by_key={
            **known.by_key,
            **{key: _without_id(id, known.by_key.get(key, ())) for key in keys},
        },
        by_part={
            **known.by_part,
            **{key: _without_id(id, known.by_part.get(key, ())) for key in parts},
        },
        by_address={key: each for key, each in known.by_address.items() if each != id},
    )


def _without_id(id: str, ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(each for each in ids if each != id)


def ambiguous_first_names(people: Iterable[str]) -> set[str]:
    """First names that several full names share: "Tom" of Tom Chen and Tom Levi."""
    keys = {name_key(name) for name in people if not is_description(name)}
    firsts = Counter(key.split()[0] for key in keys if " " in key)
    return {first for first, count in firsts.items() if count > 1}


def name_taken_error(name: str, other: str | None, field: str) -> InvalidInput:
    """``other``: the node that has the name, if the caller may see it."""
    remedy = "Choose another name"
    if other is not None:
        remedy += f", or look at the one that has it: node {other}"
    return InvalidInput(f"Another node has the name {name!r}.", remedy=f"{remedy}.", field=field)


def build_name_index(nodes: Iterable[Node]) -> NameIndex:
    """``nodes``: active nodes that are not merged."""
    by_id = {node.id: node for node in nodes}
    by_key: dict[tuple[NodeType, str], dict[str, None]] = defaultdict(dict)
    bare: dict[tuple[NodeType, str], dict[str, None]] = defaultdict(dict)
    parts: dict[str, dict[str, None]] = defaultdict(dict)
    addresses: dict[str, str] = {}
    for node in by_id.values():
        for name in node.names:
            key = fold(name)
            by_key[node.type, key][node.id] = None
            if node.type is not NodeType.PERSON:
                bare[node.type, bare_key(node.type, name)][node.id] = None
            elif not is_description(name):
                for part in key.split():
                    parts[part][node.id] = None
        keys = (email_key(address) for address in node.addresses)
        addresses.update({key: node.id for key in keys if key})
    return NameIndex(
        owner=next((node for node in by_id.values() if node.is_owner), None),
        nodes=by_id,
        by_key={key: tuple(ids) for key, ids in by_key.items()},
        by_bare_key={key: tuple(ids) for key, ids in bare.items()},
        by_address=addresses,
        by_part={key: tuple(ids) for key, ids in parts.items()},
    )


MAX_LISTED_NODES = 5  # candidates in an error message
_MERGE_REMEDY = "If both are the same, merge them; otherwise choose another."


def find_namesake(known: NameIndex, type: NodeType, subtype: str, name: str) -> Node | None:
    """The node with this primary name, else the one with this alias. An unknown subtype matches
    any."""
    key = name_key(name)
    named = [known.nodes[id] for id in known.by_key.get((type, key), ())]
    of_subtype = [node for node in named if not subtype or node.subtype in ("", subtype)]
    primary = [node for node in of_subtype if node.key == key]
    candidates = primary or of_subtype
    if len(candidates) > 1:
        raise InvalidInput(
            f"{name!r} is ambiguous: {_list_nodes(candidates)}.",
            remedy="Update one by its id (nodes update), or give the new node a longer name.",
            field="name",
        )
    return candidates[0] if candidates else None


def refuse_taken_name(
    known: NameIndex,
    node: Node | None,
    type: NodeType,
    subtype: str,
    names: Iterable[str],
    field: str,
) -> None:
    """``node``: the node that gets the names; None: a new one."""
    for name in names:
        other = known.nodes.get(known.by_primary_name(type, subtype, name_key(name)) or "")
        if other is not None and other != node:
            raise InvalidInput(
                f"{name!r} is the name of {_describe_node(other)}.",
                remedy=_MERGE_REMEDY,
                field=field,
            )


def refuse_taken_address(known: NameIndex, node: Node | None, addresses: Iterable[str]) -> None:
    for address in addresses:
        other = known.nodes.get(known.by_address.get(email_key(address) or "", ""))
        if other is not None and other != node:
            raise InvalidInput(
                f"{address!r} is the address of {_describe_node(other)}.",
                remedy=f"{_MERGE_REMEDY} Remove it with nodes update and not_addresses.",
                field="addresses",
            )


def _list_nodes(nodes: Sequence[Node]) -> str:
    listed = ", ".join(_describe_node(node) for node in nodes[:MAX_LISTED_NODES])
    return listed if len(nodes) <= MAX_LISTED_NODES else f"{listed} …"


def _describe_node(node: Node) -> str:
    return f"{node.name} ({node.id})"


MIN_SIMILARITY = 0.94  # Jaro-Winkler
MIN_MISSPELT_LENGTH = 6  # shorter names that are similar are mostly different names
_VOWELS = "aeiouyה"  # a name with one more at its end is mostly another name
_GIVEN_NAMES = frozenset(map(name_key, GIVEN_NAMES | HEBREW_GIVEN_NAMES))


class Ambiguous(StrEnum):
    SEVERAL = "several"


SEVERAL = Ambiguous.SEVERAL


def resolve_node(
    known: NameIndex,
    type: NodeType,
    names: Iterable[str],
    *,
    subtype: str = "",
    addresses: Collection[str] = (),
    present: Collection[str] = (),
) -> str | Ambiguous | None:
    """The id of the node; None: a new one. ``present``: nodes known to be in the source."""
    for address in addresses:
        if id := known.by_address.get(email_key(address) or ""):
            return id
    given = list(dict.fromkeys(names))
    proper = [name for name in given if not is_description(name)]
    attempts = (
        *(_resolve_exact(known, type, subtype, name, present, proper) for name in given),
        *(_resolve_misspelt(known, type, subtype, name) for name in given),
    )
    return next((found for found in attempts if found is not None), None)


def resolve_mention(
    known: NameIndex, type: NodeType, name: str, subtype: str, addresses: Iterable[str]
) -> str | None:
    """The node with one of these addresses, else the only one that has this name, in full or as an
    alias: a part of a name, or a similar one, is not enough."""
    for address in addresses:
        if id := known.by_address.get(email_key(address) or ""):
            return id
    found = _resolve_exact(known, type, subtype, name, (), [name])
    if found is None or found is SEVERAL:
        return None
    keys = {bare_key(type, each) for each in known.nodes[found].names}
    return found if bare_key(type, name) in keys else None


def _resolve_exact(
    known: NameIndex,
    type: NodeType,
    subtype: str,
    name: str,
    present: Collection[str],
    proper: Sequence[str],
) -> str | Ambiguous | None:
    key = name_key(name)
    exact = known.by_key.get((type, key), ())
    if type is not NodeType.PERSON:
        exact = exact or known.by_bare_key.get((type, bare_key(type, name)), ())
        exact = _of_subtype(known, exact, subtype)
    if type is NodeType.PERSON and is_description(name):
        exact = tuple(id for id in exact if _is_compatible(proper, known.nodes[id]))
    if primary := [id for id in exact if known.nodes[id].key == key]:
        return _only_candidate(primary, present)
    if type is not NodeType.PERSON or is_description(name) or (exact and " " in key):
        return _only_candidate(exact, present)
    # "Tom" as an alias of one node is as ambiguous as "Tom" as a part of another node's name.
    return _only_candidate(dict.fromkeys((*exact, *_match_by_part(known, key))), present)


def _is_compatible(proper: Sequence[str], node: Node) -> bool:
    """A description ("my manager") may fit several people: it matches a node without a proper name,
    or one whose name agrees with the given names."""
    node_keys = {name_key(name) for name in node.names if not is_description(name)}
    given_keys = [name_key(name) for name in proper]
    if not node_keys or not given_keys:
        return True
    return any(key in node_keys or _may_be_same(key.split(), node) for key in given_keys)


def _of_subtype(known: NameIndex, ids: Iterable[str], subtype: str) -> tuple[str, ...]:
    """A company and a place may share a name. An unknown subtype matches any."""
    return tuple(id for id in ids if not subtype or known.nodes[id].subtype in ("", subtype))


def _only_candidate(ids: Collection[str], present: Collection[str]) -> str | Ambiguous | None:
    if len(ids) > 1:
        in_source = [id for id in ids if id in present]
        return in_source[0] if len(in_source) == 1 else SEVERAL
    return next(iter(ids), None)


def _match_by_part(known: NameIndex, key: str) -> tuple[str, ...]:
    """Match Sarah with Sarah Chen, in both directions, unless their names disagree."""
    words = key.split()
    sharing = dict.fromkeys(id for word in words for id in known.by_part.get(word, ()))
    matching = [id for id in sharing if _may_be_same(words, known.nodes[id])]
    if len(words) > 1 and any(_is_full_name_with(words[0], known.nodes[id]) for id in sharing):
        # If Tom Levi is known, a node that is only called Tom may be Tom Levi or Tom Chen.
        matching = [id for id in matching if len(_fullest_name(known.nodes[id])) > 1]
    return tuple(matching)


def _is_full_name_with(first: str, node: Node) -> bool:
    fullest = _fullest_name(node)
    return len(fullest) > 1 and fullest[0] == first


def _fullest_name(node: Node) -> list[str]:
    names = [name for name in node.names if not is_description(name)]
    return max((name_key(name).split() for name in names), key=len)


def _may_be_same(words: list[str], node: Node) -> bool:
    fullest = _fullest_name(node)
    shorter, longer = sorted((words, fullest), key=len)
    if len(shorter) == len(longer):
        return _initials_agree(shorter, longer)
    return len(shorter) == 1 and len(shorter[0]) > 1 and shorter[0] in (longer[0], longer[-1])


def _initials_agree(one: list[str], other: list[str]) -> bool:
    """True for S. Chen and Sarah Chen."""
    return one[-1] == other[-1] and all(
        a == b or (min(len(a), len(b)) == 1 and a[0] == b[0])
        for a, b in zip(one, other, strict=True)
    )


def _resolve_misspelt(known: NameIndex, type: NodeType, subtype: str, name: str) -> str | None:
    """Only long, similar names with the same number of words and the same digits match."""
    key = name_key(name)
    if len(key) < MIN_MISSPELT_LENGTH or is_description(name):
        return None
    keys = [
        other
        for (kind, other), ids in known.by_key.items()
        if kind is type
        and len(other.split()) == len(key.split())
        and _digits(other) == _digits(key)
        and (type is not NodeType.ENTITY or _of_subtype(known, ids, subtype))
    ]
    best = process.extractOne(key, keys, scorer=JaroWinkler.similarity, score_cutoff=MIN_SIMILARITY)
    if best is None or not _differ_by_one_slip(key, best[0]):
        return None
    if type is NodeType.PERSON and _is_another_name(key, best[0]):
        return None
    ids = known.by_key[type, best[0]]
    return ids[0] if len(ids) == 1 else None


def _digits(text: str) -> str:
    return "".join(character for character in text if character.isdigit())


def _differ_by_one_slip(one: str, other: str) -> bool:
    """All words are equal except one long word with the same first letter: Jonathon, Jonathan. In
    short words (Levi, Levin) one more letter makes another name."""
    differ = [(a, b) for a, b in zip(one.split(), other.split(), strict=True) if a != b]
    return len(differ) == 1 and all(
        len(a) >= MIN_MISSPELT_LENGTH and abs(len(a) - len(b)) <= 1 and a[0] == b[0]
        for a, b in differ
    )


def _is_another_name(one: str, other: str) -> bool:
    """Similar given names are often different names: Stephen and Stephan, Daniel and Daniela."""
    differ = [(a, b) for a, b in zip(one.split(), other.split(), strict=True) if a != b]
    return any(
        {a, b} <= _GIVEN_NAMES or any(long == short + end for end in _VOWELS)
        for a, b in differ
        for short, long in [sorted((a, b), key=len)]
    )
