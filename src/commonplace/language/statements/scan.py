"""A text cut into tokens: words, numbers, times, codes, marks, each with its place."""

import re
from collections.abc import Iterator
from functools import lru_cache

from commonplace.language.characters import INVISIBLE, MARKS, VOWEL_POINTS
from commonplace.language.statements.lexicon import plain_word, word_list
from commonplace.language.statements.token import Kind, Token

_CODE = Kind.CODE
_LETTER = rf"[^\W\d_][{MARKS}]*"

# In the order in which they are tried. Every repetition is over one class of characters and
# bounded or possessive, so that no text takes more than linear time.
_TOKEN = re.compile(
    r"(?P<url>(?:https?://|www\.)\S{1,500}+)"
    r"|(?P<mail>[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+)"
    r"|(?P<iso>(?<![\w.-])\d{4}-\d{1,2}-\d{1,2}(?![\w-]))"
    r"|(?P<slashed>(?<![\w./])\d{1,2}[./]\d{1,2}[./](?:\d{4}|\d{2})(?![\w/]))"
    r"|(?P<phone>(?<![\w.])(?:\+\d{1,3}[ -]?(?:\(\d{1,4}\)[ -]?)?\d[\d -]{5,14}\d"
    r"|0\d{1,3}-\d{3,4}-?\d{3,4}|\(\d{2,4}\) ?\d{3,4}-?\d{3,4}|\d{3}-\d{3}-\d{4}|0\d{8,10})(?!\w))"
    r"|(?P<time>(?<![\w.:])\d{1,2}:\d{2}(?: ?[ap]\.?m\b\.?)?|(?<![\w.])\d{1,2}h\d{2}(?!\w)"
    r"|(?<![\w.])\d{1,2} ?[ap]\.?m\b\.?)"
    r"|(?P<version>(?<![\w.])v?\d+(?:\.\d+){2,}|(?<![\w.])[vV]\d+(?:\.\d+)*)"
    r"|(?P<code>(?<![\w])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])(?!\d+(?:[.,]\d+)*(?:st|nd|rd|th|[a-zA-Z]{1,4})(?!\w))"
    r"[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*)"
    r"|(?P<grade>(?<!\w)[A-Z]{1,2}[+\u2212-]+(?!\w))"
    r"|(?P<number>(?<![\w.])[+\u2212-]?\d+(?:[.,\u00a0\u202f]\d+)*)"
    rf"|(?P<word>{_LETTER}(?:{_LETTER}|(?<=[א-ת])[\"'״׳](?=[א-ת])|['’](?={_LETTER}))*+)"
    r"|(?P<mark>[^\w\s])"
)

_QUOTED = re.compile(r"[\"“«„]([^\"“”«»„\n]{1,80})[\"”»“]")
_APOSTROPHES = str.maketrans("’ʼ", "''")
_HEBREW_MARKS = str.maketrans("", "", "\"'״׳")
_ELIDED = frozenset(word_list("l d j n s m c qu t un all dell nell dall sull quell jusqu"))
_NOT = {"can't": "can", "won't": "will", "shan't": "shall", "ain't": "is"}
_DIGITS = re.compile(r"\D")

LONGEST = 64


def scan(text: str, elides: bool) -> list[Token]:
    """The tokens of a text. `elides`: the language writes "l'homme" for two words."""
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind == "word":
            found.extend(_words(match[0], match.start(), elides))
        elif kind == "mark":
            found.append(_token(match, match[0], Kind.MARK))
        elif kind == "phone":
            found.append(_token(match, "tel:" + _DIGITS.sub("", match[0]), _CODE))
        elif kind in ("url", "mail", "version", "code", "grade"):
            folded = match[0].rstrip(".,;:!?)").replace("\u2212", "-")
            exact = folded.casefold().removeprefix("v" if kind == "version" else "")
            found.append(_token(match, "c:" + exact, _CODE))
        else:
            found.append(_token(match, kind, _KINDS[kind]))
    return found


_KINDS = {"iso": Kind.DATE, "slashed": Kind.DATE, "time": Kind.TIME, "number": Kind.NUMBER}


def quoted_spans(text: str) -> list[tuple[int, int]]:
    """Where quotation marks enclose something."""
    return [match.span(1) for match in _QUOTED.finditer(text)]


def _token(match: re.Match[str], term: str, kind: Kind) -> Token:
    word = match[0].casefold()[:LONGEST]
    return Token(match[0], word, kind, match.start(), match.end(), term=term)


def _words(text: str, start: int, elides: bool) -> Iterator[Token]:
    """A word, or the words that an apostrophe joins."""
    plain = text.translate(_APOSTROPHES)
    if "'" not in plain and '"' not in plain and "״" not in plain and "׳" not in plain:
        if plain.lower() == "cannot":
            yield _word(text[:3], start)
            yield Token(text[3:], "not", Kind.WORD, start + 3, start + len(text))
            return
        yield _word(text, start)
        return
    if "א" <= text[0] <= "ת":
        yield Token(text, _fold(text.translate(_HEBREW_MARKS)), Kind.WORD, start, start + len(text))
        return
    head, _, tail = plain.rpartition("'")
    low, ending = head.lower(), tail.lower()
    if ending == "t" and low.endswith("n"):
        whole = f"{low}'t"
        yield _word(text[: len(head)], start, _NOT.get(whole, low[:-1]))
        yield Token(text[-3:], "not", Kind.WORD, start + len(head) - 1, start + len(text))
    elif ending in ("s", "m", "re", "ve", "ll", "d") and not (elides and low in _ELIDED):
        yield _word(text[: len(head)], start)
        at = start + len(head)
        yield Token(text[len(head) :], f"'{ending}", Kind.WORD, at, start + len(text))
    elif elides and (cut := plain.find("'")) and plain[:cut].lower() in _ELIDED:
        yield Token(text[: cut + 1], plain[: cut + 1].lower(), Kind.WORD, start, start + cut + 1)
        yield from _words(text[cut + 1 :], start + cut + 1, elides)
    else:
        yield _word(text, start)


def _word(text: str, start: int, word: str | None = None) -> Token:
    return Token(text, word or _fold(text), Kind.WORD, start, start + len(text))


@lru_cache(maxsize=32_768)
def _fold(text: str) -> str:
    folded = plain_word(text)[:LONGEST]
    if folded.isascii():
        return folded
    return folded.translate(VOWEL_POINTS).translate(INVISIBLE)
