"""Titles before a name: left out, they make no other person; another one does."""

from functools import cache

from commonplace.language.statements.lexicon import data, word_list
from commonplace.language.statements.token import Kind, Token

TITLE = "title:"


@cache
def _titles() -> dict[str, str]:
    """Each title with what it is compared by: "Dr." and "Doctor" are one."""
    lists = data("single")["any"]
    found = {word: word for word in word_list(lists["titles"])}
    for row in lists["same_titles"]:
        words = word_list(row)
        found.update(dict.fromkeys(words, words[0]))
    return found


def title_term(tokens: list[Token], at: int, language: str) -> str:
    """The term of a title that stands before a name, else nothing."""
    title = _titles().get(tokens[at].word)
    named = tokens[at + 1] if at + 1 < len(tokens) else None
    if title is None or named is None or named.kind not in (Kind.WORD, Kind.NAME):
        return ""
    has_capitals = language not in ("he", "ar")
    if has_capitals and not named.text[:1].isupper():
        return ""
    return "" if named.role else TITLE + title
