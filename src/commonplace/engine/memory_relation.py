"""Memory relation: how a new memory relates to a stored one, and what follows. Pure.

Embeddings miss some differences (a changed name, swapped roles, most scripts); there, words and
sentence frames decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from commonplace.engine.composition import CONTACT_FIELDS, ENGINE_METADATA, is_rendered_from_fields
from commonplace.errors import LimitReached
from commonplace.language.compare.compare import CompareVerdict, Comparison, compare, is_same_value
from commonplace.language.compare.keys import MAX_STATEMENT_CHARACTERS, subject_key, subject_terms
from commonplace.language.fields.phone_email import is_same_email, is_same_phone
from commonplace.language.safety.sensitive import is_secret_subject
from commonplace.language.text.filler import content_terms
from commonplace.language.text.normalise import fold
from commonplace.model.delta import shorten
from commonplace.model.memory.kinds import (
    ACTION_TABLE,
    POLICIES,
    Action,
    Kind,
    MemoryRelation,
    OnConflict,
    action_for,
)
from commonplace.model.memory.memory import Memory

REWORDING_SIMILARITY = 0.95  # rewording, even if details are missing
FULL_REWORDING_SIMILARITY = 0.88  # rewording with no detail lost; changed with the values masked
SAME_SUBJECT_SIMILARITY = 0.85
NEAR_SIMILARITY = 0.80
# Share of common words, for masked values and where similarity is unknown.
SAME_WORDS_SHARE = 0.85

_MAX_VALUE_CHARACTERS = 80

COMPARED_CONTACT_FIELDS = CONTACT_FIELDS
TEXT_CONTACT_FIELDS = ("name", "role", "description")  # one value can contain more than another


@dataclass(frozen=True, slots=True)
class RelationVerdict:
    relation: MemoryRelation
    reason: str = ""
    certain: bool = True  # decided by fields or a frame, not by similarity alone


UNRELATED = RelationVerdict(MemoryRelation.NEW)


def compare_statements(new: Memory, old: Memory) -> Comparison | None:
    """The comparison of their statements; None for kinds whose content is in fields."""
    if POLICIES[new.kind].has_fields:
        return None
    # Long texts hold many statements: unless they are equal, similarity decides.
    if max(len(new.content), len(old.content)) <= MAX_STATEMENT_CHARACTERS:
        return compare(old.content, new.content)
    equal = fold(new.content) == fold(old.content)
    return Comparison(CompareVerdict.EQUAL if equal else CompareVerdict.APART, "")


def texts_to_compare(
    new: Memory, old: Memory, comparison: Comparison | None
) -> tuple[str, str] | None:
    """The two texts whose similarity `relate_memories` needs besides that of the whole memories."""
    if new.kind is Kind.KV:
        new_subject, old_subject = _subject_of(new), _subject_of(old)
        return (
            (new_subject, old_subject) if _is_narrower_subject(new_subject, old_subject) else None
        )
    if comparison is None or comparison.verdict is not CompareVerdict.MASKED:
        return None
    return None if comparison.words_alike >= SAME_WORDS_SHARE else comparison.masked


def relate_memories(
    new: Memory,
    old: Memory,
    similarity: float | None,
    part_similarity: float | None = None,
    comparison: Comparison | None = None,
) -> RelationVerdict:
    """``part_similarity`` is the similarity of `texts_to_compare`; None means unknown."""
    if new.kind is Kind.KV:
        return _relate_values(new, old, similarity, part_similarity)
    if new.kind is Kind.CONTACT:
        return _relate_contacts(new, old, similarity)
    known = comparison or compare_statements(new, old)
    return _relate_statements(known, similarity, part_similarity) if known else UNRELATED


# ——— statements ———


def _relate_statements(
    comparison: Comparison, similarity: float | None, part_similarity: float | None
) -> RelationVerdict:
    known = similarity or 0.0
    reason = comparison.reason
    match comparison.verdict:
        case CompareVerdict.EQUAL:
            return RelationVerdict(MemoryRelation.REPEAT, reason)
        case CompareVerdict.SAME | CompareVerdict.MORE:
            return RelationVerdict(MemoryRelation.REWORDING, reason)
        case CompareVerdict.CHANGED:
            return RelationVerdict(MemoryRelation.CHANGED, reason)
        case CompareVerdict.MASKED if (
            comparison.words_alike >= SAME_WORDS_SHARE
            or (part_similarity or 0.0) >= FULL_REWORDING_SIMILARITY
        ):
            return RelationVerdict(MemoryRelation.CHANGED, reason, certain=False)
        case CompareVerdict.LESS if known >= REWORDING_SIMILARITY:
            return RelationVerdict(MemoryRelation.REWORDING, reason, certain=False)
        case CompareVerdict.OPEN if known >= FULL_REWORDING_SIMILARITY:
            return RelationVerdict(MemoryRelation.REWORDING, reason, certain=False)
        case CompareVerdict.BOTH:
            return RelationVerdict(MemoryRelation.NEAR, reason)
        case CompareVerdict.APART:
            return _by_similarity(similarity, 0.0, reason)
        case _:
            return _by_similarity(similarity, comparison.words_alike, reason)


def _by_similarity(similarity: float | None, words_alike: float, reason: str) -> RelationVerdict:
    near = words_alike >= SAME_WORDS_SHARE if similarity is None else similarity >= NEAR_SIMILARITY
    return RelationVerdict(MemoryRelation.NEAR, reason) if near else UNRELATED


# ——— values of a subject ———


def _subject_of(memory: Memory) -> str:
    return str(memory.metadata.get("subject", ""))


def _is_narrower_subject(one: str, other: str) -> bool:
    a, b = set(subject_terms(one)), set(subject_terms(other))
    return bool(a and b) and (a < b or b < a)


def _relate_values(
    new: Memory, old: Memory, similarity: float | None, part_similarity: float | None
) -> RelationVerdict:
    new_subject, old_subject = _subject_of(new), _subject_of(old)
    same_subject = subject_key(new_subject) == subject_key(old_subject)
    if not same_subject and not _is_narrower_subject(new_subject, old_subject):
        return _by_similarity(similarity, 0.0, "")
    if not same_subject and (part_similarity or 0.0) < SAME_SUBJECT_SIMILARITY:
        return RelationVerdict(MemoryRelation.NEAR)
    new_value, old_value = new.metadata.get("value"), old.metadata.get("value")
    if is_same_value(old_value, new_value, secret=is_secret_subject(new_subject)):
        if differing := _describe_changed_metadata(new, old, ("subject", "value")):
            return RelationVerdict(MemoryRelation.CHANGED, differing)
        repeated = same_subject and (is_rendered_from_fields(new) or covers_words(old, new))
        return RelationVerdict(MemoryRelation.REPEAT if repeated else MemoryRelation.REWORDING)
    return RelationVerdict(
        MemoryRelation.CHANGED, _describe_change(old_subject, old_value, new_value)
    )


def _describe_change(name: str, before: object, after: object) -> str:
    """Short, because answers show it next to both texts."""
    return f"{_shorten_value(name)}: {_shorten_value(before)} → {_shorten_value(after)}"


def _shorten_value(value: object) -> str:
    return shorten(str(value), _MAX_VALUE_CHARACTERS)


def _describe_changed_metadata(new: Memory, old: Memory, known: Sequence[str]) -> str:
    """Further metadata that both have with different values, except the engine's own names."""
    return ", ".join(
        _describe_change(name, old.metadata[name], value)
        for name, value in new.metadata.items()
        if name not in (*known, *ENGINE_METADATA)
        and old.metadata.get(name) not in (None, "")
        and not is_same_value(old.metadata[name], value)
    )


