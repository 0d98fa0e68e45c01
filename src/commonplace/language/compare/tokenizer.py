"""Tokenizes a statement: joins values, finds roles of function words, sets comparison terms."""

import re
from decimal import Decimal
from functools import lru_cache

from commonplace.language.compare.token_joins import (
    HEBREW_DAY_WORDS,
    join_dates,
    join_scales,
    join_split_words,
    join_times,
    split_hebrew_possessives,
)
from commonplace.language.compare.tokens import (
    OWNER_TERM,
    CompareToken,
    CompareTokenKind,
    is_name_word,
    join_tokens,
    quoted_spans,
    scan_tokens,
    title_term,
)
from commonplace.language.text.dates import parse_numeric_date
from commonplace.language.text.lexicon import (
    ExclusiveWord,
    exclusive_words,
    language_evidence,
    load_table,
    parse_word_list,
    phrase_roles,
    synonyms,
    word_roles,
)
from commonplace.language.text.numbers import (
    is_ambiguous_number,
    number_term,
    parse_number,
    parse_number_words,
    parse_ordinal,
    quantity_term,
)
from commonplace.language.text.terms import term_of

# Longer text is cut: the rest does not affect whether two statements are the same.
MAX_CHARACTERS = 4_000

_TIME = re.compile(r"(\d{1,2})(?:[:h](\d{2}))? ?(?:([ap])\.?m\b\.?)?", re.IGNORECASE)
_SILENT_ROLES = frozenset(
    parse_word_list("article copula called of aux filler prep by and clause have pron poss")
)
_CLOCK = frozenset(parse_word_list(load_table("calendar")["words"]["clock"]))
_THAN = frozenset(parse_word_list("than que de als di do dan чем من"))
_ABBREVIATIONS = frozenset(
    parse_word_list("mr mrs ms dr prof st jr sr sra srta mme mlle hr fr nr no approx г ул")
)
_VERSION = re.compile(r"\d+\.\d+")
_SENTENCE_ENDS = frozenset(".!?:\n")


def tokenize(text: str, language: str) -> tuple[CompareToken, ...]:
    """Tokens of a text with their roles and terms."""
    text = text[:MAX_CHARACTERS]
    found = scan_tokens(text, elides=language in ("fr", "it"))
    found = join_split_words(_without_abbreviations(found))
    found = split_hebrew_possessives(found) if language == "he" else found
    found = join_scales(_join_numbers(found, language), language)
    found = join_times(join_dates(found, language), language)
    found = _join_units(found, language)
    found = _mark_no_longer(_join_phrases(found, language), language)
    found = _mark_versions(_mark_letters(found))
    return tuple(_with_terms(text, found, language))


def _without_abbreviations(tokens: list[CompareToken]) -> list[CompareToken]:
    """ "Mr. Weiss" is not the end of a sentence."""
    return [
        token
        for at, token in enumerate(tokens)
        if token.text != "."
        or not at
        or not _is_abbreviation(tokens[at - 1])
        or at + 1 == len(tokens)
    ]


def _is_abbreviation(token: CompareToken) -> bool:
    return token.word in _ABBREVIATIONS or (len(token.text) == 1 and token.text.isupper())


def _join_numbers(tokens: list[CompareToken], language: str) -> list[CompareToken]:
    """Numbers in digits and in words get equal terms."""
    words = [token.word for token in tokens]
    joined: list[CompareToken] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        number_in_words = (
            parse_number_words(words, at, language) if token.kind is CompareTokenKind.WORD else None
        )
        if number_in_words and not _is_weekday(tokens, at) and not _is_hebrew_second(tokens, at):
            value, end = number_in_words
            term = number_term(Decimal(value))
            joined.append(join_tokens(tokens[at:end], CompareTokenKind.NUMBER, term, term))
            at = end
            continue
        if token.kind is CompareTokenKind.NUMBER:
            number = parse_number(token.text, language)
            exact = number is None or is_ambiguous_number(token.text, language)
            term = number_term(number) if number is not None and not exact else "c:" + token.text
            token = token.but(term=term, bare=term)
        elif token.kind is CompareTokenKind.TIME:
            token = token.but(term=_time_term(token.text))
        elif token.kind is CompareTokenKind.DATE:
            date = parse_numeric_date(token.text)
            token = token.but(term=date.term if date else "c:" + token.text)
        joined.append(token)
        at += 1
    return joined


