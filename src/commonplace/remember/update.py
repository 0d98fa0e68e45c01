"""update: new content replaces the memory, other fields change in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from commonplace.desk import Desk, index_all
from commonplace.errors import InvalidInput, MissingField, NotAllowed, NotFound
from commonplace.language.classify import fields_in
from commonplace.language.identity import subject_key
from commonplace.language.keywords import keywords
from commonplace.language.summarise import summarise
from commonplace.model import check
from commonplace.model.changes import Changeset, Indexing, Step, added, changed, connected
from commonplace.model.conflict import Held
from commonplace.model.journal import Event, Op
from commonplace.model.kinds import POLICIES, Kind, Stability
from commonplace.model.memory import VERSIONED, Memory, Sensitivity, State
from commonplace.model.profile import PREFIX, is_of_profile
from commonplace.model.profile_fields import field_value, field_words
from commonplace.model.scope import Principal
from commonplace.remember.compose import remarks_on
from commonplace.remember.draft import (
    RESTS_ON,
    callers_metadata,
    content_from,
    draft_from,
    title_of,
)
from commonplace.remember.find import find
from commonplace.remember.hold import carry, waiting_about
from commonplace.remember.link import links_for
from commonplace.remember.neighbours import look_around
from commonplace.remember.profile import answered, leave_fields_to_their_owner
from commonplace.remember.replace import is_override, make_way
from commonplace.remember.supports import OWNER
from commonplace.remember.told_together import REPLACES, kept_with, parts_in_place, saying
from commonplace.remember.unseen import unseen_by_its_teller

IN_PLACE = (
    "category",
    "tags",
    "importance",
    "pinned",
    "sensitivity",
    "confidence",
    "metadata",
    "summary",
    "ttl_days",
    "expires_at",
)
NEVER = "never"


@dataclass(frozen=True, slots=True)
class Updated:
    id: str  # of the memory that says it now
    memory: Memory
    action: str  # updated (in place), superseded, overridden, unchanged
    replaced: str | None  # the id that it replaces
    revision: int
    warnings: tuple[str, ...] = ()

    @property
    def memory_type(self) -> str:
        return self.memory.kind

    @property
    def is_override(self) -> bool:
        return self.action == "overridden"


def update(
    desk: Desk,
    principal: Principal,
    id: str,
    given: Mapping[str, Any],
    thread: str | None = None,
) -> Updated:
    check.known_fields(given, ("content", *IN_PLACE), "An update")
    wanted = {name: value for name, value in given.items() if value is not None}
    if not wanted:
        raise MissingField("No field to change was given.", field="content")
    now = desk.clock()
    before = _current(desk, principal, id, now)
    if _changes_content(before, wanted):
        if is_override(before.kind) and not principal.decides:
            raise NotAllowed(
                f"{principal.agent} may not override memories.",
                remedy="Give the new value to remember: it is held until the owner decides.",
                field="id",
            )
        return _replace(desk, principal, before, wanted, now, thread)
    return _change_in_place(desk, principal, before, wanted, now, thread)


def _current(desk: Desk, principal: Principal, id: str, now: datetime) -> Memory:
    """Live, or an error; of what was superseded, perhaps just now, it names the successor."""
    memory = find(desk, principal, [id], lambda m: m.is_live(now) or bool(_successor_of(m)))[0]
    if successor := _successor_of(memory):
        raise NotFound(
            f"{id!r} was superseded by {successor!r}.",
            remedy=f"Look at {successor} and update that one.",
            field="id",
        )
    return memory


def _successor_of(memory: Memory) -> str | None:
    return memory.superseded_by if memory.state is State.SUPERSEDED else None


def _changes_content(before: Memory, wanted: Mapping[str, Any]) -> bool:
    """Other words, or other particulars where these are what the memory says."""
    if "content" in wanted and check.text(wanted["content"], "content") != before.content:
        return True
    metadata = callers_metadata(wanted.get("metadata", {}))
    said = _SAYING.get(before.kind, ())
    return any(name in said and before.metadata.get(name) != metadata[name] for name in metadata)


_SAYING = {
    Kind.KV: ("subject", "value"),
    Kind.CONTACT: ("name", "phone", "email", "role", "description"),
    Kind.PROCEDURE: ("steps",),
}


# ——— in place ———


def _change_in_place(
    desk: Desk,
    principal: Principal,
    before: Memory,
    wanted: Mapping[str, Any],
    now: datetime,
    thread: str | None,
) -> Updated:
    def decide() -> tuple[Changeset, Memory]:
        revision = desk.store.counters(principal.scope).revision
        current = _current(desk, principal, before.id, now)
        after = current.evolve(**_checked(current, wanted, now))
        leave_fields_to_their_owner(principal, after)
        if after == current:
            return Changeset(principal.scope, now, principal.actor, (), revision), current
        step = changed(
            current,
            after.evolve(updated_at=now),
            op=Op.UPDATE,
            event=Event.UPDATE,
            index=_new_index(desk, current, after),
            meta={"fields": _changed_fields(current, after)},
        )
        changeset = Changeset(principal.scope, now, principal.actor, (step,), revision, thread)
        return changeset, step.after

    revision, after = desk.decide(decide)
    action = "unchanged" if after.version == before.version else "updated"
    warnings = unseen_by_its_teller(desk, principal, after.category)
    return Updated(after.id, after, action, None, revision, warnings)


def _changed_fields(before: Memory, after: Memory) -> list[str]:
    return sorted(name for name in VERSIONED if getattr(before, name) != getattr(after, name))


def _new_index(desk: Desk, before: Memory, after: Memory) -> Indexing | None:
    if before.searchable_text == after.searchable_text:
        return None
    return index_all(desk, [after])[0][0]


def _checked(current: Memory, wanted: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in wanted.items():
        match name:
            case "category":
                values[name] = check.word(value, name)
            case "summary":
                values[name] = check.text(value, name)
            case "tags":
                values[name] = check.words(value, name)
            case "importance":
                values[name] = check.integer(value, name, 1, 5)
            case "pinned":
                values[name] = check.flag(value, name)
            case "sensitivity":
                values[name] = check.choice(value, name, Sensitivity, {"sensitive": "high"})
            case "confidence":
                low = POLICIES[current.kind].min_confidence
                values[name] = check.number(value, name, low, 1)
            case "metadata":
                values[name] = merged_metadata(current, value)
            case "ttl_days" | "expires_at":
                values["expires_at"] = _expiry(current, name, value, now)
    return values


def merged_metadata(current: Memory, given: object) -> dict[str, Any]:
    """Given names replace; a name given as null goes."""
    both = {**current.metadata, **callers_metadata(given)}
    merged = check.metadata(both, limit=check.MAX_KEPT_METADATA)
    kept = {name: value for name, value in merged.items() if value is not None}
    needed = [name for name in POLICIES[current.kind].required if name.startswith("metadata.")]
    check.required({f"metadata.{n}": v for n, v in kept.items()}, needed, current.kind)
    return kept


def _expiry(current: Memory, name: str, value: object, now: datetime) -> datetime | None:
    if value == NEVER:
        return None
    if current.stability is Stability.PERMANENT:
        raise InvalidInput(f"A permanent {current.kind} cannot expire.", field=name)
    ends = (
        now + timedelta(days=check.number(value, name, 0, check.MAX_DAYS))
        if name == "ttl_days"
        else check.when(value, name)
    )
    if ends <= now:
        raise InvalidInput("The memory would be expired already.", field=name)
    return ends


# ——— new content: a new item takes the old one's place ———


def _replace(
    desk: Desk,
    principal: Principal,
    before: Memory,
    wanted: Mapping[str, Any],
    now: datetime,
    thread: str | None,
) -> Updated:
    def decide() -> tuple[Changeset, Memory]:
        revision = desk.store.counters(principal.scope).revision
        current = _current(desk, principal, before.id, now)
        after = _successor(desk, current, wanted, now)
        leave_fields_to_their_owner(principal, after)
        parts = _parts(desk, principal, current, after, wanted)
        if parts and principal.is_owner:
            after = after.evolve(evidence=(*(e for e in after.evidence if e != OWNER), OWNER))
        steps = (*_replacement(desk, principal, current, after), *kept_with(after, parts))
        return Changeset(principal.scope, now, principal.actor, steps, revision, thread), after

    revision, after = desk.decide(decide)
    unseen = unseen_by_its_teller(desk, principal, after.category)
    warnings = (*remarks_on(after), *unseen)
    if after.id == before.id:
        return Updated(after.id, after, "updated", None, revision, warnings)
    action = "overridden" if is_override(before.kind) else "superseded"
    return Updated(after.id, after, action, before.id, revision, warnings)


def _replacement(
    desk: Desk, principal: Principal, before: Memory, after: Memory
) -> tuple[Step, ...]:
    indexes, vectors = index_all(desk, [after])
    if after.id == before.id:
        change = changed(before, after, op=Op.UPDATE, event=Event.UPDATE, index=indexes[0])
        return (change, *_settled_by(desk, principal, after))
    now = after.created_at
    event = Event.OVERRIDE if is_override(before.kind) else Event.UPDATE
    old = make_way(before, after, now, desk.lifetimes.restorable)
    waiting = carry(before, waiting_about(desk, principal, before), after).steps
    around = look_around(desk, principal.scope, [after], vectors)
    near = [neighbour for neighbour in around.neighbours[0] if neighbour.id != before.id]
    links = [connected(link) for link in links_for(after, near, now)]
    return (added(after, indexes[0], event=event, old_ref=before.ref), old, *waiting, *links)


def _parts(
    desk: Desk, principal: Principal, before: Memory, after: Memory, wanted: Mapping[str, Any]
) -> list[Held]:
    """What was said now is its teller's own, whatever sources told of it before. Who gives a
    particular back as it was says nothing about it."""
    if after.id == before.id:
        return []
    given = {**_told_in_words(before, wanted), **callers_metadata(wanted.get("metadata", {}))}
    named = [n.partition(".")[2] for n in POLICIES[before.kind].required if "." in n]
    said = {
        name: value
        for name, value in after.metadata.items()
        if name in named or (name in given and before.metadata.get(name) != value)
    }
    content = after.content
    if not wanted.get("content") and is_override(before.kind):  # made of particulars
        content = content_from(before.kind, said)
    own = after.evolve(
        content=content,
        summary=after.summary if "summary" in wanted else summarise(content),
        tags=after.tags if "tags" in wanted else keywords(content),
        metadata=said,
        evidence=(),
        source_id=None,
        source_type=None,
        thread_id=None,
        agent_id=principal.agent,
    )
    told = saying(own, wanted, after.created_at, REPLACES)
    return parts_in_place(desk, principal, after, before, told)


def _settled_by(desk: Desk, principal: Principal, after: Memory) -> Sequence[Step]:
    """A field of the profile is set with this, as by `profile set`."""
    if not after.id.startswith(PREFIX) or after.kind is not Kind.KV:
        return ()
    return answered(desk, principal, after.metadata["subject"], after.metadata["value"])


def _successor(desk: Desk, before: Memory, wanted: Mapping[str, Any], now: datetime) -> Memory:
    """The new item: what was not mentioned is kept, what describes the words is made anew."""
    metadata = _metadata_said(before, wanted)
    if is_of_profile(before.id) and before.kind is Kind.KV:
        metadata["value"] = field_value(metadata["subject"], metadata["value"])
        metadata.pop(RESTS_ON, None)  # it rests on the owner's word from now on
    content = wanted.get("content") or _words_for(before, metadata)
    draft = draft_from({"kind": before.kind, "content": content, **_kept(before, metadata)})
    derived_tags = before.tags == keywords(before.content)
    kept = before.evolve(
        id=desk.new_id(),
        content=draft.content,
        metadata=draft.metadata,
        summary=summarise(draft.content),
        tags=keywords(draft.content) if derived_tags else before.tags,
        version=1,
        valid_from=now,
        valid_to=None,
        created_at=now,
        updated_at=now,
        arrived_at=now,
        last_accessed_at=None,
        access_count=0,
    )
    if is_of_profile(before.id):  # these ids are their names: the item itself says it now
        kept = kept.evolve(id=before.id, version=before.version + 1, created_at=before.created_at)
    others = {name: value for name, value in wanted.items() if name not in ("content", "metadata")}
    return kept.evolve(**_checked(kept, others, now))


def _words_for(before: Memory, metadata: Mapping[str, Any]) -> str | None:
    """New particulars in words. A contact's own words stay, unless they tell an old particular."""
    if before.kind is Kind.PROCEDURE:
        return title_of(before.content)
    if before.kind is Kind.CONTACT:
        own_words = before.content != content_from(before.kind, before.metadata)
        gone = [v for n, v in before.metadata.items() if metadata.get(n) != v]
        if own_words and not any(str(value) in before.content for value in gone):
            return before.content
    if is_of_profile(before.id):
        return field_words(metadata["subject"], metadata["value"])
    return content_from(before.kind, metadata)


def _metadata_said(before: Memory, wanted: Mapping[str, Any]) -> dict[str, Any]:
    given = {**_told_in_words(before, wanted), **callers_metadata(wanted.get("metadata", {}))}
    if before.kind is Kind.KV and "value" not in given:
        raise MissingField(
            "New content of a kv needs metadata.value.",
            remedy="Write it as 'subject is value', or give metadata={'value': …}.",
            field="metadata.value",
        )
    merged = merged_metadata(before, given)
    if before.kind is Kind.PROCEDURE and "steps" not in given:
        merged.pop("steps", None)  # they are read from the new content
    return merged


def _told_in_words(before: Memory, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The particulars that the new words of a contact or a kv tell, where they are clear."""
    found: dict[str, Any] = dict(fields_in(before.kind, wanted.get("content") or ""))
    if subject_key(str(found.get("subject", ""))) == subject_key(
        str(before.metadata.get("subject"))
    ):
        found.pop("subject")
    return found


def _kept(before: Memory, metadata: dict[str, Any]) -> dict[str, Any]:
    return {
        "metadata": metadata,
        "evidence": before.evidence,
        "confidence": before.confidence,
        "stability": before.stability,
    }
