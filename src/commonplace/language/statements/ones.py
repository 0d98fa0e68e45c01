"""Articles that count: beside "two approvals", "una aprobación" is one."""

from dataclasses import replace

from commonplace.language.statements.parse import Parsed
from commonplace.language.statements.slots import words_of
from commonplace.language.statements.token import Kind, Token

_ALIKE = 4  # letters in which singular and plural agree


def counting_one(old: Parsed, new: Parsed) -> tuple[Parsed, Parsed]:
    """Both texts; where the one counts what the other has an article for, the article counts."""
    counts = old.counted, new.counted
    if len(counts[0]) == len(counts[1]):
        return old, new
    if len(counts[0]) > len(counts[1]):
        return old, _with_one(new, counts[0])
    return _with_one(old, counts[1]), new


def _with_one(parsed: Parsed, counted: tuple[str, ...]) -> Parsed:
    ones = words_of(parsed.language, "ones")
    found: list[Token] = []
    for at, token in enumerate(parsed.tokens):
        following = parsed.tokens[at + 1].word if at + 1 < len(parsed.tokens) else ""
        if token.word in ones and not token.term and _among(following, counted):
            token = token.but(kind=Kind.NUMBER, role="", term="n:1", bare="n:1")
        found.append(token)
    if found == list(parsed.tokens):
        return parsed
    content = tuple(t for t in found if t.term and t.term[0] not in "~¬")
    return replace(parsed, tokens=tuple(found), content=content)


def _among(word: str, counted: tuple[str, ...]) -> bool:
    """The same thing, in the singular or the plural."""
    shortest = min(_ALIKE, len(word))
    return shortest > 2 and any(other[:shortest] == word[:shortest] for other in counted)
