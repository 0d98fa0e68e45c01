"""Two texts compared by what they claim."""

import re
from collections.abc import Sequence
from dataclasses import replace

from commonplace.language.statements.claims import Claim
from commonplace.language.statements.frames import nouns, wordings
from commonplace.language.statements.parse import Parsed
from commonplace.language.statements.terms import HEBREW_PREFIXES, missing, told
from commonplace.language.statements.token import Kind, Token
from commonplace.language.statements.verdict import Comparison, Verdict

_CONDITIONS = ("x:season:", "x:daytime:")
_VOWELS = re.compile("[аеёиоуыэюя]")
_GLUED = frozenset("בب")  # "in", written together with the next word


def by_claims(old: Parsed, new: Parsed) -> Comparison | None:
    """What the claims of two texts prove; None where they prove nothing."""
    pairs = _pairs(old, new)
    if not pairs:
        return _other_subject(old, new)
    verdicts = [_of_pair(before, after) for before, after in pairs]
    for wanted in (Verdict.CHANGED, Verdict.BOTH):
        for found in verdicts:
            if found is not None and found.verdict is wanted:
                return found
    if any(found is None for found in verdicts):
        return None
    return _with_rest(old, new, [found.verdict for found in verdicts if found])


def _pairs(old: Parsed, new: Parsed) -> list[tuple[Claim, Claim]]:
    """Claims about the same subject in the same frame."""
    found = []
    for before in old.claims:
        for after in new.claims:
            if before.about != after.about:
                continue
            if before.subject == after.subject:
                found.append((before, after))
            elif before.frame.symmetric and before.subject <= _terms(after.value):
                found.append((before, _turned(before, after)))
    return found


def _terms(tokens: Sequence[Token]) -> frozenset[str]:
    return frozenset(token.term for token in tokens if token.term)


def _turned(before: Claim, after: Claim) -> Claim:
    """A symmetric claim seen from its other end."""
    ends = set(map(_consonants, after.subject))
    other_end = [token for token in before.value if _consonants(token.term) in ends]
    value = tuple(other_end) or tuple(
        Token(term, term, Kind.NAME, 0, 0, term=term) for term in sorted(after.subject)
    )
    return replace(after, subject=before.subject, value=value)


def _consonants(term: str) -> str:
    """A name without its vowels, of which Russian cases drop some: «Павел», «за Павлом»."""
    return _VOWELS.sub("", term) or term


def _other_subject(old: Parsed, new: Parsed) -> Comparison | None:
    for before in old.claims:
        for after in new.claims:
            if before.about != after.about:
                continue
            if before.subject == _terms(after.value) and after.subject == _terms(before.value):
                return Comparison(Verdict.BOTH, f"{before.frame.says}: the two are swapped")
            if before.frame.roles and _terms(before.value) == _terms(after.value):
                return None  # "Dana is the head of sales": another post of the same person
            if before.subject - after.subject and after.subject - before.subject:
                one, other = " ".join(sorted(before.subject)), " ".join(sorted(after.subject))
                return Comparison(Verdict.APART, f"{before.frame.says}: {one} is not {other}")
    return None


def _of_pair(before: Claim, after: Claim) -> Comparison | None:
    says = before.frame.says
    relation = values(before, after)
    same = relation in (Verdict.SAME, Verdict.MORE, Verdict.LESS)
    if before.mode != after.mode or (before.mode and not same):
        return Comparison(Verdict.BOTH, f"{says}: said of another time")
    if before.negated != after.negated:
        if same:
            return Comparison(Verdict.CHANGED, f"{says} {told(before.value)}: negated")
        return Comparison(Verdict.BOTH, f"{says}: one affirmed, another denied")
    if same:
        return Comparison(relation, f"{says}: the same")
    if before.frame.many or before.negated:
        return Comparison(Verdict.BOTH, f"{says}: several can hold")
    if relation is Verdict.OPEN:
        return None
    if relation is Verdict.BOTH:
        return Comparison(Verdict.BOTH, f"{says}: at other times or under another condition")
    return Comparison(Verdict.CHANGED, f"{says}: {told(before.value)} → {told(after.value)}")


