"""A text as folded words in their order: the first step of analysing, detecting and tagging."""

import re

from commonplace.language.characters import CJK, MARKS, VOWEL_POINTS
from commonplace.language.normalise import fold_case

LONGEST_WORD = 64

_APOSTROPHES = str.maketrans("\u2019\u02bc\u2018", "'''")
_CONTRACTION = re.compile(r"\b(\w+)'(t|s|m|re|ve|ll|d)\b")
_IRREGULAR = {"can't": "can not", "won't": "will not", "shan't": "shall not", "ain't": "is not"}

# Inside a Hebrew word a quotation mark makes an acronym and an apostrophe a foreign sound.
_HEBREW_MARK = re.compile("(?<=[א-ת])[\"'״׳](?=[א-ת])")

_DIGIT_GROUPS = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\w,])")
_DECIMAL_COMMA = re.compile(r"(?<![\w.,])(\d+),(\d{1,2})(?![\w.,])")
_HYPHENATED_NUMBER = re.compile(r"(?<![\w-])\d+(?:-\d+)+(?![\w-])")

_CJK_RUN = re.compile(f"[{CJK}]+")
_WORD = re.compile(rf"\d+(?:\.\d+)+|\w[\w{MARKS}]*")
_ASCII_WORD = re.compile(r"\d+(?:\.\d+)+|\w+")


def words(text: str) -> list[str]:
    """The words of a text, folded: contractions resolved, numbers whole, CJK runs by themselves."""
    plain = fold_case(text).replace("_", " ")
    if plain.isascii():
        return [word[:LONGEST_WORD] for word in _ASCII_WORD.findall(_resolve(plain))]
    plain = _resolve(_HEBREW_MARK.sub("", plain.translate(VOWEL_POINTS).translate(_APOSTROPHES)))
    if _CJK_RUN.search(plain) is None:
        return [word[:LONGEST_WORD] for word in _WORD.findall(plain)]
    apart = _CJK_RUN.sub(r" \g<0> ", plain)
    return [word if is_cjk(word) else word[:LONGEST_WORD] for word in _WORD.findall(apart)]


def is_cjk(word: str) -> bool:
    """Whether a word of `words` is a run of Chinese, Japanese or Korean characters."""
    return _CJK_RUN.match(word) is not None


def _resolve(plain: str) -> str:
    """Contractions and numbers rewritten so that plain words are left."""
    if "'" in plain:
        plain = _CONTRACTION.sub(_without_apostrophe, plain)
    plain = plain.replace("cannot", "can not")
    if "," in plain:
        plain = _DIGIT_GROUPS.sub(lambda number: number[0].replace(",", ""), plain)
        plain = _DECIMAL_COMMA.sub(r"\1.\2", plain)
    if "-" in plain:
        plain = _HYPHENATED_NUMBER.sub(_whole_and_parts, plain)
    return plain


def _without_apostrophe(contraction: re.Match[str]) -> str:
    """ "don't" keeps its negation; what else an apostrophe adds ("Dan's", "we'll") says little."""
    word, ending = contraction.groups()
    if ending != "t":
        return word
    if not word.endswith("n"):
        return contraction[0]
    return _IRREGULAR.get(contraction[0], f"{word[:-1]} not")


def _whole_and_parts(number: re.Match[str]) -> str:
    """A telephone number is asked for with and without its hyphens."""
    return f"{number[0]} {number[0].replace('-', '')}"
