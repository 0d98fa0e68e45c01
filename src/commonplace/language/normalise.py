"""The form in which texts are compared."""

import re
import unicodedata

from commonplace.language.characters import INVISIBLE, PUNCTUATION_TO_SPACE

_MINUS_SIGNS = str.maketrans("\u2212\u2013", "--")

# Where punctuation carries meaning: numbers ("-3.5", "20%"; in "3-5" the dash is no sign) and
# grades or blood groups ("A+" is not "A-").
_MEANINGFUL = re.compile(
    r"((?<!\w)[+-]?(?:\d+(?:[.,]\d+)*|[.,]\d+)%?|(?<!\w)[^\W\d_]{1,2}[+-]+(?!\w))"
)


def fold(text: str) -> str:
    """The form in which texts are compared for being equal.

    Case, space and punctuation do not count. Word order, numbers with their decimal points and
    signs, symbols (an emoji or a currency is meaning, not punctuation) and negations do.
    """
    plain = fold_case(text).translate(_MINUS_SIGNS)
    pieces = _MEANINGFUL.split(plain)
    pieces[::2] = [piece.translate(PUNCTUATION_TO_SPACE) for piece in pieces[::2]]
    # A text of punctuation alone ("?!") must not equal every other such text.
    return _one_spaced(" ".join(pieces)) or _one_spaced(plain)


def fold_case(text: str) -> str:
    """Lower case for comparisons, in one encoding of each character, without invisible ones."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", text).translate(INVISIBLE).casefold()
    return unicodedata.normalize("NFKC", folded)


def _one_spaced(text: str) -> str:
    return " ".join(text.split())
