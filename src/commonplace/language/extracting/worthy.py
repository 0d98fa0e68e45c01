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
    PROJECT,
    Account,
    Extracted,
    FoundNode,
)
from commonplace.language.extracting.marking import Marked
from commonplace.language.extracting.utterances import OWNER, speaker_of
from commonplace.model.graph.words import NodeType

_OFTEN = 2  # passages
_A_SURE_PROJECT = 0.8  # "Project Tern": nobody speaks of others' projects by their names
_FAMILIAR = re.compile(
    r"\S+|(?:my|our|mrs?|ms|miss|dr|prof|professor|grandma|grandpa|aunt|auntie|uncle|coach|nurse|"
    r"rabbi|father|pastor)\b.+",
    re.I,
)


_TITLED = re.compile(
    r"(?:mrs?|ms|miss|dr|doctor|prof|professor)\b", re.I
)  # known by more than a name
_REACHED_BY = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}\.\w|(?<![\w-])\+?\d[\d ()-]{6,18}\d(?![\w-])")
# "A woman named Ines": only whom the reader may not know needs to be named so.
_INTRODUCED = re.compile(
    r"\b(?:someone|somebody|person|wom[ae]n|m[ae]n|guy|girl|boy|lady|bloke|chap|lad|couple|friend|"
    r"colleague|kid|student|intern|nurse|teacher|doctor|neighbou?r) (?:called|named) ⟨p(\d+)⟩"
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def worthy(found: Extracted, account: Account, sentences: Sequence[Marked] = ()) -> Extracted:
    """Without the nodes that nothing ties to anything, and what hangs on them."""
    kept = _kept(found, account, _reachable(sentences))
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


def _reachable(sentences: Sequence[Marked]) -> set[int]:
    """Whose number or address is told, the one person of the sentence; and who is introduced."""
    introduced = {int(each) for marked in sentences for each in _INTRODUCED.findall(marked.text)}
    return introduced | {
        marked.persons[0]
        for marked in sentences
        if len(set(marked.persons)) == 1
        and _REACHED_BY.search(_DATE.sub("", marked.utterance.own)) is not None
    }


def _kept(found: Extracted, account: Account, reachable: Set[int]) -> set[int]:
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
        or place in reachable
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
    if any(map(_TITLED.match, (node.name, *node.aliases))):
        return True
    if node.subtype == PROJECT and node.confidence >= _A_SURE_PROJECT:
        return True
    is_familiar = node.type is not NodeType.PERSON or any(
        _FAMILIAR.fullmatch(name) for name in (node.name, *node.aliases)
    )
    return is_noted and is_familiar


def _taking_part(account: Account, nodes: Sequence[FoundNode]) -> set[int]:
    people: Iterable[int | None] = (
        speaker_of(said, nodes) for said in account.said if not said.by_machine
    )
    return {place for place in people if place is not None}
