"""One memory takes another's place: what it keeps of it, and what becomes of the old one."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from commonplace.language.keywords import keywords
from commonplace.language.summarise import summarise
from commonplace.model.changes import Change, changed
from commonplace.model.journal import Event, Node, Op
from commonplace.model.kinds import POLICIES, Kind, OnContentChange
from commonplace.model.memory import Memory, Sensitivity, State
from commonplace.remember.draft import content_from

# What a teller who does not mention it leaves as it was.
_KEPT = ("importance", "pinned", "category", "facet", "stability")
_OF_THE_WORDS = ("steps",)  # metadata that the new words bring anew


def is_override(kind: Kind) -> bool:
    """New content of this kind deletes the old one rather than making it history."""
    return POLICIES[kind].on_content_change is OnContentChange.OVERRIDE


def in_place_of(new: Memory, old: Memory, mentioned: Collection[str]) -> Memory:
    """The new one with what it does not mention kept from the old one."""
    kept: dict[str, Any] = {name: getattr(old, name) for name in _KEPT if name not in mentioned}
    if not {"ttl_days", "expires_at", "stability"} & set(mentioned):
        kept["expires_at"] = old.expires_at
    if "sensitivity" not in mentioned:  # saying it again does not make it public
        kept["sensitivity"] = max(new.sensitivity, old.sensitivity, key=list(Sensitivity).index)
    metadata = {n: v for n, v in old.metadata.items() if n not in _OF_THE_WORDS}
    kept["metadata"] = {**metadata, **new.metadata}
    if is_told_by_fields(new):
        kept["content"] = content = content_from(new.kind, kept["metadata"])
        kept |= {} if "summary" in mentioned else {"summary": summarise(content)}
    if "tags" not in mentioned and old.tags != keywords(old.content):  # somebody gave them
        kept["tags"] = old.tags
    return new.evolve(**kept)


def is_told_by_fields(memory: Memory) -> bool:
    """Its words were made from its fields."""
    fielded = memory.kind in (Kind.KV, Kind.CONTACT)
    return fielded and memory.content == content_from(memory.kind, memory.metadata)


def supersede(
    memory: Memory,
    by: str,
    now: datetime,
    event: Event = Event.UPDATE,
    node: Node = Node.HOTPATH,
    until: datetime | None = None,
) -> Change:
    """It becomes history: true until ``until``, or until now."""
    after = memory.evolve(
        state=State.SUPERSEDED,
        superseded_by=by,
        valid_to=min(filter(None, (memory.valid_to, until or now))),
        updated_at=now,
    )
    op = Op.MERGE if event is Event.MERGE else Op.UPDATE
    return changed(memory, after, op=op, event=event, node=node, meta={"superseded_by": by})


def soft_delete(
    memory: Memory,
    now: datetime,
    until: datetime,
    *,
    event: Event = Event.DELETE,
    node: Node = Node.HOTPATH,
    replaced_by: str | None = None,
) -> Change:
    after = memory.evolve(
        state=State.SOFT_DELETED,
        purge_at=until,
        updated_at=now,
        superseded_by=replaced_by or memory.superseded_by,
    )
    return changed(memory, after, op=Op.DELETE, event=event, node=node)


def make_way(old: Memory, new: Memory, now: datetime, restorable: timedelta) -> Change:
    """How the old one leaves, by its kind."""
    if is_override(old.kind):
        until = now + restorable
        return soft_delete(old, now, until, event=Event.OVERRIDE, replaced_by=new.id)
    since = new.valid_from
    later = since if since and old.valid_from and since > old.valid_from else None
    return supersede(old, new.id, now, until=min(later, now) if later else None)


def revived(memory: Memory, said: Memory, now: datetime) -> Change:
    after = said.evolve(
        state=State.ACTIVE,
        purge_at=None,
        superseded_by=None,
        updated_at=now,
        expires_at=None if said.expires_at and said.expires_at <= now else said.expires_at,
    )
    return changed(memory, after, op=Op.RESTORE, event=Event.RESTORE)
