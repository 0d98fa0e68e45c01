"""The rules by which a clause is worth keeping, read from english.toml and hebrew.toml."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from commonplace.language.observing.patterns import data, filled
from commonplace.model.kinds import Kind


@dataclass(frozen=True, slots=True)
class StatementRule:
    """A clause that `match` fits at its start, and in which `unless` is not found, is kept."""

    name: str
    match: re.Pattern[str]
    unless: re.Pattern[str] | None
    kind: Kind
    facet: str
    category: str | None  # None: derived from the words
    confidence: float
    importance: int


@cache
def rules_of(language: str) -> tuple[StatementRule, ...]:
    read = data(language)
    return tuple(_rule(each, read["words"]) for each in read["rule"])


def _rule(entry: Mapping[str, Any], words: Mapping[str, str]) -> StatementRule:
    unless = entry.get("unless")
    return StatementRule(
        name=entry["name"],
        match=re.compile(filled(entry["match"], words), re.IGNORECASE),
        unless=re.compile(filled(unless, words), re.IGNORECASE) if unless else None,
        kind=Kind(entry.get("kind", "fact")),
        facet=entry.get("facet", "fact"),
        category=entry.get("category"),
        confidence=entry.get("confidence", 0.8),
        importance=entry.get("importance", 2),
    )


def rule_for(clause: str, language: str) -> StatementRule | None:
    """The first rule that a clause fits."""
    for rule in rules_of(language):
        if rule.match.match(clause) and not (rule.unless and rule.unless.search(clause)):
            return rule
    return None
