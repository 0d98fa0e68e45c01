"""What another user brought says nothing about the reader: drop what it claims about them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Set
from dataclasses import replace

from commonplace.language.extract.values import (
    ExtractionInput,
    FoundEdge,
    FoundNode,
    FoundNote,
    SourceExtraction,
)
from commonplace.language.text.normalise import fold_case
from commonplace.model.graph.types import NodeType

# "The user" as memories and many languages put it: in a reader's memory it means the reader.
_USER_WORDS = (
    r"\b(?:the|this) user\b|^user\b|משתמש|\busuari[oa]\b|\butilisat(?:eur|rice)\b|\b(?:be)?nutzer"
    r"|\butente\b|\busuári[oa]\b|\bпользовател|المستخدم|用户|用戶|ユーザー|사용자"
)


def drop_claims_about_reader(found: SourceExtraction, given: ExtractionInput) -> SourceExtraction:
    """Without edges, notes, descriptions and memories about the reader, unless they speak there."""
    names = {fold_case(name) for name in (given.owner.name, *given.owner.names) if name}
    spoken = {
        each.number
        for each in given.passages
        if each.speaker and fold_case(each.speaker) in names and not each.by_machine
    }
    names_reader = _reader_pattern(names)
    owners = {index for index, node in enumerate(found.nodes) if node.is_owner}

    def is_kept(item: FoundEdge | FoundNote, ends: Iterable[int], text: str) -> bool:
        return item.passage in spoken or not (owners & set(ends) or names_reader(text))

    edges = tuple(e for e in found.edges if is_kept(e, (e.a, e.b), e.description))
    notes = tuple(n for n in found.notes if is_kept(n, n.about, n.content))
    kept = replace(
        found,
        nodes=tuple(_without_claims(node, spoken, names_reader) for node in found.nodes),
        edges=edges,
        notes=notes,
        candidates=tuple(
            (number, one)
            for number, one in found.candidates
            if number in spoken or not names_reader(one.content)
        ),
    )
    return _drop_nodes(kept, _unasserted(found, kept, spoken))


def _reader_pattern(names: Set[str]) -> Callable[[str], bool]:
    """Whether a text is about the reader: full and first names count."""
    words = {word for name in names for word in (name, name.partition(" ")[0])}
    named = "|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in sorted(words))
    pattern = re.compile(f"{_USER_WORDS}|{named}" if named else _USER_WORDS)
    return lambda text: pattern.search(fold_case(text)) is not None


def _without_claims(
    node: FoundNode, spoken: Set[int], names_reader: Callable[[str], bool]
) -> FoundNode:
    if spoken & set(node.passages):
        return node
    if node.is_owner:
        return replace(node, aliases=(), description="")
    return replace(node, description="") if names_reader(node.description) else node


def _unasserted(found: SourceExtraction, kept: SourceExtraction, spoken: Set[int]) -> set[int]:
    """The reader, if nothing is left about them, and things that only their claims mentioned."""
    before, after = _used(found), _used(kept)
    return {
        index
        for index, node in enumerate(found.nodes)
        if index not in after
        and (
            (node.is_owner and not spoken) or (index in before and node.type is not NodeType.PERSON)
        )
    }


def _used(found: SourceExtraction) -> set[int]:
    ends = {end for edge in found.edges for end in (edge.a, edge.b)}
    return ends | {index for note in found.notes for index in note.about}


def _drop_nodes(found: SourceExtraction, dropped: Set[int]) -> SourceExtraction:
    stays = [index for index in range(len(found.nodes)) if index not in dropped]
    place = {old: new for new, old in enumerate(stays)}
    return replace(
        found,
        nodes=tuple(found.nodes[index] for index in stays),
        edges=tuple(replace(e, a=place[e.a], b=place[e.b]) for e in found.edges),
        notes=tuple(
            replace(n, about=tuple(place[index] for index in n.about)) for n in found.notes
        ),
    )
