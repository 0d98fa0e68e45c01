"""Compares two texts, or two values: a verdict with its reason."""

import re
import unicodedata
from dataclasses import replace

from commonplace.language.compare.by_claims import compare_claims
from commonplace.language.compare.by_words import compare_words, have_little_in_common
from commonplace.language.compare.single_value import single_value_words
from commonplace.language.compare.statement import (
    ALIKE_VERDICTS,
    CompareVerdict,
    Comparison,
    ParsedStatement,
    parse_statement,
)
from commonplace.language.compare.tokens import (
    CompareToken,
    CompareTokenKind,
    tokens_text,
    unmatched_tokens,
)
from commonplace.language.fields.phone_email import is_same_phone
from commonplace.language.text.dates import dates_agree
from commonplace.language.text.detect import statement_language
from commonplace.language.text.normalise import fold
from commonplace.model.unicode_text import normal_form

_INITIALS = re.compile(r"(?<![\w.-])(?:[A-Z]{2,5}|(?:[A-Z]\.){2,5})(?![\w-])")
_HEBREW_INITIALS = re.compile(r"(?<![א-ת])([בלמהוש]?)([א-ת]{1,4})[\"״]([א-ת])(?![א-ת])")
_ACCENTED = re.compile(r"(?<!\w)[A-ZÀ-ÖØ-Þ]\w{0,40}+")
_MAX_STATEMENT_CHARACTERS = 500  # longer text is not a single statement
_WORD_BEFORE = re.compile(r"(\w*)\W*$")


def spell_out_names(text: str, other: str) -> str:
    """The text with names spelled as in the other; initials only after the same word."""
    if len(text) > _MAX_STATEMENT_CHARACTERS or len(other) > _MAX_STATEMENT_CHARACTERS:
        return text
    if _INITIALS.search(text):
        text = _INITIALS.sub(lambda match: _expand_latin(match, other), text)
    if _HEBREW_INITIALS.search(text):
        text = _HEBREW_INITIALS.sub(lambda match: _expand_hebrew(match, other), text)
    if not other.isascii():
        text = _restore_accents(text, other)
    return text


def _restore_accents(text: str, other: str) -> str:
    for name in set(_ACCENTED.findall(other)):
        parts = normal_form(name, "NFD")
        plain = "".join(c for c in parts if not unicodedata.combining(c))
        if plain != name:
            text = re.sub(rf"(?<!\w){re.escape(plain)}(?!\w)", name, text)
    return text


def _expand_latin(match: re.Match[str], other: str) -> str:
    letters = match[0].replace(".", "")
    words = r"[ -]".join(rf"{letter}[^\W\d_]+" for letter in letters)
    found = re.search(rf"\b{words}\b", other)
    if found is None or _word_before(match.string, match.start()) != _word_before(
        other, found.start()
    ):
        return match[0]
    return found[0]


def _expand_hebrew(match: re.Match[str], other: str) -> str:
    """The first letter may be a preposition or one of the initials."""
    prefix, letters = match[1], match[2] + match[3]
    for preposition, initials in ((prefix, letters), ("", prefix + letters)):
        words = r"[ -]".join(rf"{letter}[א-ת\"'״׳]+" for letter in initials)
        found = re.search(rf"(?<![א-ת]){preposition}({words})(?![א-ת])", other)
        if found and _word_before(match.string, match.start()) == _word_before(
            other, found.start()
        ):
            return found[0]
    return match[0]


def _word_before(text: str, at: int) -> str:
    found = _WORD_BEFORE.search(text, 0, at)
    return found[1].casefold() if found else ""


_PHONE = re.compile(r"[+(]?\d[\d\s().+/-]{5,}\d")


def is_same_value(a: object, b: object, *, secret: bool = False) -> bool:
    """Whether two values mean the same; secrets are compared exactly."""
    one, other = _normalised_value(a), _normalised_value(b)
    if one == other:
        return True
    if secret:
        return False
    if _PHONE.fullmatch(one) and _PHONE.fullmatch(other):
        return is_same_phone(one, other)
    one, other = spell_out_names(one, other), spell_out_names(other, one)
    language = statement_language(one, other)
    left, right = parse_statement(one, language), parse_statement(other, language)
    terms, others = left.terms, right.terms
    if not terms or not others:
        return fold(one) == fold(other)
    if left.negations != right.negations or left.modes != right.modes:
        return False
    return len(terms) == len(others) and all(
        x == y
        or (x.startswith("d:") and y.startswith("d:") and dates_agree(x, y) and _is_same_day(x, y))
        for x, y in zip(terms, others, strict=True)
    )


