"""Secrets in a text: keys, logins, cards and numbers that let others act in one's name.

Some are known by their looks, some only by the words before them or by the question that they
answer. The patterns are in secrets.toml. Codes that people tell an assistant so that it can tell
them again (the wifi password, the code of a gate) are no secrets here; nor are numbers of orders,
flights, books and phones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from commonplace.language.safety.passwords import answered, passwords, wallet_phrases
from commonplace.language.safety.secret_words import (
    AFTER,
    NEAR,
    REDACTED,
    SecretSpan,
    find_each,
    is_everyday,
    named_patterns,
    span_of,
    word_pattern,
)
from commonplace.model.sources.source import BLOT

_CARD = re.compile(r"(?<![\d.-])[2-6]\d{3}(?:[ -]?\d){8,15}(?![\d.]\d|\d)")
_SSN = re.compile(r"(?<![\d-])(?!000|666|9\d\d)\d{3}([- ]?)(?!00)\d\d\1(?!0000)\d{4}(?![\d-]\d|\d)")
_NINO = re.compile(
    r"(?<!\w)(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]( ?)"
    r"\d\d\1\d\d\1\d\d\1[A-D](?!\w)",
    re.IGNORECASE,
)
# After its word any letters count: forms and people use QQ, which is never issued.
_NINO_SHAPE = re.compile(r"(?<!\w)[A-Z]{2}( ?)\d\d\1\d\d\1\d\d\1[A-D](?!\w)", re.IGNORECASE)
_IBAN = re.compile(r"(?<!\w)(?!RF)[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)")
_NINE_DIGITS = re.compile(r"(?<![\d-])\d{8,9}(?![\d-]|\.\d)")
_PASSPORT = re.compile(r"(?<!\w)(?=\w*\d{4})[A-Z]{0,2}\d{6,9}(?!\w)", re.IGNORECASE)
_SHORT_CODE = re.compile(r"(?<![\d.,:/-])\d{3,4}(?![\d/:%]|[.,]\d)")
_PIN_CODE = re.compile(r"(?<![\d.,:/-])\d{4,6}(?![\d/:%]|[.,]\d)")
_ONE_TIME_CODE = re.compile(
    r"(?<![\w.,:/-])(?:\d{4,8}|\d{3}[ -]\d{3}|(?=\w*\d)[A-Z0-9]{6,8})(?![\w/:%])"
)


def find_secrets(text: str, asked: str | None = None) -> list[SecretSpan]:
    """The places of all secrets, in order, without overlaps. ``asked``: what another speaker said
    right before."""
    spans = sorted(_in_windows(text, asked), key=lambda span: (span.start, -span.end))
    kept: list[SecretSpan] = []
    for span in spans:
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
        elif span.end > kept[-1].end:
            kept[-1] = SecretSpan(kept[-1].start, span.end)
    return kept


WINDOW, OVERLAP = 16_384, 4_096  # characters; a private key fits into the overlap


def _in_windows(text: str, asked: str | None) -> Iterator[SecretSpan]:
    """Of a long text, piece by piece: one search in millions of characters would keep other threads
    waiting. What touches the edge of a piece may be cut, and is whole in the next one."""
    if len(text) <= WINDOW:
        yield from _all_spans(text, asked)
        return
    for start in range(0, len(text) - OVERLAP, WINDOW - OVERLAP):
        piece = text[start : start + WINDOW]
        is_last = start + WINDOW >= len(text)
        for span in _all_spans(piece, None):
            if (span.start or not start) and (is_last or span.end < len(piece)):
                yield SecretSpan(start + span.start, start + span.end)


def redact_secrets(text: str, asked: str | None = None) -> str:
    """The text with a mark in place of each secret."""
    parts, end = [], 0
    for span in find_secrets(text, asked):
        parts += [text[end : span.start], REDACTED]
        end = span.end
    return "".join((*parts, text[end:]))


def secret_values(text: str) -> list[str]:
    return [text[span.start : span.end] for span in find_secrets(text)]


def _all_spans(text: str, asked: str | None) -> Iterator[SecretSpan]:
    if asked is not None:
        yield from answered(text, asked)
    if len(text) < 4:
        return
    yield from map(span_of, find_each(_KEYS, text))
    yield from map(span_of, filter(_is_key, find_each(_NAMED_KEYS, text)))
    yield from wallet_phrases(text)
    yield from passwords(text)
    if not _FIGURE.search(text):
        return
    for find in (_cards, _social_security, _national_insurance, _accounts, _identities, _codes):
        yield from find(text)


_FIGURE = re.compile(r"\d")
_KEYS = named_patterns("key")  # case counts
_NAMED_KEYS = named_patterns("named_key", re.I)
_CODE, _PIN, _CVV = (word_pattern(name) for name in ("code", "pin", "cvv"))
_CARD_WORD, _BANK_WORD = word_pattern("card_word"), word_pattern("bank_word")
_SSN_WORD, _NINO_WORD = word_pattern("ssn_word"), word_pattern("nino_word")
_ISRAELI_ID_WORD, _PASSPORT_WORD = word_pattern("israeli_id_word"), word_pattern("passport_word")
_OTHER_NUMBER = word_pattern("other_number")


_PLACEHOLDER = re.compile(rf"^[$<{{%]|environ|your|my_|api_?key|xxx|\*\*|{BLOT}", re.I)


def _is_key(match: re.Match[str]) -> bool:
    """A long value with a figure, or any value in quotation marks that is no placeholder."""
    value = match["secret"]
    if match.groupdict().get("quoted"):
        return not _PLACEHOLDER.search(value)
    return re.search(r"\d", value) is not None


# ——— numbers ———


def _cards(text: str) -> Iterator[SecretSpan]:
    for match in _CARD.finditer(text):
        if is_card_number(match[0]) and not _names_other(text, match, _CARD_WORD):
            yield span_of(match)


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
            yield span_of(match)


def _national_insurance(text: str) -> Iterator[SecretSpan]:
    for match in _NINO.finditer(text):
        if match[0].isupper() and not _names_other(text, match, _NINO_WORD):
            yield span_of(match)
    for match in _NINO_SHAPE.finditer(text):
        if _is_near(text, match, _NINO_WORD):
            yield span_of(match)


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
            yield span_of(match)
    for match in _PASSPORT.finditer(text):
        if _is_near(text, match, _PASSPORT_WORD):
            yield span_of(match)


def is_israeli_id(digits: str) -> bool:
    figures = [int(figure) for figure in digits.zfill(9)]
    weighted = [sum(divmod(figure * (1 + n % 2), 10)) for n, figure in enumerate(figures)]
    return sum(weighted) % 10 == 0


def _codes(text: str) -> Iterator[SecretSpan]:
    """PINs, one-time codes, and the code on the back of a card."""
    for match in _CVV.finditer(text):
        around = text[max(0, match.start() - 2 * NEAR) : match.end() + NEAR]
        if _CARD_WORD.search(around) and not is_everyday(text, match):
            yield from _value_after(text, match.end(), _SHORT_CODE)
    for match in _CODE.finditer(text):
        if not is_everyday(text, match):
            yield from _value_after(text, match.end(), _ONE_TIME_CODE)
    for match in _PIN.finditer(text):
        if is_everyday(text, match):
            continue
        for span in _value_after(text, match.end(), _PIN_CODE):
            around = text[max(0, match.start() - NEAR) : span.end + AFTER]
            if span.end - span.start == 4 or _BANK_WORD.search(around):
                yield span


def _value_after(text: str, end: int, value: re.Pattern[str]) -> Iterator[SecretSpan]:
    """The first such value of the same clause."""
    rest = re.split(r"[.!?\n](?:\s|$)|;", text[end : end + NEAR + AFTER], maxsplit=1)[0]
    if match := value.search(rest):
        between = rest[: match.start()]
        if len(between.split()) <= _MAX_WORDS_BETWEEN and not _TIME_WORD.search(between):
            yield SecretSpan(end + match.start(), end + match.end())


_MAX_WORDS_BETWEEN = 5  # "PIN for my visa card is 4821"
_TIME_WORD = re.compile(r"\b(?:at|by|until|till|from|since|page|room|box)\s*$", re.I)


def _is_near(text: str, match: re.Match[str], word: re.Pattern[str]) -> bool:
    """Whether the word stands before the number, or right after it."""
    before = text[max(0, match.start() - NEAR) : match.start()]
    after = text[match.end() : match.end() + AFTER]
    return bool(word.search(before) or word.search(after))


def _names_other(text: str, match: re.Match[str], own_word: re.Pattern[str]) -> bool:
    """Whether the words before the number say that it is of something else."""
    before = text[max(0, match.start() - NEAR) : match.start()]
    return bool(_OTHER_NUMBER.search(before)) and not own_word.search(before)
