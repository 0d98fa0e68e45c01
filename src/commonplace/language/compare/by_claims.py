"""Compares two statements by their claims."""

import re
from collections.abc import Sequence
from dataclasses import replace

from commonplace.language.compare.claims import StatementClaim
from commonplace.language.compare.frames import load_nouns, load_wordings
from commonplace.language.compare.statement import CompareVerdict, Comparison, ParsedStatement
from commonplace.language.compare.tokens import (
    HEBREW_PREFIXES,
    OWNER_TERM,
    CompareToken,
    CompareTokenKind,
    tokens_text,
    unmatched_tokens,
)

_CONDITIONS = ("x:season:", "x:daytime:")
_VOWELS = re.compile("[аеёиоуыэюя]")
_PREFIX_LETTERS = frozenset("בب")  # "in", as a prefix letter


def compare_claims(old: ParsedStatement, new: ParsedStatement) -> Comparison | None:
    """The verdict that the claims of two texts prove; None if they prove nothing."""
    pairs = _comparable_claims(old, new)
    if not pairs:
        return _compare_other_subject(old, new)
    verdicts = [_compare_pair(before, after) for before, after in pairs]
    for wanted in (CompareVerdict.CHANGED, CompareVerdict.BOTH):
        for found in verdicts:
            if found is not None and found.verdict is wanted:
                return found
    if any(found is None for found in verdicts):
        return None
    return _compare_rest(old, new, [found.verdict for found in verdicts if found])


def _comparable_claims(
    old: ParsedStatement, new: ParsedStatement
) -> list[tuple[StatementClaim, StatementClaim]]:
    """Pairs of claims with the same subject and frame."""
    found = []
    for before in old.claims:
        for after in new.claims:
            if before.about != after.about:
                continue
            if before.subject == after.subject:
                found.append((before, after))
            elif before.frame.symmetric and before.subject <= _terms(after.value):
                found.append((before, _from_other_end(before, after)))
    return found


def _terms(tokens: Sequence[CompareToken]) -> frozenset[str]:
    return frozenset(token.term for token in tokens if token.term)


def _from_other_end(before: StatementClaim, after: StatementClaim) -> StatementClaim:
    """A symmetric claim with its ends swapped."""
    ends = set(map(_consonants, after.subject))
    other_end = [token for token in before.value if _consonants(token.term) in ends]
    value = tuple(other_end) or tuple(
        CompareToken(term, term, CompareTokenKind.NAME, 0, 0, term=term)
        for term in sorted(after.subject)
    )
    return replace(after, subject=before.subject, value=value)


def _consonants(term: str) -> str:
    """A name without its vowels: Russian cases drop some («Павел», «за Павлом»)."""
    return _VOWELS.sub("", term) or term


def _compare_other_subject(old: ParsedStatement, new: ParsedStatement) -> Comparison | None:
    for before in old.claims:
        for after in new.claims:
            if before.about != after.about:
                continue
            if before.subject == _terms(after.value) and after.subject == _terms(before.value):
                return Comparison(CompareVerdict.BOTH, f"{before.frame.says}: the two are swapped")
            if before.frame.roles and _terms(before.value) == _terms(after.value):
                return None  # "Dana is the head of sales": another post of the same person
            if _are_apart(before.subject, after.subject):
                one, other = " ".join(sorted(before.subject)), " ".join(sorted(after.subject))
                return Comparison(
                    CompareVerdict.APART, f"{before.frame.says}: {one} is not {other}"
                )
    return None


def _are_apart(one: frozenset[str], other: frozenset[str]) -> bool:
    """Neither is the other with more words: "Tom" may be "Tom Levi". But "the user's sister" is not
    the user."""
    if one == other:
        return False
    return not (one <= other or other <= one) or min(one, other, key=len) == {OWNER_TERM}


def _compare_pair(before: StatementClaim, after: StatementClaim) -> Comparison | None:
    says = before.frame.says
    relation = compare_claim_values(before, after)
    same = relation in (CompareVerdict.SAME, CompareVerdict.MORE, CompareVerdict.LESS)
    if before.mode != after.mode or (before.mode and not same):
        return Comparison(CompareVerdict.BOTH, f"{says}: said of another time")
    if before.negated != after.negated:
        if same:
            return Comparison(
                CompareVerdict.CHANGED, f"{says} {tokens_text(before.value)}: negated"
            )
        return Comparison(CompareVerdict.BOTH, f"{says}: one affirmed, another denied")
    if same:
        return Comparison(relation, f"{says}: the same")
    if before.frame.many or before.negated:
        return Comparison(CompareVerdict.BOTH, f"{says}: several can hold")
    if relation is CompareVerdict.OPEN:
        return None
    if relation is CompareVerdict.BOTH:
        return Comparison(CompareVerdict.BOTH, f"{says}: at other times or under another condition")
    return Comparison(
        CompareVerdict.CHANGED, f"{says}: {tokens_text(before.value)} → {tokens_text(after.value)}"
    )


