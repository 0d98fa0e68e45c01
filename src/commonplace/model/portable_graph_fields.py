"""How the lines of a graph are read, field by field."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from commonplace.errors import InvalidInput
from commonplace.model import check
from commonplace.model.graph.artifact import PREFIX as ARTIFACT_PREFIX
from commonplace.model.graph.edge import PREFIX as EDGE_PREFIX
from commonplace.model.graph.node import PREFIX as NODE_PREFIX
from commonplace.model.graph.node import Mentioned
from commonplace.model.graph.words import EdgeKind, NodeType
from commonplace.model.memory import Sensitivity
from commonplace.model.portable_fields import (
    Reading,
    count,
    exact,
    maybe,
    one_of,
    read,
    reference,
    share,
    when,
    whole_number,
)
from commonplace.model.source import SourceType
from commonplace.model.ttl_policy import TtlPolicy

LONGEST_NAME = 500  # PostgreSQL's index takes a third of a page, in any script
LONGEST_OUTPUT = 4_000_000
MAX_NAMES = 10_000
MAX_DAYS = 100_000
MAX_SENTENCES = 40_000_000  # no more than a source has letters
_HIGHEST = 1e9
_HEX = re.compile(r"[0-9a-f]{1,64}")


def _prefixed(prefix: str) -> Reading:
    def reading(value: Any, field: str) -> str:
        id = check.word(value, field)
        if not id.startswith(prefix):
            raise InvalidInput(f"{field} begins with {prefix}", field=field)
        return id

    return reading


def _empty_or(reading: Reading) -> Reading:
    return lambda value, field: "" if value == "" else reading(value, field)


def _list_of(reading: Reading, limit: int) -> Reading:
    def listed(value: Any, field: str) -> tuple[Any, ...]:
        if not isinstance(value, list) or len(value) > limit:
            raise InvalidInput(f"{field} must be a list of at most {limit:,}.", field=field)
        return tuple(reading(each, field) for each in value)

    return listed


def _day(value: Any, field: str) -> date:
    return check.when(value, field).date()


def _digest(value: Any, field: str) -> str:
    if not isinstance(value, str) or not _HEX.fullmatch(value):
        raise InvalidInput(f"{field} holds digests: figures and the letters a to f.", field=field)
    return value


def _mentioned(value: Any, field: str) -> Mentioned:
    return Mentioned(**read(value, _MENTIONED, "What mentions a node"))


def _source(value: Any, field: str) -> dict[str, Any]:
    return read(value, _CITED, "A cited source")


def _output(value: Any, field: str) -> Any:
    """Checked like any JSON that comes in, and kept to the letter."""
    check.metadata({"output": value}, field, LONGEST_OUTPUT)
    return value


def _number(value: Any, field: str) -> float:
    return check.number(value, field, 0, _HIGHEST)


_name, _text = exact(LONGEST_NAME), exact(check.MAX_CONTENT)
_id = check.word
_node, _edge = _prefixed(NODE_PREFIX), _prefixed(EDGE_PREFIX)
_degree = whole_number(1, 5)

_MENTIONED: dict[str, Reading] = {
    "source_count": count,
    "promotion_score": _number,
    "first_at": when,
    "last_at": when,
    "days": _list_of(_day, MAX_DAYS),
}
_CITED: dict[str, Reading] = {
    "scope": maybe(reference),
    "id": _id,
    "source_type": one_of(SourceType),
    "said_at": check.when,
    "sensitivity": one_of(Sensitivity),
    "passage": maybe(count),
}
NODE: dict[str, Reading] = {
    "id": _node,
    "node_type": one_of(NodeType),
    "name": _name,
    "key": _name,
    "subtype": _empty_or(_name),
    "aliases": _list_of(_name, MAX_NAMES),
    "addresses": _list_of(_name, MAX_NAMES),
    "description": _empty_or(_text),
    "is_owner": check.flag,
    "confidence": share,
    "sensitivity": one_of(Sensitivity),
    "ttl_policy": one_of(TtlPolicy),
    "mentioned": _mentioned,
    "is_dirty": check.flag,
    "has_meso": check.flag,
    "has_macro": check.flag,
    "merged_into": maybe(_node),
    "stands": check.flag,
    "purge_at": when,
    "created_by": reference,
    "created_at": check.when,
    "updated_at": check.when,
    "version": whole_number(1),
    "found_by": _empty_or(_text),
}
NODE_TELLING: dict[str, Reading] = {
    "id": _id,
    "node": _node,
    "source": maybe(_source),
    "by": reference,
    "recorded_at": check.when,
    "node_type": one_of(NodeType),
    "name": _empty_or(_name),
    "key": _empty_or(_name),
    "subtype": _empty_or(_name),
    "aliases": _list_of(_name, MAX_NAMES),
    "not_called": _list_of(_name, MAX_NAMES),
    "addresses": _list_of(_name, MAX_NAMES),
    "description": _empty_or(_text),
    "confidence": share,
    "sensitivity": one_of(Sensitivity),
    "stands": check.flag,
}
EDGE: dict[str, Reading] = {
    "id": _edge,
    "a": _node,
    "b": _node,
    "kind": one_of(EdgeKind),
    "edge_type": _name,
    "description": _empty_or(_text),
    "attitude": _degree,
    "proximity": _degree,
    "confidence": share,
    "sensitivity": one_of(Sensitivity),
    "valid_from": check.when,
    "valid_to": when,
    "recorded_at": check.when,
    "invalidated_at": when,
    "recorded_by": reference,
    "is_dirty": check.flag,
    "stands": check.flag,
    "purge_at": when,
    "created_at": check.when,
    "updated_at": check.when,
    "version": whole_number(1),
    "found_by": _empty_or(_text),
}
EDGE_TELLING: dict[str, Reading] = {
    "id": _id,
    "edge": _edge,
    "a": _node,
    "b": _node,
    "edge_type": _name,
    "source": maybe(_source),
    "by": reference,
    "recorded_at": check.when,
    "valid_from": check.when,
    "valid_to": when,
    "ends": check.flag,
    "beside": check.flag,
    "attitude": maybe(_degree),
    "proximity": maybe(_degree),
    "description": _empty_or(_text),
    "confidence": share,
    "sensitivity": one_of(Sensitivity),
    "stands": check.flag,
}
NOTE: dict[str, Reading] = {
    "id": _id,
    "about": _id,
    "content": _text,
    "added_by": reference,
    "date_added": check.when,
    "expires_at": when,
    "source": maybe(_source),
    "sensitivity": one_of(Sensitivity),
    "stands": check.flag,
    "purge_at": when,
}
ARTIFACT: dict[str, Reading] = {
    "id": _prefixed(ARTIFACT_PREFIX),
    "name": _name,
    "content_type": _name,
    "output": _output,
    "description": _empty_or(_text),
    "source": maybe(_source),
    "sensitivity": one_of(Sensitivity),
    "ttl_policy": one_of(TtlPolicy),
    "created_by": reference,
    "created_at": check.when,
    "updated_at": check.when,
    "purge_at": when,
}
EXTRACTION: dict[str, Reading] = {
    "scope": maybe(reference),
    "source": _id,
    "started_at": check.when,
    "completed_at": check.when,
    "passages": count,
    "digest": _empty_or(_name),
    "heard": _list_of(_digest, MAX_SENTENCES),
    "stands": check.flag,
}
MARKS: dict[str, Reading] = {
    "id": _id,
    "salience": share,
    "touched_at": when,
    "access_count": count,
    "recall_frequency": count,
    "last_recall_interval": maybe(_number),
    "decay_gradient": _number,
}
