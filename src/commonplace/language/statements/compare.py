"""How a new text stands to an old one, by words, values and frames alone."""

from commonplace.language.statements.by_claims import by_claims
from commonplace.language.statements.by_words import by_words, have_little_in_common
from commonplace.language.statements.guard import guard
from commonplace.language.statements.initials import spelt_out
from commonplace.language.statements.ones import counting_one
from commonplace.language.statements.otherwise import said_otherwise
from commonplace.language.statements.parse import Parsed, parse
from commonplace.language.statements.spoken import language_of
from commonplace.language.statements.token import Kind
from commonplace.language.statements.verdict import Comparison, Verdict

__all__ = ["Comparison", "Verdict", "compare"]


def compare(old: str, new: str) -> Comparison:
    """The verdict on two texts, with its reason. Nothing is compared by meaning of whole texts."""
    language = language_of(old, new)
    before, after = parse(old, language), parse(new, language)
    if _reads_alike(before, after):
        return Comparison(Verdict.EQUAL, "the same words", words_alike=1.0)
    if not _has_secret(before) and not _has_secret(after):
        before = parse(spelt_out(old, new), language)
        after = parse(spelt_out(new, old), language)
        if _reads_alike(before, after):
            return Comparison(Verdict.SAME, "the same names, spelt out", words_alike=1.0)
    proven = by_claims(before, after)
    if proven is None and have_little_in_common(before, after):
        return _strangers(before, after)
    before, after = counting_one(before, after)
    found = said_otherwise(before, after, proven or by_words(before, after))
    return guard(before, after, found)


def _reads_alike(before: Parsed, after: Parsed) -> bool:
    return before.folded == after.folded and _exact(before) == _exact(after)


def _has_secret(parsed: Parsed) -> bool:
    return any(claim.frame.secret for claim in parsed.claims)


def _strangers(old: Parsed, new: Parsed) -> Comparison:
    """Texts of other words: where something in them must not differ, it does."""
    told_alike = old.negations == new.negations and old.modes == new.modes
    unlike = old.protected or new.protected or not told_alike
    return Comparison(Verdict.APART if unlike else Verdict.OPEN, "other words")


def _exact(parsed: Parsed) -> list[str]:
    """What folding must not hide: addresses and codes by each sign, secrets by each capital."""
    secrets = [token.text for claim in parsed.claims if claim.frame.secret for token in claim.value]
    return [t.term for t in parsed.content if t.kind is Kind.CODE] + secrets
