"""Profile fields and notes: read, set, compare values; only the owner changes them.

A field is a kv memory with the id `profile:<name>`, a note has the id `profile:<number>`. Both have
versions and are recalled, forgotten, restored and erased like other memories.

Two values are the same if their words are. Different words are compared with the thresholds for
rewordings, each raised by `STRICTER_BY`. If similarity is unknown they count as two values, and the
owner decides about both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from commonplace.engine.access import visibility_of
from commonplace.engine.composition import RESTS_ON, compose_memory, read_draft
from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.indexing import index_memories
from commonplace.engine.memory_relation import FULL_REWORDING_SIMILARITY, REWORDING_SIMILARITY
from commonplace.engine.profile.open_proposals import open_proposals
from commonplace.engine.provenance.evidence import SignalSupports, with_field_supports
from commonplace.engine.transaction import run_transaction
from commonplace.errors import NotAllowed
from commonplace.language.compare.compare import CompareVerdict, compare
from commonplace.language.compare.keys import subject_key
from commonplace.model import validation
from commonplace.model.access.principal import Principal
from commonplace.model.changeset import (
    Changeset,
    ChangesetStep,
    CloseProposals,
    build_add,
    build_change,
)
from commonplace.model.filters import OWNER_VISIBILITY
from commonplace.model.journal import Event, Op
from commonplace.model.memory.kinds import Kind
from commonplace.model.memory.memory import Memory, State
from commonplace.model.profile.consent import (
    PROFILE_CATEGORY,
    STRICTER_BY,
    ProposalDecision,
    build_settlement,
)
from commonplace.model.profile.fields import (
    KNOWN_FIELDS,
    LIST_ADDITIONS,
    PROFILE_PREFIX,
    describe_field,
    field_name,
    read_field_value,
    target_field,
)
from commonplace.store.queries import MemoryListing

_REQUIRED_SIMILARITY = {
    CompareVerdict.EQUAL: 0.0,
    CompareVerdict.SAME: FULL_REWORDING_SIMILARITY + STRICTER_BY,
    CompareVerdict.OPEN: FULL_REWORDING_SIMILARITY + STRICTER_BY,
    CompareVerdict.MORE: REWORDING_SIMILARITY + STRICTER_BY,  # more details are another value
    CompareVerdict.LESS: REWORDING_SIMILARITY + STRICTER_BY,
}


def is_equal_value(one: Any, other: Any) -> bool:
    """Compares the words only, without embeddings."""
    return _compare_values(one, other) is CompareVerdict.EQUAL


def is_same_value(verdict: CompareVerdict, similarity: float | None) -> bool:
    if verdict not in _REQUIRED_SIMILARITY:
        return False
    return verdict is CompareVerdict.EQUAL or (similarity or 0.0) >= _REQUIRED_SIMILARITY[verdict]


def find_same_value(engine: EngineContext, value: Any, others: Sequence[Any]) -> int | None:
    """The position of the first of the others that is the same value. Calls the embedder at most
    once."""
    verdicts = [_compare_values(other, value) for other in others]
    if CompareVerdict.EQUAL in verdicts:
        return verdicts.index(CompareVerdict.EQUAL)
    uncertain = [place for place, verdict in enumerate(verdicts) if verdict in _REQUIRED_SIMILARITY]
    if not uncertain:
        return None
    texts = [_value_text(value), *(_value_text(others[place]) for place in uncertain)]
    vectors = engine.embed_passages(texts)
    for row, place in enumerate(uncertain, 1):
        cosine = None if vectors is None else float(vectors[0] @ vectors[row])
        if is_same_value(verdicts[place], engine.similarity(cosine, texts[0], texts[row])):
            return place
    return None


def _compare_values(old: Any, new: Any) -> CompareVerdict:
    """Numbers are compared by value: 5, 5.0 and "5" are equal. Booleans are not compared as
    words."""
    if isinstance(old, bool) or isinstance(new, bool):
        return CompareVerdict.EQUAL if old is new else CompareVerdict.APART
    return compare(_value_text(old), _value_text(new)).verdict


def _value_text(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(value)
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if whole else value)


@dataclass(frozen=True, slots=True)
class Profile:
    fields: Mapping[str, Any]
    notes: Mapping[str, str]  # id → text


@dataclass(frozen=True, slots=True)
class ProfileChange:
    id: str
    memory: Memory
    revision: int


def read_profile(engine: EngineContext, principal: Principal) -> Profile:
    listing = MemoryListing(
        visibility=OWNER_VISIBILITY if principal.is_owner else visibility_of(principal),
        now=engine.clock(),
        only_profile=True,
        limit=10_000,
    )
    items = list(reversed(engine.store.page(principal.scope, listing)))
    fields = {m.metadata["subject"]: m.metadata["value"] for m in items if m.kind is Kind.KV}
    notes = {memory.id: memory.content for memory in items if memory.kind is not Kind.KV}
    return Profile(dict(sorted(fields.items())), notes)


def set_field(
    engine: EngineContext, request: RequestContext, name: object, value: object
) -> ProfileChange:
    """Setting a field is the owner's consent: it applies at once and answers open proposals."""
    principal = request.principal
    require_profile_owner(principal)
    field = field_name(name)
    checked = read_field_value(field, value)
    now = engine.clock()

    def decide() -> tuple[Changeset, Memory]:
        revision = engine.store.counters(principal.scope).revision
        known = load_fields(engine, principal, [field]).get(target_field(field))
        step, after = write_field(engine, principal, known, field, checked)
        settling = settle_answered_proposals(engine, principal, field, after.metadata["value"])
        steps = (*([step] if step else []), *settling)
        return Changeset(principal.scope, now, principal.actor, steps, revision), after

    revision, after = run_transaction(engine, request, decide)
    return ProfileChange(after.id, after, revision)


