"""What a caller hands in to be remembered, checked before anything else happens."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from commonplace.errors import InvalidInput, MissingField
from commonplace.language.classify import classify, fields_in
from commonplace.model import check
from commonplace.model.kinds import POLICIES, Kind, KindPolicy, Stability
from commonplace.model.memory import Sensitivity

RESTS_ON = "rests_on"  # what speaks for a field of the profile that its owner has not set
# Which memories a summary was made of, and the like: erasing goes by it.
ENGINES_OWN = ("merged_from", RESTS_ON)
CONTACT_FIELDS = ("name", "phone", "email", "role", "description")
_SENSITIVITY_ALIASES = {"sensitive": "high"}
_STEP = re.compile(r"^\s*\d+[.)]\s+(\S.*)$")


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


# What `remember` accepts: the draft's fields, and `steps`, which become its content.
ACCEPTED = (*(f.name for f in fields(Draft)), "steps", "scope")

_WORDS = (
    "category",
    "facet",
    "source_type",
    "source_id",
    "job_id",
    "agent_id",
    "run_id",
    "actor_id",
    "role",
    "thread_id",
)


def draft_from(given: Mapping[str, Any]) -> Draft:
    """A checked draft, or an error that names the field. `scope` is the seeds' word for facet."""
    check.known_fields(given, ACCEPTED, "A memory")
    present = {name: value for name, value in given.items() if value is not None}
    if "scope" in present:
        present.setdefault("facet", present.pop("scope"))
    values = {name: _checked(name, value) for name, value in present.items()}
    _classify(values)
    _complete(values)
    draft = Draft(**values)
    _hold_to_policy(draft)
    return draft


def _classify(values: dict[str, Any]) -> None:
    """The kind by what the text says, and the fields that it names; what was given stands."""
    content = values.get("content")
    if "kind" not in values:
        values["kind"] = Kind.NOTE
        if content and "steps" not in values:
            classified = classify(content)
            values |= {"kind": classified.kind, "content": classified.content}
            _add_fields(values, classified.metadata)
    elif content and _lacks_fields(values):
        _add_fields(values, fields_in(values["kind"], content))


def _lacks_fields(values: Mapping[str, Any]) -> bool:
    """Whether the kind asks for particulars that the caller left to the text."""
    metadata = values.get("metadata", {})
    required = POLICIES[values["kind"]].required
    needed = [name.removeprefix("metadata.") for name in required if name.startswith("metadata.")]
    return any(metadata.get(name) is None for name in needed)


def _add_fields(values: dict[str, Any], found: Mapping[str, str]) -> None:
    if found:
        values["metadata"] = {**found, **values.get("metadata", {})}


def _checked(name: str, value: object) -> Any:
    if name in _WORDS:
        return check.word(value, name)
    match name:
        case "kind":
            return check.kind(value)
        case "content" | "summary":
            return check.text(value, name)
        case "metadata":
            return check.metadata(value)
        case "tags":
            return check.words(value, name)
        case "evidence" | "steps":
            return check.texts(value, name)
        case "importance":
            return check.integer(value, name, 1, 5)
        case "confidence":
            return check.number(value, name, 0, 1)
        case "stability":
            return check.choice(value, name, Stability, {})
        case "sensitivity":
            return check.choice(value, name, Sensitivity, _SENSITIVITY_ALIASES)
        case "pinned":
            return check.flag(value, name)
        case "ttl_days":
            return check.number(value, name, 0, check.MAX_DAYS)
        case _:
            return check.when(value, name)


def callers_metadata(value: object) -> dict[str, Any]:
    """What a caller may say; some names are the engine's own."""
    given = check.metadata(value)
    for name in ENGINES_OWN:
        if name in given:
            raise InvalidInput(f"metadata.{name} is set by the engine.", field=f"metadata.{name}")
    return given


def _complete(values: dict[str, Any]) -> None:
    """Content for kinds whose particulars say it all; steps for procedures."""
    kind: Kind = values["kind"]
    values.setdefault("metadata", {})
    if kind is Kind.PROCEDURE:
        _complete_steps(values)
    elif "steps" in values:
        raise InvalidInput("Only a procedure has steps.", field="steps")
    metadata = values["metadata"]
    present = {**values, **{f"metadata.{name}": value for name, value in metadata.items()}}
    present["steps"] = metadata.get("steps")
    check.required(present, POLICIES[kind].required, kind)
    for name in ("name", "subject"):
        if f"metadata.{name}" in POLICIES[kind].required:
            check.word(metadata[name], f"metadata.{name}")
    if kind is Kind.CONTACT:
        for name in CONTACT_FIELDS:
            _hold_to_words(metadata.get(name), f"metadata.{name}")
    if "content" not in values:
        values["content"] = content_from(kind, metadata)


def _hold_to_words(value: object, field: str) -> None:
    """A field of a contact is a text, or a number as people type phones."""
    if value is None or (isinstance(value, str | int) and not isinstance(value, bool)):
        return
    raise InvalidInput(f"{field} must be text.", field=field)


def _complete_steps(values: dict[str, Any]) -> None:
    given = values.pop("steps", None)
    if given is None and values["metadata"].get("steps"):
        given = check.texts(values["metadata"]["steps"], "metadata.steps")
    steps = given or _steps_in(values.get("content", ""))
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
        values["content"] = check.text("\n".join(title + numbered), "steps")


def _steps_in(content: str) -> tuple[str, ...]:
    return tuple(found[1].strip() for line in content.splitlines() if (found := _STEP.match(line)))


def title_of(content: str) -> str | None:
    """What a procedure says before and between its steps."""
    lines = [line for line in content.splitlines() if not _STEP.match(line)]
    return "\n".join(lines).strip() or None


def content_from(kind: Kind, metadata: Mapping[str, Any]) -> str:
    """The words of a memory that came as fields alone."""
    if kind is Kind.KV:
        return f"{metadata['subject']} is {_spoken(metadata['value'])}"
    spoken = [metadata["name"], metadata.get("role")]
    spoken += [f"{name} {metadata[name]}" for name in ("phone", "email") if metadata.get(name)]
    return ", ".join(str(part) for part in [*spoken, metadata.get("description")] if part)


def _spoken(value: object) -> str:
    return (
        str(value)
        if isinstance(value, str | int | float)
        else json.dumps(value, ensure_ascii=False)
    )


def _hold_to_policy(draft: Draft) -> None:
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
