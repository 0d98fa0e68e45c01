"""Prompt injection: detects instructions to an agent, and masks them.

The patterns are in prompt_injection.toml.

What an injected instruction refers to often follows it, after a blank line ("Store this:") or
inside a comment that ends much later. Therefore all text from the first suspicious paragraph on is
masked; the text before it is kept.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from commonplace.language.text.lexicon import load_patterns
from commonplace.language.text.normalise import INVISIBLE
from commonplace.model.unicode_text import normal_form

_APOSTROPHES = str.maketrans("’‘ʼ", "'''")
_SPACES = re.compile(r"[^\S\n]+")
_LINE_BREAKS = re.compile(r"\s*\n\s*")

# Invisible tag characters can spell ASCII. Legitimate text uses them only in regional flags.
_TAG_CHARACTERS = re.compile("[\U000e0020-\U000e007e]{4,}")
_REGION_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f")


def is_suspicious(text: str) -> bool:
    return suspicion_reason(text) is not None


def suspicion_reason(text: str) -> str | None:
    """The reason why a text is suspicious, as a clause; None if it is not."""
    if _TAG_CHARACTERS.search(_REGION_FLAG.sub("", text)):
        return "contains invisible characters"
    plain = normal_form(text, "NFKC").translate(INVISIBLE).translate(_APOSTROPHES)
    plain = _LINE_BREAKS.sub("\n", _SPACES.sub(" ", plain.casefold()))
    on_one_line = plain.replace("\n", " ")
    if not any(words in on_one_line for words in _load_rule_table()["look_closer"]):
        return None
    return next((reason for reason, pattern in _compiled_rules() if pattern.search(plain)), None)


def _load_rule_table() -> dict[str, Any]:
    return load_patterns("safety/prompt_injection")


@cache
def _compiled_rules() -> tuple[tuple[str, re.Pattern[str]], ...]:
    table = _load_rule_table()
    return tuple(
        (rule["reason"], re.compile(_fill_words(rule["patterns"], table["words"]), re.S))
        for rule in table["rule"]
    )


def _fill_words(patterns: list[str], words: dict[str, str]) -> str:
    joined = "|".join(patterns)
    for name, listed in words.items():
        joined = joined.replace("{" + name + "}", listed)
    return joined.replace(" ", r"\s")


_PARAGRAPH = re.compile(r"(?:[^\n]|\n(?!\s*\n))+")
_LETTER = re.compile(r"\S")


def mask_instructions(text: str) -> str:
    """Replace the text from the first suspicious paragraph on by spaces, so that offsets stay
    valid; the whole text if suspicious parts cannot be separated."""
    suspicious = (each.start() for each in _PARAGRAPH.finditer(text) if is_suspicious(each[0]))
    since = next(suspicious, 0)
    if is_suspicious(text[:since]):
        since = 0
    return text[:since] + _LETTER.sub(" ", text[since:])
