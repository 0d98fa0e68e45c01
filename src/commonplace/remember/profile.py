"""The profile: the owner's fields and notes.

A field is a key-value with the id `profile:<name>`, a note has the id `profile:<number>`; so both
have versions, are recalled, forgotten, restored and erased like everything else.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from commonplace.desk import Desk, index_all, visibility_of
from commonplace.errors import InvalidInput, NotAllowed
from commonplace.model import check
from commonplace.model.changes import Changeset, Step, added, changed
from commonplace.model.filters import WHOLE
from commonplace.model.journal import Event, Op
from commonplace.model.kinds import Kind
from commonplace.model.memory import Memory, State
from commonplace.model.scope import Principal
from commonplace.remember.compose import compose
from commonplace.remember.draft import draft_from
from commonplace.store.port import Listing

PREFIX = "profile:"

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


@dataclass(frozen=True, slots=True)
class Profile:
    fields: Mapping[str, Any]
    notes: Mapping[str, str]  # id → text


@dataclass(frozen=True, slots=True)
class ProfileChange:
    id: str
    memory: Memory
    revision: int


def read_profile(desk: Desk, principal: Principal) -> Profile:
    listing = Listing(
        visibility=WHOLE if principal.is_owner else visibility_of(principal),
        now=desk.clock(),
        only_profile=True,
        limit=10_000,
    )
    items = list(reversed(desk.store.page(principal.scope, listing)))
    fields = {m.metadata["subject"]: m.metadata["value"] for m in items if m.kind is Kind.KV}
    notes = {memory.id: memory.content for memory in items if memory.kind is not Kind.KV}
    return Profile(dict(sorted(fields.items())), notes)


def set_field(desk: Desk, principal: Principal, name: str, value: object) -> ProfileChange:
    """The owner's own word is consent, so it holds at once."""
    owner_only(principal)
    field = field_name(name)
    said = _value(value)
    now = desk.clock()
    text = field_words(field, said)
    draft = draft_from(
        {
            "kind": Kind.KV,
            "content": text,
            "category": "profile",
            "metadata": {"subject": field, "value": said},
        }
    )
    fresh = compose(draft, PREFIX + field, principal, now)
    indexes, _ = index_all(desk, [fresh])

    def decide() -> tuple[Changeset, Memory]:
        revision = desk.store.counters(principal.scope).revision
        known = desk.store.fetch(principal.scope, [fresh.id])
        if known and known[0].is_live(now) and known[0].metadata == fresh.metadata:
            return Changeset(principal.scope, now, principal.actor, (), revision), known[0]
        after = _reworded(known[0], fresh) if known else fresh
        step: Step = (
            changed(known[0], after, op=Op.UPDATE, event=Event.UPDATE, index=indexes[0])
            if known
            else added(fresh, indexes[0])
        )
        return Changeset(principal.scope, now, principal.actor, (step,), revision), after

    revision, after = desk.decide(decide)
    return ProfileChange(after.id, after, revision)


def _reworded(known: Memory, fresh: Memory) -> Memory:
    """The same item with a new value, alive again if it had been forgotten."""
    return known.evolve(
        content=fresh.content,
        summary=fresh.summary,
        tags=fresh.tags,
        metadata=fresh.metadata,
        state=State.ACTIVE,
        purge_at=None,
        expires_at=None,
        superseded_by=None,
        valid_from=fresh.valid_from,
        valid_to=None,
        updated_at=fresh.updated_at,
    )


def add_note(desk: Desk, principal: Principal, text: object) -> ProfileChange:
    owner_only(principal)
    now = desk.clock()
    draft = draft_from({"kind": Kind.NOTE, "content": text, "category": "profile"})

    def decide() -> tuple[Changeset, Memory]:
        counters = desk.store.counters(principal.scope)
        note = compose(draft, f"{PREFIX}{counters.profile_numbers}", principal, now)
        indexes, _ = index_all(desk, [note])
        changeset = Changeset(
            principal.scope,
            now,
            principal.actor,
            (added(note, indexes[0]),),
            counters.revision,
            profile_numbers=1,
        )
        return changeset, note

    revision, note = desk.decide(decide)
    return ProfileChange(note.id, note, revision)


def field_name(name: object) -> str:
    field = check.word(name, "name").lower().replace("-", "_").replace(" ", "_")
    if not _NAME.fullmatch(field):
        raise InvalidInput(
            f"{field!r} cannot be the name of a profile field.",
            remedy="Use letters, digits and underscores, beginning with a letter.",
            field="name",
        )
    return field


def _value(value: object) -> Any:
    if isinstance(value, str):
        return check.text(value, "value", 1000)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return check.integer(value, "value", -check.MAX_WHOLE_NUMBER, check.MAX_WHOLE_NUMBER)
    if isinstance(value, float):
        return check.number(value, "value", -sys.float_info.max, sys.float_info.max)
    return list(check.words(value, "value"))


def field_words(name: str, value: Any) -> str:
    subject = name.replace("_", " ").capitalize()
    if isinstance(value, list):
        return f"{subject} are {'; '.join(map(str, value))}"
    return f"{subject} is {value}"


def is_of_profile(id: str) -> bool:
    return id.startswith(PREFIX)


def owner_only(principal: Principal) -> None:
    if not principal.is_owner:
        raise NotAllowed(
            "The profile belongs to its owner; an agent cannot change it.",
            remedy="Let the owner set it.",
        )
