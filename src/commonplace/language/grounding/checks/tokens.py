"""Tokens of texts of any length, as statements are compared by."""

from functools import lru_cache

from commonplace.language.compare.tokenizer import MAX_CHARACTERS, tokenize
from commonplace.language.compare.tokens import CompareToken


@lru_cache(maxsize=64)  # the passages around the findings of one answer
def tokens_of(text: str, language: str) -> tuple[CompareToken, ...]:
    pieces = range(0, len(text), MAX_CHARACTERS)
    return tuple(
        token
        for start in pieces
        for token in tokenize(text[start : start + MAX_CHARACTERS], language)
    )
