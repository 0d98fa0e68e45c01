"""Memory composition: check input, derive missing fields, build successors. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any

from commonplace.errors import InvalidInput, MissingField, NotAllowed
from commonplace.language.fields.categories import categorise
from commonplace.language.fields.classify import classify, extract_fields
from commonplace.language.fields.writing_policy import check_writing
from commonplace.language.safety.secrets import secret_values
from commonplace.language.safety.sensitive import is_credential_value
from commonplace.language.text.sentences import summarise
from commonplace.language.text.terms import extract_keywords
from commonplace.model import validation
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import ChangeMemory, build_change
from commonplace.model.export.codec import type_hints_of
from commonplace.model.journal import Event, JournalNode, Op
from commonplace.model.memory.kinds import (
    DEFAULT_KIND,
    POLICIES,
    Kind,
    KindPolicy,
    OnContentChange,
    Stability,
)
from commonplace.model.memory.lifecycle import default_expiry
from commonplace.model.memory.memory import Memory, Sensitivity, State

RESTS_ON = "rests_on"  # what supports a profile field that its owner has not set
# Set by the engine alone: erasing relies on it.
ENGINE_METADATA = ("merged_from", RESTS_ON)
CONTACT_FIELDS = POLICIES[Kind.CONTACT].stated_metadata
_SENSITIVITY_ALIASES = {"sensitive": "high"}
_STEP_LINE = re.compile(r"^\s*\d+[.)]\s+(\S.*)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    kind: Kind
    content: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    summary: str | None = None
    category: str | None = None
    tags: tuple[str, ...] | None = None
    importance: int = 2
    confidence: float = 1.0
    stability: Stability | None = None
    sensitivity: Sensitivity = Sensitivity.NORMAL
    pinned: bool = False
    evidence: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    facet: str | None = None
    ttl_days: float | None = None
    expires_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    source_type: str | None = None
    source_id: str | None = None
    job_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    actor_id: str | None = None
    role: str | None = None
    thread_id: str | None = None

    @property
    def policy(self) -> KindPolicy:
        return POLICIES[self.kind]


# What `remember` accepts: the draft's fields, `steps` (its content) and `scope` (see read_draft).
ACCEPTED_FIELDS = (*(f.name for f in fields(Draft)), "steps", "scope")

_WORD_FIELDS = frozenset(
    name for name, hint in type_hints_of(Draft).items() if hint == str | None and name != "summary"
)


_DRAFTED_FIELDS = tuple(f.name for f in fields(Memory) if f.name in Draft.__dataclass_fields__)


def read_draft(given: Mapping[str, Any], own_evidence: tuple[str, ...] = ()) -> Draft:
    """A checked draft, or an error that names the field. `scope` is an alias of facet.

    ``own_evidence`` supports what the caller says in their own words, where the words alone make it
    a kind that needs evidence; without any it is a note.
    """
    validation.known_fields(given, ACCEPTED_FIELDS, "A memory")
    present = {name: value for name, value in given.items() if value is not None}
    if "scope" in present:
        present.setdefault("facet", present.pop("scope"))
    values = {name: _check_field(name, value) for name, value in present.items()}
    _derive_kind(values, own_evidence)
    _complete_content(values)
    if "sensitivity" not in values and _holds_secret(values):
        values["sensitivity"] = Sensitivity.HIGH
    draft = Draft(**values)
    _check_policy(draft)
    return draft


def _holds_secret(values: Mapping[str, Any]) -> bool:
    """A login, a key or a card that is stored on purpose is guarded."""
    metadata = values["metadata"]
    if values["kind"] is Kind.KV:
        return is_credential_value(str(metadata["subject"]), str(metadata["value"]))
    return any(secret_values(text) for text in (values["content"], *values.get("questions", ())))


def _derive_kind(values: dict[str, Any], own_evidence: tuple[str, ...]) -> None:
    """Derive the kind and its fields from the text; given values are kept."""
    content = values.get("content")
    if "kind" not in values:
        values["kind"] = DEFAULT_KIND
        if content and "steps" not in values:
            classified = classify(content)
            values |= {"kind": classified.kind, "content": classified.content}
            _add_fields(values, classified.metadata)
            _support_derived_kind(values, own_evidence)
    elif content and _lacks_fields(values):
        _add_fields(values, extract_fields(values["kind"], content))


def _support_derived_kind(values: dict[str, Any], own_evidence: tuple[str, ...]) -> None:
    """A derived kind never makes a request fail: its needs are met, or the text is a note."""
    if "evidence" in POLICIES[values["kind"]].required and not values.get("evidence"):
        values["evidence"] = own_evidence
    if not _fits_policy(values):
        values["kind"] = DEFAULT_KIND


def _fits_policy(values: Mapping[str, Any]) -> bool:
    policy = POLICIES[values["kind"]]
    return (
        ("evidence" not in policy.required or bool(values.get("evidence")))
        and values.get("confidence", 1.0) >= policy.min_confidence
        and values.get("stability", policy.stability) in policy.allowed
    )


def _lacks_fields(values: Mapping[str, Any]) -> bool:
    """True if the kind requires metadata that the caller did not give."""
    metadata = values.get("metadata", {})
    required = POLICIES[values["kind"]].required
    needed = [name.removeprefix("metadata.") for name in required if name.startswith("metadata.")]
    return any(metadata.get(name) is None for name in needed)


def _add_fields(values: dict[str, Any], found: Mapping[str, str]) -> None:
    if found:
        values["metadata"] = {**found, **values.get("metadata", {})}


def _check_field(name: str, value: object) -> Any:
    if name in _WORD_FIELDS:
        return validation.word(value, name)
    match name:
        case "kind":
            return validation.kind(value)
        case "content" | "summary":
            return validation.text(value, name)
        case "metadata":
            return validation.metadata(value)
        case "tags":
            return validation.words(value, name)
        case "evidence" | "steps":
            return validation.texts(value, name)
        case "questions":
            return validation.questions(value)
        case "importance":
            return validation.integer(value, name, 1, 5)
        case "confidence":
            return validation.number(value, name, 0, 1)
        case "stability":
            return validation.choice(value, name, Stability, {})
        case "sensitivity":
            return validation.choice(value, name, Sensitivity, _SENSITIVITY_ALIASES)
        case "pinned":
            return validation.flag(value, name)
        case "ttl_days":
            return validation.number(value, name, 0, validation.MAX_DAYS)
        case _:
            return validation.when(value, name)


def check_caller_metadata(value: object) -> dict[str, Any]:
    """The metadata of a caller; some names are reserved for the engine."""
    given = validation.metadata(value)
    for name in ENGINE_METADATA:
        if name in given:
            raise InvalidInput(f"metadata.{name} is set by the engine.", field=f"metadata.{name}")
    return given


def _complete_content(values: dict[str, Any]) -> None:
    """Content for kinds whose metadata is complete; steps for procedures."""
    kind: Kind = values["kind"]
    values.setdefault("metadata", {})
    if POLICIES[kind].has_steps:
        _complete_steps(values)
    elif "steps" in values:
        raise InvalidInput("Only a procedure has steps.", field="steps")
    metadata = values["metadata"]
    present = {**values, **{f"metadata.{name}": value for name, value in metadata.items()}}
    present["steps"] = metadata.get("steps")
    validation.required(present, POLICIES[kind].required, kind)
    for name in ("name", "subject"):
        if f"metadata.{name}" in POLICIES[kind].required:
            validation.word(metadata[name], f"metadata.{name}")
    if kind is Kind.CONTACT:
        for name in CONTACT_FIELDS:
            _require_text(metadata.get(name), f"metadata.{name}")
    if "content" not in values:
        values["content"] = render_content(kind, metadata)


def _require_text(value: object, field: str) -> None:
    """A contact field is a text, or a number, as phones are often given."""
    if value is None or (isinstance(value, str | int) and not isinstance(value, bool)):
        return
    raise InvalidInput(f"{field} must be text.", field=field)


def _complete_steps(values: dict[str, Any]) -> None:
    given = values.pop("steps", None)
    if given is None and values["metadata"].get("steps"):
        given = validation.texts(values["metadata"]["steps"], "metadata.steps")
    steps = given or _read_steps(values.get("content", ""))
    if not steps:
        raise MissingField(
            "A procedure needs steps.",
            remedy="Give steps=[…], or content with numbered lines.",
            field="steps",
        )
    values["metadata"] = {**values["metadata"], "steps": list(steps)}
    if given:
        title = [values["content"]] if values.get("content") else []
        numbered = [f"{place}. {step}" for place, step in enumerate(steps, 1)]
        values["content"] = validation.text("\n".join(title + numbered), "steps")


def _read_steps(content: str) -> tuple[str, ...]:
    return tuple(
        found[1].strip() for line in content.splitlines() if (found := _STEP_LINE.match(line))
    )


def procedure_title(content: str) -> str | None:
    """The lines of a procedure that are not steps."""
    lines = [line for line in content.splitlines() if not _STEP_LINE.match(line)]
    return "\n".join(lines).strip() or None


def render_content(kind: Kind, metadata: Mapping[str, Any]) -> str:
    """The text of a memory that was given as fields alone."""
    if kind is Kind.KV:
        return f"{metadata['subject']} is {_render_value(metadata['value'])}"
    parts = [metadata["name"], metadata.get("role")]
    parts += [f"{name} {metadata[name]}" for name in ("phone", "email") if metadata.get(name)]
    return ", ".join(str(part) for part in [*parts, metadata.get("description")] if part)


def _render_value(value: object) -> str:
    return (
        str(value)
        if isinstance(value, str | int | float)
        else json.dumps(value, ensure_ascii=False)
    )


def _check_policy(draft: Draft) -> None:
    policy = draft.policy
    if draft.confidence < policy.min_confidence:
        raise InvalidInput(
            f"A {draft.kind} needs a confidence of at least {policy.min_confidence:g}.",
            remedy="Store it as a fact or an insight, or raise the confidence.",
            field="confidence",
        )
    if draft.stability and draft.stability not in policy.allowed:
        allowed = " or ".join(sorted(policy.allowed))
        raise InvalidInput(f"A {draft.kind} is {allowed}.", field="stability")
    if draft.ttl_days is not None and draft.expires_at is not None:
        raise InvalidInput("Give ttl_days or expires_at, not both.", field="expires_at")
    if draft.valid_from and draft.valid_to and draft.valid_to <= draft.valid_from:
        raise InvalidInput("valid_to must come after valid_from.", field="valid_to")
    ends = draft.ttl_days is not None or draft.expires_at is not None
    permanent = (draft.stability or policy.stability) is Stability.PERMANENT
    if ends and permanent:
        raise InvalidInput(f"A permanent {draft.kind} cannot expire.", field="expires_at")


def compose_memory(draft: Draft, id: str, principal: Principal, now: datetime) -> Memory:
    if principal.agent and draft.agent_id not in (None, principal.agent):
        raise NotAllowed(
            f"{principal.agent} cannot write as {draft.agent_id}.",
            remedy="Leave agent_id out.",
            field="agent_id",
        )
    policy = draft.policy
    stability = draft.stability or policy.stability
    expires_at = draft.expires_at or default_expiry(policy, stability, draft.ttl_days, now)
    if expires_at is not None and expires_at <= now:
        raise InvalidInput("The memory would be expired already.", field="expires_at")
    given = {name: getattr(draft, name) for name in _DRAFTED_FIELDS}
    derived = {
        "summary": draft.summary or derive_summary(draft),
        "category": draft.category or derive_category(draft.kind, draft.content, policy.category),
        "tags": draft.tags if draft.tags is not None else extract_keywords(draft.content),
        "stability": stability,
        "agent_id": draft.agent_id or _writing_agent(policy, principal),
        "expires_at": expires_at,
        "valid_from": draft.valid_from or min(now, draft.valid_to or now),
    }
    return Memory(
        id=id,
        user_id=principal.user_id,
        created_at=now,
        updated_at=now,
        arrived_at=now,
        **{**given, **derived},
    )


def _writing_agent(policy: KindPolicy, principal: Principal) -> str | None:
    """A rule or soul belongs to one agent only if the request says so: it is for all agents
    otherwise."""
    return None if policy.is_standing_instruction else principal.agent


def writing_warnings(memory: Memory) -> tuple[str, ...]:
    """What the writing policy remarks about a caller's text, which is stored as given."""
    return tuple(str(remark) for remark in check_writing(memory.kind, memory.content))


