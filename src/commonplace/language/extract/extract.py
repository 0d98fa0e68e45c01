"""Extraction of one source: nodes, edges, notes and memory candidates.

Nodes that are not relevant to the owner are dropped: "Chicago" mentioned in passing is not stored,
"Chicago" where a friend lives is. Their names are returned apart: they mention nodes that the owner
may have already.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
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
from commonplace.model.graph.types import NodeType, is_description
from commonplace.model.sources.source import SourceType


def find_pets(sentences: Iterable[MarkedUtterance]) -> frozenset[int]:
    """Indices of nodes that are pets: "My cat Luna", "Luna, our old cat", "Rex is my dog"."""
    utterances = list(sentences)
    found = {
        int(match["pet"])
        for each in utterances
        for pattern in _pet_patterns()
        for match in pattern.finditer(each.text)
    }
    return frozenset(found - {OWNER_INDEX, *(each.utterance.speaker for each in utterances)})


@cache
def _pet_patterns() -> tuple[re.Pattern[str], ...]:
    named = r"\b{pet}s?,? (?:called |named |is |is called |is named )?⟨p(?P<pet>\d+)⟩(?!'s {pet})"
    owned = (
        r"⟨p(?P<pet>\d+)⟩(?:,| is| was) (?:⟨p\d+\w?⟩'s|an?|the) (?:[\w-]+ ){0,2}?{pet}"
        r"(?=[,.;!)]| (?:and|who|that|we|he|she|it|from)\b|$)"  # and not "a dog walker"
    )
    return compile_pattern(named), compile_pattern(owned)


def discount_pets(
    nodes: Sequence[FoundNode], edges: Iterable[FoundEdge], pets: frozenset[int]
) -> tuple[tuple[FoundNode, ...], list[FoundEdge]]:
    """Set the confidence of pet nodes to 0 (indices stay valid) and drop their edges."""
    kept = [edge for edge in edges if pets.isdisjoint((edge.a, edge.b))]
    discounted = (
        replace(node, confidence=0.0) if index in pets else node for index, node in enumerate(nodes)
    )
    return tuple(discounted), kept


_FREQUENT_PASSAGES = 2
_MIN_PROJECT_CONFIDENCE = 0.8  # a named project ("Project Tern") is usually the owner's
_FAMILIAR_NAME = re.compile(
    r"\S+|(?:my|our|mrs?|ms|miss|dr|prof|professor|grandma|grandpa|aunt|auntie|uncle|coach|nurse|"
    r"rabbi|father|pastor)\b.+",
    re.I,
)


_TITLED_NAME = re.compile(
    r"(?:mrs?|ms|miss|dr|doctor|prof|professor)\b", re.I
)  # the writer knows them by title
_CONTACT_DETAIL = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,64}\.\w|(?<![\w-])\+?\d[\d ()-]{6,18}\d(?![\w-])"
)
# "A woman named Ines": an introduction of somebody the reader may not know.
_INTRODUCED_PERSON = re.compile(
    r"\b(?:someone|somebody|person|wom[ae]n|m[ae]n|guy|girl|boy|lady|bloke|chap|lad|couple|friend|"
    r"colleague|kid|student|intern|nurse|teacher|doctor|neighbou?r) (?:called|named) ⟨p(\d+)⟩"
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def drop_irrelevant_nodes(
    found: SourceExtraction, source: ExtractionInput, sentences: Sequence[MarkedUtterance] = ()
) -> SourceExtraction:
    """Drop the nodes without a relation to the owner, and their edges and notes. The names of
    dropped nodes stay, as names in passing."""
    kept = _relevant_nodes(found, source, _introduced_or_reachable(sentences))
    indices = {old: new for new, old in enumerate(sorted(kept))}
    return replace(
        found,
        nodes=tuple(found.nodes[old] for old in sorted(kept)),
        edges=tuple(
            replace(edge, a=indices[edge.a], b=indices[edge.b])
            for edge in found.edges
            if edge.a in kept and edge.b in kept
        ),
        notes=tuple(
            replace(note, about=tuple(indices[each] for each in note.about))
            for note in found.notes
            if kept.issuperset(note.about)
        ),
        in_passing=tuple(_names_in_passing(found.nodes, kept, _trusted_passages(source))),
    )


def _names_in_passing(
    nodes: Sequence[FoundNode], kept: Set[int], trusted_passages: Set[int]
) -> Iterator[FoundNode]:
    """The dropped nodes with a credible name in the text of a person, and these places of it."""
    for index, node in enumerate(nodes):
        is_name = node.type is not NodeType.CONCEPT and not is_description(node.name)
        if index in kept or node.confidence < MIN_CONFIDENCE or not is_name:
            continue
        places = tuple(each for each in node.places if each.passage in trusted_passages)
        if places:
            passages = tuple(dict.fromkeys(each.passage for each in places))
            yield replace(node, places=places, passages=passages)


def _trusted_passages(source: ExtractionInput) -> set[int]:
    return {
        passage.number
        for passage in source.passages
        if not (passage.by_machine or passage.suspicious)
    }


def _introduced_or_reachable(sentences: Sequence[MarkedUtterance]) -> set[int]:
    """Persons who are introduced, or who are the only person in a sentence with contact details."""
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
    found: SourceExtraction, source: ExtractionInput, reachable: Set[int]
) -> set[int]:
    credible = {
        index for index, node in enumerate(found.nodes) if node.confidence >= MIN_CONFIDENCE
    } | {OWNER_INDEX}
    connected = {
        end for edge in found.edges if {edge.a, edge.b} <= credible for end in (edge.a, edge.b)
    }
    noted = {each for note in found.notes for each in note.about}
    speakers = _speaker_nodes(source, found.nodes)
    trusted_passages = _trusted_passages(source)
    return {
        index
        for index in credible
        if index == OWNER_INDEX
        or index in connected
        or index in reachable
        or index in speakers
        or _is_relevant_alone(found.nodes[index], index in noted, trusted_passages)
    }


def _is_relevant_alone(node: FoundNode, is_noted: bool, trusted_passages: Set[int]) -> bool:
    """Whether a node is relevant without an edge. Locations need one; persons who appear only under
    their full name are often public figures."""
    if node.subtype == LOCATION or node.type is NodeType.CONCEPT:
        return False
    if len(trusted_passages & set(node.passages)) >= _FREQUENT_PASSAGES:
        return True
    if any(map(_TITLED_NAME.match, (node.name, *node.aliases))):
        return True
    if node.subtype == PROJECT and node.confidence >= _MIN_PROJECT_CONFIDENCE:
        return True
    is_familiar = node.type is not NodeType.PERSON or any(
        _FAMILIAR_NAME.fullmatch(name) for name in (node.name, *node.aliases)
    )
    return is_noted and is_familiar


def _speaker_nodes(source: ExtractionInput, nodes: Sequence[FoundNode]) -> set[int]:
    people: Iterable[int | None] = (
        speaker_node(passage, nodes) for passage in source.passages if not passage.by_machine
    )
    return {index for index in people if index is not None}


def extract_from_nodes(source: ExtractionInput, recognised: RecognisedNodes) -> SourceExtraction:
    """Edges, concepts, notes and memory candidates of a source whose nodes are recognised."""
    utterances = list(split_utterances(source, recognised))
    marker = SentenceMarker(recognised.nodes, _conversation_partners(source, utterances))
    sentences = [marker.mark(each) for each in utterances]
    concepts = find_concepts(sentences, recognised.nodes)
    nodes = (*add_descriptions(recognised.nodes, sentences), *concepts.nodes)
    found_edges = end_superseded_edges(
        [*find_edges(sentences, nodes), *find_title_relations(sentences, nodes)], sentences
    )
    nodes, found_edges = discount_pets(nodes, found_edges, find_pets(sentences))
    edges = (*apply_attitudes(found_edges, sentences, nodes), *concepts.edges)
    found = SourceExtraction(
        nodes=nodes,
        edges=edges,
        notes=tuple(find_notes(sentences, nodes, edges)),
        candidates=find_memory_candidates(source),
    )
    return drop_irrelevant_nodes(found, source, sentences)


def _conversation_partners(source: ExtractionInput, utterances: Sequence[Utterance]) -> set[int]:
    """Nodes of those who talk to each other. In a mail this needs a reply: a forwarded mail only
    quotes another sender."""
    turns = [each for each, _ in groupby(each.speaker for each in utterances)]
    if source.source_type is SourceType.EMAIL and len(turns) == len(set(turns)):
        return set()
    return {each for each in turns if each is not None}


def extract(source: ExtractionInput) -> SourceExtraction:
    return extract_from_nodes(source, recognise_entities(source))
