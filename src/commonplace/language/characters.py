"""What single characters are: which belong to words, which are invisible, which may be dropped."""

import unicodedata


def _ranges(codes: list[int]) -> str:
    """The body of a regular-expression class for these code points."""
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


# Combining marks are not \w in Python, but vowels of Hindi and Thai words are such marks. Only the
# blocks of living scripts are looked through: all of Unicode would cost every start 50 ms.
_BLOCKS_WITH_MARKS = (
    range(0x0300, 0x1E00),
    range(0x20D0, 0x2100),
    range(0x3099, 0x309B),
    range(0xA66F, 0xABF0),
    range(0x11000, 0x11800),
)
MARKS = _ranges(
    [
        code
        for block in _BLOCKS_WITH_MARKS
        for code in block
        if unicodedata.category(chr(code)).startswith("M")
    ]
)

# Scripts written without spaces between words, and Hangul, whose particles stick to the word.
CJK = (
    "\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U000323af"
)

# Direction marks, joiners, soft hyphens and variation selectors: on paper nobody sees them.
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

# What writers leave out at will: Hebrew vowel points and cantillation, Arabic vowel signs and the
# stretching tatweel.
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
    """A `str.translate` table, filled as characters are met: punctuation and space to a space."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        spaced = " " if unicodedata.category(character)[0] in "PZC" else character
        self[code] = spaced
        return spaced


PUNCTUATION_TO_SPACE = _PunctuationToSpace()
