"""Questions that a certain kind of memory answers: "where do I live?" asks for the city of the
profile, "how should you write to me?" for rules."""

from __future__ import annotations

import re
from functools import cache

from commonplace.language.text.lexicon import load_patterns
from commonplace.language.text.normalise import fold

MAX_LENGTH = 200  # characters; a longer message is not such a question


def find_asked_fields(question: str) -> tuple[str, ...]:
    """The names of the profile fields that a question asks for."""
    if len(question) > MAX_LENGTH:
        return ()
    text = fold(question.replace("'", " ").replace("’", " "))
    return tuple(name for name, pattern in _patterns() if pattern.search(text))


def asks_for_rules(question: str) -> bool:
    """Whether it asks how the assistant should answer or act."""
    if len(question) > MAX_LENGTH:
        return False
    text = fold(question.replace("'", "").replace("’", ""))
    return any(pattern.search(text) for pattern in _rule_patterns())


@cache
def _rule_patterns() -> tuple[re.Pattern[str], ...]:
    forms = load_patterns("query/instruction_questions")
    return tuple(re.compile("|".join(each)) for each in forms.values())


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    fields = load_patterns("query/profile_questions")
    return tuple((name, re.compile("|".join(forms))) for name, forms in fields.items())
