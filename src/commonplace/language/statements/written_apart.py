"""Tokens that are one word or one number, however they are written: "Wi-Fi", "2k", "2 million"."""

from decimal import Decimal
from functools import cache

from commonplace.language.statements.lexicon import data, plain_word
from commonplace.language.statements.numbers import number_term, number_words
from commonplace.language.statements.token import Kind, Token, join

_LETTERS = {"k": 1_000, "K": 1_000, "M": 1_000_000, "bn": 1_000_000_000, "B": 1_000_000_000}


@cache
def _joined_words() -> dict[tuple[str, str], str]:
    pairs = (entry.split("-") for entry in data("synonyms")["written_apart"].split())
    return {(plain_word(one), plain_word(two)): plain_word(one + two) for one, two in pairs}


def join_words(tokens: list[Token]) -> list[Token]:
    """ "Wi-Fi" and "wi fi" are "wifi"."""
    known = _joined_words()
    found: list[Token] = []
    for token in tokens:
        before = found[-2] if len(found) > 1 and found[-1].text in ("-", "\u2010") else None
        glued = before is not None and before.end + 1 == token.start
        first = before if glued else (found[-1] if found else None)
        word = known.get((first.word, token.word)) if first is not None else None
        if first is None or word is None:
            found.append(token)
            continue
        del found[-2 if glued else -1 :]
        whole = join([first, token], Kind.WORD, "")
        found.append(Token(whole.text, word, Kind.WORD, whole.start, whole.end))
    return found


@cache
def _owned() -> dict[str, str]:
    pairs = (entry.split("=") for entry in data("grammar")["he"]["owned"].split())
    return {plain_word(word): plain_word(thing) for word, thing in pairs}


def split_owned(tokens: list[Token]) -> list[Token]:
    """«בני» is «הבן שלי»."""
    known, found = _owned(), list[Token]()
    for token in tokens:
        thing = known.get(token.word)
        if thing is None and len(token.word) > 4 and token.word[1:] in known:
            thing = token.word[0] + known[token.word[1:]].removeprefix("ה")  # «לאשתי»
        if thing is None:
            found.append(token)
            continue
        last = token.end - 1
        found.append(Token(token.text, thing, Kind.WORD, token.start, last))
        found.append(Token("", "שלי", Kind.WORD, last, token.end))
    return found


def join_scales(tokens: list[Token], language: str) -> list[Token]:
    """ "2k", "2M" and "2 million" are numbers; only then comes their unit."""
    scales = number_words(language)[1]
    found: list[Token] = []
    for token in tokens:
        last = found[-1] if found else None
        scale = None
        if last is not None and last.kind is Kind.NUMBER and last.term.startswith("n:"):
            glued = token.start == last.end
            scale = _LETTERS.get(token.text) if glued else scales.get(token.word)
        if last is None or scale is None or scale < 1_000:
            found.append(token)
            continue
        term = number_term(Decimal(last.term[2:]) * scale)
        found[-1] = join([last, token], Kind.NUMBER, term, term)
    return found