# ——— people and businesses ———


def _relate_contacts(new: Memory, old: Memory, similarity: float | None) -> RelationVerdict:
    if not _is_same_contact(new, old, similarity):
        return _by_similarity(similarity, 0.0, "")
    new_fields, old_fields = contact_fields(new), contact_fields(old)
    differing = [
        n
        for n in COMPARED_CONTACT_FIELDS
        if n in new_fields and n in old_fields and _has_changed(n, old_fields[n], new_fields[n])
    ]
    changes = [_describe_change(name, old_fields[name], new_fields[name]) for name in differing]
    changes += (
        [more] if (more := _describe_changed_metadata(new, old, COMPARED_CONTACT_FIELDS)) else []
    )
    if changes:
        return RelationVerdict(MemoryRelation.CHANGED, ", ".join(changes))
    fuller = [
        n for n in new_fields if n not in old_fields or _is_fuller(n, old_fields[n], new_fields[n])
    ]
    if fuller or not (is_rendered_from_fields(new) or covers_words(old, new)):
        return RelationVerdict(MemoryRelation.REWORDING, ", ".join(fuller))
    return RelationVerdict(MemoryRelation.REPEAT)


def contact_fields(contact: Memory) -> dict[str, str]:
    return {
        name: str(contact.metadata[name])
        for name in COMPARED_CONTACT_FIELDS
        if contact.metadata.get(name)
    }


