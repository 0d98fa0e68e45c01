"""Normalised text: character classes, case folding, folded words."""

import re
import unicodedata

from commonplace.model.unicode_text import normal_form


def _character_class_body(codes: list[int]) -> str:
    """Body of a regular-expression character class for these code points."""
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


# Combining marks are not \w in Python, but vowels of Hindi and Thai words are such marks. Only
# blocks of living scripts are scanned: all of Unicode would take 50 ms at each start.
_BLOCKS_WITH_MARKS = (
    range(0x0300, 0x1E00),
    range(0x20D0, 0x2100),
    range(0x3099, 0x309B),
    range(0xA66F, 0xABF0),
    range(0x11000, 0x11800),
)
COMBINING_MARKS = _character_class_body(
    [
        code
        for block in _BLOCKS_WITH_MARKS
        for code in block
        if unicodedata.category(chr(code)).startswith("M")
    ]
)

# Scripts without spaces between words, and Hangul, whose particles attach to the word.
CJK = (
    "\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U000323af"
)

# Direction marks, joiners, soft hyphens and variation selectors.
INVISIBLE: dict[int, None] = dict.fromkeys(
    [
        *(0xAD, 0x34F, 0x61C, 0xFEFF),
        *range(0x200B, 0x2010),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        *range(0xFE00, 0xFE10),
        *range(0xE0100, 0xE01F0),
    ]
)

# Optional in writing: Hebrew vowel points and cantillation, Arabic vowel signs and tatweel.
VOWEL_POINTS: dict[int, None] = dict.fromkeys(
    [
        *range(0x591, 0x5BE),
        *(0x5BF, 0x5C1, 0x5C2, 0x5C4, 0x5C5, 0x5C7),
        *range(0x610, 0x61B),
        *(0x640, 0x670),
        *range(0x64B, 0x660),
        *range(0x6D6, 0x6DD),
    ]
)


class _PunctuationToSpace(dict[int, str]):
    """A `str.translate` table, filled on lookup: punctuation and space become a space."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        spaced = " " if unicodedata.category(character)[0] in "PZC" else character
        self[code] = spaced
        return spaced


PUNCTUATION_TO_SPACE = _PunctuationToSpace()


_MINUS_SIGNS = str.maketrans("\u2212\u2013", "--")

# Punctuation with a meaning: in numbers ("-3.5", "20%"; the dash of "3-5" is not a sign), and in
# grades or blood groups ("A+" is not "A-").
_MEANINGFUL = re.compile(
    r"((?<!\w)[+-]?(?:\d+(?:[.,]\d+)*|[.,]\d+)%?|(?<!\w)[^\W\d_]{1,2}[+-]+(?!\w))"
)


def fold(text: str) -> str:
    """The form in which texts are compared for equality.

    Case, space and punctuation are ignored. Word order, numbers with decimal points and signs,
    symbols (emoji and currencies have a meaning) and negations are kept.
    """
    plain = fold_case(text).translate(_MINUS_SIGNS)
    pieces = _MEANINGFUL.split(plain)
    pieces[::2] = [piece.translate(PUNCTUATION_TO_SPACE) for piece in pieces[::2]]
    # Texts of punctuation alone ("?!") must not all be equal.
    return _collapse_spaces(" ".join(pieces)) or _collapse_spaces(plain)


def fold_case(text: str) -> str:
    """Lower case for comparison, in one Unicode normal form, without invisible characters."""
    if text.isascii():
        return text.lower()
    folded = normal_form(text, "NFKC").translate(INVISIBLE).casefold()
    return normal_form(folded, "NFKC")


def _collapse_spaces(text: str) -> str:
    return " ".join(text.split())


LONGEST_WORD = 64

_APOSTROPHES = str.maketrans("\u2019\u02bc\u2018", "'''")
_CONTRACTION = re.compile(r"\b(\w+)'(t|s|m|re|ve|ll|d)\b")
_IRREGULAR = {"can't": "can not", "won't": "will not", "shan't": "shall not", "ain't": "is not"}

# Inside a Hebrew word, a quotation mark is an acronym's and an apostrophe marks a foreign sound.
_HEBREW_MARK = re.compile("(?<=[א-ת])[\"'״׳](?=[א-ת])")

_DIGIT_GROUPS = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\w,])")
_DECIMAL_COMMA = re.compile(r"(?<![\w.,])(\d+),(\d{1,2})(?![\w.,])")
_HYPHENATED_NUMBER = re.compile(r"(?<![\w-])\d+(?:-\d+)+(?![\w-])")

_CJK_RUN = re.compile(f"[{CJK}]+")
_WORD = re.compile(rf"\d+(?:\.\d+)+|\w[\w{COMBINING_MARKS}]*")
_ASCII_WORD = re.compile(r"\d+(?:\.\d+)+|\w+")


def split_words(text: str) -> list[str]:
    """Folded words of a text: contractions resolved, numbers kept whole, CJK runs separate."""
    plain = fold_case(text).replace("_", " ")
    if plain.isascii():
        return [word[:LONGEST_WORD] for word in _ASCII_WORD.findall(_resolve_contractions(plain))]
    plain = _resolve_contractions(
        _HEBREW_MARK.sub("", plain.translate(VOWEL_POINTS).translate(_APOSTROPHES))
    )
    if _CJK_RUN.search(plain) is None:
        return [word[:LONGEST_WORD] for word in _WORD.findall(plain)]
    separated = _CJK_RUN.sub(r" \g<0> ", plain)
    return [word if is_cjk(word) else word[:LONGEST_WORD] for word in _WORD.findall(separated)]


def is_cjk(word: str) -> bool:
    """Whether a word of `split_words` is a run of Chinese, Japanese or Korean characters."""
    return _CJK_RUN.match(word) is not None


def _resolve_contractions(plain: str) -> str:
    """Rewrite contractions and numbers so that plain words remain."""
    if "'" in plain:
        plain = _CONTRACTION.sub(_without_apostrophe, plain)
    plain = plain.replace("cannot", "can not")
    if "," in plain:
        plain = _DIGIT_GROUPS.sub(lambda number: number[0].replace(",", ""), plain)
        plain = _DECIMAL_COMMA.sub(r"\1.\2", plain)
    if "-" in plain:
        plain = _HYPHENATED_NUMBER.sub(_with_and_without_hyphens, plain)
    return plain


def _without_apostrophe(contraction: re.Match[str]) -> str:
    """ "don't" keeps its negation; other suffixes ("Dan's", "we'll") are dropped."""
    word, ending = contraction.groups()
    if ending != "t":
        return word
    if not word.endswith("n"):
        return contraction[0]
    return _IRREGULAR.get(contraction[0], f"{word[:-1]} not")


def _with_and_without_hyphens(number: re.Match[str]) -> str:
    """A phone number is searched with and without its hyphens."""
    return f"{number[0]} {number[0].replace('-', '')}"
