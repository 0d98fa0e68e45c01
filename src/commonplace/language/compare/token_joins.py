"""Joins tokens into one: split words, number scales, dates and clock times."""

import re
from dataclasses import replace
from decimal import Decimal
from functools import cache

from commonplace.language.compare.tokens import CompareToken, CompareTokenKind, join_tokens
from commonplace.language.text.dates import PartialDate, calendar_words
from commonplace.language.text.lexicon import (
    LEXICON_LANGUAGES,
    exclusive_words,
    fold_word,
    load_table,
    parse_word_list,
)
from commonplace.language.text.numbers import number_term, number_words, quantity_term

_SCALE_LETTERS = {"k": 1_000, "K": 1_000, "M": 1_000_000, "bn": 1_000_000_000, "B": 1_000_000_000}


@cache
def _joined_words() -> dict[tuple[str, str], str]:
    pairs = (entry.split("-") for entry in load_table("synonyms")["written_apart"].split())
    return {(fold_word(one), fold_word(two)): fold_word(one + two) for one, two in pairs}


def join_split_words(tokens: list[CompareToken]) -> list[CompareToken]:
    """ "Wi-Fi" and "wi fi" are "wifi"."""
    known = _joined_words()
    found: list[CompareToken] = []
    for token in tokens:
        before = found[-2] if len(found) > 1 and found[-1].text in ("-", "\u2010") else None
        is_adjacent = before is not None and before.end + 1 == token.start
        first = before if is_adjacent else (found[-1] if found else None)
        word = known.get((first.word, token.word)) if first is not None else None
        if first is None or word is None:
            found.append(token)
            continue
        del found[-2 if is_adjacent else -1 :]
        whole = join_tokens([first, token], CompareTokenKind.WORD, "")
        found.append(CompareToken(whole.text, word, CompareTokenKind.WORD, whole.start, whole.end))
    return found


@cache
def _hebrew_possessives() -> dict[str, str]:
    pairs = (entry.split("=") for entry in load_table("grammar")["he"]["owned"].split())
    return {fold_word(word): fold_word(thing) for word, thing in pairs}


def split_hebrew_possessives(tokens: list[CompareToken]) -> list[CompareToken]:
    """«בני» is «הבן שלי»."""
    known, found = _hebrew_possessives(), list[CompareToken]()
    for token in tokens:
        thing = known.get(token.word)
        if thing is None and len(token.word) > 4 and token.word[1:] in known:
            thing = token.word[0] + known[token.word[1:]].removeprefix("ה")  # «לאשתי»
        if thing is None:
            found.append(token)
            continue
        last = token.end - 1
        found.append(CompareToken(token.text, thing, CompareTokenKind.WORD, token.start, last))
        found.append(CompareToken("", "שלי", CompareTokenKind.WORD, last, token.end))
    return found


def join_scales(tokens: list[CompareToken], language: str) -> list[CompareToken]:
    """ "2k", "2M" and "2 million" become numbers, before their units are joined."""
    scales = number_words(language)[1]
    found: list[CompareToken] = []
    for token in tokens:
        last = found[-1] if found else None
        scale = None
        if last is not None and last.kind is CompareTokenKind.NUMBER and last.term.startswith("n:"):
            is_adjacent = token.start == last.end
            scale = _SCALE_LETTERS.get(token.text) if is_adjacent else scales.get(token.word)
        if last is None or scale is None or scale < 1_000:
            found.append(token)
            continue
        term = number_term(Decimal(last.term[2:]) * scale)
        found[-1] = join_tokens([last, token], CompareTokenKind.NUMBER, term, term)
    return found


_DATE_WORDS = load_table("calendar")["words"]
HEBREW_DAY_WORDS = frozenset(parse_word_list(_DATE_WORDS["hebrew_day"]))
_YEAR_AFTER = frozenset(parse_word_list(_DATE_WORDS["before_year"]))
_AMBIGUOUS_WORDS = frozenset(parse_word_list(_DATE_WORDS["ambiguous"]))
_ORDINALS = ("st", "nd", "rd", "th", "er", "º", "го")  # "1er mai"
_BEFORE_DATES = _YEAR_AFTER | frozenset(parse_word_list(_DATE_WORDS["before_date"]))


