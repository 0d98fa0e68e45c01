"""Whose a name is that somebody gives a node: a name that is there already makes no second node,
and what another is called by is not given away. Pure, over what the caller may see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from commonplace.errors import InvalidInput
from commonplace.graph.known import Known, key_of
from commonplace.language.contacts import email_key
from commonplace.model.graph.node import Node
from commonplace.model.graph.words import NodeType

MOST_TOLD = 5  # of those who could be meant
_ARE_THEY_ONE = "If the two are one, merge them; else choose another."


def namesake(known: Known, type: NodeType, subtype: str, name: str) -> Node | None:
    """The node that is called so: whose first name it is, else who has it beside others. Where one
    of two things is of no known sort, they are taken for one."""
    key = key_of(name)
    called = [known.nodes[id] for id in known.by_key.get((type, key), ())]
    alike = [node for node in called if not subtype or node.subtype in ("", subtype)]
    first = [node for node in alike if node.key == key]
    found = first or alike
    if len(found) > 1:
        raise InvalidInput(
            f"{name!r} is ambiguous: {_listed(found)}.",
            remedy="Update one by its id (nodes update), or give the new node a longer name.",
            field="name",
        )
    return found[0] if found else None


def refuse_anothers_name(
    known: Known, node: Node | None, type: NodeType, subtype: str, names: Iterable[str], field: str
) -> None:
    """``node``: whom they are given to; None: a new one."""
    for name in names:
        other = known.nodes.get(known.called(type, subtype, key_of(name)) or "")
        if other is not None and other != node:
            raise InvalidInput(
                f"{name!r} is the name of {_told(other)}.", remedy=_ARE_THEY_ONE, field=field
            )


def refuse_anothers_address(known: Known, node: Node | None, addresses: Iterable[str]) -> None:
    for address in addresses:
        other = known.nodes.get(known.by_address.get(email_key(address) or "", ""))
        if other is not None and other != node:
            raise InvalidInput(
                f"{address!r} is the address of {_told(other)}.",
                remedy=f"{_ARE_THEY_ONE} It is taken away with nodes update and not_addresses.",
                field="addresses",
            )


def _listed(nodes: Sequence[Node]) -> str:
    told = ", ".join(_told(node) for node in nodes[:MOST_TOLD])
    return told if len(nodes) <= MOST_TOLD else f"{told} …"


def _told(node: Node) -> str:
    return f"{node.name} ({node.id})"
