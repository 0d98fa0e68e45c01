"""Phone numbers and e-mail addresses: finding and comparing them.

Numbers are parsed by Google's libphonenumber, domains by IDNA; both are loaded on first use, so
that importing the package is fast.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from commonplace.language.text.normalise import INVISIBLE

# ——— phones ———

_SHORTEST, _LONGEST = 7, 15  # digits of a full number; the longest in use has 15
_NATIONAL_LONGEST = 11
# From this length a number may be complete, and digits after another gap are separate.
_NATIONAL_USUAL = 9
_KEY_DIGITS = 7

_DASHES = str.maketrans("\u2010\u2011\u2012\u2013\u2014\u2212\u05be", "-------")
# Not inside a longer token; Hebrew prefixes are joined by a hyphen (ל-052-1234567).
_NOT_INSIDE = r"(?:(?<![\w@#./,:+-])|(?<=[א-ת]-))"
_NOT_CONTINUED = r"(?![\w@]|[-.,:/]\d)"
_CUE = r"(?:phone|tel|telephone|mobile|cell|call|whatsapp|fax|טלפון|נייד|הנייד|הטלפון|טל|וואטסאפ)"

# Numbers without a country code are recognised by their format; the first match wins.
_NATIONAL = re.compile(
    rf"{_NOT_INSIDE}(?:"
    r"\(0?\d{1,4}\)[ -]?\d{2,4}(?:[ .-]?\d{2,4}){1,2}"  # (415) 555-0132
    r"|0\d{1,4}(?:[ .-]\d{2,8}){1,4}"  # 052-1234567, 06 12 34 56 78
    r"|0\d{8,10}"  # 0521234567
    r"|1[ -]?[78]\d{2}[ -]\d{2,3}[ -]?\d{2,4}(?:[ -]\d{2,4})?"  # 1-800-555-0199, 1-700-500-500
    r"|(?:1[ .-])?\d{3}[ .-]\d{3}[ .-]\d{4}"  # 415-555-0132
    r"|\d{3}-\d{4}"  # 555-1234
    r"|\*\d{4,5}"  # *2407: short numbers of Israeli businesses
    rf"){_NOT_CONTINUED}"
)
_AFTER_CUE = re.compile(
    rf"(?<!\w){_CUE}(?!\w)\W{{0,3}}(?:(?:no|number|is|at|on|הוא|מספר)\W{{1,2}}){{0,2}}"
    rf"(\+?\d{{7,12}}){_NOT_CONTINUED}",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}([-./ ])\d\d?\1\d\d?|\d\d?([-./ ])\d\d?\2(?:\d{4}|\d\d)")
_EXTENSION = re.compile(r"(?:ext\.?|extension|x|#|שלוחה)\s*(\d{1,6})\W*$", re.IGNORECASE)
_TRUNK_ZERO = re.compile(r"\(0\)")  # +44 (0)20 …: dialled only within the country

# ——— e-mail ———

_ADDRESS = re.compile(
    r"(?<![\w.+-])[\w!#$%&'*+/=?^`{|}~-]{1,64}(?:\.[\w!#$%&'*+/=?^`{|}~-]{1,64}){0,8}"
    r"@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}[^\W\d_][\w-]{0,61}[^\W_](?![\w@-])"
)
# Hebrew joins "from" and "to" to an address with a hyphen: מ-dana@bank.co.il.
_HEBREW_PREFIX = re.compile("[ובלמהשכ]{1,3}-(?=[A-Za-z0-9])")
# Google ignores dots in these, and treats both domains as one.
_DOTS_IGNORED = {"gmail.com", "googlemail.com"}


@dataclass(frozen=True, slots=True)
class ContactMatch:
    """A number or an address in a text: text[start:end]."""

    text: str
    start: int
    end: int


def find_phones(text: str) -> tuple[ContactMatch, ...]:
    """Phone numbers in text order, with or without country code."""
    if not any(character.isdecimal() for character in text):
        return ()
    found: list[ContactMatch] = []
    for candidate in sorted(_candidates(text), key=lambda one: (one.start, -one.end)):
        is_separate = not found or candidate.start >= found[-1].end
        if is_separate and not _DATE.fullmatch(candidate.text):
            found.append(candidate)
    return tuple(found)


def _candidates(text: str) -> Iterator[ContactMatch]:
    plain = text.translate(_DASHES)
    library = _phonenumbers()
    # Numbers with country code; "possible", because new ranges are used before the tables have
    # them.
    for match in library.PhoneNumberMatcher(plain, None, library.Leniency.POSSIBLE):
        yield ContactMatch(text[match.start : match.end], match.start, match.end)
    for match in _NATIONAL.finditer(plain):
        end = match.start() + len(_cut_to_one_number(match[0]))
        if _digit_count(plain[match.start() : end]) >= _SHORTEST or match[0][0] == "*":
            yield ContactMatch(text[match.start() : end], match.start(), end)
    for match in _AFTER_CUE.finditer(plain):
        yield ContactMatch(text[match.start(1) : match.end(1)], match.start(1), match.end(1))


def _cut_to_one_number(written: str) -> str:
    """Cut what follows a complete number after another separator: "052-1234567 42"."""
    gaps = list(re.finditer("[ .-]", written))
    for gap in gaps:
        complete = _digit_count(written[: gap.start()]) >= _NATIONAL_USUAL
        if complete and gap[0] != gaps[0][0]:
            written = written[: gap.start()]
            break
    while _digit_count(written) > _NATIONAL_LONGEST:
        written = re.split(r"[ .-]\d+$", written)[0]
    return written


def is_same_phone(a: str, b: str) -> bool:
    """Whether both are certainly the same number in any notation.

    Country code and national form are equal: 052-1234567 and +972 52-123-4567. A local number never
    equals one with an area code; nor does a number with an extension equal one without.
    """
    key = phone_key(a)
    if key is None or key != phone_key(b):
        return False
    one, other = _to_international(a), _to_international(b)
    if _extension(a) != _extension(b):
        return False
    if one[0] != "+" and other[0] != "+":
        return _digits(one).lstrip("0") == _digits(other).lstrip("0")
    library = _phonenumbers()
    matched: int = library.is_number_match(one, other)
    return matched >= int(library.MatchType.NSN_MATCH)


def phone_key(text: str) -> str | None:
    """A key that equal numbers share in any notation; None if it is not a number."""
    number = _to_international(text)
    digits = _digits(number)
    if number.startswith("+"):
        parsed = _parse_number(number)
        if parsed is None:
            return None
        digits = str(parsed.national_number)
    digits = digits.lstrip("0")
    return digits[-_KEY_DIGITS:] or None


def _to_international(text: str) -> str:
    """The number alone, with + and country code if known."""
    plain = text.translate(INVISIBLE).translate(_DASHES)
    plain = _TRUNK_ZERO.sub("", _EXTENSION.sub("", plain)).strip()
    digits = _digits(plain)
    if plain.startswith("+") or digits.startswith("00"):
        return f"+{digits.removeprefix('00')}"
    # 1-415-555-0132, 972521234567: the plus is often omitted before a country code.
    if (len(digits) == 11 and digits[0] == "1") or len(digits) > _NATIONAL_LONGEST:
        whole = _parse_number(f"+{digits}")
        if whole is not None and _phonenumbers().is_possible_number(whole):
            return f"+{digits}"
    return digits


def _parse_number(number: str) -> Any:
    """The library's result for a number; None if it is not one."""
    library = _phonenumbers()
    if _digit_count(number) > _LONGEST + 2:
        return None
    try:
        return library.parse(number)
    except library.NumberParseException:
        return None


