"""A picture as rows, and rows as CSV: what a child is filled with. Pure.

All edges are in it, those that are over as well: valid_from, valid_to, recorded_at and
invalidated_at are properties, and a query asks by them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from typing import Any

from commonplace.model.graph.artifact import Artifact
from commonplace.model.graph.edge import Edge
from commonplace.model.graph.node import Node, TtlPolicy
from commonplace.model.graph.note import Note
from commonplace.model.graph.picture import Picture
from commonplace.model.graph.words import NodeType
from commonplace.model.salience import Marks, presence, salience_at
from commonplace.model.source import Source
from commonplace.model.team import Team
from commonplace.recall.cypher.schema import CONTENT_FIELDS, LABELS, NOTE_FIELDS, RELATIONSHIPS
from commonplace.recall.cypher.tables import FIELD, ITEM, NOTHING, filling, linking
from commonplace.recall.cypher.values import moment_text

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Filling:
    """A statement, and the CSV of the rows that it takes in."""

    statement: str
    csv: bytes


def fillings(picture: Picture, now: datetime) -> Iterator[Filling]:
    """Nodes of all labels, then what is between them."""
    for label, rows in nodes_of(picture, now).items():
        if rows:
            keys = tuple(LABELS[label].properties)
            yield Filling(filling(label), _csv(rows, keys))
    for (kind, a, b), rows in links_of(picture, now).items():
        keys = ("_a", "_b", *RELATIONSHIPS[kind].properties)
        yield Filling(linking(kind, a, b), _csv(rows, keys))


def nodes_of(picture: Picture, now: datetime) -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = {label: [] for label in LABELS}
    for node in picture.nodes.values():
        rows[node.type.value].append(_node(node, picture, now))
    rows["Source"] = [_source(each, picture, now) for each in picture.sources.values()]
    rows["Artifact"] = [_artifact(each) for each in picture.artifacts.values()]
    rows["Team"] = [_team(each) for each in picture.teams.values()]
    return rows


def links_of(picture: Picture, now: datetime) -> dict[tuple[str, str, str], list[Row]]:
    """By relationship and the labels of the ends. What has an end that is not seen is left out."""
    labels: dict[str, str] = {id: node.type.value for id, node in picture.nodes.items()}
    labels |= dict.fromkeys(picture.sources, "Source")
    labels |= dict.fromkeys(picture.artifacts, "Artifact")
    found: dict[tuple[str, str, str], list[Row]] = {}
    for kind, row in _all_links(picture, now):
        a, b = labels.get(row["_a"]), labels.get(row["_b"])
        if a is None or b is None:
            continue
        if (a, b) not in RELATIONSHIPS[kind].ends:  # told from the other end
            a, b, row = b, a, {**row, "_a": row["_b"], "_b": row["_a"]}
        found.setdefault((kind, a, b), []).append(row)
    return found


def _all_links(picture: Picture, now: datetime) -> Iterator[tuple[str, Row]]:
    for edge in picture.edges.values():
        yield edge.kind.value, _edge(edge, picture, now)
    for mention in picture.mentions:
        yield "mentions", _link("mentions", mention.source, mention.node, mention.said_at)
    for artifact in picture.artifacts.values():
        if artifact.source is not None:
            said_at = artifact.source.said_at
            yield "produced", _link("produced", artifact.source.id, artifact.id, said_at)


# ——— one row each ———


def _node(node: Node, picture: Picture, now: datetime) -> Row:
    kept = node.ttl_policy is TtlPolicy.KEEP_FOREVER
    row = {
        "entity_key": node.id,
        "user_id": node.user_id,
        "name": node.name,
        "canonical_name": node.key,
        "description": node.description,
        "created_by": node.created_by,
        "aliases": node.aliases,
        "notes": _notes(picture.notes.get(node.id, ()), now),
        "is_dirty": node.is_dirty,
        "confidence": node.confidence,
        "sensitivity": node.sensitivity.value,
        "source_count": node.mentioned.source_count,
        "promotion_score": node.mentioned.promotion_score,
        "first_mentioned_at": node.mentioned.first_at,
        "last_mentioned_at": node.mentioned.last_at,
        "distinct_source_days": node.mentioned.distinct_days,
        "distinct_days": node.mentioned.days,
        "has_meso": node.has_meso,
        "has_macro": node.has_macro,
        "ttl_policy": node.ttl_policy.value,
        **_life(picture.marks_of(node.id), node.created_at, now, node.confidence, kept),
        "created_at": node.created_at,
        "updated_at": node.updated_at,
    }
    if node.type is NodeType.PERSON:
        return row | {"is_owner": node.is_owner}
    return row | {"type": node.subtype} if node.type is NodeType.ENTITY else row


def _edge(edge: Edge, picture: Picture, now: datetime) -> Row:
    return {
        "_a": edge.a,
        "_b": edge.b,
        "entity_key": edge.id,
        "user_id": edge.user_id,
        "relationship_kind": edge.kind.value,
        "relationship_type": edge.type,
        "description": edge.description,
        "notes": _notes(picture.notes.get(edge.id, ()), now),
        "is_dirty": edge.is_dirty,
        "attitude": edge.attitude,
        "proximity": edge.proximity,
        **_life(picture.marks_of(edge.id), edge.created_at, now, edge.confidence),
        "recorded_by": edge.recorded_by,
        "valid_from": edge.valid_from,
        "valid_to": edge.valid_to,
        "recorded_at": edge.recorded_at,
        "invalidated_at": edge.invalidated_at,
        "confidence": edge.confidence,
        "sensitivity": edge.sensitivity.value,
        "created_at": edge.created_at,
        "updated_at": edge.updated_at,
    }


def _link(kind: str, a: str, b: str, said_at: datetime) -> Row:
    return {"_a": a, "_b": b, "entity_key": f"{a} {kind} {b}", "said_at": said_at}


def _source(source: Source, picture: Picture, now: datetime) -> Row:
    return {
        "entity_key": source.id,
        "user_id": source.user_id,
        "team_id": source.team_id,
        "name": source.title,
        "content": {"type": source.content_type.value},
        "source_type": source.source_type.value,
        "context_type": source.context_type.value if source.context_type else None,
        "provenance": json.dumps(dict(source.provenance), ensure_ascii=False, default=str),
        "started_at": source.started_at or source.created_at,
        "ended_at": source.ended_at,
        "participants": source.participants,
        "summary": source.summary,
        "keywords": source.keywords,
        "tags": source.tags,
        "processing_status": source.status.value,
        "processing_started_at": source.processing_started_at,
        "processing_completed_at": source.processing_completed_at,
        "extraction_started_at": source.extraction_started_at,
        "extraction_completed_at": source.extraction_completed_at,
        "sensitivity": source.sensitivity.value,
        "ttl_policy": TtlPolicy.DECAY.value,
        **_life(picture.marks_of(source.id), source.created_at, now),
        "created_at": source.created_at,
        "updated_at": source.updated_at,
    }


def _artifact(artifact: Artifact) -> Row:
    output = artifact.output
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    return {
        "entity_key": artifact.id,
        "user_id": artifact.user_id,
        "name": artifact.name,
        "description": artifact.description,
        "content": {"type": artifact.content_type, "output": text},
        "sensitivity": artifact.sensitivity.value,
        "ttl_policy": artifact.ttl_policy.value,
        "created_by": artifact.created_by,
        "created_at": artifact.created_at,
        "updated_at": artifact.updated_at,
    }


def _team(team: Team) -> Row:
    return {
        "entity_key": team.id,
        "team_id": team.id,
        "name": team.name,
        "created_at": team.created_at,
        "created_by": team.created_by,
        "settings": json.dumps({"retention_days": team.retention_days}),
    }


def _life(
    marks: Marks,
    made_at: datetime,
    now: datetime,
    confidence: float | None = None,
    kept: bool = False,
) -> Row:
    salience = salience_at(marks, made_at, now, confidence=confidence, keep_forever=kept)
    return {
        "salience": salience,
        "state": presence(marks, salience, keep_forever=kept).value,
        "access_count": marks.access_count,
        "recall_frequency": marks.recall_frequency,
        "last_recall_interval": marks.last_recall_interval,
        "decay_gradient": marks.decay_gradient,
        "last_accessed_at": marks.touched_at,
    }


def _notes(notes: Sequence[Note], now: datetime) -> list[Row]:
    """Live ones, newest first."""
    live = sorted((n for n in notes if n.is_live(now)), key=lambda n: n.date_added, reverse=True)
    return [
        {
            "content": note.content,
            "added_by": note.added_by,
            "date_added": note.date_added,
            "source_entity_key": note.source.id if note.source else None,
            "expires_at": note.expires_at,
        }
        for note in live
    ]


# ——— as CSV ———


def _csv(rows: Iterable[Row], keys: Sequence[str]) -> bytes:
    lines = (",".join([_cell(row.get(key)) for key in keys]) for row in rows)
    return "\n".join(lines).encode() + b"\n"


def _cell(value: Any) -> str:
    """Quoted, but for null and numbers. There are millions of them: the usual ones come first."""
    if value is None:
        return ""
    kind = type(value)
    if kind is str:
        return f'"{value}"' if _PLAIN(value) else f'"{_text(value).replace(_QUOTE, _QUOTED)}"'
    if kind is datetime:
        return f'"{_moment(value)}"'
    if kind is float or kind is int:
        return repr(value)
    return f'"{_item(value).replace(_QUOTE, _QUOTED)}"'


_QUOTE, _QUOTED = '"', '""'
_KEPT_OUT = str.maketrans({ITEM: " ", FIELD: " ", NOTHING: " ", "\0": " "})
_PLAIN = re.compile(r"[^\x00-\x1f\"]*").fullmatch
_moment = lru_cache(maxsize=100_000)(moment_text)


def _text(value: object) -> str:
    return str(value).translate(_KEPT_OUT)


def _item(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ITEM.join([_item(each) for each in value])
    if isinstance(value, Mapping):
        return _struct(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return _moment(value)
    return value.isoformat() if isinstance(value, date) else _text(value)


def _struct(value: Row) -> str:
    """The engine's splitting loses empty fields at the end: none is empty."""
    fields = NOTE_FIELDS if "added_by" in value else CONTENT_FIELDS
    told = (value.get(name) for name in fields)
    return FIELD.join(NOTHING if each in (None, "") else _item(each) for each in told)