def _is_hebrew_second(tokens: list[CompareToken], at: int) -> bool:
    """«שני» before a plural is "two"; else it is Monday, "second", or a name."""
    following = tokens[at + 1].word if at + 1 < len(tokens) else ""
    return tokens[at].word == "שני" and not following.endswith(("ים", "ות", "יי"))


def _is_weekday(tokens: list[CompareToken], at: int) -> bool:
    """«יום שני» is Monday, not two days."""
    return at > 0 and tokens[at - 1].word in HEBREW_DAY_WORDS


def _time_term(text: str) -> str:
    match = _TIME.fullmatch(text)
    if match is None:
        return "c:" + text
    hour, minute, half = int(match[1]), int(match[2] or 0), (match[3] or "").lower()
    if half == "p" and hour < 12:
        hour += 12
    elif half == "a" and hour == 12:
        hour = 0
    return f"t:{hour}:{minute:02}"


def _join_units(tokens: list[CompareToken], language: str) -> list[CompareToken]:
    """A number and its unit or currency become one quantity."""
    joined: list[CompareToken] = []
    for token in tokens:
        last = joined[-1] if joined else None
        if last is not None and last.kind is CompareTokenKind.NUMBER and last.term == last.bare:
            value = Decimal(last.term[2:]) if last.term.startswith("n:") else None
            if token.word in _CLOCK and value is not None and value == int(value):
                joined[-1] = join_tokens([last, token], CompareTokenKind.TIME, f"t:{int(value)}:00")
                continue
            is_adjacent = token.start == last.end
            term = quantity_term(value, token.word) if value is not None else None
            if term and (token.word not in ("k", "bn") or is_adjacent):
                joined[-1] = join_tokens([last, token], CompareTokenKind.NUMBER, term, last.bare)
                continue
            if is_adjacent and is_ordinal_ending(token.word):
                joined[-1] = join_tokens(
                    [last, token], CompareTokenKind.NUMBER, last.term, last.bare
                )
                continue
            if is_adjacent and token.kind is CompareTokenKind.WORD:
                code = f"c:{last.word}{token.word}"  # "12A" is not twelve
                joined[-1] = join_tokens([last, token], CompareTokenKind.CODE, code)
                continue
        if (
            last is not None
            and last.kind is CompareTokenKind.MARK
            and last.text in "$€£₪"
            and token.kind is CompareTokenKind.NUMBER
            and token.term == token.bare
            and token.term.startswith("n:")
        ):
            term = quantity_term(Decimal(token.term[2:]), last.text)
            joined[-1] = join_tokens(
                [last, token], CompareTokenKind.NUMBER, term or token.term, token.bare
            )
            continue
        joined.append(token)
    return joined


def is_ordinal_ending(word: str) -> bool:
    """3rd, 3º, 3ème: the ending is ignored."""
    return word in ("st", "nd", "rd", "th", "º", "ª", "e", "er", "ème", "го", "й")


def _join_phrases(tokens: list[CompareToken], language: str) -> list[CompareToken]:
    """Multi-word expressions become one token with their role."""
    known, single = phrase_roles(language), word_roles(language)
    joined: list[CompareToken] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        for parts, role in known.get(token.word, ()) if token.kind is CompareTokenKind.WORD else ():
            end = at + len(parts)
            if end <= len(tokens) and all(
                tokens[at + n].word == part for n, part in enumerate(parts)
            ):
                joined.append(join_tokens(tokens[at:end], CompareTokenKind.WORD, "").but(role=role))
                at = end
                break
        else:
            if token.kind in (CompareTokenKind.WORD, CompareTokenKind.MARK):
                role = single.get(token.word, "") if not _is_hyphen(tokens, at) else ""
                if token.word == "'s":
                    role = _role_of_s(joined)
                if is_name_word(tokens, at, language):
                    token, role = token.but(kind=CompareTokenKind.NAME, term=token.word), ""
                if role:
                    token = token.but(role=role)
            joined.append(token)
            at += 1
    return joined


