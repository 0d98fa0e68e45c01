"""Passages as a model is given them, and items as it could answer."""

from __future__ import annotations

from datetime import UTC, datetime

from commonplace.language.extract.values import OwnerIdentity
from commonplace.language.grounding.ground import ground
from commonplace.language.grounding.values import GivenPassage, GroundedFindings, SpokenBy
from commonplace.model.sources.source import SourceType

WEDNESDAY = datetime(2026, 3, 11, 18, 30, tzinfo=UTC)
OWNER = OwnerIdentity(name="Vera Lindqvist", names=frozenset({"Vera Lindqvist", "Vera"}))
_SPEAKERS = {"owner": SpokenBy.OWNER, "assistant": SpokenBy.MACHINE}


def given(*turns: str) -> list[GivenPassage]:
    """ "owner: …", "assistant: …", "Jonas: …"; with a star in front a turn was read before."""
    found = []
    for number, turn in enumerate(turns):
        speaker, text = turn.split(": ", 1)
        by = _SPEAKERS.get(speaker.lstrip("*"), SpokenBy.OTHER)
        found.append(
            GivenPassage(
                number=number,
                text=text,
                at=WEDNESDAY,
                by=by,
                speaker=speaker.lstrip("*") if by is SpokenBy.OTHER else None,
                is_context=speaker.startswith("*"),
            )
        )
    return found


def memory(text: str, quote: str, passage: int = 0, kind: str = "fact", **fields: object):
    return {"passage": passage, "quote": quote, "kind": kind, "text": text, **fields}


def relation(one: str, type: str, other: str, quote: str, passage: int = 0, **fields: object):
    return {"passage": passage, "quote": quote, "from": one, "to": other, "type": type, **fields}


def found_in(
    turns: list[GivenPassage], source_type: SourceType = SourceType.CHAT, **lists: list[object]
) -> GroundedFindings:
    return ground(lists, turns, OWNER, source_type)


def contents(found: GroundedFindings) -> list[str]:
    return [each.candidate.content for each in found.memories]


def edges(found: GroundedFindings) -> list[tuple[str, str, str]]:
    nodes = found.graph.nodes
    return [(nodes[edge.a].name, edge.type, nodes[edge.b].name) for edge in found.graph.edges]
