"""How a new memory relates to one that is there. Pure: similarities are handed in.

Where a model is blind (a changed name, swapped roles, most scripts), words and frames decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from commonplace.language.contacts import same_email, same_phone
from commonplace.language.identity import STATEMENT_CHARACTERS, subject_key
from commonplace.language.normalise import fold
from commonplace.language.secrets import is_secret
from commonplace.language.statements.compare import Comparison, Verdict, compare
from commonplace.language.statements.keys import subject_terms
from commonplace.language.statements.values import same_value
from commonplace.model.delta import shorten
from commonplace.model.kinds import Kind
from commonplace.model.memory import Memory
from commonplace.model.relations import Relation
from commonplace.remember.draft import CONTACT_FIELDS, ENGINES_OWN
from commonplace.remember.replace import is_told_by_fields

SAME = 0.95  # rewording, whatever was left out
SAME_IN_FULL = 0.88  # rewording with no detail lost; changed with the values masked
SAME_SUBJECT = 0.85
NEAR = 0.80
WORDS_SAME = 0.85  # share of words in common, where values are masked or similarity is unknown

_TOLD_OF_A_VALUE = 80  # characters

FIELDS = CONTACT_FIELDS
WORDED = ("name", "role", "description")  # of these, one can say more than another


@dataclass(frozen=True, slots=True)
class Related:
    relation: Relation
    reason: str = ""
    certain: bool = True  # fields or a frame say so, not only that the texts are alike


NEW = Related(Relation.NEW)


def compared(new: Memory, old: Memory) -> Comparison | None:
    """Their statements side by side; None for kinds that say it with fields."""
    if new.kind in (Kind.KV, Kind.CONTACT):
        return None
    # Long texts say many things: they are equal, or for similarity to judge.
    if max(len(new.content), len(old.content)) <= STATEMENT_CHARACTERS:
        return compare(old.content, new.content)
    equal = fold(new.content) == fold(old.content)
    return Comparison(Verdict.EQUAL if equal else Verdict.APART, "")


def texts_to_liken(
    new: Memory, old: Memory, comparison: Comparison | None
) -> tuple[str, str] | None:
    """The two texts whose similarity `relate` will want to know besides that of the whole."""
    if new.kind is Kind.KV:
        ours, theirs = _subject(new), _subject(old)
        return (ours, theirs) if _one_within(ours, theirs) else None
    if comparison is None or comparison.verdict is not Verdict.MASKED:
        return None
    return None if comparison.words_alike >= WORDS_SAME else comparison.masked


def relate(
    new: Memory,
    old: Memory,
    similarity: float | None,
    likened: float | None = None,
    comparison: Comparison | None = None,
) -> Related:
    """``likened`` is the similarity of `texts_to_liken`; None means unknown."""
    if new.kind is Kind.KV:
        return _relate_values(new, old, similarity, likened)
    if new.kind is Kind.CONTACT:
        return _relate_contacts(new, old, similarity)
    known = comparison or compared(new, old)
    return _relate_statements(known, similarity, likened) if known else NEW


# ——— statements ———


def _relate_statements(
    comparison: Comparison, similarity: float | None, likened: float | None
) -> Related:
    known = similarity or 0.0
    reason = comparison.reason
    match comparison.verdict:
        case Verdict.EQUAL:
            return Related(Relation.REPEAT, reason)
        case Verdict.SAME | Verdict.MORE:
            return Related(Relation.REWORDING, reason)
        case Verdict.CHANGED:
            return Related(Relation.CHANGED, reason)
        case Verdict.MASKED if (
            comparison.words_alike >= WORDS_SAME or (likened or 0.0) >= SAME_IN_FULL
        ):
            return Related(Relation.CHANGED, reason, certain=False)
        case Verdict.LESS if known >= SAME:
            return Related(Relation.REWORDING, reason, certain=False)
        case Verdict.OPEN if known >= SAME_IN_FULL:
            return Related(Relation.REWORDING, reason, certain=False)
        case Verdict.BOTH:
            return Related(Relation.NEAR, reason)
        case Verdict.APART:
            return _by_similarity(similarity, 0.0, reason)
        case _:
            return _by_similarity(similarity, comparison.words_alike, reason)


def _by_similarity(similarity: float | None, words_alike: float, reason: str) -> Related:
    near = words_alike >= WORDS_SAME if similarity is None else similarity >= NEAR
    return Related(Relation.NEAR, reason) if near else NEW


# ——— values of a subject ———


def _subject(memory: Memory) -> str:
    return str(memory.metadata.get("subject", ""))


def _one_within(ours: str, theirs: str) -> bool:
    a, b = set(subject_terms(ours)), set(subject_terms(theirs))
    return bool(a and b) and (a < b or b < a)


def _relate_values(
    new: Memory, old: Memory, similarity: float | None, likened: float | None
) -> Related:
    ours, theirs = _subject(new), _subject(old)
    same_subject = subject_key(ours) == subject_key(theirs)
    if not same_subject and not _one_within(ours, theirs):
        return _by_similarity(similarity, 0.0, "")
    if not same_subject and (likened or 0.0) < SAME_SUBJECT:
        return Related(Relation.NEAR)
    said, stands = new.metadata.get("value"), old.metadata.get("value")
    if same_value(stands, said, secret=is_secret(ours)):
        if differing := _other_particulars(new, old, ("subject", "value")):
            return Related(Relation.CHANGED, differing)
        repeated = same_subject and (is_told_by_fields(new) or covers(old, new))
        return Related(Relation.REPEAT if repeated else Relation.REWORDING)
    return Related(Relation.CHANGED, _from_to(theirs, stands, said))


def _from_to(name: str, before: object, after: object) -> str:
    """Short: it stands in answers and beside both texts."""
    return f"{_brief(name)}: {_brief(before)} → {_brief(after)}"


def _brief(value: object) -> str:
    return shorten(str(value), _TOLD_OF_A_VALUE)


def _other_particulars(new: Memory, old: Memory, known: Sequence[str]) -> str:
    """Further particulars that both have, with another value; the engine's own names aside."""
    return ", ".join(
        _from_to(name, old.metadata[name], value)
        for name, value in new.metadata.items()
        if name not in (*known, *ENGINES_OWN)
        and old.metadata.get(name) not in (None, "")
        and not same_value(old.metadata[name], value)
    )


