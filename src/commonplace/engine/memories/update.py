"""update: new content replaces a memory, other fields change in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from commonplace.engine.access import require_may_instruct
from commonplace.engine.composition import RESTS_ON
from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.provenance.contributions import REPLACES
from commonplace.engine.provenance.evidence import OWNER_EVIDENCE
from commonplace.errors import InvalidInput, MissingField, NotAllowed, NotFound
from commonplace.language.text.sentences import summarise
from commonplace.language.text.terms import extract_keywords
from commonplace.lazy import lazy_imports
from commonplace.model import validation
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import (
    Changeset,
    ChangesetStep,
    IndexEntry,
    build_add,
    build_change,
    build_link,
)
from commonplace.model.journal import Event, Op
from commonplace.model.memory.kinds import POLICIES, Kind, Stability
from commonplace.model.memory.memory import VERSIONED_FIELDS, HeldValue, Memory, Sensitivity, State
from commonplace.model.parameters import NEVER
from commonplace.model.profile.fields import (
    PROFILE_PREFIX,
    describe_field,
    is_profile_item,
    read_field_value,
)

with lazy_imports(__name__):
    from commonplace.engine.composition import (
        check_caller_metadata,
        is_override,
        procedure_title,
        read_draft,
        render_content,
        retire_memory,
        writing_warnings,
    )
    from commonplace.engine.indexing import index_memories
    from commonplace.engine.memories.conflicts import held_values_about, transfer_held_values
    from commonplace.engine.memories.merge import find_memories
    from commonplace.engine.memories.neighbours import build_links, load_neighbourhood
    from commonplace.engine.memories.remember import allowlist_warnings
    from commonplace.engine.profile.profile import refuse_profile_field, settle_answered_proposals
    from commonplace.engine.provenance.contributions import (
        hold_contributions,
        inherit_contributions,
        make_contribution,
    )
    from commonplace.engine.transaction import run_transaction
    from commonplace.language.compare.keys import subject_key
    from commonplace.language.fields.classify import extract_fields

IN_PLACE_FIELDS = (
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


@dataclass(frozen=True, slots=True)
class Updated:
    id: str  # of the memory that is active now
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


def update_memory(
    engine: EngineContext,
    request: RequestContext,
    id: str,
    given: Mapping[str, Any],
    thread: str | None = None,
) -> Updated:
    principal = request.principal
    validation.known_fields(given, ("content", *IN_PLACE_FIELDS), "An update")
    wanted = {name: value for name, value in given.items() if value is not None}
    if not wanted:
        raise MissingField("No field to change was given.", field="content")
    now = engine.clock()
    before = _load_current(engine, principal, id, now)
    if _changes_content(before, wanted):
        if is_override(before.kind) and not principal.decides:
            raise NotAllowed(
                f"{principal.agent} may not override memories.",
                remedy="Give the new value to remember: it is held until the owner decides.",
                field="id",
            )
        return _replace_content(engine, request, before, wanted, now, thread)
    return _change_in_place(engine, request, before, wanted, now, thread)


def _load_current(engine: EngineContext, principal: Principal, id: str, now: datetime) -> Memory:
    """The active memory. If it was superseded, perhaps just now, the error names its successor."""
    memory = find_memories(
        engine, principal, [id], lambda m: m.is_live(now) or bool(_successor_of(m))
    )[0]
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
    """True for a new text, or new metadata where the metadata is the content."""
    if "content" in wanted and validation.text(wanted["content"], "content") != before.content:
        return True
    metadata = check_caller_metadata(wanted.get("metadata", {}))
    stated = POLICIES[before.kind].stated_metadata
    return any(name in stated and before.metadata.get(name) != metadata[name] for name in metadata)


# ——— in place ———


def _change_in_place(
    engine: EngineContext,
    request: RequestContext,
    before: Memory,
    wanted: Mapping[str, Any],
    now: datetime,
    thread: str | None,
) -> Updated:
    principal = request.principal

    def decide() -> tuple[Changeset, Memory]:
        revision = engine.store.counters(principal.scope).revision
        current = _load_current(engine, principal, before.id, now)
        after = current.evolve(**_check_update(current, wanted, now))
        refuse_profile_field(principal, after)
        require_may_instruct(principal, after)
        if after == current:
            return Changeset(principal.scope, now, principal.actor, (), revision), current
        step = build_change(
            current,
            after.evolve(updated_at=now),
            op=Op.UPDATE,
            event=Event.UPDATE,
            index=_new_index(engine, current, after),
            meta={"fields": _changed_fields(current, after)},
        )
        changeset = Changeset(principal.scope, now, principal.actor, (step,), revision, thread)
        return changeset, step.after

    revision, after = run_transaction(engine, request, decide)
    action = "unchanged" if after.version == before.version else "updated"
    warnings = allowlist_warnings(engine, principal, after.category)
    return Updated(after.id, after, action, None, revision, warnings)


def _changed_fields(before: Memory, after: Memory) -> list[str]:
    return sorted(
        name for name in VERSIONED_FIELDS if getattr(before, name) != getattr(after, name)
    )


def _new_index(engine: EngineContext, before: Memory, after: Memory) -> IndexEntry | None:
    if before.indexed_texts == after.indexed_texts:
        return None
    return index_memories(engine, [after])[0][0]


def _check_update(current: Memory, wanted: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in wanted.items():
        match name:
            case "category":
                values[name] = validation.word(value, name)
            case "summary":
                values[name] = validation.text(value, name)
            case "tags":
                values[name] = validation.words(value, name)
            case "importance":
                values[name] = validation.integer(value, name, 1, 5)
            case "pinned":
                values[name] = validation.flag(value, name)
            case "sensitivity":
                values[name] = validation.choice(value, name, Sensitivity, {"sensitive": "high"})
            case "confidence":
                low = POLICIES[current.kind].min_confidence
                values[name] = validation.number(value, name, low, 1)
            case "metadata":
                values[name] = merge_caller_metadata(current, value)
            case "ttl_days" | "expires_at":
                values["expires_at"] = _read_expiry(current, name, value, now)
    return values


def merge_caller_metadata(current: Memory, given: object) -> dict[str, Any]:
    """Given names replace the current ones; a name given as null is removed."""
    combined = {**current.metadata, **check_caller_metadata(given)}
    merged = validation.metadata(combined, limit=validation.MAX_KEPT_METADATA)
    kept = {name: value for name, value in merged.items() if value is not None}
    required = [name for name in POLICIES[current.kind].required if name.startswith("metadata.")]
    validation.required({f"metadata.{n}": v for n, v in kept.items()}, required, current.kind)
    return kept


def _read_expiry(current: Memory, name: str, value: object, now: datetime) -> datetime | None:
    if value == NEVER:
        return None
    if current.stability is Stability.PERMANENT:
        raise InvalidInput(f"A permanent {current.kind} cannot expire.", field=name)
    ends = (
        now + timedelta(days=validation.number(value, name, 0, validation.MAX_DAYS))
        if name == "ttl_days"
        else validation.when(value, name)
    )
    if ends <= now:
        raise InvalidInput("The memory would be expired already.", field=name)
    return ends


# ——— new content: a new memory replaces the old one ———


def _replace_content(
    engine: EngineContext,
    request: RequestContext,
    before: Memory,
    wanted: Mapping[str, Any],
    now: datetime,
    thread: str | None,
) -> Updated:
    principal = request.principal

    def decide() -> tuple[Changeset, Memory]:
        revision = engine.store.counters(principal.scope).revision
        current = _load_current(engine, principal, before.id, now)
        after = _build_update(engine, current, wanted, now)
        refuse_profile_field(principal, after)
        require_may_instruct(principal, after)
        contributions = _inherited_contributions(engine, principal, current, after, wanted)
        if contributions and principal.is_owner:
            after = after.evolve(
                evidence=(*(e for e in after.evidence if e != OWNER_EVIDENCE), OWNER_EVIDENCE)
            )
        steps = (
            *_replacement(engine, principal, current, after),
            *hold_contributions(after, contributions),
        )
        return Changeset(principal.scope, now, principal.actor, steps, revision, thread), after

    revision, after = run_transaction(engine, request, decide)
    allowlist = allowlist_warnings(engine, principal, after.category)
    warnings = (*writing_warnings(after), *allowlist)
    if after.id == before.id:
        return Updated(after.id, after, "updated", None, revision, warnings)
    action = "overridden" if is_override(before.kind) else "superseded"
    return Updated(after.id, after, action, before.id, revision, warnings)


def _replacement(
    engine: EngineContext, principal: Principal, before: Memory, after: Memory
) -> tuple[ChangesetStep, ...]:
    indexes, vectors = index_memories(engine, [after])
    if after.id == before.id:
        change = build_change(before, after, op=Op.UPDATE, event=Event.UPDATE, index=indexes[0])
        return (change, *_settle_proposals(engine, principal, after))
    now = after.created_at
    event = Event.OVERRIDE if is_override(before.kind) else Event.UPDATE
    old = retire_memory(before, after, now, engine.lifetimes.restorable)
    held = transfer_held_values(before, held_values_about(engine, principal, before), after).steps
    around = load_neighbourhood(engine, principal.scope, [after], vectors)
    near = [neighbour for neighbour in around.neighbours[0] if neighbour.id != before.id]
    links = [build_link(link) for link in build_links(after, near, now)]
    return (build_add(after, indexes[0], event=event, old_ref=before.ref), old, *held, *links)


def _inherited_contributions(
    engine: EngineContext,
    principal: Principal,
    before: Memory,
    after: Memory,
    wanted: Mapping[str, Any],
) -> list[HeldValue]:
    """The fields given now are the caller's own contribution; the others keep their sources.
    Metadata that is given with its current value is not contributed."""
    if after.id == before.id:
        return []
    given = {
        **_metadata_in_content(before, wanted),
        **check_caller_metadata(wanted.get("metadata", {})),
    }
    required = [n.partition(".")[2] for n in POLICIES[before.kind].required if "." in n]
    contributed = {
        name: value
        for name, value in after.metadata.items()
        if name in required or (name in given and before.metadata.get(name) != value)
    }
    content = after.content
    if not wanted.get("content") and is_override(before.kind):  # rendered from metadata
        content = render_content(before.kind, contributed)
    own = after.evolve(
        content=content,
        summary=after.summary if "summary" in wanted else summarise(content),
        tags=after.tags if "tags" in wanted else extract_keywords(content),
        metadata=contributed,
        evidence=(),
        source_id=None,
        source_type=None,
        thread_id=None,
        agent_id=principal.agent,
    )
    contribution = make_contribution(own, wanted, after.created_at, REPLACES)
    return inherit_contributions(engine, principal, after, before, contribution)


def _settle_proposals(
    engine: EngineContext, principal: Principal, after: Memory
) -> Sequence[ChangesetStep]:
    """Updating a profile field answers its proposals, as `profile set` does."""
    if not after.id.startswith(PROFILE_PREFIX) or after.kind is not Kind.KV:
        return ()
    return settle_answered_proposals(
        engine, principal, after.metadata["subject"], after.metadata["value"]
    )


def _build_update(
    engine: EngineContext, before: Memory, wanted: Mapping[str, Any], now: datetime
) -> Memory:
    """The new memory: fields that were not given are kept, fields derived from the text are
    computed again."""
    metadata = _read_stated_metadata(before, wanted)
    if is_profile_item(before.id) and before.kind is Kind.KV:
        metadata["value"] = read_field_value(metadata["subject"], metadata["value"])
        metadata.pop(RESTS_ON, None)  # the owner's statement needs no other support
    content = wanted.get("content") or _render_text(before, metadata)
    draft = read_draft({"kind": before.kind, "content": content, **_kept_fields(before, metadata)})
    derived_tags = before.tags == extract_keywords(before.content)
    kept = before.evolve(
        id=engine.new_id(),
        content=draft.content,
        metadata=draft.metadata,
        summary=summarise(draft.content),
        questions=() if "content" in wanted else before.questions,
        tags=extract_keywords(draft.content) if derived_tags else before.tags,
        version=1,
        valid_from=now,
        valid_to=None,
        created_at=now,
        updated_at=now,
        arrived_at=now,
        last_accessed_at=None,
        access_count=0,
    )
    if is_profile_item(before.id):  # its id is its name: the item itself changes
        kept = kept.evolve(id=before.id, version=before.version + 1, created_at=before.created_at)
    others = {name: value for name, value in wanted.items() if name not in ("content", "metadata")}
    return kept.evolve(**_check_update(kept, others, now))


def _render_text(before: Memory, metadata: Mapping[str, Any]) -> str | None:
    """The new metadata as text. A contact's own text stays, unless it contains an old value."""
    if POLICIES[before.kind].has_steps:
        return procedure_title(before.content)
    if before.kind is Kind.CONTACT:
        has_own_text = before.content != render_content(before.kind, before.metadata)
        old_values = [v for n, v in before.metadata.items() if metadata.get(n) != v]
        if has_own_text and not any(str(value) in before.content for value in old_values):
            return before.content
    if is_profile_item(before.id):
        return describe_field(metadata["subject"], metadata["value"])
    return render_content(before.kind, metadata)


def _read_stated_metadata(before: Memory, wanted: Mapping[str, Any]) -> dict[str, Any]:
    given = {
        **_metadata_in_content(before, wanted),
        **check_caller_metadata(wanted.get("metadata", {})),
    }
    if before.kind is Kind.KV and "value" not in given:
        raise MissingField(
            "New content of a kv needs metadata.value.",
            remedy="Write it as 'subject is value', or give metadata={'value': …}.",
            field="metadata.value",
        )
    merged = merge_caller_metadata(before, given)
    if POLICIES[before.kind].has_steps and "steps" not in given:
        merged.pop("steps", None)  # they are read from the new content
    return merged


def _metadata_in_content(before: Memory, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata that the new text of a contact or a kv states clearly."""
    found: dict[str, Any] = dict(extract_fields(before.kind, wanted.get("content") or ""))
    if subject_key(str(found.get("subject", ""))) == subject_key(
        str(before.metadata.get("subject"))
    ):
        found.pop("subject")
    return found


def _kept_fields(before: Memory, metadata: dict[str, Any]) -> dict[str, Any]:
    return {
        "metadata": metadata,
        "evidence": before.evidence,
        "confidence": before.confidence,
        "stability": before.stability,
    }