def _is_hyphen(tokens: list[CompareToken], at: int) -> bool:
    """ "по-английски": a dash without spaces is not a copula."""
    if tokens[at].text not in ("-", "–") or not 0 < at < len(tokens) - 1:
        return False
    return tokens[at - 1].end == tokens[at].start and tokens[at].end == tokens[at + 1].start


def _mark_letters(tokens: list[CompareToken]) -> list[CompareToken]:
    """ "Plan A", "option a": a letter that names something is not an article."""
    found = list(tokens)
    for at, token in enumerate(tokens):
        if len(token.text) != 1:
            continue
        following = tokens[at + 1] if at + 1 < len(tokens) else None
        if token.text in "בלמ" and following is not None and following.text in "-־":
            found[at] = token.but(role="prep")  # «ב-7:15»
        if token.role != "article":
            continue
        ends = (
            following is None
            or following.kind is CompareTokenKind.MARK
            or following.role == "copula"
        )
        capital = token.text.isupper() and at and tokens[at - 1].text not in _SENTENCE_ENDS
        if at and (ends or capital):
            found[at] = token.but(kind=CompareTokenKind.NAME, role="letter")
    return found


def _mark_versions(tokens: list[CompareToken]) -> list[CompareToken]:
    """After a name or noun, 2.1 and 2.10 are different versions; as quantities they are equal."""
    if not any(token.kind is CompareTokenKind.NUMBER for token in tokens):
        return tokens
    return [
        token.but(kind=CompareTokenKind.CODE, term=f"c:{token.text}", bare="")
        if token.kind is CompareTokenKind.NUMBER
        and token.term == token.bare
        and _VERSION.fullmatch(token.text)
        and at
        and tokens[at - 1].kind in (CompareTokenKind.WORD, CompareTokenKind.NAME)
        and not tokens[at - 1].role
        else token
        for at, token in enumerate(tokens)
    ]


def _mark_no_longer(tokens: list[CompareToken], language: str) -> list[CompareToken]:
    """With a negation "plus", "più", "יותר" mean "no longer", unless they compare."""
    if not any(token.role == "not" for token in tokens):
        return tokens
    more = ExclusiveWord("amount", "more")
    known = exclusive_words(language)
    return [
        token.but(role="not")
        if token.kind is CompareTokenKind.WORD
        and known.get(token.word) == more
        and not _compares(tokens, at)
        else token
        for at, token in enumerate(tokens)
    ]


def _compares(tokens: list[CompareToken], at: int) -> bool:
    """ "more than 5", "plus de 5"."""
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    return following is not None and (
        following.is_value or following.word in _THAN or following.word[:1] == "מ"
    )


def _role_of_s(before: list[CompareToken]) -> str:
    """ "she's tall" has a verb, "Dana's car" does not."""
    return "copula" if before and before[-1].role in ("pron", "clause", "article") else "poss"