def _extension(text: str) -> str:
    found = _EXTENSION.search(text)
    return _digits(found[1]) if found else ""


def _digits(text: str) -> str:
    return str(_phonenumbers().normalize_digits_only(text))


def _digit_count(text: str) -> int:
    return sum(character.isdecimal() for character in text)


def _phonenumbers() -> Any:
    return import_module("phonenumbers")


def find_emails(text: str) -> tuple[ContactMatch, ...]:
    """E-mail addresses in text order."""
    if "@" not in text:
        return ()
    found = []
    for match in _ADDRESS.finditer(text):
        prefix = _HEBREW_PREFIX.match(match[0])
        start = match.start() + (prefix.end() if prefix else 0)
        if email_key(text[start : match.end()]):
            found.append(ContactMatch(text[start : match.end()], start, match.end()))
    return tuple(found)


def email_key(address: str) -> str | None:
    """A key that spellings of one address share; None if it is not an address.

    Case is ignored: the standard allows case-sensitive mailboxes, but none are in use. A +tag is
    kept: it reaches the same person, who chose to give another address.
    """
    plain = address.translate(INVISIBLE).strip().strip("<>").removeprefix("mailto:")
    if not _ADDRESS.fullmatch(plain):
        return None
    local, _, written = plain.casefold().rpartition("@")
    domain = _domain(written)
    if domain is None:
        return None
    if domain in _DOTS_IGNORED:
        local, domain = local.replace(".", ""), "gmail.com"
    return f"{local}@{domain}"


def is_same_email(a: str, b: str) -> bool:
    """Whether both are certainly the same address."""
    key = email_key(a)
    return key is not None and key == email_key(b)


def _domain(written: str) -> str | None:
    """A domain in its ASCII form, which is unique."""
    idna = import_module("idna")
    try:
        ascii_form: bytes = idna.encode(written, uts46=True)
    except idna.IDNAError:
        return None
    return ascii_form.decode("ascii")