def settle_answered_proposals(
    engine: EngineContext, principal: Principal, name: str, new_value: Any
) -> list[CloseProposals]:
    """Close the proposals for a field that its owner sets: accepted if the value is the same, else
    declined. Proposed goals that are not in the new list stay open."""
    proposals = [p for p in open_proposals(engine, principal) if p.field == target_field(name)]
    goals = new_value if isinstance(new_value, list) else []
    steps: list[CloseProposals] = []
    for proposal in proposals:
        values = goals if proposal.adds else [new_value]
        if any(is_equal_value(proposal.value, each) for each in values):
            steps.append(build_settlement(proposal, ProposalDecision.ACCEPTED))
        elif not proposal.adds and name not in LIST_ADDITIONS:
            steps.append(build_settlement(proposal, ProposalDecision.DECLINED))
    return steps


def load_fields(
    engine: EngineContext, principal: Principal, names: Sequence[str]
) -> dict[str, Memory]:
    """The fields with these names, forgotten ones included: setting one restores it."""
    ids = [PROFILE_PREFIX + target_field(name) for name in names]
    return {m.id.removeprefix(PROFILE_PREFIX): m for m in engine.store.fetch(principal.scope, ids)}


def write_field(
    engine: EngineContext,
    principal: Principal,
    known: Memory | None,
    name: str,
    value: Any,
    *,
    consent: Mapping[str, Any] | None = None,  # for the journal entry
    supports: SignalSupports | None = None,  # None: the owner set it
) -> tuple[ChangesetStep | None, Memory]:
    """The step that sets a field, and the field after it; no step if it has the value already."""
    now = engine.clock()
    fresh = _new_field(principal, known, name, value, supports or [], now)
    if known and known.is_live(now) and known.metadata == fresh.metadata:
        return None, known
    indexes, _ = index_memories(engine, [fresh])
    entry: dict[str, Any] = {"event": Event.CONSENT, "meta": consent} if consent else {}
    if known is None:
        return build_add(fresh, indexes[0], **entry), fresh
    entry.setdefault("event", Event.UPDATE)
    change = build_change(
        known, with_new_value(known, fresh), op=Op.UPDATE, index=indexes[0], **entry
    )
    return change, change.after


def _new_field(
    principal: Principal,
    known: Memory | None,
    name: str,
    value: Any,
    supports: SignalSupports,
    now: datetime,
) -> Memory:
    field = target_field(name)
    goals = _current_goals(known, now) if name in LIST_ADDITIONS else []
    field_supports = with_field_supports(known if goals else None, value, supports)
    if name in LIST_ADDITIONS:
        known_goals = {goal.casefold() for goal in goals}
        more = [] if value.casefold() in known_goals else [value]
        value = list(validation.words([*goals, *more], "value"))  # raises if the list is too long
    draft = read_draft(
        {
            "kind": Kind.KV,
            "content": describe_field(field, value),
            "category": PROFILE_CATEGORY,
            "metadata": {"subject": field, "value": value},
        }
    )
    memory = compose_memory(draft, PROFILE_PREFIX + field, principal, now)
    return (
        memory.evolve(metadata={**memory.metadata, RESTS_ON: field_supports})
        if field_supports
        else memory
    )


def _current_goals(known: Memory | None, now: datetime) -> list[str]:
    """The list of goals; a field that is still a single text is a list of one."""
    if known is None or not known.is_live(now):
        return []
    value = known.metadata["value"]
    return value if isinstance(value, list) else [str(value)]


def with_new_value(known: Memory, fresh: Memory) -> Memory:
    """The same item with a new value; active again if it was forgotten."""
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


def add_note(engine: EngineContext, request: RequestContext, text: object) -> ProfileChange:
    principal = request.principal
    require_profile_owner(principal)
    now = engine.clock()
    draft = read_draft({"kind": Kind.NOTE, "content": text, "category": PROFILE_CATEGORY})

    def decide() -> tuple[Changeset, Memory]:
        counters = engine.store.counters(principal.scope)
        note = compose_memory(draft, f"{PROFILE_PREFIX}{counters.profile_numbers}", principal, now)
        indexes, _ = index_memories(engine, [note])
        changeset = Changeset(
            principal.scope,
            now,
            principal.actor,
            (build_add(note, indexes[0]),),
            counters.revision,
            profile_numbers=1,
        )
        return changeset, note

    revision, note = run_transaction(engine, request, decide)
    return ProfileChange(note.id, note, revision)


def require_profile_owner(principal: Principal) -> None:
    if not principal.is_owner:
        raise NotAllowed("Only the owner may change the profile.", remedy=_PROPOSE_REMEDY)


def refuse_profile_field(principal: Principal, memory: Memory) -> None:
    """A kv memory with a profile subject counts as a profile field, whatever its id: readers could
    not tell it from a value that the owner set."""
    if principal.is_owner or memory.kind is not Kind.KV or memory.category != PROFILE_CATEGORY:
        return
    subject = str(memory.metadata.get("subject"))
    if subject_key(subject.replace("_", " ")) in _profile_subjects():
        raise NotAllowed(
            f"{subject!r} is a profile field, which only the owner may change.",
            remedy=_PROPOSE_REMEDY,
        )


@cache
def _profile_subjects() -> frozenset[str]:
    """Computed on first use: it loads the word lists, which takes 0.1 s."""
    return frozenset(subject_key(name.replace("_", " ")) for name in KNOWN_FIELDS)


_PROPOSE_REMEDY = "Propose it: `propose` (profile propose). The owner accepts or declines."
