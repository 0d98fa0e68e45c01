"""Which of the found nodes are kept: those that mean something to the owner.

"Chicago" in passing is a word; "Chicago" where a friend lives is a place that the owner knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import replace

from commonplace.language.extracting.found import (
    KEPT_FROM,
    LOCATION,
    Account,
    Extracted,
    FoundNode,
)
from commonplace.language.extracting.utterances import OWNER, speaker_of
from commonplace.model.graph.words import NodeType

_OFTEN = 2  # passages
_FAMILIAR = re.compile(
    r"\S+|(?:my|our|mrs?|ms|dr|prof|professor|grandma|grandpa|aunt|uncle)\b.+", re.I
)


def worthy(found: Extracted, account: Account) -> Extracted:
    """Without the nodes that nothing ties to anything, and what hangs on them."""
    kept = _kept(found, account)
    places = {old: new for new, old in enumerate(sorted(kept))}
    return replace(
        found,
        nodes=tuple(found.nodes[old] for old in sorted(kept)),
        edges=tuple(
            replace(edge, a=places[edge.a], b=places[edge.b])
            for edge in found.edges
            if edge.a in kept and edge.b in kept
        ),
        notes=tuple(
            replace(note, about=tuple(places[each] for each in note.about))
            for note in found.notes
            if kept.issuperset(note.about)
        ),
    )


def _kept(found: Extracted, account: Account) -> set[int]:
    sure = {place for place, node in enumerate(found.nodes) if node.confidence >= KEPT_FROM} | {
        OWNER
    }
    tied = {end for edge in found.edges if {edge.a, edge.b} <= sure for end in (edge.a, edge.b)}
    noted = {each for note in found.notes for each in note.about}
    taking_part = _taking_part(account, found.nodes)
    heard = {said.number for said in account.said if not (said.by_machine or said.suspicious)}
    return {
        place
        for place in sure
        if place == OWNER
        or place in tied
        or place in taking_part
        or _means_something(found.nodes[place], place in noted, heard)
    }


def _means_something(node: FoundNode, is_noted: bool, heard: Set[int]) -> bool:
    """By itself, without an edge. A place has to be somebody's, and of those who are only called by
    their full names many are known to everybody."""
    if node.subtype == LOCATION or node.type is NodeType.CONCEPT:
        return False
    if len(heard & set(node.passages)) >= _OFTEN:
        return True
    is_familiar = node.type is not NodeType.PERSON or _FAMILIAR.fullmatch(node.name) is not None
    return is_noted and is_familiar


def _taking_part(account: Account, nodes: Sequence[FoundNode]) -> set[int]:
    people: Iterable[int | None] = (
        speaker_of(said, nodes) for said in account.said if not said.by_machine
    )
    return {place for place in people if place is not None}
