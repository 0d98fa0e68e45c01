"""What looks like a change, but is said of somebody else or under another condition."""

from commonplace.language.statements.parse import Parsed
from commonplace.language.statements.slots import words_of
from commonplace.language.statements.token import Kind
from commonplace.language.statements.verdict import Comparison, Verdict

_CONDITIONS = ("x:week:", "x:season:")


def said_otherwise(old: Parsed, new: Parsed, found: Comparison) -> Comparison:
    """The comparison itself, or that both hold: wherever in the text the condition stands."""
    if found.verdict not in (Verdict.CHANGED, Verdict.MASKED):
        return found
    if _of_others(old, new):
        return Comparison(Verdict.BOTH, "of him, of her", words_alike=found.words_alike)
    if _of_other_days(old, new):
        return Comparison(Verdict.BOTH, "of another date", words_alike=found.words_alike)
    if _conditions(old) != _conditions(new):
        return Comparison(Verdict.BOTH, "under another condition", words_alike=found.words_alike)
    return found


def _of_other_days(old: Parsed, new: Parsed) -> bool:
    """Another date and another value: each is true of its day. Where only the date differs, it may
    be the value itself."""
    one, other = _dates(old), _dates(new)
    if not one or not other or not one.isdisjoint(other) or _is_about_a_date(old):
        return False
    rest = [frozenset(t.term for t in p.content if t.kind is not Kind.DATE) for p in (old, new)]
    return rest[0] != rest[1] and bool(rest[0] - rest[1]) and bool(rest[1] - rest[0])


def _is_about_a_date(parsed: Parsed) -> bool:
    return any(claim.frame.dated for claim in parsed.claims)


def _dates(parsed: Parsed) -> frozenset[str]:
    return frozenset(t.term for t in parsed.content if t.kind is Kind.DATE)


def _of_others(old: Parsed, new: Parsed) -> bool:
    """ "His birthday", "her birthday": where nobody is named, these say whom it is about."""
    one, other = _owners(old), _owners(new)
    return bool(one) and bool(other) and one.isdisjoint(other)


def _owners(parsed: Parsed) -> frozenset[str]:
    """Whether he or she owns what the text begins with."""
    first = next((t.start for t in parsed.content if t.kind is Kind.NAME), len(parsed.text))
    told = {t.word for t in parsed.tokens if t.start < first}
    columns = ("his", "hers")
    return frozenset(c for c in columns if told & words_of(parsed.language, c))


def _conditions(parsed: Parsed) -> frozenset[str]:
    """ "on weekdays", "in summer", before or behind; «תל אביב» is no spring."""
    return frozenset(
        t.term
        for t in parsed.content
        if t.term.startswith(_CONDITIONS)
        and not (parsed.language == "he" and t.term.startswith("x:season:") and t.word[0] != "ב")
    )
