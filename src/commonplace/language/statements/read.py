"""A text as tokens with values and roles: numbers, units and dates joined, small words known."""

import re
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache

from commonplace.language.analyse import term_of
from commonplace.language.detect import Script, script
from commonplace.language.statements.dates import Date, calendar_words, numeric_date
from commonplace.language.statements.lexicon import (
    LANGUAGES,
    LATIN,
    Member,
    data,
    evidence,
    exclusive,
    phrases,
    roles,
    synonyms,
    word_list,
)
from commonplace.language.statements.numbers import (
    number_in_words,
    number_of,
    number_term,
    ordinal,
    quantity_term,
)
from commonplace.language.statements.scan import quoted_spans, scan
from commonplace.language.statements.token import Kind, Token

# Text beyond this says nothing more about whether two statements are the same.
LOOKED_AT = 4_000
_HEARD = 1_000  # characters that tell the language

_SCRIPTS = {Script.HEBREW: "he", Script.ARABIC: "ar", Script.CYRILLIC: "ru"}
_WORDS = re.compile(r"[^\W\d_]+")
_TIME = re.compile(r"(\d{1,2})(?:[:h](\d{2}))? ?(?:([ap])\.?m\b\.?)?", re.IGNORECASE)
_SILENT = frozenset(word_list("article copula of aux filler prep by and clause have pron poss"))
_WORDS_OF_DATES = data("calendar")["words"]
_HEBREW_DAY = frozenset(word_list(_WORDS_OF_DATES["hebrew_day"]))
_YEAR_AFTER = frozenset(word_list(_WORDS_OF_DATES["before_year"]))
_OTHER_WORDS = frozenset(word_list(_WORDS_OF_DATES["ambiguous"]))
_BEFORE_DATES = _YEAR_AFTER | frozenset(word_list(_WORDS_OF_DATES["before_date"]))
_CLOCK = frozenset(word_list(_WORDS_OF_DATES["clock"]))
_THAN = frozenset(word_list("than que de als di do dan чем من"))
_SENTENCE_ENDS = frozenset(".!?:\n")


def language_of(*texts: str) -> str:
    """The language of one text, or the common one of several."""
    return languages_of(*texts)[0]


def languages_of(*texts: str) -> tuple[str, ...]:
    """The languages that most words speak for: more than one where a short text leaves it open."""
    counts = dict.fromkeys(LATIN, 0)
    for text in texts:
        written_in, found = _spoken_for(text[:_HEARD])
        if written_in:
            return (written_in,)
        for language, count in found:
            counts[language] += count
    most = max(counts.values())
    return tuple(language for language in LATIN if counts[language] == most)


@lru_cache(maxsize=4_096)
def _spoken_for(text: str) -> tuple[str | None, tuple[tuple[str, int], ...]]:
    """The language that a script stands for, or how many words speak for which language."""
    written_in = _SCRIPTS.get(script(text))
    if written_in:
        return written_in, ()
    known = evidence()
    heard = Counter(
        language for word in _WORDS.findall(text.casefold()) for language in known.get(word, ())
    )
    return None, tuple(heard.items())


def read(text: str, language: str) -> tuple[Token, ...]:
    """The tokens of a text with what they say and do."""
    text = text[:LOOKED_AT]
    found = scan(text, elides=language in ("fr", "it"))
    found = _join_numbers(found, language)
    found = _join_dates(found, language)
    found = _join_units(found, language)
    found = _no_more(_join_phrases(found, language), language)
    return tuple(_with_terms(text, found, language))


def _join(tokens: list[Token], kind: Kind, term: str, bare: str = "") -> Token:
    first, last = tokens[0], tokens[-1]
    text = " ".join(token.text for token in tokens)
    word = " ".join(token.word for token in tokens)
    return Token(text, word, kind, first.start, last.end, term=term, bare=bare)


