"""What the rules find in a few sentences of the owner's, as words."""

from __future__ import annotations

from tests.support.spotting import OWNER, account, spotted

from commonplace.language.extracting.found import Account, Extracted, FoundEdge, Said
from commonplace.language.extracting.told import told_of


def read(*said: str | Said) -> Extracted:
    return read_account(account(*said))


def read_account(source: Account) -> Extracted:
    return told_of(source, spotted(source))


def as_words(found: Extracted, edge: FoundEdge) -> str:
    names = [found.nodes[end].name.replace(OWNER.name, "I") for end in (edge.a, edge.b)]
    return f"{names[0]} {edge.type} {names[1]}" + (" (over)" if edge.ends else "")


def told(*said: str | Said) -> set[str]:
    found = read(*said)
    return {as_words(found, edge) for edge in found.edges}


def edge(*said: str | Said) -> FoundEdge:
    """The only one."""
    (only,) = read(*said).edges
    return only