def compare_claim_values(before: StatementClaim, after: StatementClaim) -> CompareVerdict:
    """SAME, MORE, LESS, CHANGED, BOTH (different times), or OPEN (only details differ)."""
    if before.frame.secret:
        return (
            CompareVerdict.SAME
            if _exact_text(before.value) == _exact_text(after.value)
            else CompareVerdict.CHANGED
        )
    old_value, old_dates = _without_dates(before)
    new_value, new_dates = _without_dates(after)
    lost, added = unmatched_tokens(old_value, new_value), unmatched_tokens(new_value, old_value)
    lost, added = [t for t in lost if t.term], [t for t in added if t.term]
    conditions = _has_condition(lost, old_value), _has_condition(added, new_value)
    if (
        not lost
        and not added
        and unmatched_tokens(_head_tokens(old_value), _head_tokens(new_value))
    ):
        return CompareVerdict.CHANGED  # "tea to coffee", "coffee to tea"
    if not lost and not added:
        return (
            CompareVerdict.BOTH
            if unmatched_tokens(old_dates, new_dates) and new_dates
            else CompareVerdict.SAME
        )
    if not lost and not _is_modified_name(old_value, new_value) and not conditions[1]:
        return CompareVerdict.MORE
    if not added and not _is_modified_name(new_value, old_value) and not conditions[0]:
        return CompareVerdict.LESS
    if any(conditions) or _differs_in_time(old_dates, new_dates):
        return CompareVerdict.BOTH
    old_head, new_head = _head_tokens(old_value), _head_tokens(new_value)
    if not unmatched_tokens(old_head, new_head) and not unmatched_tokens(new_head, old_head):
        return CompareVerdict.OPEN
    if _names_something(old_head) != _names_something(new_head):
        return CompareVerdict.OPEN
    return CompareVerdict.CHANGED


def _differs_in_time(old: Sequence[CompareToken], new: Sequence[CompareToken]) -> bool:
    """Both have dates, and they differ; or one has an unmatched weekday."""
    lost, added = unmatched_tokens(old, new), unmatched_tokens(new, old)
    weekly = any(t.term.startswith("d:0-0-0-") for t in (*lost, *added))
    return weekly or bool(lost and added)


def _names_something(head: Sequence[CompareToken]) -> bool:
    """Whether the value has a name, time or number: "her boss is Noa" and "her boss is strict" do
    not conflict."""
    return any(
        token.kind in (CompareTokenKind.NAME, CompareTokenKind.TIME)
        or (token.is_value and any(map(str.isdigit, token.text)))
        for token in head
    )


def _exact_text(value: Sequence[CompareToken]) -> str:
    return " ".join(token.text.strip(".,;!\"'") for token in value)


def _without_dates(claim: StatementClaim) -> tuple[list[CompareToken], list[CompareToken]]:
    """The value, and its dates; a date that is itself the value stays in it."""
    dates = [t for t in claim.value if t.kind is CompareTokenKind.DATE]
    rest = [t for t in claim.value if t.kind is not CompareTokenKind.DATE]
    if claim.frame.dated or not any(t.term for t in rest):
        return list(claim.value), []
    return rest, dates


def _has_condition(differing: Sequence[CompareToken], value: Sequence[CompareToken]) -> bool:
    """ "on weekdays", "in summer", "when it rains": the value holds under a condition.

    A condition needs a preposition: a night curator may also work by day.
    """
    timed = any(token.kind is CompareTokenKind.TIME for token in value)  # "at three in the morning"
    for at, token in enumerate(value):
        if token not in differing or (timed and token.term.startswith("x:daytime:")):
            continue
        opened = (at > 0 and value[at - 1].role == "prep") or token.word[:1] in _PREFIX_LETTERS
        if token.role == "if" or token.term.startswith("x:week:"):
            return True
        if opened and token.term.startswith(_CONDITIONS):
            return True
    return False


def _head_tokens(value: Sequence[CompareToken]) -> list[CompareToken]:
    """The value without its details: up to the first preposition, comma or condition."""
    head: list[CompareToken] = []
    for token in value:
        if token.role in ("prep", "if") and not token.term:
            if head:
                break
        elif token.term:
            head.append(token)
    return head


def _is_modified_name(shorter: Sequence[CompareToken], longer: Sequence[CompareToken]) -> bool:
    """ "New York" does not refine York, nor "senior engineer" an engineer."""
    extra = unmatched_tokens(longer, shorter)
    if any(t.term.startswith("x:seniority:") for t in extra):
        return True
    head = _head_tokens(longer)
    first = head[0] if head else None
    if first is None or first not in extra or first.kind is not CompareTokenKind.NAME:
        return False
    return len(head) > 1 and head[1].kind is CompareTokenKind.NAME and head[1] not in extra


def _compare_rest(
    old: ParsedStatement, new: ParsedStatement, verdicts: list[CompareVerdict]
) -> Comparison | None:
    """The verdict by the tokens outside the claims, if all claims agree."""
    lost, added = (
        unmatched_tokens(_tokens_beyond_claims(old), _tokens_beyond_claims(new)),
        unmatched_tokens(_tokens_beyond_claims(new), _tokens_beyond_claims(old)),
    )
    more = CompareVerdict.MORE in verdicts or bool(added) or len(new.claims) > len(old.claims)
    less = CompareVerdict.LESS in verdicts or bool(lost) or len(new.claims) < len(old.claims)
    if more and less:
        return None
    if more:
        return Comparison(CompareVerdict.MORE, "says it with more detail", words_alike=1.0)
    if less:
        return Comparison(CompareVerdict.LESS, "says it with less detail", words_alike=1.0)
    return Comparison(CompareVerdict.SAME, "says the same", words_alike=1.0)


def _tokens_beyond_claims(parsed: ParsedStatement) -> list[CompareToken]:
    used = set[str]()
    for claim in parsed.claims:
        used |= claim.subject | _terms(claim.value) | claim.words
    framed = load_wordings(parsed.language), load_nouns(parsed.language)
    return [
        token
        for token in parsed.content
        if token.term not in used
        and token.word not in used
        and not (token.term[0] in HEBREW_PREFIXES and token.term[1:] in used)
        and not any(token.word in words for words in framed)
    ]
