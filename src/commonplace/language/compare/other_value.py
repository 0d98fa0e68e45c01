"""Whether a newer statement gives another value of what an older one is about.

For what is shown, not for what is stored: both stand in the store, and the newer one comes first.
Three kinds of evidence: the plain form of a change is compared with the older text; both have a
value of one type and a subject in common, and the newer one says that something changed; the newer
one takes the older value back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from commonplace.language.compare.compare import CompareVerdict, compare
from commonplace.language.safety.secret_words import REDACTED
from commonplace.language.text.changes import (
    denied_values,
    is_correction_of_a_turn,
    is_unsure,
    read_changes,
    strip_opener,
)
from commonplace.language.text.detect import question_words
from commonplace.language.text.filler import content_terms
from commonplace.language.text.normalise import split_words
from commonplace.language.text.sentences import is_past, split_sentences
from commonplace.language.text.terms import analyse
from commonplace.language.text.typed_values import (
    TypedValue,
    ValueKind,
    differ,
    find_typed_values,
    without_values,
)

_SHORT_FORM = 12  # words of a statement that is compared without a word of change
_ALIKE = 0.99  # of the words around a masked value
_OF_OWNER = re.compile(
    r"^The user\b|\b(?:I|I'm|we|we've|im|i've)\b|תי\b|נו\b|\bאני\b", re.IGNORECASE
)
_CLAUSE = re.compile(r"\b(?:and|but|with|mit|und|con|et|avec)\b|[,;.!]\s|\s[–—-]\s")
_RECURRING = re.compile(r"days\b|\bevery\b|כל |בימי ", re.IGNORECASE)
_FEW_OWN_TERMS = 2  # a correction that names nothing itself has at most this many


@lru_cache(maxsize=16_384)
def gives_other_value(older: str, newer: str) -> bool:
    """Pure; linear in the texts."""
    if older == newer or newer.rstrip().endswith(("?", "？", "؟")):
        return False
    if REDACTED in older or REDACTED in newer:  # which secret it was is not known
        return False
    if not _may_share_subject(older, newer):
        return False
    return (
        _has_other_typed_value(older, newer)
        or _denies_value(older, newer)
        or _is_other_in_plain_form(older, newer)
    )


def _may_share_subject(older: str, newer: str) -> bool:
    """A cheap test before the costly ones: most pairs of turns are about different things. What the
    owner says of himself may share no other word: "I work at Intel", "I'm at Wix now"."""
    if not subject_terms(older).isdisjoint(subject_terms(newer)):
        return True
    return _is_short(older) and (_is_of_owner(newer) or bool(denied_values(newer)))


@lru_cache(maxsize=16_384)
def is_about_change(asked: frozenset[str], older: str, newer: str) -> bool:
    """Whether a question is about what has changed, and not about something else that the older
    text says: "where do I work?", of "I live in Leiden and work at Philips", "I've moved to Delft".
    ``asked``: the terms of the question. A question in other words may be about anything."""
    changed = [clause for clause in _CLAUSE.split(older) if gives_other_value(clause, newer)]
    return not changed or concerns(asked, older, " ".join((*changed, newer)))


def concerns(asked: frozenset[str], text: str, changed: str) -> bool:
    """``changed``: the part of the text that has changed, and what holds now."""
    about = content_terms(changed)
    return not asked.isdisjoint(about) or asked.isdisjoint(content_terms(text) - about)


@lru_cache(maxsize=4_096)
def _is_of_owner(text: str) -> bool:
    return _OF_OWNER.search(text) is not None


def corrects_turn_before(older: str, newer: str) -> bool:
    """Of two turns that follow each other: "the party is on the 12th" / "no wait, it's the 14th".
    A turn with a subject of its own says something else."""
    if not is_correction_of_a_turn(newer) or len(subject_terms(newer)) > _FEW_OWN_TERMS:
        return False
    return any(_typed_changes(older, newer))


# ——— by comparison of statements ———


def _is_other_in_plain_form(older: str, newer: str) -> bool:
    if any(_is_other_statement(older, each.plain) for each in read_changes(newer)):
        return True
    sentences = [strip_opener(each) for each in split_sentences(newer) if not is_unsure(each)]
    has_cue = says_change(newer)
    if not has_cue and not (_is_short(older) and _is_short(newer)):
        return False
    return any(_is_other_statement(older, each) for each in sentences)


def _is_other_statement(older: str, newer: str) -> bool:
    if is_past(older) and not says_change(older):  # what happened stays true
        return False
    found = compare(older, newer)
    if found.verdict is CompareVerdict.CHANGED:
        return True
    return found.verdict is CompareVerdict.MASKED and found.words_alike >= _ALIKE


def _is_short(text: str) -> bool:
    return len(split_words(text)) <= _SHORT_FORM


@lru_cache(maxsize=4_096)
def says_change(text: str) -> bool:
    words = question_words("changed")
    return not words.isdisjoint(split_words(text)) or any(read_changes(text))


# ——— by types of values ———


def _has_other_typed_value(older: str, newer: str) -> bool:
    """ "truck comes tues and fri" / "stan moved me to mon + thurs, new truck route"."""
    if subject_terms(older).isdisjoint(subject_terms(newer)):
        return False
    kinds = set(_typed_changes(older, newer))
    if not kinds or says_change(newer) or denied_values(newer):
        return bool(kinds)
    return _has_same_form(older, newer) and not kinds.isdisjoint(_lasting_kinds(older, newer))


def _has_same_form(older: str, newer: str) -> bool:
    """Two short statements about the same, without a word of change."""
    one, other = subject_terms(older), subject_terms(newer)
    is_short = _is_short(older) and _is_short(newer)
    return is_short and (one <= other or other <= one) and not (is_past(older) or is_past(newer))


def _lasting_kinds(older: str, newer: str) -> set[ValueKind]:
    """The types of which a thing has one value at a time. A day is one only if it recurs: there may
    be a dinner on Tuesday and another on Thursday."""
    every_week = all(_RECURRING.search(text) for text in (older, newer))
    days = {ValueKind.DATE} if every_week else {ValueKind.DATE, ValueKind.WEEKDAY}
    return set(ValueKind) - days


def _typed_changes(older: str, newer: str) -> Iterator[ValueKind]:
    """The types of which the newer text has another value, and not still the older one."""
    before, after = find_typed_values(older), find_typed_values(newer)
    if not before or not after or is_unsure(newer):
        return
    denied = denied_values(newer)
    for kind in {each.kind for each in before}:
        old = [each for each in before if each.kind is kind]
        new = [each for each in after if each.kind is kind]
        kept = [each for each in new if not _is_denied(each, newer, denied)]
        still = {each.value for each in old} & {each.value for each in kept}
        if not still and any(differ(one, other) for one in old for other in kept):
            yield kind


def _is_denied(value: TypedValue, text: str, denied: frozenset[str]) -> bool:
    written = text[value.start : value.end].casefold().strip()
    return any(written in each or each in written for each in denied)


@lru_cache(maxsize=4_096)
def subject_terms(text: str) -> frozenset[str]:
    """The words that a statement is about: no values, no words of change, nothing common."""
    bare = without_values(text, find_typed_values(text))
    return frozenset(term for term in analyse(bare) if len(term) > 1) - _common_terms()


@cache
def _common_terms() -> frozenset[str]:
    words = question_words("changed") | question_words("common")
    return frozenset(term for word in words for term in analyse(word))


# ——— by denial ———


def _denies_value(older: str, newer: str) -> bool:
    """ "its bioengineering now not mechanical": takes back a word of the older statement."""
    denied = denied_values(newer)
    if not denied or not says_change(newer) or is_unsure(newer):
        return False
    taken_back = {term for each in denied for term in analyse(each)} - _common_terms()
    is_denied_already = not denied_values(older).isdisjoint(denied)
    if not taken_back & subject_terms(older) or is_denied_already:
        return False
    return bool((subject_terms(older) & subject_terms(newer)) - taken_back) or _says_instead(newer)


def _says_instead(newer: str) -> bool:
    """ "now not X", "instead": short forms that name nothing but the two values."""
    return len(subject_terms(newer)) <= _FEW_OWN_TERMS + 1
