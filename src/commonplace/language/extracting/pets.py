"""Animals with names: nobody's roommate, and no people. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from commonplace.language.extracting.found import FoundEdge, FoundNode
from commonplace.language.extracting.marking import Marked
from commonplace.language.extracting.table import compiled
from commonplace.language.extracting.utterances import OWNER


def pets(sentences: Iterable[Marked]) -> frozenset[int]:
    """ "My cat Luna", "Luna, our old cat", "Rex is my dog"."""
    spoken = list(sentences)
    found = {
        int(match["pet"])
        for each in spoken
        for says in _says()
        for match in says.finditer(each.text)
    }
    return frozenset(found - {OWNER, *(each.utterance.speaker for each in spoken)})


@cache
def _says() -> tuple[re.Pattern[str], ...]:
    named = r"\b{pet}s?,? (?:called |named |is |is called |is named )?⟨p(?P<pet>\d+)⟩(?!'s {pet})"
    owned = (
        r"⟨p(?P<pet>\d+)⟩(?:,| is| was) (?:⟨p\d+\w?⟩'s|an?|the) (?:[\w-]+ ){0,2}?{pet}"
        r"(?=[,.;!)]| (?:and|who|that|we|he|she|it|from)\b|$)"  # and not "a dog walker"
    )
    return compiled(named), compiled(owned)


def without_pets(
    nodes: Sequence[FoundNode], edges: Iterable[FoundEdge], beasts: frozenset[int]
) -> tuple[tuple[FoundNode, ...], list[FoundEdge]]:
    """Their nodes stay in their places, and are not believed."""
    kept = [edge for edge in edges if beasts.isdisjoint((edge.a, edge.b))]
    doubted = (
        replace(node, confidence=0.0) if place in beasts else node
        for place, node in enumerate(nodes)
    )
    return tuple(doubted), kept