def derive_category(kind: Kind, content: str, default: str) -> str:
    if not POLICIES[kind].category_from_content:
        return default
    return categorise(content) or default


def derive_summary(draft: Draft) -> str:
    """A procedure is summarised by its title, any other kind by its content."""
    if draft.policy.has_steps:
        return summarise(draft.content.partition("\n")[0])
    return summarise(draft.content)


# Fields that a new assertion leaves unchanged unless it mentions them.
_INHERITED_FIELDS = ("importance", "pinned", "category", "facet", "stability")
_CONTENT_METADATA = ("steps",)  # metadata that is derived from the content


def is_override(kind: Kind) -> bool:
    """True if new content of this kind deletes the old memory instead of superseding it."""
    return POLICIES[kind].on_content_change is OnContentChange.OVERRIDE


def build_successor(new: Memory, old: Memory, mentioned: Collection[str]) -> Memory:
    """The new memory, with fields that it does not mention inherited from the old one."""
    kept: dict[str, Any] = {
        name: getattr(old, name) for name in _INHERITED_FIELDS if name not in mentioned
    }
    if not {"ttl_days", "expires_at", "stability"} & set(mentioned):
        kept["expires_at"] = old.expires_at
    if "sensitivity" not in mentioned:  # a repeat does not lower the sensitivity
        kept["sensitivity"] = max(new.sensitivity, old.sensitivity, key=list(Sensitivity).index)
    metadata = {n: v for n, v in old.metadata.items() if n not in _CONTENT_METADATA}
    kept["metadata"] = {**metadata, **new.metadata}
    if is_rendered_from_fields(new):
        kept["content"] = content = render_content(new.kind, kept["metadata"])
        kept |= {} if "summary" in mentioned else {"summary": summarise(content)}
    if "tags" not in mentioned and old.tags != extract_keywords(old.content):  # given by a caller
        kept["tags"] = old.tags
    return new.evolve(**kept)