def join_dates(tokens: list[CompareToken], language: str) -> list[CompareToken]:
    """Adjacent day, month, year and weekday become one date."""
    months = calendar_words(language)
    joined: list[CompareToken] = []
    at = 0
    while at < len(tokens):
        date = _date_word(tokens, at, months, language)
        if date is None:
            joined.append(_year_alone(tokens, at))
            at += 1
            continue
        if joined and joined[-1].word in HEBREW_DAY_WORDS:
            joined.append(join_tokens([joined.pop(), tokens[at]], CompareTokenKind.DATE, date.term))
            at += 1
            continue
        if date.month:
            at = _take_date(tokens, at, date, joined, language)
        else:
            joined.append(tokens[at].but(kind=CompareTokenKind.DATE, term=date.term))
            at += 1
    return joined


def _date_word(
    tokens: list[CompareToken], at: int, months: dict[str, PartialDate], language: str
) -> PartialDate | None:
    token = tokens[at]
    if token.kind is not CompareTokenKind.WORD:
        return None
    word = token.word
    if language == "he":
        if at and tokens[at - 1].word in HEBREW_DAY_WORDS:
            day = months.get(word) or months.get("יום-" + word)
            return day if day and day.weekday else None
        bare = word[1:] if word[:1] in "בלמהו" and word[1:] in months else word
        date = months.get(bare)
        return date if date and (not date.weekday or bare == "שבת") else None
    date = months.get(word) or (months.get(word[1:]) if language == "ar" else None)
    if date and word in _AMBIGUOUS_WORDS and not _is_next_to_number(tokens, at):
        before = tokens[at - 1].word if at else ""
        if before not in _BEFORE_DATES:
            return None
    return date


def _is_next_to_number(tokens: list[CompareToken], at: int) -> bool:
    around = tokens[max(0, at - 2) : at] + tokens[at + 1 : at + 2]
    return any(token.kind is CompareTokenKind.NUMBER for token in around)


def _take_date(
    tokens: list[CompareToken],
    at: int,
    date: PartialDate,
    joined: list[CompareToken],
    language: str,
) -> int:
    """Tokens next to the month: "3 de marzo de 2024", "March 3rd, 2024", "3. März"."""
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
    joined.append(join_tokens(whole, CompareTokenKind.DATE, replace(date, year=year, day=day).term))
    return end


def _small_number(token: CompareToken) -> int | None:
    if token.kind is not CompareTokenKind.NUMBER or not token.bare.startswith("n:"):
        return None
    digits = token.bare[2:]
    return int(digits) if digits.isdigit() and len(digits) <= 4 else None


def _year_alone(tokens: list[CompareToken], at: int) -> CompareToken:
    token = tokens[at]
    number = _small_number(token)
    if number and 1_900 <= number <= 2_100 and token.text.isdigit() and at:
        before = tokens[at - 1].word
        before = tokens[at - 2].word if before in "-" and at > 1 else before
        following = tokens[at + 1].word if at + 1 < len(tokens) else ""
        dated = before in _YEAR_AFTER or before in "במ" or _is_season(before)
        if dated and not quantity_term(Decimal(1), following):
            return token.but(kind=CompareTokenKind.DATE, term=PartialDate(year=number).term)
    return token


def _is_season(word: str) -> bool:
    """ "summer 2021": seasons in all languages."""
    return any(
        member.group == "season"
        for language in LEXICON_LANGUAGES
        if (
            member := exclusive_words(language).get(word) or exclusive_words(language).get(word[1:])
        )
    )


_FRENCH_HOURS = frozenset(parse_word_list("h heure heures"))
_HOUR_OF = re.compile(r"(?:n:(?=\d+$)|t:(?=\d+:00$))(\d{1,2})(?::00)?")
# Hours are feminine: «בשני» is not a time, but "in the second" or "in Shani".
_HEBREW_HOURS = frozenset(parse_word_list("אחת שתיים שלוש ארבע חמש שש שבע שמונה תשע עשר"))
_NOON = 12


@cache
def _clock_words(language: str, column: str) -> dict[str, str]:
    """A row of clock words: "quarter=15 half=30"."""
    entries = load_table("calendar").get(language, {}).get(column, "").split()
    pairs = (entry.partition("=") for entry in entries)
    return {parse_word_list(word)[0]: value for word, _, value in pairs}


def join_times(tokens: list[CompareToken], language: str) -> list[CompareToken]:
    """Tokens of a time of day become one."""
    if language == "he":
        tokens = [_hebrew_hour(tokens, at) for at in range(len(tokens))]
    named = _clock_words(language, "named_times")
    if not any(
        t.kind in (CompareTokenKind.NUMBER, CompareTokenKind.TIME) or t.word in named
        for t in tokens
    ):
        return tokens
    joined: list[CompareToken] = []
    at = 0
    while at < len(tokens):
        length, minutes = _time_at(tokens, at, language)
        if length:
            joined.append(_time_token(tokens[at : at + length], minutes))
        else:
            joined.append(tokens[at])
        at += length or 1
    return _to_24_hours(joined, language)


