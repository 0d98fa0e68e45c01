"""Whether a text speaks of somebody else: it does not answer what the owner asks about themself."""

from __future__ import annotations

import re
from collections.abc import Set
from functools import lru_cache

from commonplace.language.compare.statement import ParsedStatement, parse_statement
from commonplace.language.compare.tokens import OWNER_TERM, CompareTokenKind
from commonplace.language.text.detect import question_words, statement_language
from commonplace.language.text.normalise import split_words
from commonplace.language.text.sentences import split_sentences
from commonplace.language.text.terms import analyse

_LONGEST = 300  # characters of a text that is read as a statement
_POSSESSIVE = re.compile(r"\b([A-Z][\w-]{1,30})['’]s ([\w-]{1,30}(?: [\w-]{1,30}){0,2})")


@lru_cache(maxsize=4096)
def speaks_of_another(text: str, asked: frozenset[str] = frozenset()) -> bool:
    """In the owner's words or the engine's: every statement is about another person, such as "my
    sister lives in Berlin" or "Eva works at SAP". ``asked``: terms of the question, which may name
    that person."""
    if len(text) > _LONGEST:
        return False
    parsed = parse_statement(text, statement_language(text, text))
    return bool(parsed.claims) and all(
        _is_another(claim.subject, parsed, asked) for claim in parsed.claims
    )


def _is_another(subject: Set[str], parsed: ParsedStatement, asked: frozenset[str]) -> bool:
    if subject == {OWNER_TERM} or not asked.isdisjoint(subject):
        return False
    names = {t.term for t in parsed.content if t.kind is CompareTokenKind.NAME}
    return OWNER_TERM in subject or not names.isdisjoint(subject)


def gives_anothers(text: str, asked: frozenset[str]) -> bool:
    """Whether it tells what is asked for of somebody else: "Kurt's boss" to "who is my boss?"."""
    return any(
        asked.isdisjoint(analyse(owner)) and not asked.isdisjoint(analyse(thing))
        for owner, thing in _POSSESSIVE.findall(text[:_LONGEST])
    )


def speaks_of_its_writer(text: str, asked: frozenset[str]) -> bool:
    """In another's words: where it has the words asked for, they speak of themself ("I live in
    Oslo") and not to the owner ("your flight is at 9")."""
    sentences = split_sentences(text)
    telling = [each for each in sentences if not asked.isdisjoint(analyse(each))]
    return all(map(_is_of_writer, telling)) if telling else _is_of_writer(text)


def _is_of_writer(text: str) -> bool:
    words = frozenset(split_words(text))
    return not words.isdisjoint(question_words("self")) and words.isdisjoint(question_words("you"))
