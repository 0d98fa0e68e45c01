"""Secrets in a text: keys, logins, cards and numbers that let others act in one's name.

Some are known by their looks, some only by the words before them. The patterns are in secrets.toml.
Codes that people tell an assistant so that it can tell them again (the wifi password, the code of a
gate) are no secrets here; nor are numbers of orders, flights, books and phones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from commonplace.language.text.lexicon import load_patterns

REDACTED = "[secret]"  # in place of a secret

_DATA = load_patterns("safety/secrets")
_NEAR = 40  # characters before a number in which its word stands
_AFTER = 24  # characters after it

_CARD = re.compile(r"(?<![\d.-])[2-6]\d{3}(?:[ -]?\d){8,15}(?![\d.]\d|\d)")
_SSN = re.compile(r"(?<![\d-])(?!000|666|9\d\d)\d{3}([- ]?)(?!00)\d\d\1(?!0000)\d{4}(?![\d-]\d|\d)")
_NINO = re.compile(
    r"(?<!\w)(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]( ?)"
    r"\d\d\1\d\d\1\d\d\1[A-D](?!\w)",
    re.IGNORECASE,
)
_IBAN = re.compile(r"(?<!\w)(?!RF)[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)")
_NINE_DIGITS = re.compile(r"(?<![\d-])\d{8,9}(?![\d-]|\.\d)")
_PASSPORT = re.compile(r"(?<!\w)(?=\w*\d{4})[A-Z]{0,2}\d{6,9}(?!\w)", re.IGNORECASE)
_SHORT_CODE = re.compile(r"(?<![\d.,:/-])\d{3,4}(?![\d/:%]|[.,]\d)")
_PIN_CODE = re.compile(r"(?<![\d.,:/-])\d{4,6}(?![\d/:%]|[.,]\d)")
_ONE_TIME_CODE = re.compile(
    r"(?<![\w.,:/-])(?:\d{4,8}|\d{3}[ -]\d{3}|(?=\w*\d)[A-Z0-9]{6,8})(?![\w/:%])"
)
_VALUE = re.compile(r"[\"'“”`«]([^\"'“”`«»\n]{3,80})[\"'“”`»]|(\S{3,120})")
_END_OF_SENTENCE = re.compile(r"\s*(?:[.!?,;)]*\s*$|[.!?,;)]+\s|\n)")
_CLOSING = ".,;:!?)]}\"'”’»"


@dataclass(frozen=True, slots=True)
class SecretSpan:
    start: int
    end: int


def find_secrets(text: str) -> list[SecretSpan]:
    """The places of all secrets, in order, without overlaps."""
    spans = sorted(_all_spans(text), key=lambda span: (span.start, -span.end))
    kept: list[SecretSpan] = []
    for span in spans:
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
        elif span.end > kept[-1].end:
            kept[-1] = SecretSpan(kept[-1].start, span.end)
    return kept


def redact_secrets(text: str) -> str:
    """The text with a mark in place of each secret."""
    parts, end = [], 0
    for span in find_secrets(text):
        parts += [text[end : span.start], REDACTED]
        end = span.end
    return "".join((*parts, text[end:]))


def secret_values(text: str) -> list[str]:
    return [text[span.start : span.end] for span in find_secrets(text)]


def _all_spans(text: str) -> Iterator[SecretSpan]:
    if len(text) < 4:
        return
    for pattern in _KEYS:
        for match in pattern.finditer(text):
            yield _span(match)
    for match in _NAMED_KEY.finditer(text):
        if re.search(r"\d", match["secret"]):
            yield _span(match)
    yield from _phrases(text)
    yield from _passwords(text)
    if not _FIGURE.search(text):
        return
    for find in (_cards, _social_security, _national_insurance, _accounts, _identities, _codes):
        yield from find(text)


_FIGURE = re.compile(r"\d")
_KEYS = [re.compile(pattern) for pattern in _DATA["key"]]  # case counts


def _words(name: str) -> re.Pattern[str]:
    """The words of a list, with the edges of Hebrew words."""
    joined = "|".join(f"(?:{pattern})" for pattern in _DATA[name])
    return re.compile(joined.replace("<<", r"(?<![א-ת])").replace(">>", r"(?![א-ת])"), re.I)


class _NamedSecrets:
    """Matches of several patterns, each with its group `secret`."""

    def __init__(self, name: str) -> None:
        self._patterns = [re.compile(pattern, re.I) for pattern in _DATA[name]]

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        for pattern in self._patterns:
            yield from pattern.finditer(text)


_NAMED_KEY = _NamedSecrets("named_key")
_PASSWORD, _CODE, _PIN, _CVV = (_words(name) for name in ("password", "code", "pin", "cvv"))
_CARD_WORD, _BANK_WORD, _EVERYDAY = (_words(n) for n in ("card_word", "bank_word", "everyday"))
_SSN_WORD, _NINO_WORD = _words("ssn_word"), _words("nino_word")
_ISRAELI_ID_WORD, _PASSPORT_WORD = _words("israeli_id_word"), _words("passport_word")
_SEED_WORD, _OTHER_NUMBER = _words("seed_word"), _words("other_number")
_NO_VALUE = re.compile("|".join(_DATA["no_value"]), re.I)


def _span(match: re.Match[str]) -> SecretSpan:
    has_group = "secret" in match.re.groupindex and match["secret"] is not None
    return SecretSpan(*match.span("secret" if has_group else 0))


# ——— numbers ———


def _cards(text: str) -> Iterator[SecretSpan]:
    for match in _CARD.finditer(text):
        if is_card_number(match[0]) and not _names_other(text, match, _CARD_WORD):
            yield _span(match)


def is_card_number(number: str) -> bool:
    """By the prefixes and lengths of issuers, and the check digit (ISO/IEC 7812)."""
    digits = "".join(filter(str.isdigit, number))
    return _ISSUERS.fullmatch(digits) is not None and _passes_luhn(digits)


_ISSUERS = re.compile(
    r"4\d{12}(?:\d{3}){0,2}|5[1-5]\d{14}|2(?:2[2-9]|[3-6]\d|7[01])\d{13}|3[47]\d{13}"
    r"|3(?:0[0-5]|[689]\d)\d{11}|35(?:2[89]|[3-8]\d)\d{12}|6(?:011|4[4-9]\d|5\d\d)\d{12}"
    r"|62\d{14,17}|(?:5[06-8]|6[0-9])\d{14}"
)


def _passes_luhn(digits: str) -> bool:
    figures = [int(figure) for figure in reversed(digits)]
    doubled = [divmod(2 * figure, 10) for figure in figures[1::2]]
    return (sum(figures[::2]) + sum(map(sum, doubled))) % 10 == 0


def _social_security(text: str) -> Iterator[SecretSpan]:
    """With hyphens by its looks, otherwise after its word."""
    for match in _SSN.finditer(text):
        if _is_near(text, match, _SSN_WORD) or (
            match[1] == "-" and not _names_other(text, match, _SSN_WORD)
        ):
            yield _span(match)


def _national_insurance(text: str) -> Iterator[SecretSpan]:
    for match in _NINO.finditer(text):
        named = _is_near(text, match, _NINO_WORD)
        if named or (match[0].isupper() and not _names_other(text, match, _NINO_WORD)):
            yield _span(match)


def _accounts(text: str) -> Iterator[SecretSpan]:
    """IBAN, by its check digits (ISO 13616). A word right after it may look like its end."""
    for match in _IBAN.finditer(text):
        groups = match[0].split(" ")
        for count in range(len(groups), 0, -1):
            candidate = " ".join(groups[:count])
            if _is_iban(candidate):
                yield SecretSpan(match.start(), match.start() + len(candidate))
                break


def _is_iban(text: str) -> bool:
    plain = text.replace(" ", "")
    if not 15 <= len(plain) <= 34:
        return False
    moved = plain[4:] + plain[:4]
    return int("".join(str(int(letter, 36)) for letter in moved)) % 97 == 1


def _identities(text: str) -> Iterator[SecretSpan]:
    for match in _NINE_DIGITS.finditer(text):
        if _is_near(text, match, _ISRAELI_ID_WORD) and is_israeli_id(match[0]):
            yield _span(match)
    for match in _PASSPORT.finditer(text):
        if _is_near(text, match, _PASSPORT_WORD):
            yield _span(match)


def is_israeli_id(digits: str) -> bool:
    figures = [int(figure) for figure in digits.zfill(9)]
    weighted = [sum(divmod(figure * (1 + n % 2), 10)) for n, figure in enumerate(figures)]
    return sum(weighted) % 10 == 0


def _codes(text: str) -> Iterator[SecretSpan]:
    """PINs, one-time codes, and the code on the back of a card."""
    for match in _CVV.finditer(text):
        is_named = match[0].casefold().startswith(("cv", "csc")) or _CARD_WORD.search(text)
        yield from _value_after(text, match.end(), _SHORT_CODE) if is_named else ()
    for match in _CODE.finditer(text):
        if not _is_everyday(text, match):
            yield from _value_after(text, match.end(), _ONE_TIME_CODE)
    for match in _PIN.finditer(text):
        if _is_everyday(text, match):
            continue
        for span in _value_after(text, match.end(), _PIN_CODE):
            around = text[max(0, match.start() - _NEAR) : span.end + _AFTER]
            if span.end - span.start == 4 or _BANK_WORD.search(around):
                yield span


def _value_after(text: str, end: int, value: re.Pattern[str]) -> Iterator[SecretSpan]:
    """The first such value of the same clause."""
    rest = re.split(r"[.!?\n](?:\s|$)|;", text[end : end + _NEAR + _AFTER], maxsplit=1)[0]
    if match := value.search(rest):
        between = rest[: match.start()]
        if len(between.split()) <= _MAX_WORDS_BETWEEN and not _TIME_WORD.search(between):
            yield SecretSpan(end + match.start(), end + match.end())


_MAX_WORDS_BETWEEN = 5  # "PIN for my visa card is 4821"
_TIME_WORD = re.compile(r"\b(?:at|by|until|till|from|since|page|room|box)\s*$", re.I)


def _is_near(text: str, match: re.Match[str], word: re.Pattern[str]) -> bool:
    """Whether the word stands before the number, or right after it."""
    before = text[max(0, match.start() - _NEAR) : match.start()]
    after = text[match.end() : match.end() + _AFTER]
    return bool(word.search(before) or word.search(after))


def _names_other(text: str, match: re.Match[str], own_word: re.Pattern[str]) -> bool:
    """Whether the words before the number say that it is of something else."""
    before = text[max(0, match.start() - _NEAR) : match.start()]
    return bool(_OTHER_NUMBER.search(before)) and not own_word.search(before)


# ——— words ———


def _passwords(text: str) -> Iterator[SecretSpan]:
    for match in _PASSWORD.finditer(text):
        if _is_everyday(text, match) or _is_inside_word(text, match):
            continue
        if value := _password_value(text, match.end()):
            yield value


def _is_inside_word(text: str, match: re.Match[str]) -> bool:
    before = text[match.start() - 1 : match.start()]
    return before in ("/", "\\", "@") or (before.isascii() and before.isalnum())


def _is_everyday(text: str, match: re.Match[str]) -> bool:
    """Whether it is the code of a door or a network: its words stand in the same clause."""
    before = _CLAUSE.split(text[max(0, match.start() - _NEAR) : match.start()])[-1]
    after = _UNTIL_VALUE.split(text[match.end() : match.end() + _NEAR])[0]
    return bool(_EVERYDAY.search(before) or _EVERYDAY.search(after))


_CLAUSE = re.compile(r"[.!?;\n]|(?<!\w)(?:and|but|ו)(?!\w)")
_UNTIL_VALUE = re.compile(r"[.!?;,:=\n]|(?<!\w)(?:is|are|היא|הוא)(?!\w)")


_BEFORE_LINK = r"(?:[ \t]+[^\s:=]{1,30}){0,6}?[ \t]*"
_IS = "is|was|are|es|est|ist|é|è|jest|är|היא|הוא|זה|это|هي"
_IS_LINK = re.compile(
    rf"{_BEFORE_LINK}(?:(?P<sign>[:=]|->|→)|(?<!\w)(?:{_IS})(?!\w))\s*", re.IGNORECASE
)
_TO_LINK = re.compile(r"[ \t]+to[ \t]+", re.IGNORECASE)  # "changed my password to …"
_APART = re.compile(r"\s+(?=\S*\d|[\"'“`«]\S)")  # "סיסמה Abc123"


def _password_value(text: str, end: int) -> SecretSpan | None:
    """The value after "password", "password for the bank is", "password:"."""
    for link in (_IS_LINK, _TO_LINK, _APART):
        linked = link.match(text, end)
        if linked and not re.search(r"[.!?]\s", linked[0]):
            is_sign = link is _IS_LINK and linked["sign"] is not None
            if value := _value_at(text, linked.end(), is_sign):
                return value
    return None


def _value_at(text: str, start: int, is_sign: bool) -> SecretSpan | None:
    found = _VALUE.match(text, start)
    if found is None or text.startswith(REDACTED, start):
        return None
    start, stop = found.span(1 if found[1] else 2)
    if found[2]:
        stop = start + len(found[2].rstrip(_CLOSING)) or stop
    value = text[start:stop]
    if len(value) < 3 or not _is_value(value, is_sign, bool(found[1]), text, stop):
        return None
    return SecretSpan(start, stop)


def _is_value(value: str, is_sign: bool, is_quoted: bool, text: str, stop: int) -> bool:
    """Whether it looks like a password, and not like a word about one."""
    if value == REDACTED or set(value) <= set("*•.x_-"):
        return False
    odd = re.search(r"[^\W\d_]", value) and re.search(r"[\d#$%&*@!^+=_]", value)
    mixed = re.search(r"[a-z][A-Z]", value)
    if odd or mixed or is_quoted or re.fullmatch(r"\d{4,}", value):
        return True
    if _NO_VALUE.fullmatch(value.casefold()):
        return False
    if is_sign:
        return True
    is_last = _END_OF_SENTENCE.match(text, stop) is not None
    return is_last and not value.endswith(("ed", "ing", "ly"))


def _phrases(text: str) -> Iterator[SecretSpan]:
    """The words of a wallet: at least eight after "seed phrase"."""
    for match in _SEED_WORD.finditer(text):
        rest = re.match(r"[^\n:=]{0,30}(?:[:=]|\bis\b)\s*", text[match.end() :])
        if rest is None:
            continue
        start = match.end() + rest.end()
        words = re.match(r"(?:[^\W\d_]+[ ,]+){7,24}[^\W\d_]+", text[start:])
        if words:
            yield SecretSpan(start, start + words.end())