def values(before: Claim, after: Claim) -> Verdict:
    """SAME, MORE, LESS, CHANGED, BOTH (other times), or OPEN (only details differ)."""
    if before.frame.secret:
        return Verdict.SAME if _raw(before.value) == _raw(after.value) else Verdict.CHANGED
    old_value, old_dates = _without_dates(before)
    new_value, new_dates = _without_dates(after)
    lost, added = missing(old_value, new_value), missing(new_value, old_value)
    lost, added = [t for t in lost if t.term], [t for t in added if t.term]
    conditions = _condition(lost, old_value), _condition(added, new_value)
    if not lost and not added and missing(_head(old_value), _head(new_value)):
        return Verdict.CHANGED  # "tea to coffee", "coffee to tea"
    if not lost and not added:
        return Verdict.BOTH if missing(old_dates, new_dates) and new_dates else Verdict.SAME
    if not lost and not _modified(old_value, new_value) and not conditions[1]:
        return Verdict.MORE
    if not added and not _modified(new_value, old_value) and not conditions[0]:
        return Verdict.LESS
    if any(conditions) or _other_times(old_dates, new_dates):
        return Verdict.BOTH
    old_head, new_head = _head(old_value), _head(new_value)
    if not missing(old_head, new_head) and not missing(new_head, old_head):
        return Verdict.OPEN
    if _named(old_head) != _named(new_head):
        return Verdict.OPEN
    return Verdict.CHANGED


def _other_times(old: Sequence[Token], new: Sequence[Token]) -> bool:
    """Both dated, otherwise; or one of them for a day of the week only."""
    lost, added = missing(old, new), missing(new, old)
    weekly = any(t.term.startswith("d:0-0-0-") for t in (*lost, *added))
    return weekly or bool(lost and added)


def _named(head: Sequence[Token]) -> bool:
    """Whether it names something: "her boss is Noa" and "her boss is strict" are no change."""
    return any(
        token.kind in (Kind.NAME, Kind.TIME)
        or (token.is_value and any(map(str.isdigit, token.text)))
        for token in head
    )


def _raw(value: Sequence[Token]) -> str:
    return " ".join(token.text.strip(".,;!\"'") for token in value)


def _without_dates(claim: Claim) -> tuple[list[Token], list[Token]]:
    """The value and the dates beside it; a date that is the value itself stays."""
    dates = [t for t in claim.value if t.kind is Kind.DATE]
    rest = [t for t in claim.value if t.kind is not Kind.DATE]
    if claim.frame.dated or not any(t.term for t in rest):
        return list(claim.value), []
    return rest, dates


def _condition(differing: Sequence[Token], value: Sequence[Token]) -> bool:
    """ "on weekdays", "in summer", "when it rains": it holds then, and another one at other times.

    A night curator works by day as well: only what a preposition opens is a condition.
    """
    timed = any(token.kind is Kind.TIME for token in value)  # "at three in the morning"
    for at, token in enumerate(value):
        if token not in differing or (timed and token.term.startswith("x:daytime:")):
            continue
        opened = (at > 0 and value[at - 1].role == "prep") or token.word[:1] in _GLUED
        if token.role == "if" or token.term.startswith("x:week:"):
            return True
        if opened and token.term.startswith(_CONDITIONS):
            return True
    return False


def _head(value: Sequence[Token]) -> list[Token]:
    """The value without its details: up to the first preposition, comma or condition."""
    head: list[Token] = []
    for token in value:
        if token.role in ("prep", "if") and not token.term:
            if head:
                break
        elif token.term:
            head.append(token)
    return head


def _modified(shorter: Sequence[Token], longer: Sequence[Token]) -> bool:
    """ "New York" is not more of York, nor a senior engineer more of an engineer."""
    extra = missing(longer, shorter)
    if any(t.term.startswith("x:seniority:") for t in extra):
        return True
    head = _head(longer)
    first = head[0] if head else None
    if first is None or first not in extra or first.kind is not Kind.NAME:
        return False
    return len(head) > 1 and head[1].kind is Kind.NAME and head[1] not in extra


def _with_rest(old: Parsed, new: Parsed, verdicts: list[Verdict]) -> Comparison | None:
    """All claims agree: what is beside them decides."""
    lost, added = missing(_rest(old), _rest(new)), missing(_rest(new), _rest(old))
    more = Verdict.MORE in verdicts or bool(added) or len(new.claims) > len(old.claims)
    less = Verdict.LESS in verdicts or bool(lost) or len(new.claims) < len(old.claims)
    if more and less:
        return None
    if more:
        return Comparison(Verdict.MORE, "says it with more detail", words_alike=1.0)
    if less:
        return Comparison(Verdict.LESS, "says it with less detail", words_alike=1.0)
    return Comparison(Verdict.SAME, "says the same", words_alike=1.0)


def _rest(parsed: Parsed) -> list[Token]:
    used = set[str]()
    for claim in parsed.claims:
        used |= claim.subject | _terms(claim.value) | claim.words
    framed = wordings(parsed.language), nouns(parsed.language)
    return [
        token
        for token in parsed.content
        if token.term not in used
        and token.word not in used
        and not (token.term[0] in HEBREW_PREFIXES and token.term[1:] in used)
        and not any(token.word in words for words in framed)
    ]
