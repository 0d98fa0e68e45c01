"""Tokens that tell a date together become one: "3 de marzo de 2024", "March 3rd", «ביום שני»."""

from dataclasses import replace
from decimal import Decimal

from commonplace.language.statements.dates import Date, calendar_words
from commonplace.language.statements.lexicon import LANGUAGES, data, exclusive, word_list
from commonplace.language.statements.numbers import quantity_term
from commonplace.language.statements.token import Kind, Token, join

_WORDS_OF_DATES = data("calendar")["words"]
HEBREW_DAY = frozenset(word_list(_WORDS_OF_DATES["hebrew_day"]))
_YEAR_AFTER = frozenset(word_list(_WORDS_OF_DATES["before_year"]))
_OTHER_WORDS = frozenset(word_list(_WORDS_OF_DATES["ambiguous"]))
_ORDINALS = ("st", "nd", "rd", "th", "er", "º", "го")  # "1er mai"
_BEFORE_DATES = _YEAR_AFTER | frozenset(word_list(_WORDS_OF_DATES["before_date"]))


def join_dates(tokens: list[Token], language: str) -> list[Token]:
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
        if joined and joined[-1].word in HEBREW_DAY:
            joined.append(join([joined.pop(), tokens[at]], Kind.DATE, date.term))
            at += 1
            continue
        if date.month:
            at = _take_date(tokens, at, date, joined, language)
        else:
            joined.append(tokens[at].but(kind=Kind.DATE, term=date.term))
            at += 1
    return joined


def _date_word(tokens: list[Token], at: int, months: dict[str, Date], language: str) -> Date | None:
    token = tokens[at]
    if token.kind is not Kind.WORD:
        return None
    word = token.word
    if language == "he":
        if at and tokens[at - 1].word in HEBREW_DAY:
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
    first, year, day, day_first = tokens[at], 0, 0, False
    end = at + 1
    while joined and joined[-1].word in (*_ORDINALS, "de", "of", ".", "ב", "-", "del"):
        if len(joined) < 2 or _small_number(joined[-2]) is None:
            if joined[-1].word not in _ORDINALS:
                break
            if len(joined) < 2:
                break
        joined.pop()
    if joined and (number := _small_number(joined[-1])) is not None and number <= 31:
        day, first, day_first = number, joined.pop(), True
    reach = end
    while reach < len(tokens) and tokens[reach].word in (
        *_ORDINALS,
        *("de", "of", ",", "del", "do", "the"),
    ):
        reach += 1
    if reach < len(tokens) and (number := _small_number(tokens[reach])) is not None:
        if number > 1_900:
            year, end = number, reach + 1
        elif not day and number <= 31:
            day, end = number, reach + 1
            while end < len(tokens) and tokens[end].word in (*_ORDINALS, ","):
                end += 1
            if end < len(tokens) and (_small_number(tokens[end]) or 0) > 1_900:
                year, end = _small_number(tokens[end]) or 0, end + 1
    whole = [*([first] if day_first else []), *tokens[at:end]]
    joined.append(join(whole, Kind.DATE, replace(date, year=year, day=day).term))
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
            return token.but(kind=Kind.DATE, term=Date(year=number).term)
    return token


def _is_season(word: str) -> bool:
    """ "summer 2021": the seasons of all languages."""
    return any(
        member.group == "season"
        for language in LANGUAGES
        if (member := exclusive(language).get(word) or exclusive(language).get(word[1:]))
    )