def _is_same_contact(new: Memory, old: Memory, similarity: float | None) -> bool:
    new_fields, old_fields = contact_fields(new), contact_fields(old)
    if fold(new_fields.get("name", "")) == fold(old_fields.get("name", "")):
        return True
    for name, same in (("phone", is_same_phone), ("email", is_same_email)):
        if name in new_fields and name in old_fields and same(new_fields[name], old_fields[name]):
            return True
    overlap = set(_name_words(new_fields)) & set(_name_words(old_fields))
    return bool(overlap) and (similarity or 0.0) >= SAME_SUBJECT_SIMILARITY


def _name_words(fields: dict[str, str]) -> list[str]:
    return fold(fields.get("name", "")).split()


def _has_changed(name: str, before: str, after: str) -> bool:
    match name:
        case "phone":
            return not is_same_phone(before, after)
        case "email":
            return not is_same_email(before, after)
        case "name":  # a fuller name is the same name
            a, b = set(fold(before).split()), set(fold(after).split())
            return not (a <= b or b <= a)
        case _:
            agree = (
                CompareVerdict.EQUAL,
                CompareVerdict.SAME,
                CompareVerdict.MORE,
                CompareVerdict.LESS,
            )
            return compare(before, after).verdict not in agree


def _is_fuller(name: str, before: str, after: str) -> bool:
    """More words. A longer notation of a phone number or an address is not fuller."""
    worded = name in TEXT_CONTACT_FIELDS and fold(after) not in fold(before)
    return worded and len(after) > len(before)


def covers_words(old: Memory, new: Memory) -> bool:
    """True if the old memory contains every word of the new one that says something."""
    if content_terms(new.content) <= content_terms(old.searchable_text):
        return True
    return set(fold(new.content).split()) <= set(fold(old.searchable_text).split())


@dataclass(frozen=True, slots=True)
class ComparedMemory:
    """A stored memory, and how the new one relates to it."""

    old: Memory
    related: RelationVerdict
    similarity: float | None

    @property
    def relation(self) -> MemoryRelation:
        return self.related.relation


@dataclass(frozen=True, slots=True)
class WriteDecision:
    relation: MemoryRelation
    action: Action
    others: tuple[Memory, ...] = ()  # the related memories, closest first
    reason: str = ""
    until: Memory | None = None  # the later value, if the new one is from an earlier period


STORE_AS_NEW = WriteDecision(MemoryRelation.NEW, Action.STORED)

# A repeat decides first; after that, a changed value matters more than a rewording.
_STRONGEST_FIRST = (
    MemoryRelation.REPEAT,
    MemoryRelation.CHANGED,
    MemoryRelation.REWORDING,
    MemoryRelation.NEAR,
)


def decide_action(
    new: Memory,
    compared: Sequence[ComparedMemory],
    now: datetime,
    on_conflict: OnConflict,
    said_at: datetime | None = None,
) -> WriteDecision:
    """``said_at``: when a dated turn said it. None: it is said now, so it is the latest statement,
    whatever the clock and the start dates say."""
    by_relation = _group_by_relation(
        new, _same_day_events(new, compared), now, on_conflict, said_at
    )
    relation = next((each for each in _STRONGEST_FIRST if by_relation[each]), MemoryRelation.NEW)
    if relation is MemoryRelation.NEW:
        return STORE_AS_NEW
    closest = by_relation[relation]
    same_day = [each for each in closest if _day_of(each.old) == _day_of(new)]
    action = action_for(relation, new.kind, same_day=bool(same_day))
    if action is Action.REFRESHED:
        closest = (same_day if POLICIES[new.kind].recurs else closest)[:1]
    elif action is Action.SUPERSEDED:
        closest = [*by_relation[MemoryRelation.CHANGED], *by_relation[MemoryRelation.REWORDING]]
    action = _apply_on_conflict(relation, action, on_conflict)
    if action is Action.OVERRIDDEN and len(closest) > 1:
        action = Action.PENDING  # ambiguous: a person decides which one
    if action in (Action.OVERRIDDEN, Action.ALTERNATIVE):
        closest = closest[:1]
    reason = "; ".join(dict.fromkeys(e.related.reason for e in closest if e.related.reason))
    until = _find_successor(new, compared, said_at) if action is Action.STORED else None
    return WriteDecision(relation, action, tuple(each.old for each in closest), reason, until)


def propose_instruction(new: Memory, decision: WriteDecision, proposer: str) -> WriteDecision:
    """A rule or soul that waits for the owner's decision. A repeat of a known one is not held."""
    if decision.action is Action.REFRESHED:
        return decision
    replaced = decision.others if decision.action is Action.SUPERSEDED else ()
    how = " ".join([*(["pinned"] if new.pinned else []), str(new.stability), str(new.kind)])
    said = f"{how} for all agents, proposed by {proposer}"
    reason = "; ".join(filter(None, (said, decision.reason)))
    return WriteDecision(decision.relation, Action.PENDING, replaced, reason)