def _join_numbers(tokens: list[Token], language: str) -> list[Token]:
    """Numbers in digits and in words get the same term."""
    words = [token.word for token in tokens]
    joined: list[Token] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        spoken = number_in_words(words, at, language) if token.kind is Kind.WORD else None
        if spoken and not _is_weekday(tokens, at):
            value, end = spoken
            term = number_term(Decimal(value))
            joined.append(_join(tokens[at:end], Kind.NUMBER, term, term))
            at = end
            continue
        if token.kind is Kind.NUMBER:
            number = number_of(token.text, language)
            term = number_term(number) if number is not None else "c:" + token.text
            token = replace(token, term=term, bare=term)
        elif token.kind is Kind.TIME:
            token = replace(token, term=_time_term(token.text))
        elif token.kind is Kind.DATE:
            date = numeric_date(token.text)
            token = replace(token, term=date.term if date else "c:" + token.text)
        joined.append(token)
        at += 1
    return joined


def _is_weekday(tokens: list[Token], at: int) -> bool:
    """«יום שני» is Monday, not two days."""
    return at > 0 and tokens[at - 1].word in _HEBREW_DAY


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


def _join_units(tokens: list[Token], language: str) -> list[Token]:
    """A number and its unit or currency are one quantity."""
    joined: list[Token] = []
    for token in tokens:
        last = joined[-1] if joined else None
        if last is not None and last.kind is Kind.NUMBER and last.term == last.bare:
            value = Decimal(last.term[2:]) if last.term.startswith("n:") else None
            if token.word in _CLOCK and value is not None and value == int(value):
                joined[-1] = _join([last, token], Kind.TIME, f"t:{int(value)}:00")
                continue
            glued = token.start == last.end
            term = quantity_term(value, token.word) if value is not None else None
            if term and (token.word not in ("k", "bn") or glued):
                joined[-1] = _join([last, token], Kind.NUMBER, term, last.bare)
                continue
            if glued and ordinal_ending(token.word):
                joined[-1] = _join([last, token], Kind.NUMBER, last.term, last.bare)
                continue
        if (
            last is not None
            and last.kind is Kind.MARK
            and last.text in "$€£₪"
            and token.kind is Kind.NUMBER
            and token.term == token.bare
            and token.term.startswith("n:")
        ):
            term = quantity_term(Decimal(token.term[2:]), last.text)
            joined[-1] = _join([last, token], Kind.NUMBER, term or token.term, token.bare)
            continue
        joined.append(token)
    return joined


def ordinal_ending(word: str) -> bool:
    """3rd, 3º, 3ème: the ending changes nothing."""
    return word in ("st", "nd", "rd", "th", "º", "ª", "e", "er", "ème", "го", "й")


def _join_dates(tokens: list[Token], language: str) -> list[Token]:
    """Day, month, year and weekday that stand together are one date."""
    months = calendar_words(language)
    joined: list[Token] = []
    at = 0
    while at < len(tokens):
        date = _date_word(tokens, at, months, language)
        if date is None:
            joined.append(_year_alone(tokens, at))
            at += 1
            continue
        if joined and joined[-1].word in _HEBREW_DAY:
            joined.pop()
        if date.month:
            at = _take_date(tokens, at, date, joined, language)
        else:
            joined.append(replace(tokens[at], kind=Kind.DATE, term=date.term))
            at += 1
    return joined


def _date_word(tokens: list[Token], at: int, months: dict[str, Date], language: str) -> Date | None:
    token = tokens[at]
    if token.kind is not Kind.WORD:
        return None
    word = token.word
    if language == "he":
        if at and tokens[at - 1].word in _HEBREW_DAY:
            day = months.get(word) or months.get("יום-" + word)
            return day if day and day.weekday else None
        bare = word[1:] if word[:1] in "בלמהו" and word[1:] in months else word
        date = months.get(bare)
        return date if date and (not date.weekday or bare == "שבת") else None
    date = months.get(word) or (months.get(word[1:]) if language == "ar" else None)
    if date and word in _OTHER_WORDS and not _beside_number(tokens, at):
        before = tokens[at - 1].word if at else ""
        if before not in _BEFORE_DATES:
            return None
    return date


