"""What a source tells of the nodes that were found in it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from commonplace.language.extracting.attitudes import with_attitudes
from commonplace.language.extracting.candidates import candidates
from commonplace.language.extracting.concepts import concepts
from commonplace.language.extracting.descriptions import with_descriptions
from commonplace.language.extracting.found import Account, Extracted, Spotted
from commonplace.language.extracting.kin import kin
from commonplace.language.extracting.marking import Marker
from commonplace.language.extracting.notes import notes
from commonplace.language.extracting.pets import pets, without_pets
from commonplace.language.extracting.relate import relate
from commonplace.language.extracting.side_by_side import with_ends
from commonplace.language.extracting.utterances import Utterance, utterances
from commonplace.language.extracting.worthy import worthy
from commonplace.model.source import SourceType


def told_of(account: Account, spotted: Spotted) -> Extracted:
    """Edges, ideas, notes, and what may become memories; without what means nothing to anybody."""
    spoken = list(utterances(account, spotted))
    marker = Marker(spotted.nodes, _talking(account, spoken))
    sentences = [marker.mark(each) for each in spoken]
    ideas = concepts(sentences, spotted.nodes)
    nodes = (*with_descriptions(spotted.nodes, sentences), *ideas.nodes)
    told = with_ends([*relate(sentences, nodes), *kin(sentences, nodes)], sentences)
    nodes, told = without_pets(nodes, told, pets(sentences))
    edges = (*with_attitudes(told, sentences, nodes), *ideas.edges)
    found = Extracted(
        nodes=nodes,
        edges=edges,
        notes=tuple(notes(sentences, nodes, edges)),
        candidates=candidates(account),
    )
    return worthy(found, account, sentences)


def _talking(account: Account, spoken: Sequence[Utterance]) -> set[int]:
    """Who speaks with whom. A mail may pass on another one's, to whoever gets it: only where one
    answers the other do they speak with each other."""
    turns = [each for each, _ in groupby(each.speaker for each in spoken)]
    if account.source_type is SourceType.EMAIL and len(turns) == len(set(turns)):
        return set()
    return {each for each in turns if each is not None}