def _time_token(tokens: list[CompareToken], minutes: int) -> CompareToken:
    minutes %= 24 * 60
    return join_tokens(tokens, CompareTokenKind.TIME, f"t:{minutes // 60}:{minutes % 60:02}")


def _time_at(tokens: list[CompareToken], at: int, language: str) -> tuple[int, int]:
    """Number of tokens of a time at `at` (0: none), and its minute of the day."""
    token = tokens[at]
    named = (
        _clock_words(language, "named_times").get(token.word)
        if token.kind is CompareTokenKind.WORD
        else None
    )
    if named is not None:
        return 1, int(named) * 60
    after, to = _clock_words(language, "past_hour"), _clock_words(language, "to_hour")
    second, third = (_token_at(tokens, at + n) for n in (1, 2))
    part = _minutes_of(token, language)
    if part is not None and second and third and (hour := _hour_of(third)) is not None:
        if second.word in after:
            return 3, hour * 60 + part
        if second.word in to:
            return 3, hour * 60 - part
    if (
        token.word in _clock_words(language, "half_to")
        and second
        and (hour := _hour_of(second)) is not None
    ):
        return 2, hour * 60 - 30
    hour = _hour_of(token)
    if hour is None:
        return 0, 0
    return _from_hour(tokens, at, hour, language)


def _from_hour(tokens: list[CompareToken], at: int, hour: int, language: str) -> tuple[int, int]:
    """ "16 h", "siete y cuarto", "шесть часов", «שבע ורבע»."""
    second, third = (_token_at(tokens, at + n) for n in (1, 2))
    length = 1
    before = tokens[at - 1].word if at else ""
    at_the_hour = before in _clock_words(language, "at_hour")
    if language == "fr" and second and second.word in _FRENCH_HOURS:
        if not at_the_hour:
            return 0, 0
        length, second, third = 2, third, _token_at(tokens, at + 3)
    minutes_after = _clock_words(language, "glued_parts").get(second.word) if second else None
    if minutes_after is not None:
        return length + 1, hour * 60 + int(minutes_after)
    joint = second is not None and second.word in _clock_words(language, "and_part")
    if joint and third and (part := _clock_words(language, "parts").get(third.word)) is not None:
        return length + 2, hour * 60 + int(part)
    is_time = tokens[at].kind is CompareTokenKind.TIME
    return (length, hour * 60) if length > 1 or (at_the_hour and is_time) else (0, 0)


def _token_at(tokens: list[CompareToken], at: int) -> CompareToken | None:
    return tokens[at] if at < len(tokens) else None


def _minutes_of(token: CompareToken, language: str) -> int | None:
    word = _clock_words(language, "parts").get(token.word)
    return int(word) if word is not None else _hour_of(token, most=59)


def _hour_of(token: CompareToken, most: int = 24) -> int | None:
    match = _HOUR_OF.fullmatch(token.term)
    return int(match[1]) if match and int(match[1]) <= most else None


def _hebrew_hour(tokens: list[CompareToken], at: int) -> CompareToken:
    """«בשבע» is "at seven": the preposition is a prefix of the number."""
    token = tokens[at]
    if (
        token.kind is not CompareTokenKind.WORD
        or token.word[:1] != "ב"
        or token.word[1:] not in _HEBREW_HOURS
    ):
        return token
    hour = number_words("he")[0].get(token.word[1:])
    following = tokens[at + 1].kind if at + 1 < len(tokens) else CompareTokenKind.MARK
    if hour is None or not 0 < hour <= _NOON or following is CompareTokenKind.NUMBER:
        return token
    counts = at + 1 < len(tokens) and tokens[at + 1].word in _clock_words("he", "counted")
    return token if counts else token.but(kind=CompareTokenKind.TIME, term=f"t:{hour}:00")


def _to_24_hours(tokens: list[CompareToken], language: str) -> list[CompareToken]:
    """ "at four in the afternoon" is 16:00."""
    late = _clock_words(language, "late")
    if not late:
        return tokens
    found = list(tokens)
    for at, token in enumerate(tokens):
        if not token.term.startswith("t:"):
            continue
        following_words = [t.word for t in tokens[at + 1 : at + 4]]
        hour, _, minute = token.term[2:].partition(":")
        if late.keys() & set(following_words) and hour.isdigit() and int(hour) < _NOON:
            found[at] = token.but(
                kind=CompareTokenKind.TIME, term=f"t:{int(hour) + _NOON}:{minute or '00'}"
            )
    return found
