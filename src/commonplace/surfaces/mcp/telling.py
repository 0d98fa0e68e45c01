"""The words beside an answer's data: what goes into a prompt, short, with ids to act on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from commonplace.book import User
from commonplace.errors import CommonplaceError
from commonplace.model.proposal import PREFIX as PROPOSAL
from commonplace.recall.context.values import Context
from commonplace.recall.query import Queried
from commonplace.recall.recall import Recalled

_NOTHING = "Nothing is known about that."
_HOW_TO_DECIDE = "They do so with `commonplace resolve`. You cannot; go on meanwhile."
_HOW_TO_AGREE = "They do so with `commonplace profile accept` or `decline`; you cannot."

# The data beside the text has it all. In the text, which an agent pays for by the word, stands
# neither the engine's bookkeeping nor what is as usual.
BOOKKEEPING = frozenset(
    {
        "access_count",
        "arrived_at",
        "created_at",
        "digest",
        "external_id",
        "has_metadata",
        "is_search",
        "last_accessed_at",
        "memory_type",
        "processing_completed_at",
        "processing_started_at",
        "provenance",
        "revision",
        "score",
        "updated_at",
        "user_id",
        "version",
    }
)
USUAL: Mapping[str, Any] = {
    "confidence": 1.0,
    "degraded": False,
    "forgettable": True,
    "importance": 2,
    "is_override": False,
    "pinned": False,
    "sensitivity": "normal",
    "stability": "stable",
    "state": "active",
    "suspicious": False,
    "ttl_policy": "decay",
}


def told(answer: Any, data: Any) -> str:
    if isinstance(answer, Context):
        return answer.text or _NOTHING
    if isinstance(answer, Queried):
        return _bullets(answer)
    if isinstance(answer, Recalled):
        data = {"hits": data["hits"], "degraded": data["degraded"]} if answer.hits else _NOTHING
    return data if isinstance(data, str) else json.dumps(_lean(data), ensure_ascii=False)


def _bullets(answer: Queried) -> str:
    """With ids, by which an agent shows, changes and forgets."""
    items = [f"- {item.text} ({item.id})" for item in answer.items]
    return "\n".join(filter(None, [answer.header, *items])) or _NOTHING


def _lean(data: Any) -> Any:
    if isinstance(data, list):
        return [_lean(each) for each in data]
    if not isinstance(data, dict):
        return data
    same = data.get("summary") == data.get("content")
    return {
        name: _lean(each)
        for name, each in data.items()
        if name not in BOOKKEEPING
        and each not in (None, "", [], {})
        and (name not in USUAL or each != USUAL[name])
        and not (same and name == "summary")
    }


def told_of_waiting(user: User, waiting: Sequence[str]) -> str:
    """What an agent does with what waits, by what it may."""
    proposals = [id for id in waiting if id.startswith(PROPOSAL)]
    conflicts = [id for id in waiting if id not in proposals]
    lines = []
    if conflicts and user.principal.decides:
        lines.append(f"The user decides: {', '.join(conflicts)}. Ask, then call conflicts.")
    elif conflicts:
        lines.append(f"The owner decides: {', '.join(conflicts)}. {_HOW_TO_DECIDE}")
    if proposals:
        lines.append(f"The owner agrees or not: {', '.join(proposals)}. {_HOW_TO_AGREE}")
    return "\n".join(lines)


def told_of(error: CommonplaceError) -> str:
    return f"{error.code}: {error.message} {error.remedy}"
