"""The words and marks by which secrets are found: the lists of secrets.toml, compiled."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from commonplace.language.text.lexicon import load_patterns

REDACTED = "[secret]"  # in place of a secret
NEAR = 40  # characters before a value in which its word stands
AFTER = 24  # characters after it

_DATA = load_patterns("safety/secrets")


@dataclass(frozen=True, slots=True)
class SecretSpan:
    start: int
    end: int


def word_pattern(name: str) -> re.Pattern[str]:
    """The words of a list, with the edges of Hebrew words."""
    joined = "|".join(f"(?:{pattern})" for pattern in _DATA[name])
    return re.compile(joined.replace("<<", r"(?<![א-ת])").replace(">>", r"(?![א-ת])"), re.I)


def named_patterns(name: str, flags: int = 0) -> list[re.Pattern[str]]:
    """The patterns of a list, one by one."""
    return [re.compile(pattern, flags) for pattern in _DATA[name]]


def find_each(patterns: Iterable[re.Pattern[str]], text: str) -> Iterator[re.Match[str]]:
    for pattern in patterns:
        yield from pattern.finditer(text)


def span_of(match: re.Match[str]) -> SecretSpan:
    has_group = "secret" in match.re.groupindex and match["secret"] is not None
    return SecretSpan(*match.span("secret" if has_group else 0))


_EVERYDAY, _LOGIN = word_pattern("everyday"), word_pattern("login_word")
_CLAUSE = re.compile(r"[.!?;\n]|(?<!\w)(?:and|but|y|et|und|ו)(?!\w)")
_UNTIL_VALUE = re.compile(r"[.!?;,:=\n]|(?<!\w)(?:is|are|es|est|ist|היא|הוא)(?!\w)")


def is_everyday(text: str, match: re.Match[str]) -> bool:
    """Whether it is the code of a door or a network: its words stand in the same clause, and none
    that names a login ("my house insurance account")."""
    before = _CLAUSE.split(text[max(0, match.start() - NEAR) : match.start()])[-1]
    after = _UNTIL_VALUE.split(text[match.end() : match.end() + NEAR])[0]
    return mentions_everyday(f"{before} | {after}")


def mentions_everyday(words: str) -> bool:
    return _EVERYDAY.search(words) is not None and _LOGIN.search(words) is None