def _with_terms(text: str, tokens: list[CompareToken], language: str) -> list[CompareToken]:
    """Set the term that each token is compared by."""
    quoted = quoted_spans(text) if any(c in text for c in '"“«„') else []
    has_case = language not in ("he", "ar")
    first = True
    found: list[CompareToken] = []
    for at, token in enumerate(tokens):
        if token.kind is CompareTokenKind.MARK:
            first = first or token.text in _SENTENCE_ENDS
            found.append(_mark_term(token))
            continue
        if token.kind is CompareTokenKind.WORD or token.role == "letter":
            ends = at + 1 == len(tokens) or tokens[at + 1].kind is CompareTokenKind.MARK
            inside = any(start <= token.start < end for start, end in quoted)
            token = _word_term(token, language, has_case, first, ends)
            if title := title_term(tokens, at, language):
                token = token.but(kind=CompareTokenKind.WORD, term=title)
            elif at and has_case and title_term(tokens, at - 1, language):
                token = token.but(kind=CompareTokenKind.NAME)  # "Dr. Sommer" is not a season
                token = token.but(term=token.word) if token.term.startswith("x:") else token
            if inside and token.kind is CompareTokenKind.WORD:
                token = token.but(kind=CompareTokenKind.NAME, term=token.term or token.word)
        found.append(token)
        first = False
    return found


def _mark_term(token: CompareToken) -> CompareToken:
    """An emoji or a symbol has a meaning, a comma has not."""
    meaning = token.text if ord(token.text[0]) > 0x2190 or token.text in "#+<>%&@*" else ""
    return token.but(term=meaning)


def _word_term(
    token: CompareToken, language: str, has_case: bool, first: bool, ends: bool
) -> CompareToken:
    word, role = token.word, token.role
    if role == "letter":
        return token.but(term=word)
    if role in ("my", "me"):
        return token.but(term=OWNER_TERM)
    if role == "not":
        return token.but(term="¬")
    if role in ("past", "future", "maybe"):
        return token.but(term=f"~{role}")
    member = exclusive_words(language).get(word) or exclusive_words(language).get(
        _strip_prefixes(word, language)
    )
    if member and (word != "on" or ends) and not (role in _SILENT_ROLES and word != "on"):
        return token.but(term=f"x:{member.group}:{member.name}")
    if member and role in ("filler", "prep") and member.group in ("order", "amount"):
        return token.but(term=f"x:{member.group}:{member.name}")
    if role in _SILENT_ROLES:
        return token
    number = parse_ordinal(word, language)
    if number is None and language == "he" and word[:1] == "ה":
        number = parse_ordinal(word[1:], language)
    if number is not None:
        return token.but(kind=CompareTokenKind.NUMBER, term=f"n:{number}", bare=f"n:{number}")
    is_name = has_case and token.text[:1].isupper() and not (first and _is_known(word, language))
    kind = CompareTokenKind.NAME if is_name else CompareTokenKind.WORD
    return token.but(kind=kind, term=stem_of(word, language, is_name))


def _is_known(word: str, language: str) -> bool:
    return word in word_roles(language) or language in language_evidence().get(word, ())


@lru_cache(maxsize=32_768)
def stem_of(word: str, language: str, is_name: bool = False) -> str:
    """The comparison term of a word: its stem, or that of its first synonym."""
    word = synonyms(language).get(word, word)
    if not word:  # only of marks that folding removes
        return word
    if language == "ar":
        return _strip_prefixes(word, language)
    if language == "ru" and is_name:
        return _RUSSIAN_CASE.sub("", _RUSSIAN_CASE.sub("", word))
    if language == "de" and is_name and len(word) > 3:
        word = word.removesuffix("s")  # "Danas Chef", "der Chef von Dana"
    stemmed = term_of(word, language)
    return word if stemmed is None else stemmed


# Names are declined like nouns; the stemmer would also remove endings of other words.
_RUSSIAN_CASE = re.compile("(?<=...)(?:ами|ями|[оеё]м|[оея]й|[аеоя]ю|[ая][мх]|[аяоеуюыиьй])$")
_ARABIC_PREFIX = re.compile("^(?:و|ف)?(?:ب|ل|ك)?(?:ال|لل)?(?=.{3})")


def _strip_prefixes(word: str, language: str) -> str:
    if language == "ar":
        return _ARABIC_PREFIX.sub("", word)
    if language == "he" and len(word) > 3 and word[0] in "הבלמשו":
        return word[1:]
    return word
