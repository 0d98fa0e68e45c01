"""Numbers by value: digits, words, ordinals, units and money."""

import re
from decimal import Decimal, InvalidOperation
from functools import cache

from commonplace.language.text.lexicon import fold_word, load_table

# Languages with a point between thousands and a decimal comma.
_COMMA_IS_DECIMAL = frozenset({"de", "es", "it", "pt", "nl", "fr", "ru"})
_GROUPED_BY_POINT = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+")
_GROUPED_BY_COMMA = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_LETTER_SCALES = {"k": 1_000, "m": 1_000_000, "bn": 1_000_000_000}
_LONGEST = 40


def parse_number(digits: str, language: str) -> Decimal | None:
    """The value of a number in digits, in the language's notation."""
    plain = digits.replace("\u2212", "-").replace("\u00a0", "").replace("\u202f", "")
    if len(plain) > _LONGEST:
        return None
    if _GROUPED_BY_COMMA.fullmatch(plain):
        plain = plain.replace(",", "")
    elif language in _COMMA_IS_DECIMAL and _GROUPED_BY_POINT.fullmatch(plain):
        plain = plain.replace(".", "")
    elif "," in plain and "." in plain and plain.rindex(",") > plain.rindex("."):
        plain = plain.replace(".", "").replace(",", ".")
    else:
        plain = plain.replace(",", ".")
    try:
        return Decimal(plain)
    except InvalidOperation:
        return None


def is_ambiguous_number(digits: str, language: str) -> bool:
    """1.500 with a decimal point: one and a half, or 1500 in another notation."""
    grouped = _GROUPED_BY_POINT.fullmatch(digits) and not digits.lstrip("+-").startswith("0")
    return bool(grouped) and language not in _COMMA_IS_DECIMAL


def number_term(value: Decimal) -> str:
    """The canonical term of a value: 5, 5.0 and 5.00 are equal."""
    plain = f"{value.normalize():f}"
    return f"n:{plain}"


@cache
def number_words(language: str) -> tuple[dict[str, int], dict[str, int], dict[str, int], str]:
    """Units, scales and ordinals of a language, and the word that joins them."""
    table = load_table("numbers").get(language, {})

    def column(name: str) -> dict[str, int]:
        pairs = (entry.split("=") for entry in table.get(name, "").split())
        return {fold_word(word): int(value) for word, value in pairs}

    return column("units"), column("scales"), column("ordinals"), table.get("and", "")


def parse_number_words(words: list[str], at: int, language: str) -> tuple[int, int] | None:
    """The number in words at `at`, and its end; None if there is none."""
    units, scales, _, joint = number_words(language)
    total, current, end, position = 0, 0, at, at
    while position < len(words):
        word = words[position]
        plain = word[1:] if word not in units and word[:1] in "וو" and position > at else word
        if plain in units:
            if end > at and current % 100 and units[plain] >= current % 100:
                break  # "two, five" are two numbers
            current += units[plain]
        elif plain in scales and not (plain == "second" and end == at):
            scale = scales[plain]
            if scale == 100:
                current = max(current, 1) * 100
            else:
                total, current = total + max(current, 1) * scale, 0
        elif not (joint and word == joint and end > at):
            break
        position += 1
        if word != joint:
            end = position
    return (total + current, end) if end > at else None


def parse_ordinal(word: str, language: str) -> int | None:
    """ "third" is 3."""
    return number_words(language)[2].get(word)


@cache
def _units() -> dict[str, tuple[str, Decimal]]:
    """Units by form: the dimension, and the factor to its first unit."""
    found: dict[str, tuple[str, Decimal]] = {}
    for dimension, row in load_table("units").items():
        for entry in row.values():
            factor, forms = entry.split(" ", 1)
            for form in forms.split("|"):
                word = fold_word(form).replace("״", "").replace("׳", "")
                found[word] = (dimension, Decimal(factor))
    return found


def is_unit(word: str) -> bool:
    """ "minute", "kg"."""
    return word in _units() or word == "second"


def quantity_term(value: Decimal, unit: str) -> str | None:
    """A number with its unit as one term; None if it is not a unit."""
    if unit in _LETTER_SCALES and unit != "m":
        return number_term(value * _LETTER_SCALES[unit])
    known = _units().get(unit)
    if known is None:
        return None
    dimension, factor = known
    if abs(value.adjusted()) > _LONGEST:
        return None
    return f"q:{dimension}:{f'{(value * factor).normalize():f}'}"
