"""Accounts to extract from, and what was spotted in them in a form that a test can compare."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from commonplace.language.extract.entity_recognition import recognise_entities
from commonplace.language.extract.values import (
    AttributedPassage,
    ExtractionInput,
    FoundNode,
    OwnerIdentity,
    RecognisedNodes,
)
from commonplace.model.sources.source import SourceType

DATE = datetime(2026, 3, 2, 9, tzinfo=UTC)
ALEX = OwnerIdentity(name="Alex Rivera", names=frozenset({"Alex Rivera"}))


def account(
    *texts: str | tuple[str, str], owner: OwnerIdentity = ALEX, participants: Sequence[str] = ()
) -> ExtractionInput:
    """A text alone is the owner's; a pair is a speaker and what they said."""
    said = []
    for number, each in enumerate(texts):
        speaker, text = (None, each) if isinstance(each, str) else each
        machine = speaker == "assistant"
        said.append(
            AttributedPassage(
                number=number,
                text=text,
                at=DATE,
                speaker=speaker,
                by_owner=speaker is None,
                by_machine=machine,
            )
        )
    return ExtractionInput(
        passages=tuple(said),
        owner=owner,
        source_type=next(iter(SourceType)),
        date=DATE,
        participants=tuple(participants),
    )


def spotted(*texts: str | tuple[str, str], **how: object) -> RecognisedNodes:
    return recognise_entities(account(*texts, **how))  # type: ignore[arg-type]


def kept(found: RecognisedNodes, least: float = 0.7) -> dict[str, str]:
    """Names of the nodes that are kept → what they are; the owner is left out."""
    return {
        node.name: node.subtype or node.type.value
        for node in found.nodes
        if node.confidence >= least and not node.is_owner
    }


def node_called(found: RecognisedNodes, name: str) -> FoundNode:
    (node,) = [each for each in found.nodes if each.name == name]
    return node


def spoken_of(found: RecognisedNodes, told: ExtractionInput, name: str) -> list[str]:
    """The words by which a node is spoken of, in their order."""
    number = found.nodes.index(node_called(found, name))
    texts = {said.number: said.text for said in told.passages}
    return [texts[s.passage][s.start : s.end] for s in found.spans if s.node == number]
