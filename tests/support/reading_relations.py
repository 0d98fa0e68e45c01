"""What the rules find in a few sentences of the owner's, as words."""

from __future__ import annotations

from commonplace.language.extract.extract import extract_from_nodes
from commonplace.language.extract.values import (
    AttributedPassage,
    ExtractionInput,
    FoundEdge,
    SourceExtraction,
)
from tests.support.spotting import OWNER, account, spotted


def read(*said: str | AttributedPassage) -> SourceExtraction:
    return read_account(account(*said))


def read_account(source: ExtractionInput) -> SourceExtraction:
    return extract_from_nodes(source, spotted(source))


def as_words(found: SourceExtraction, edge: FoundEdge) -> str:
    names = [found.nodes[end].name.replace(OWNER.name, "I") for end in (edge.a, edge.b)]
    return f"{names[0]} {edge.type} {names[1]}" + (" (over)" if edge.ends else "")


def told(*said: str | AttributedPassage) -> set[str]:
    found = read(*said)
    return {as_words(found, edge) for edge in found.edges}


def edge(*said: str | AttributedPassage) -> FoundEdge:
    """The only one."""
    (only,) = read(*said).edges
    return only