def _find_successor(
    new: Memory, compared: Sequence[ComparedMemory], said_at: datetime | None
) -> Memory | None:
    """The earliest known value that replaced the one asserted only now."""
    if new.valid_to is not None:
        return None
    later = [
        (each.old.valid_from, each.old)
        for each in compared
        if each.relation is MemoryRelation.CHANGED and each.related.certain
        if each.old.valid_from and _is_said_before(said_at, each.old)
    ]
    return min(later, key=lambda dated: dated[0])[1] if later else None


def _same_day_events(new: Memory, compared: Sequence[ComparedMemory]) -> Sequence[ComparedMemory]:
    """An event asserted before on the same day is the same event, whatever was asserted on other
    days."""
    if not POLICIES[new.kind].recurs:
        return compared
    today = [each for each in compared if _day_of(each.old) == _day_of(new)]
    is_known = any(
        each.relation in (MemoryRelation.REPEAT, MemoryRelation.REWORDING) for each in today
    )
    return today if is_known else compared


def _group_by_relation(
    new: Memory,
    compared: Sequence[ComparedMemory],
    now: datetime,
    on_conflict: OnConflict,
    said_at: datetime | None,
) -> dict[MemoryRelation, list[ComparedMemory]]:
    by_relation: dict[MemoryRelation, list[ComparedMemory]] = {
        relation: [] for relation in MemoryRelation
    }
    replaces = on_conflict is not OnConflict.ALTERNATIVE
    for each in sorted(compared, key=_closeness):
        changed = each.relation is MemoryRelation.CHANGED
        history = changed and replaces and _is_past_fact(new, each.old, now, said_at)
        by_relation[MemoryRelation.NEAR if history else each.relation].append(each)
    certain = [each for each in by_relation[MemoryRelation.CHANGED] if each.related.certain]
    # Changes found by similarity alone: only the closest is meant.
    by_relation[MemoryRelation.CHANGED] = certain or by_relation[MemoryRelation.CHANGED][:1]
    return by_relation


def _closeness(each: ComparedMemory) -> tuple[bool, float, str]:
    return (not each.related.certain, -(each.similarity or 0.0), each.old.id)


def _is_past_fact(new: Memory, old: Memory, now: datetime, said_at: datetime | None) -> bool:
    """A fact about the past, asserted later, does not change what is true now."""
    has_ended = new.valid_to is not None and new.valid_to <= now
    return has_ended or _is_said_before(said_at, old)


def _is_said_before(said_at: datetime | None, old: Memory) -> bool:
    """Whether an older turn, which arrives late, says it. A start date before that of the old
    memory does not make a statement older: "she moved in January", said today, is the news."""
    earlier = said_at and old.valid_from and said_at < old.valid_from
    return bool(earlier) and ACTION_TABLE[MemoryRelation.CHANGED, old.kind] is Action.SUPERSEDED


def _day_of(memory: Memory) -> object:
    return (memory.valid_from or memory.created_at).date()


def _apply_on_conflict(relation: MemoryRelation, action: Action, on_conflict: OnConflict) -> Action:
    if action is Action.PENDING:
        return {
            OnConflict.ASK: Action.PENDING,
            OnConflict.OVERRIDE: Action.OVERRIDDEN,
            OnConflict.INSERT: Action.STORED,
            OnConflict.ALTERNATIVE: Action.ALTERNATIVE,
        }[on_conflict]
    replaces = action is Action.SUPERSEDED and relation is MemoryRelation.CHANGED
    if replaces and on_conflict is OnConflict.ALTERNATIVE:
        return Action.ALTERNATIVE
    return action


# Live memories of the kinds that allow only a few. Those for all agents and those of each agent are
# counted apart, so that no agent uses up the owner's limit.
LiveCounts = dict[tuple[Kind, str | None], int]


def limited_groups(memories: Sequence[Memory]) -> set[tuple[Kind, str | None]]:
    return {(m.kind, m.agent_id) for m in memories if POLICIES[m.kind].max_live is not None}


def check_live_limits(memories: Sequence[Memory], live_counts: LiveCounts) -> None:
    """Some kinds allow only a few live memories."""
    for (kind, agent), live in live_counts.items():
        most = POLICIES[kind].max_live
        wanted = sum((memory.kind, memory.agent_id) == (kind, agent) for memory in memories)
        if most is not None and wanted and live + wanted > most:
            raise LimitReached(
                f"At most {most} {kind} memories are live at a time; there are {live}.",
                remedy=f"Update one of them (which supersedes it), or forget one. ({kind})",
                field="kind",
            )