# ——— people and businesses ———


def _relate_contacts(new: Memory, old: Memory, similarity: float | None) -> Related:
    if not _same_contact(new, old, similarity):
        return _by_similarity(similarity, 0.0, "")
    ours, theirs = fields_of(new), fields_of(old)
    differing = [n for n in FIELDS if n in ours and n in theirs and _differ(n, theirs[n], ours[n])]
    told = [_from_to(name, theirs[name], ours[name]) for name in differing]
    told += [more] if (more := _other_particulars(new, old, FIELDS)) else []
    if told:
        return Related(Relation.CHANGED, ", ".join(told))
    fuller = [n for n in ours if n not in theirs or _is_fuller(n, theirs[n], ours[n])]
    if fuller or not (is_told_by_fields(new) or covers(old, new)):
        return Related(Relation.REWORDING, ", ".join(fuller))
    return Related(Relation.REPEAT)


def fields_of(contact: Memory) -> dict[str, str]:
    return {name: str(contact.metadata[name]) for name in FIELDS if contact.metadata.get(name)}


def _same_contact(new: Memory, old: Memory, similarity: float | None) -> bool:
    ours, theirs = fields_of(new), fields_of(old)
    if fold(ours.get("name", "")) == fold(theirs.get("name", "")):
        return True
    for name, same in (("phone", same_phone), ("email", same_email)):
        if name in ours and name in theirs and same(ours[name], theirs[name]):
            return True
    overlap = set(_name_words(ours)) & set(_name_words(theirs))
    return bool(overlap) and (similarity or 0.0) >= SAME_SUBJECT


def _name_words(fields: dict[str, str]) -> list[str]:
    return fold(fields.get("name", "")).split()


def _differ(name: str, before: str, after: str) -> bool:
    match name:
        case "phone":
            return not same_phone(before, after)
        case "email":
            return not same_email(before, after)
        case "name":  # a fuller name is the same name
            a, b = set(fold(before).split()), set(fold(after).split())
            return not (a <= b or b <= a)
        case _:
            agree = (Verdict.EQUAL, Verdict.SAME, Verdict.MORE, Verdict.LESS)
            return compare(before, after).verdict not in agree


def _is_fuller(name: str, before: str, after: str) -> bool:
    """More words. A number or an address written at greater length says no more."""
    worded = name in WORDED and fold(after) not in fold(before)
    return worded and len(after) > len(before)


def covers(old: Memory, new: Memory) -> bool:
    """Does the old one say every word of the new one already?"""
    said = set(fold(old.searchable_text).split())
    return set(fold(new.content).split()) <= said