def _is_same_day(one: str, other: str) -> bool:
    """The same day, month and year; a weekday may be missing."""
    return one.split("-")[:3] == other.split("-")[:3]


def _normalised_value(value: object) -> str:
    """The value on one line; digits of all scripts are unified."""
    line = " ".join(str(value).split())
    if line.isascii():
        return line
    return "".join(str(unicodedata.digit(c)) if c.isdecimal() else c for c in line)


_SHARED_LETTERS = 4  # common prefix of singular and plural


def count_articles_as_one(
    old: ParsedStatement, new: ParsedStatement
) -> tuple[ParsedStatement, ParsedStatement]:
    """Both texts; an article counts as "one" if the other text counts the same thing."""
    counts = old.counted, new.counted
    if len(counts[0]) == len(counts[1]):
        return old, new
    if len(counts[0]) > len(counts[1]):
        return old, _with_counted_articles(new, counts[0])
    return _with_counted_articles(old, counts[1]), new


def _with_counted_articles(parsed: ParsedStatement, counted: tuple[str, ...]) -> ParsedStatement:
    ones = single_value_words(parsed.language, "ones")
    found: list[CompareToken] = []
    for at, token in enumerate(parsed.tokens):
        following = parsed.tokens[at + 1].word if at + 1 < len(parsed.tokens) else ""
        if token.word in ones and not token.term and _is_counted(following, counted):
            token = token.but(kind=CompareTokenKind.NUMBER, role="", term="n:1", bare="n:1")
        found.append(token)
    if found == list(parsed.tokens):
        return parsed
    content = tuple(t for t in found if t.term and t.term[0] not in "~¬")
    return replace(parsed, tokens=tuple(found), content=content)


def _is_counted(word: str, counted: tuple[str, ...]) -> bool:
    """The same thing, in the singular or plural."""
    shortest = min(_SHARED_LETTERS, len(word))
    return shortest > 2 and any(other[:shortest] == word[:shortest] for other in counted)


_CONDITION_PREFIXES = ("x:week:", "x:season:")


def check_conditions(old: ParsedStatement, new: ParsedStatement, found: Comparison) -> Comparison:
    """The comparison, or BOTH if owner, dates or conditions differ."""
    if found.verdict not in (CompareVerdict.CHANGED, CompareVerdict.MASKED):
        return found
    if _has_other_owner(old, new):
        return Comparison(CompareVerdict.BOTH, "of him, of her", words_alike=found.words_alike)
    if _has_other_dates(old, new):
        return Comparison(CompareVerdict.BOTH, "of another date", words_alike=found.words_alike)
    if _condition_terms(old) != _condition_terms(new):
        return Comparison(
            CompareVerdict.BOTH, "under another condition", words_alike=found.words_alike
        )
    return found


def _has_other_dates(old: ParsedStatement, new: ParsedStatement) -> bool:
    """Different date and different value: each holds for its date. If only the date differs, it may
    be the value itself."""
    one, other = _date_terms(old), _date_terms(new)
    if not one or not other or not one.isdisjoint(other) or _is_about_a_date(old):
        return False
    rest = [
        frozenset(t.term for t in p.content if t.kind is not CompareTokenKind.DATE)
        for p in (old, new)
    ]
    return rest[0] != rest[1] and bool(rest[0] - rest[1]) and bool(rest[1] - rest[0])


def _is_about_a_date(parsed: ParsedStatement) -> bool:
    return any(claim.frame.dated for claim in parsed.claims)


def _date_terms(parsed: ParsedStatement) -> frozenset[str]:
    return frozenset(t.term for t in parsed.content if t.kind is CompareTokenKind.DATE)


def _has_other_owner(old: ParsedStatement, new: ParsedStatement) -> bool:
    """ "His birthday", "her birthday": without a name the pronoun identifies the person."""
    one, other = _owners(old), _owners(new)
    return bool(one) and bool(other) and one.isdisjoint(other)