def is_rendered_from_fields(memory: Memory) -> bool:
    """True if the content was rendered from the fields."""
    if not POLICIES[memory.kind].has_fields:
        return False
    return memory.content == render_content(memory.kind, memory.metadata)


def supersede_memory(
    memory: Memory,
    by: str,
    now: datetime,
    event: Event = Event.UPDATE,
    node: JournalNode = JournalNode.HOTPATH,
    until: datetime | None = None,
) -> ChangeMemory:
    """The memory becomes history: valid until ``until``, or until now; never until before it began,
    as the clock may have been set back."""
    ends = min(filter(None, (memory.valid_to, until or now)))
    after = memory.evolve(
        state=State.SUPERSEDED,
        superseded_by=by,
        valid_to=max(filter(None, (memory.valid_from, ends))),
        updated_at=now,
    )
    op = Op.MERGE if event is Event.MERGE else Op.UPDATE
    return build_change(memory, after, op=op, event=event, node=node, meta={"superseded_by": by})


def soft_delete_memory(
    memory: Memory,
    now: datetime,
    until: datetime,
    *,
    event: Event = Event.DELETE,
    node: JournalNode = JournalNode.HOTPATH,
    replaced_by: str | None = None,
) -> ChangeMemory:
    after = memory.evolve(
        state=State.SOFT_DELETED,
        purge_at=until,
        updated_at=now,
        superseded_by=replaced_by or memory.superseded_by,
    )
    return build_change(memory, after, op=Op.DELETE, event=event, node=node)


def retire_memory(old: Memory, new: Memory, now: datetime, restorable: timedelta) -> ChangeMemory:
    """Supersede or soft-delete the old memory, by its kind."""
    if is_override(old.kind):
        until = now + restorable
        return soft_delete_memory(old, now, until, event=Event.OVERRIDE, replaced_by=new.id)
    # A new value that began before the old one leaves no time for it (`supersede_memory`).
    return supersede_memory(old, new.id, now, until=min(new.valid_from or now, now))


def revive_memory(memory: Memory, version: Memory, now: datetime) -> ChangeMemory:
    after = version.evolve(
        state=State.ACTIVE,
        purge_at=None,
        superseded_by=None,
        updated_at=now,
        expires_at=None if version.expires_at and version.expires_at <= now else version.expires_at,
    )
    return build_change(memory, after, op=Op.RESTORE, event=Event.RESTORE)
