"""The labelled conversations: what is said, and the nodes and edges that a reader finds in it.

They live beside the source (`labelled/`, with a README on how they were made) and are not shipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from commonplace.bench.labels import HALVES
from commonplace.language.extracting.found import Account, FoundNode, Owner, Said
from commonplace.language.suspicious import is_suspicious
from commonplace.model.graph.words import NodeType
from commonplace.model.source import SourceType

MORE = "more"  # written after the rules, to see how far they reach, and then tuned on
SETS = (*HALVES, MORE)
OWNER = "I"  # what the owner is called in the labels
_MACHINES = frozenset({"assistant", "tool"})
_LEADING = re.compile(r"^(?:my|our|the|an?|his|her|their) ")
_ADDRESS = re.compile(r"\s*<([^<>]*)>$")
_NOON = "T12:00:00"


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldNode:
    type: NodeType
    subtypes: frozenset[str]  # accepted; empty where the type has none
    names: tuple[str, ...]  # accepted spellings; edges call it by the first
    optional: bool = False  # right when found, and right when not

    @property
    def name(self) -> str:
        return self.names[0]

    def accepts(self, found: FoundNode) -> bool:
        if found.type != self.type or (self.subtypes and found.subtype not in self.subtypes):
            return False
        return not {folded(name) for name in self.names}.isdisjoint(
            map(folded, (found.name, *found.aliases))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldEdge:
    a: str
    b: str
    types: tuple[str, ...]  # accepted relationships
    ends: bool = False
    valid_from: str | None = None  # a day, or a month where no day is told
    attitude: frozenset[int] = frozenset()  # accepted values, where there is one
    optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    id: str
    language: str
    account: Account
    nodes: tuple[GoldNode, ...]
    edges: tuple[GoldEdge, ...]


def folded(name: str) -> str:
    """One form of a name, however it is capitalised and whoever it is said to belong to."""
    return _LEADING.sub("", " ".join(name.casefold().split()))


def read_conversations(folder: Path, part: str) -> list[Conversation]:
    lines = (folder / f"conversations-{part}.jsonl").read_text(encoding="utf-8").splitlines()
    return [_conversation(json.loads(line)) for line in lines if line]


def _conversation(row: dict[str, Any]) -> Conversation:
    return Conversation(
        id=row["id"],
        language=row["language"],
        account=account_of(row),
        nodes=tuple(map(_node, row["nodes"])),
        edges=tuple(map(_edge, row["edges"])),
    )


def _node(row: dict[str, Any]) -> GoldNode:
    return GoldNode(
        type=NodeType(row["type"]),
        subtypes=frozenset(filter(None, (row["subtype"], *row.get("also", ())))),
        names=tuple(row["names"]),
        optional=row.get("optional", False),
    )


def _edge(row: dict[str, Any]) -> GoldEdge:
    accepted = {"types": tuple(row["types"]), "attitude": frozenset(row.get("attitude", ()))}
    return GoldEdge(**{**row, **accepted})


def account_of(row: dict[str, Any]) -> Account:
    """A labelled conversation as extraction reads it."""
    owner: str = row["owner"]["name"]
    date = _moment(row["date"])
    said = tuple(
        _said(number, turn, owner, date) for number, turn in enumerate(row["turns"], start=1)
    )
    return Account(
        said=said,
        owner=Owner(name=owner, names=frozenset({owner})),
        source_type=SourceType(row["source_type"]),
        date=date,
        participants=_participants(row["turns"]),
    )


def _said(number: int, turn: dict[str, Any], owner: str, date: datetime) -> Said:
    speaker = _ADDRESS.sub("", turn["speaker"])
    return Said(
        number=number,
        text=turn["text"],
        at=_moment(turn["at"]) if "at" in turn else date,
        speaker=speaker,
        by_owner=speaker == owner or turn.get("role") == "user",
        by_machine=turn.get("role") in _MACHINES,
        suspicious=is_suspicious(turn["text"]),
    )


def _participants(turns: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    people = (turn["speaker"] for turn in turns if turn.get("role") not in _MACHINES)
    return tuple(dict.fromkeys(people))


def _moment(day: str) -> datetime:
    return datetime.fromisoformat(day + _NOON).replace(tzinfo=UTC)
