"""By which names the nodes of a graph are known."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from commonplace.errors import InvalidInput
from commonplace.language.contacts import email_key
from commonplace.language.normalise import fold
from commonplace.model.graph.naming import describes
from commonplace.model.graph.node import Node
from commonplace.model.graph.words import NodeType

_LEGAL_FORM = re.compile(
    r" (?:inc|incorporated|llc|ltd|limited|corp|corporation|co|company|gmbh|ag|plc|sa|bv|בע מ|בעמ)$"
)


def key_of(name: str) -> str:
    return fold(name)


def bare_key(name: str) -> str:
    """An organisation's name without its legal form: "Acme Inc." is "Acme"."""
    key = fold(name)
    return _LEGAL_FORM.sub("", key) or key


@dataclass(frozen=True, slots=True)
class Known:
    """Nodes by their names, as they are compared. A name may be several nodes'."""

    owner: Node | None
    nodes: Mapping[str, Node]
    by_key: Mapping[tuple[NodeType, str], tuple[str, ...]]
    by_bare_key: Mapping[str, tuple[str, ...]]  # of entities
    by_address: Mapping[str, str]
    by_part: Mapping[str, tuple[str, ...]]  # people, by each word of their names

    def called(self, type: NodeType, subtype: str, key: str) -> str | None:
        """The node that has this very name as its first."""
        for id in self.by_key.get((type, key), ()):
            node = self.nodes[id]
            if node.key == key and node.subtype == subtype:
                return id
        return None


def without_owner(known: Known) -> Known:
    """All but the owner, as far as names and addresses go: who in a source is the owner is seen in
    the source itself, so nobody else there is, though they share a name."""
    if known.owner is None:
        return known
    id = known.owner.id
    keys = {(NodeType.PERSON, key_of(name)) for name in known.owner.names}
    parts = {part for _, key in keys for part in key.split()}
    return replace(
        known,
        by_key={**known.by_key, **{key: _but(id, known.by_key.get(key, ())) for key in keys}},
        by_part={**known.by_part, **{key: _but(id, known.by_part.get(key, ())) for key in parts}},
        by_address={key: each for key, each in known.by_address.items() if each != id},
    )


def _but(id: str, ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(each for each in ids if each != id)


def first_names_of_several(people: Iterable[str]) -> set[str]:
    """ "Tom", beside Tom Chen and Tom Levi."""
    keys = {key_of(name) for name in people if not describes(name)}
    firsts = Counter(key.split()[0] for key in keys if " " in key)
    return {first for first, count in firsts.items() if count > 1}


def name_taken(name: str, other: str | None, field: str) -> InvalidInput:
    """``other``: the node that has it, where the caller may see that one."""
    remedy = "Choose another name"
    if other is not None:
        remedy += f", or look at the one that has it: node {other}"
    return InvalidInput(f"Another node has the name {name!r}.", remedy=f"{remedy}.", field=field)


def known(nodes: Iterable[Node]) -> Known:
    """``nodes``: those that stand and speak for themselves."""
    standing = {node.id: node for node in nodes}
    by_key: dict[tuple[NodeType, str], dict[str, None]] = defaultdict(dict)
    bare: dict[str, dict[str, None]] = defaultdict(dict)
    parts: dict[str, dict[str, None]] = defaultdict(dict)
    addresses: dict[str, str] = {}
    for node in standing.values():
        for name in node.names:
            key = fold(name)
            by_key[node.type, key][node.id] = None
            if node.type is NodeType.ENTITY:
                bare[bare_key(name)][node.id] = None
            elif node.type is NodeType.PERSON and not describes(name):
                for part in key.split():
                    parts[part][node.id] = None
        keys = (email_key(address) for address in node.addresses)
        addresses.update({key: node.id for key in keys if key})
    return Known(
        owner=next((node for node in standing.values() if node.is_owner), None),
        nodes=standing,
        by_key={key: tuple(ids) for key, ids in by_key.items()},
        by_bare_key={key: tuple(ids) for key, ids in bare.items()},
        by_address=addresses,
        by_part={key: tuple(ids) for key, ids in parts.items()},
    )
