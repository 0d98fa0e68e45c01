"""Times of day in words and figures: "quarter past seven", "16 h", «בשבע ורבע», midnight."""

import re
from functools import cache

from commonplace.language.statements.lexicon import data, word_list
from commonplace.language.statements.numbers import number_words
from commonplace.language.statements.token import Kind, Token, join

_FRENCH_HOURS = frozenset(word_list("h heure heures"))
_HOUR_OF = re.compile(r"(?:n:(?=\d+$)|t:(?=\d+:00$))(\d{1,2})(?::00)?")
# Hours are feminine: «בשני» is no time, but "in the second" or "in Shani".
_HEBREW_HOURS = frozenset(word_list("אחת שתיים שלוש ארבע חמש שש שבע שמונה תשע עשר"))
_NOON = 12


@cache
def _words(language: str, column: str) -> dict[str, str]:
    """A row of clock words: "quarter=15 half=30"."""
    entries = data("calendar").get(language, {}).get(column, "").split()
    pairs = (entry.partition("=") for entry in entries)
    return {word_list(word)[0]: value for word, _, value in pairs}


def join_times(tokens: list[Token], language: str) -> list[Token]:
    """Tokens that tell a time of day together become one."""
    if language == "he":
        tokens = [_hebrew_hour(tokens, at) for at in range(len(tokens))]
    named = _words(language, "named_times")
    if not any(t.kind in (Kind.NUMBER, Kind.TIME) or t.word in named for t in tokens):
        return tokens
    joined: list[Token] = []
    at = 0
    while at < len(tokens):
        length, minutes = _time_at(tokens, at, language)
        if length:
            joined.append(_time(tokens[at : at + length], minutes))
        else:
            joined.append(tokens[at])
        at += length or 1
    return _in_the_evening(joined, language)


def _time(tokens: list[Token], minutes: int) -> Token:
    minutes %= 24 * 60
    return join(tokens, Kind.TIME, f"t:{minutes // 60}:{minutes % 60:02}")


def _time_at(tokens: list[Token], at: int, language: str) -> tuple[int, int]:
    """How many tokens from `at` on tell a time, and which minute of the day; 0 for none."""
    token = tokens[at]
    named = _words(language, "named_times").get(token.word) if token.kind is Kind.WORD else None
    if named is not None:
        return 1, int(named) * 60
    after, to = _words(language, "past_hour"), _words(language, "to_hour")
    second, third = (_at(tokens, at + n) for n in (1, 2))
    part = _part(token, language)
    if part is not None and second and third and (hour := _hour(third)) is not None:
        if second.word in after:
            return 3, hour * 60 + part
        if second.word in to:
            return 3, hour * 60 - part
    if token.word in _words(language, "half_to") and second and (hour := _hour(second)) is not None:
        return 2, hour * 60 - 30
    hour = _hour(token)
    if hour is None:
        return 0, 0
    return _from_hour(tokens, at, hour, language)


def _from_hour(tokens: list[Token], at: int, hour: int, language: str) -> tuple[int, int]:
    """ "16 h", "siete y cuarto", "шесть часов", «שבע ורבע»."""
    second, third = (_at(tokens, at + n) for n in (1, 2))
    length = 1
    before = tokens[at - 1].word if at else ""
    at_the_hour = before in _words(language, "at_hour")
    if language == "fr" and second and second.word in _FRENCH_HOURS:
        if not at_the_hour:
            return 0, 0
        length, second, third = 2, third, _at(tokens, at + 3)
    glued = _words(language, "glued_parts").get(second.word) if second else None
    if glued is not None:
        return length + 1, hour * 60 + int(glued)
    joint = second is not None and second.word in _words(language, "and_part")
    if joint and third and (part := _words(language, "parts").get(third.word)) is not None:
        return length + 2, hour * 60 + int(part)
    told = tokens[at].kind is Kind.TIME
    return (length, hour * 60) if length > 1 or (at_the_hour and told) else (0, 0)


def _at(tokens: list[Token], at: int) -> Token | None:
    return tokens[at] if at < len(tokens) else None


def _part(token: Token, language: str) -> int | None:
    word = _words(language, "parts").get(token.word)
    return int(word) if word is not None else _hour(token, most=59)


def _hour(token: Token, most: int = 24) -> int | None:
    match = _HOUR_OF.fullmatch(token.term)
    return int(match[1]) if match and int(match[1]) <= most else None


def _hebrew_hour(tokens: list[Token], at: int) -> Token:
    """«בשבע» is "at seven": the preposition is glued to the number."""
    token = tokens[at]
    if token.kind is not Kind.WORD or token.word[:1] != "ב" or token.word[1:] not in _HEBREW_HOURS:
        return token
    hour = number_words("he")[0].get(token.word[1:])
    following = tokens[at + 1].kind if at + 1 < len(tokens) else Kind.MARK
    if hour is None or not 0 < hour <= _NOON or following is Kind.NUMBER:
        return token
    counts = at + 1 < len(tokens) and tokens[at + 1].word in _words("he", "counted")
    return token if counts else token.but(kind=Kind.TIME, term=f"t:{hour}:00")


def _in_the_evening(tokens: list[Token], language: str) -> list[Token]:
    """ "at four in the afternoon" is 16:00."""
    late = _words(language, "late")
    if not late:
        return tokens
    found = list(tokens)
    for at, token in enumerate(tokens):
        if not token.term.startswith("t:"):
            continue
        near = [t.word for t in tokens[at + 1 : at + 4]]
        hour, _, minute = token.term[2:].partition(":")
        if late.keys() & set(near) and hour.isdigit() and int(hour) < _NOON:
            found[at] = token.but(kind=Kind.TIME, term=f"t:{int(hour) + _NOON}:{minute or '00'}")
    return found
