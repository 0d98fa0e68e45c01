"""The profile: the owner's fields and notes.

A field is a key-value with the id `profile:<name>`, a note has the id `profile:<number>`; so both
have versions, are recalled, forgotten, restored and erased like everything else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from commonplace.desk import Desk, index_all, visibility_of
from commonplace.errors import NotAllowed
from commonplace.language.identity import subject_key
from commonplace.model import check
from commonplace.model.changes import Changeset, Settle, Step, added, changed
from commonplace.model.consent import CATEGORY, Decision, settled
from commonplace.model.filters import WHOLE
from commonplace.model.journal import Event, Op
from commonplace.model.kinds import Kind
from commonplace.model.memory import Memory, State
from commonplace.model.profile import ADDS_TO, FIELDS, PREFIX, field_name, field_of
from commonplace.model.profile_fields import field_value, field_words
from commonplace.model.proposal import Proposal
from commonplace.model.scope import Principal
from commonplace.remember.alike import is_equal
from commonplace.remember.compose import compose
from commonplace.remember.draft import RESTS_ON, draft_from
from commonplace.remember.unsay import Supports, resting_on
from commonplace.store.port import Listing


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


def set_field(desk: Desk, principal: Principal, name: object, value: object) -> ProfileChange:
    """The owner's own word is consent, so it holds at once, and answers what was proposed."""
    owner_only(principal)
    said = field_name(name)
    kept = field_value(said, value)
    now = desk.clock()

    def decide() -> tuple[Changeset, Memory]:
        revision = desk.store.counters(principal.scope).revision
        known = standing(desk, principal, [said]).get(field_of(said))
        step, after = write_field(desk, principal, known, said, kept)
        settling = answered(desk, principal, said, after.metadata["value"])
        steps = (*([step] if step else []), *settling)
        return Changeset(principal.scope, now, principal.actor, steps, revision), after

    revision, after = desk.decide(decide)
    return ProfileChange(after.id, after, revision)


def answered(desk: Desk, principal: Principal, name: str, now_said: Any) -> list[Settle]:
    """What others proposed for a field that its owner sets: it was the same, or it is declined.
    Further goals that are not among those set now still wait."""
    waiting = [p for p in open_proposals(desk, principal) if p.field == field_of(name)]
    goals = now_said if isinstance(now_said, list) else []
    steps: list[Settle] = []
    for proposal in waiting:
        said = goals if proposal.adds else [now_said]
        if any(is_equal(proposal.value, each) for each in said):
            steps.append(settled(proposal, Decision.ACCEPTED))
        elif not proposal.adds and name not in ADDS_TO:
            steps.append(settled(proposal, Decision.DECLINED))
    return steps


def open_proposals(desk: Desk, principal: Principal) -> list[Proposal]:
    now = desk.clock()
    return [each for each in desk.store.proposals(principal.scope) if each.is_open(now)]


def standing(desk: Desk, principal: Principal, names: Sequence[str]) -> dict[str, Memory]:
    """The fields behind these names, forgotten ones too: set anew, one is itself again."""
    ids = [PREFIX + field_of(name) for name in names]
    return {m.id.removeprefix(PREFIX): m for m in desk.store.fetch(principal.scope, ids)}


def write_field(
    desk: Desk,
    principal: Principal,
    known: Memory | None,
    name: str,
    value: Any,
    *,
    consent: Mapping[str, Any] | None = None,  # what the journal is to say of it
    supports: Supports | None = None,  # without, it is the owner's word
) -> tuple[Step | None, Memory]:
    """The step that makes a field say this, and the field after it; no step where it does."""
    now = desk.clock()
    fresh = _fresh(principal, known, name, value, supports or [], now)
    if known and known.is_live(now) and known.metadata == fresh.metadata:
        return None, known
    indexes, _ = index_all(desk, [fresh])
    told: dict[str, Any] = {"event": Event.CONSENT, "meta": consent} if consent else {}
    if known is None:
        return added(fresh, indexes[0], **told), fresh
    told.setdefault("event", Event.UPDATE)
    change = changed(known, said_anew(known, fresh), op=Op.UPDATE, index=indexes[0], **told)
    return change, change.after


def _fresh(
    principal: Principal,
    known: Memory | None,
    name: str,
    value: Any,
    supports: Supports,
    now: datetime,
) -> Memory:
    field = field_of(name)
    goals = _goals(known, now) if name in ADDS_TO else []
    rests = resting_on(known if goals else None, value, supports)
    if name in ADDS_TO:
        known_goals = {goal.casefold() for goal in goals}
        more = [] if value.casefold() in known_goals else [value]
        value = list(check.words([*goals, *more], "value"))  # a list may become too long
    draft = draft_from(
        {
            "kind": Kind.KV,
            "content": field_words(field, value),
            "category": CATEGORY,
            "metadata": {"subject": field, "value": value},
        }
    )
    memory = compose(draft, PREFIX + field, principal, now)
    return memory.evolve(metadata={**memory.metadata, RESTS_ON: rests}) if rests else memory


def _goals(known: Memory | None, now: datetime) -> list[str]:
    """What the list holds; of a field that is a single text, as it may be from before, that."""
    if known is None or not known.is_live(now):
        return []
    held = known.metadata["value"]
    return held if isinstance(held, list) else [str(held)]


def said_anew(known: Memory, fresh: Memory) -> Memory:
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
    draft = draft_from({"kind": Kind.NOTE, "content": text, "category": CATEGORY})

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


def owner_only(principal: Principal) -> None:
    if not principal.is_owner:
        raise NotAllowed("Only the owner may change the profile.", remedy=_PROPOSE)


def leave_fields_to_their_owner(principal: Principal, memory: Memory) -> None:
    """A value of the profile under an id of its own is one all the same: readers could not tell
    it from what the owner has said."""
    if principal.is_owner or memory.kind is not Kind.KV or memory.category != CATEGORY:
        return
    subject = str(memory.metadata.get("subject"))
    if subject_key(subject.replace("_", " ")) in _known():
        raise NotAllowed(
            f"{subject!r} is a profile field, which only the owner may change.", remedy=_PROPOSE
        )


@cache
def _known() -> frozenset[str]:
    """When first asked for: it needs the word lists, and reading them takes a tenth of a second."""
    return frozenset(subject_key(name.replace("_", " ")) for name in FIELDS)


_PROPOSE = "Propose it: `propose` (profile propose). The owner accepts or declines."