def _beside_number(tokens: list[Token], at: int) -> bool:
    around = tokens[max(0, at - 2) : at] + tokens[at + 1 : at + 2]
    return any(token.kind is Kind.NUMBER for token in around)


def _take_date(tokens: list[Token], at: int, date: Date, joined: list[Token], language: str) -> int:
    """The month's neighbours: "3 de marzo de 2024", "March 3rd, 2024", "3. März"."""
    first, year, day = tokens[at], 0, 0
    end = at + 1
    while joined and joined[-1].word in ("de", "of", "st", "nd", "rd", "th", ".", "ב", "-", "del"):
        if len(joined) < 2 or _small_number(joined[-2]) is None:
            if joined[-1].word not in ("st", "nd", "rd", "th"):
                break
            if len(joined) < 2:
                break
        joined.pop()
    if joined and (number := _small_number(joined[-1])) is not None and number <= 31:
        day, first = number, joined.pop()
    reach = end
    while reach < len(tokens) and tokens[reach].word in (
        *("de", "of", ",", "del", "st", "nd", "rd", "th", "do", "the"),
    ):
        reach += 1
    if reach < len(tokens) and (number := _small_number(tokens[reach])) is not None:
        if number > 1_900:
            year, end = number, reach + 1
        elif not day and number <= 31:
            day, end = number, reach + 1
            while end < len(tokens) and tokens[end].word in ("st", "nd", "rd", "th", ","):
                end += 1
            if end < len(tokens) and (_small_number(tokens[end]) or 0) > 1_900:
                year, end = _small_number(tokens[end]) or 0, end + 1
    whole = [first, *tokens[at:end]]
    joined.append(_join(whole, Kind.DATE, replace(date, year=year, day=day).term))
    return end


def _small_number(token: Token) -> int | None:
    if token.kind is not Kind.NUMBER or not token.bare.startswith("n:"):
        return None
    digits = token.bare[2:]
    return int(digits) if digits.isdigit() and len(digits) <= 4 else None


def _year_alone(tokens: list[Token], at: int) -> Token:
    token = tokens[at]
    number = _small_number(token)
    if number and 1_900 <= number <= 2_100 and token.text.isdigit() and at:
        before = tokens[at - 1].word
        before = tokens[at - 2].word if before in "-" and at > 1 else before
        following = tokens[at + 1].word if at + 1 < len(tokens) else ""
        dated = before in _YEAR_AFTER or before in "במ" or _is_season(before)
        if dated and not quantity_term(Decimal(1), following):
            return replace(token, kind=Kind.DATE, term=Date(year=number).term)
    return token


def _is_season(word: str) -> bool:
    """ "summer 2021": the seasons of all languages."""
    return any(
        member.group == "season"
        for language in LANGUAGES
        if (member := exclusive(language).get(word) or exclusive(language).get(word[1:]))
    )


def _join_phrases(tokens: list[Token], language: str) -> list[Token]:
    """Several words that do one thing become one token with its role."""
    known, single = phrases(language), roles(language)
    joined: list[Token] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        for parts, role in known.get(token.word, ()) if token.kind is Kind.WORD else ():
            end = at + len(parts)
            if end <= len(tokens) and all(
                tokens[at + n].word == part for n, part in enumerate(parts)
            ):
                joined.append(replace(_join(tokens[at:end], Kind.WORD, ""), role=role))
                at = end
                break
        else:
            if token.kind in (Kind.WORD, Kind.MARK):
                role = single.get(token.word, "")
                if token.word == "'s":
                    role = _of_s(joined)
                if role:
                    token = replace(token, role=role)
            joined.append(token)
            at += 1
    return joined


def _no_more(tokens: list[Token], language: str) -> list[Token]:
    """Beside a negation "plus", "più", "יותר" say "no longer", unless they compare."""
    if not any(token.role == "not" for token in tokens):
        return tokens
    more = Member("amount", "more")
    known = exclusive(language)
    return [
        replace(token, role="not")
        if token.kind is Kind.WORD and known.get(token.word) == more and not _compares(tokens, at)
        else token
        for at, token in enumerate(tokens)
    ]


