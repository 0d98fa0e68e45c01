"""What the owner calls those who speak under an address alone."""

from __future__ import annotations

from collections.abc import Iterable

from commonplace.desk import Desk
from commonplace.language.contacts import email_key
from commonplace.model.graph.node import Node
from commonplace.model.memory import Sensitivity
from commonplace.model.scope import Scope
from commonplace.model.source import Passage


def called_by_owner(
    desk: Desk, home: Scope, everybody: Iterable[Node], passages: Iterable[Passage]
) -> dict[str, str]:
    """Names by the addresses of these speakers. Only somebody's own word counts: in the memories of
    one source, a name that another source told would outlive that one when it is erased."""
    addresses = {email_key(each.speaker) for each in passages if each.speaker} - {None}
    if not addresses:
        return {}
    people = {
        node.id: node
        for node in everybody
        if node.sensitivity is not Sensitivity.HIGH
        and addresses & {email_key(address) for address in node.addresses}
    }
    told = desk.store.node_tellings(home, [*people])
    named = {(t.node, t.name) for t in told if t.source is None and t.stands}
    return {
        key: node.name
        for node in people.values()
        if (node.id, node.name) in named
        for key in map(email_key, node.addresses)
        if key is not None
    }