def _owners(parsed: ParsedStatement) -> frozenset[str]:
    """Possessive pronouns ("his", "hers") before the first name."""
    first = next(
        (t.start for t in parsed.content if t.kind is CompareTokenKind.NAME), len(parsed.text)
    )
    leading_words = {t.word for t in parsed.tokens if t.start < first}
    columns = ("his", "hers")
    return frozenset(c for c in columns if leading_words & single_value_words(parsed.language, c))


def _condition_terms(parsed: ParsedStatement) -> frozenset[str]:
    """ "on weekdays", "in summer", at any position; «תל אביב» is not spring."""
    return frozenset(
        t.term
        for t in parsed.content
        if t.term.startswith(_CONDITION_PREFIXES)
        and not (parsed.language == "he" and t.term.startswith("x:season:") and t.word[0] != "ב")
    )


# Added to a statement, these do not add detail: they limit or reverse it.
_LIMITING_TERMS = ("x:limit:", "x:company:", "x:amount:", "x:frequency_word:", "x:seniority:")


def check_protected(old: ParsedStatement, new: ParsedStatement, found: Comparison) -> Comparison:
    """The comparison, or a weaker one if a protected token differs."""
    if found.verdict not in ALIKE_VERDICTS:
        return found
    # An addition may give a reason from another time: "because it was too slow".
    before = old.main if found.verdict is CompareVerdict.LESS else (old.negations, old.modes)
    after = new.main if found.verdict is CompareVerdict.MORE else (new.negations, new.modes)
    if before[0] != after[0]:
        return replace(found, verdict=CompareVerdict.BOTH, reason="one of them denies something")
    if before[1] != after[1]:
        return replace(found, verdict=CompareVerdict.BOTH, reason="said of another time")
    lost = unmatched_tokens(old.protected, new.content)
    added = unmatched_tokens(new.protected, old.content)
    if found.verdict is CompareVerdict.MORE:
        added = [token for token in added if token.term.startswith(_LIMITING_TERMS)]
    elif found.verdict is CompareVerdict.LESS:
        lost = [token for token in lost if token.term.startswith(_LIMITING_TERMS)]
    differing = lost or added
    if not differing:
        return found
    # Little in common and a different name: not related.
    verdict = CompareVerdict.BOTH if found.words_alike >= 0.5 else CompareVerdict.APART
    return replace(found, verdict=verdict, reason=f"differs in {tokens_text(differing)}")


__all__ = ["CompareVerdict", "Comparison", "compare"]


def compare(old: str, new: str) -> Comparison:
    """The verdict on two texts, with its reason. No embedding is used."""
    language = statement_language(old, new)
    before, after = parse_statement(old, language), parse_statement(new, language)
    if _has_same_text(before, after):
        return Comparison(CompareVerdict.EQUAL, "the same words", words_alike=1.0)
    if not _has_secret(before) and not _has_secret(after):
        before = parse_statement(spell_out_names(old, new), language)
        after = parse_statement(spell_out_names(new, old), language)
        if _has_same_text(before, after):
            return Comparison(CompareVerdict.SAME, "the same names, spelt out", words_alike=1.0)
    proven = compare_claims(before, after)
    if proven is None and have_little_in_common(before, after):
        return _compare_unrelated(before, after)
    before, after = count_articles_as_one(before, after)
    found = check_conditions(before, after, proven or compare_words(before, after))
    return check_protected(before, after, found)


def _has_same_text(before: ParsedStatement, after: ParsedStatement) -> bool:
    return before.folded == after.folded and _exact_terms(before) == _exact_terms(after)


def _has_secret(parsed: ParsedStatement) -> bool:
    return any(claim.frame.secret for claim in parsed.claims)


def _compare_unrelated(old: ParsedStatement, new: ParsedStatement) -> Comparison:
    """Texts without common words: APART with protected tokens or different modes, else OPEN."""
    same_mode = old.negations == new.negations and old.modes == new.modes
    unlike = old.protected or new.protected or not same_mode
    return Comparison(CompareVerdict.APART if unlike else CompareVerdict.OPEN, "other words")


def _exact_terms(parsed: ParsedStatement) -> list[str]:
    """Terms that must match exactly: addresses and codes by character, secrets by case."""
    secrets = [token.text for claim in parsed.claims if claim.frame.secret for token in claim.value]
    return [t.term for t in parsed.content if t.kind is CompareTokenKind.CODE] + secrets
