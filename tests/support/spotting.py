"""Nodes found by a list of names: what the rules for relations are tried with, by themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from commonplace.language.extract.values import (
    AttributedPassage,
    ExtractionInput,
    FoundNode,
    NodeSpan,
    OwnerIdentity,
    RecognisedNodes,
)
from commonplace.model.graph.types import NodeType
from commonplace.model.sources.source import SourceType

AT = datetime(2026, 3, 18, 12, tzinfo=UTC)  # a Wednesday
OWNER = OwnerIdentity(name="Maya Adler", names=frozenset({"maya", "maya adler"}))
PEOPLE = "Dana Noa Dan Ana Ben Omer דנה נועה דן"
THINGS = {
    "organization": ["Acme", "Globex", "Initech", "אקמי", "Stanford University"],
    "location": ["Berlin", "Chicago", "Haifa", "חיפה", "Tel Aviv"],
    "product": ["Slack", "Notion", "Jira"],
    "project": ["Apollo", "the launch", "the redesign"],
    "event": ["Q4", "PyCon", "the offsite"],
    "group": ["the design team"],
}


def account(
    *said: str | AttributedPassage, source_type: SourceType = SourceType.MEETING
) -> ExtractionInput:
    """Texts are the owner's words."""
    return ExtractionInput(
        passages=tuple(
            each
            if isinstance(each, AttributedPassage)
            else AttributedPassage(
                number=number, text=each, at=AT, speaker=OWNER.name, by_owner=True
            )
            for number, each in enumerate(said)
        ),
        owner=OWNER,
        source_type=source_type,
        date=AT,
    )


def spotted(account: ExtractionInput) -> RecognisedNodes:
    nodes = [FoundNode(type=NodeType.PERSON, name=OWNER.name, is_owner=True, confidence=1.0)]
    named: dict[str, int] = {}
    for type, subtype, name in _names():
        passages = tuple(said.number for said in account.passages if _named(name).search(said.text))
        if passages or any(name == said.speaker for said in account.passages):
            named[name] = len(nodes)
            nodes.append(FoundNode(type=type, subtype=subtype, name=name, passages=passages))
    return RecognisedNodes(nodes=tuple(nodes), spans=tuple(_spans(account.passages, named)))


def _names() -> list[tuple[NodeType, str, str]]:
    people = [(NodeType.PERSON, "", name) for name in PEOPLE.split()]
    return people + [
        (NodeType.ENTITY, subtype, name) for subtype, names in THINGS.items() for name in names
    ]


def _spans(said: Sequence[AttributedPassage], named: Mapping[str, int]) -> list[NodeSpan]:
    return [
        NodeSpan(each.number, match.start(), match.end(), node)
        for each in said
        for name, node in named.items()
        for match in _named(name).finditer(each.text)
    ]


def _named(name: str) -> re.Pattern[str]:
    """Hebrew glues "in" and "to" to it."""
    return re.compile(rf"(?<![A-Za-z]){re.escape(name)}(?!\w)", re.IGNORECASE)