def _compares(tokens: list[Token], at: int) -> bool:
    """ "more than 5", "plus de 5"."""
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    return following is not None and (
        following.is_value or following.word in _THAN or following.word[:1] == "מ"
    )


def _of_s(before: list[Token]) -> str:
    """ "she's tall" is a verb, "Dana's car" is not."""
    return "copula" if before and before[-1].role in ("pron", "clause", "article") else "poss"


def _with_terms(text: str, tokens: list[Token], language: str) -> list[Token]:
    """What each token is compared by."""
    quoted = quoted_spans(text) if any(c in text for c in '"“«„') else []
    has_case = language not in ("he", "ar")
    first = True
    found: list[Token] = []
    for at, token in enumerate(tokens):
        if token.kind is Kind.MARK:
            first = first or token.text in _SENTENCE_ENDS
            found.append(_mark(token))
            continue
        if token.kind is Kind.WORD:
            ends = at + 1 == len(tokens) or tokens[at + 1].kind is Kind.MARK
            inside = any(start <= token.start < end for start, end in quoted)
            token = _word_term(token, language, has_case, first, ends)
            if inside and token.kind is Kind.WORD:
                token = replace(token, kind=Kind.NAME, term=token.term or token.word)
        found.append(token)
        first = False
    return found


def _mark(token: Token) -> Token:
    """An emoji or a sign means something, a comma does not."""
    meaning = token.text if ord(token.text[0]) > 0x2190 or token.text in "#+<>%&@*" else ""
    return replace(token, term=meaning)


def _word_term(token: Token, language: str, has_case: bool, first: bool, ends: bool) -> Token:
    word, role = token.word, token.role
    if role in ("my", "me"):
        return replace(token, term="@me")
    if role == "not":
        return replace(token, term="¬")
    if role in ("past", "future", "maybe"):
        return replace(token, term=f"~{role}")
    member = exclusive(language).get(word) or exclusive(language).get(_bare(word, language))
    if member and (word != "on" or ends) and not (role in _SILENT and word != "on"):
        return replace(token, term=f"x:{member.group}:{member.name}")
    if member and role in ("filler", "prep") and member.group in ("order", "amount"):
        return replace(token, term=f"x:{member.group}:{member.name}")
    if role in _SILENT:
        return token
    number = ordinal(word, language)
    if number is None and language == "he" and word[:1] == "ה":
        number = ordinal(word[1:], language)
    if number is not None:
        return replace(token, kind=Kind.NUMBER, term=f"n:{number}", bare=f"n:{number}")
    is_name = has_case and token.text[:1].isupper() and not (first and _is_known(word, language))
    kind = Kind.NAME if is_name else Kind.WORD
    return replace(token, kind=kind, term=stem_of(word, language, is_name))


def _is_known(word: str, language: str) -> bool:
    return word in roles(language) or language in evidence().get(word, ())


@lru_cache(maxsize=32_768)
def stem_of(word: str, language: str, is_name: bool = False) -> str:
    """What a word is compared by: its stem, or that of the first of its synonyms."""
    word = synonyms(language).get(word, word)
    if language == "ar":
        return _bare(word, language)
    if language == "ru" and is_name:
        return _RUSSIAN_CASE.sub("", _RUSSIAN_CASE.sub("", word))
    stemmed = term_of(word, language)
    return word if stemmed is None else stemmed


# Names are declined like nouns; the stemmer also takes off what only other words end in.
_RUSSIAN_CASE = re.compile("(?<=...)(?:ами|ями|[оеё]м|[оея]й|[аеоя]ю|[ая][мх]|[аяоеуюыиьй])$")
_ARABIC_PREFIX = re.compile("^(?:و|ف)?(?:ب|ل|ك)?(?:ال|لل)?(?=.{3})")


def _bare(word: str, language: str) -> str:
    """A word without the prefixes glued to it."""
    if language == "ar":
        return _ARABIC_PREFIX.sub("", word)
    if language == "he" and len(word) > 3 and word[0] in "הבלמשו":
        return word[1:]
    return word
