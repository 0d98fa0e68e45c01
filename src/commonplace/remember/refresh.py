"""The same again: the old one stands, with what the new telling adds to it."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from commonplace.language.statements.compare import Verdict, compare
from commonplace.language.summarise import summarise
from commonplace.model.kinds import Kind
from commonplace.model.memory import Memory
from commonplace.remember.draft import content_from
from commonplace.remember.relate import FIELDS, WORDED, covers
from commonplace.remember.replace import is_told_by_fields
from commonplace.remember.supports import added_by_telling

_GIVEN_ANEW = (
    *("importance", "pinned", "category", "tags", "expires_at", "sensitivity", "facet"),
    *("summary", "stability", "valid_to"),
)


def refreshed(
    old: Memory, new: Memory, mentioned: Collection[str], now: datetime, *, by_owner: bool
) -> Memory:
    """Evidence is added, fields that were missing are filled in, what was mentioned is taken."""
    changes: dict[str, Any] = {
        name: getattr(new, name) for name in _GIVEN_ANEW if name in mentioned
    }
    if "ttl_days" in mentioned:
        changes["expires_at"] = new.expires_at
    changes["confidence"] = max(old.confidence, new.confidence)
    metadata = _filled_in(old, new)
    changes["metadata"] = metadata
    content = _words(old, new, metadata)
    if content != old.content:
        changes |= {"content": content}
        changes.setdefault("summary", summarise(content))
    after = old.evolve(**changes, updated_at=now)
    return after.evolve(evidence=(*old.evidence, *added_by_telling(after, new, by_owner)))


def _filled_in(old: Memory, new: Memory) -> dict[str, Any]:
    """What stands stays; a fuller name or description takes the place of the shorter one."""
    if old.kind not in (Kind.KV, Kind.CONTACT):  # there nobody is asked: the newer word holds
        return {**old.metadata, **new.metadata}
    metadata = {**new.metadata, **old.metadata}
    if old.kind is Kind.CONTACT:
        for name in FIELDS:
            before, after = old.metadata.get(name), new.metadata.get(name)
            if name in WORDED and before and after:
                metadata[name] = max(before, after, key=lambda text: len(str(text)))
            elif after and not before:
                metadata[name] = after
    return metadata


def _words(old: Memory, new: Memory, metadata: dict[str, Any]) -> str:
    if is_told_by_fields(old) and is_told_by_fields(new):
        return content_from(old.kind, metadata)
    if is_told_by_fields(new) or covers(old, new):
        return old.content
    if is_told_by_fields(old) or compare(old.content, new.content).verdict is Verdict.MORE:
        return new.content
    if old.kind in (Kind.CONTACT, Kind.KV):
        return f"{old.content}\n{new.content}"
    return old.content
