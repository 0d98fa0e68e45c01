"""Extraction of one source: nodes, edges, notes, memory candidates; irrelevant nodes dropped.

"Chicago" in passing is a word; "Chicago" where a friend lives is a place that the owner knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import replace
from functools import cache
from itertools import groupby

from commonplace.language.extract.entity_recognition import recognise_entities
from commonplace.language.extract.facts.concepts import find_concepts
from commonplace.language.extract.facts.descriptions import add_descriptions, find_notes
from commonplace.language.extract.facts.memory_candidates import find_memory_candidates
from commonplace.language.extract.marking import MarkedUtterance, SentenceMarker
from commonplace.language.extract.patterns import compile_pattern
from commonplace.language.extract.relations.edges import (
    apply_attitudes,
    find_edges,
    find_title_relations,
)
from commonplace.language.extract.relations.validity import end_superseded_edges
from commonplace.language.extract.sentences import (
    OWNER_INDEX,
    Utterance,
    speaker_node,
    split_utterances,
)
from commonplace.language.extract.values import (
    LOCATION,
    MIN_CONFIDENCE,
    PROJECT,
    ExtractionInput,
    FoundEdge,
    FoundNode,
    RecognisedNodes,
    SourceExtraction,
)
from commonplace.model.graph.types import NodeType
from commonplace.model.sources.source import SourceType


def find_pets(sentences: Iterable[MarkedUtterance]) -> frozenset[int]:
    """ "My cat Luna", "Luna, our old cat", "Rex is my dog"."""
    spoken = list(sentences)
    found = {
        int(match["pet"])
        for each in spoken
        for says in _pet_patterns()
        for match in says.finditer(each.text)
    }
    return frozenset(found - {OWNER_INDEX, *(each.utterance.speaker for each in spoken)})


@cache
def _pet_patterns() -> tuple[re.Pattern[str], ...]:
    named = r"\b{pet}s?,? (?:called |named |is |is called |is named )?⟨p(?P<pet>\d+)⟩(?!'s {pet})"
    owned = (
        r"⟨p(?P<pet>\d+)⟩(?:,| is| was) (?:⟨p\d+\w?⟩'s|an?|the) (?:[\w-]+ ){0,2}?{pet}"
        r"(?=[,.;!)]| (?:and|who|that|we|he|she|it|from)\b|$)"  # and not "a dog walker"
    )
    return compile_pattern(named), compile_pattern(owned)


def discount_pets(
    nodes: Sequence[FoundNode], edges: Iterable[FoundEdge], beasts: frozenset[int]
) -> tuple[tuple[FoundNode, ...], list[FoundEdge]]:
    """Their nodes stay in their places, and are not believed."""
    kept = [edge for edge in edges if beasts.isdisjoint((edge.a, edge.b))]
    doubted = (
        replace(node, confidence=0.0) if place in beasts else node
        for place, node in enumerate(nodes)
    )
    return tuple(doubted), kept


_FREQUENT_PASSAGES = 2  # passages
_MIN_PROJECT_CONFIDENCE = 0.8  # "Project Tern": nobody speaks of others' projects by their names
_FAMILIAR_NAME = re.compile(
    r"\S+|(?:my|our|mrs?|ms|miss|dr|prof|professor|grandma|grandpa|aunt|auntie|uncle|coach|nurse|"
    r"rabbi|father|pastor)\b.+",
    re.I,
)


_TITLED_NAME = re.compile(
    r"(?:mrs?|ms|miss|dr|doctor|prof|professor)\b", re.I
)  # known by more than a name
_CONTACT_DETAIL = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,64}\.\w|(?<![\w-])\+?\d[\d ()-]{6,18}\d(?![\w-])"
)
# "A woman named Ines": only whom the reader may not know needs to be named so.
_INTRODUCED_PERSON = re.compile(
    r"\b(?:someone|somebody|person|wom[ae]n|m[ae]n|guy|girl|boy|lady|bloke|chap|lad|couple|friend|"
    r"colleague|kid|student|intern|nurse|teacher|doctor|neighbou?r) (?:called|named) ⟨p(\d+)⟩"
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def drop_irrelevant_nodes(
    found: SourceExtraction, account: ExtractionInput, sentences: Sequence[MarkedUtterance] = ()
) -> SourceExtraction:
    """Without the nodes that nothing ties to anything, and what hangs on them."""
    kept = _relevant_nodes(found, account, _introduced_or_reachable(sentences))
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


def _introduced_or_reachable(sentences: Sequence[MarkedUtterance]) -> set[int]:
    """Whose number or address is told, the one person of the sentence; and who is introduced."""
    introduced = {
        int(each) for marked in sentences for each in _INTRODUCED_PERSON.findall(marked.text)
    }
    return introduced | {
        marked.persons[0]
        for marked in sentences
        if len(set(marked.persons)) == 1
        and _CONTACT_DETAIL.search(_DATE.sub("", marked.utterance.own)) is not None
    }


def _relevant_nodes(
    found: SourceExtraction, account: ExtractionInput, reachable: Set[int]
) -> set[int]:
    sure = {
        place for place, node in enumerate(found.nodes) if node.confidence >= MIN_CONFIDENCE
    } | {OWNER_INDEX}
    tied = {end for edge in found.edges if {edge.a, edge.b} <= sure for end in (edge.a, edge.b)}
    noted = {each for note in found.notes for each in note.about}
    taking_part = _speaker_nodes(account, found.nodes)
    heard = {said.number for said in account.said if not (said.by_machine or said.suspicious)}
    return {
        place
        for place in sure
        if place == OWNER_INDEX
        or place in tied
        or place in reachable
        or place in taking_part
        or _is_relevant_alone(found.nodes[place], place in noted, heard)
    }


def _is_relevant_alone(node: FoundNode, is_noted: bool, heard: Set[int]) -> bool:
    """By itself, without an edge. A place has to be somebody's, and of those who are only called by
    their full names many are known to everybody."""
    if node.subtype == LOCATION or node.type is NodeType.CONCEPT:
        return False
    if len(heard & set(node.passages)) >= _FREQUENT_PASSAGES:
        return True
    if any(map(_TITLED_NAME.match, (node.name, *node.aliases))):
        return True
    if node.subtype == PROJECT and node.confidence >= _MIN_PROJECT_CONFIDENCE:
        return True
    is_familiar = node.type is not NodeType.PERSON or any(
        _FAMILIAR_NAME.fullmatch(name) for name in (node.name, *node.aliases)
    )
    return is_noted and is_familiar


def _speaker_nodes(account: ExtractionInput, nodes: Sequence[FoundNode]) -> set[int]:
    people: Iterable[int | None] = (
        speaker_node(said, nodes) for said in account.said if not said.by_machine
    )
    return {place for place in people if place is not None}


def extract_from_nodes(account: ExtractionInput, spotted: RecognisedNodes) -> SourceExtraction:
    """Edges, ideas, notes, and what may become memories; without what means nothing to anybody."""
    spoken = list(split_utterances(account, spotted))
    marker = SentenceMarker(spotted.nodes, _conversation_partners(account, spoken))
    sentences = [marker.mark(each) for each in spoken]
    ideas = find_concepts(sentences, spotted.nodes)
    nodes = (*add_descriptions(spotted.nodes, sentences), *ideas.nodes)
    told = end_superseded_edges(
        [*find_edges(sentences, nodes), *find_title_relations(sentences, nodes)], sentences
    )
    nodes, told = discount_pets(nodes, told, find_pets(sentences))
    edges = (*apply_attitudes(told, sentences, nodes), *ideas.edges)
    found = SourceExtraction(
        nodes=nodes,
        edges=edges,
        notes=tuple(find_notes(sentences, nodes, edges)),
        candidates=find_memory_candidates(account),
    )
    return drop_irrelevant_nodes(found, account, sentences)


def _conversation_partners(account: ExtractionInput, spoken: Sequence[Utterance]) -> set[int]:
    """Who speaks with whom. A mail may pass on another one's, to whoever gets it: only where one
    answers the other do they speak with each other."""
    turns = [each for each, _ in groupby(each.speaker for each in spoken)]
    if account.source_type is SourceType.EMAIL and len(turns) == len(set(turns)):
        return set()
    return {each for each in turns if each is not None}


def extract(account: ExtractionInput) -> SourceExtraction:
    return extract_from_nodes(account, recognise_entities(account))
