"""Whether a passage states what was found in it, and what is called out of date.

"I live in Haifa" does not tell that somebody lives there no more. Each word of such a claim may be
in the passage: only what is asserted there decides.
"""

from __future__ import annotations

import re
from decimal import Decimal

from commonplace.language.grounding.checks.negation import polarity_of
from commonplace.language.grounding.checks.numbers import numbers_of
from commonplace.language.grounding.checks.replaced import may_replace
from commonplace.language.grounding.checks.words import content_forms
from commonplace.language.grounding.evidence import GivenEvidence, PassageEvidence, Support
from commonplace.language.grounding.items import MemoryItem
from commonplace.language.grounding.placing import PlacedQuote
from commonplace.language.grounding.values import DropReason, GroundedMemory
from commonplace.language.text.sentences import is_past
from commonplace.language.text.terms import analyse
from commonplace.model.memory.kinds import POLICIES

_CLAUSE_END = re.compile(r"[,;:.!?()\n]+(?:\s|$)|\s[–—-]+\s")
_QUOTE_START = 20  # characters by which a quote is found in its passage
_BEFORE_RULE = 80
_CLAUSE = re.compile(r"[^,.;!?？؟\n–—]+[?？؟]?")
_SENTENCE_END = re.compile(r"[.!?\n]")
_OPENER = r"\s*(?:(?:and|but|so|ok|hey|lol|אז|ו) )?"
_SUPPOSES = re.compile(
    _OPENER + r"(?:imagine|suppose|supposing|pretend|what if|if only|hypothetically|let['’]?s say"
    r"|i wish|if (?:i|we|he|she|they|it|you|u) |נניח|תאר לעצמך|תארי לעצמך|הלוואי"
    r"|אם (?:אני|היה|הייתי) )",
    re.IGNORECASE,
)
_ASKS = re.compile(
    _OPENER + r"(?:(?:do|does|did|should|would|is|are|am|was|were|will|what|why|how|when|where|who"
    r"|which)\b|(?:האם|למה|איך|מתי|איפה|מה|מי) )",
    re.IGNORECASE,
)
_REPORTS = re.compile(
    r"\b(?:told (?:me|us|him|her|them)|says?|said|tells|writes?|wrote)\b"
    r"|(?<![א-ת])(?:אמר|אמרה|כתב|כתבה)",
    re.IGNORECASE,
)
_KEYS = re.compile(r"k\d+(?:\s*(?:,|and)\s*k\d+)*", re.IGNORECASE)
_OF_THE_USER = frozenset(analyse("the user's user I my me המשתמש המשתמשת der Nutzer el usuario"))


def implausible(found: GroundedMemory, text: str) -> DropReason | None:
    """Why it is dropped. ``text``: of its passage."""
    if not states(text, found):
        return DropReason.NOT_STATED
    if found.corrects and asserts(text, found.corrects, found.candidate.content):
        return DropReason.NEGATED
    if found.ended and not _tells_an_end(text):
        return DropReason.NEGATED
    return None


def states(text: str, found: GroundedMemory) -> bool:
    """Whether the clause of the quote is neither asked nor supposed; a rule may be asked for ("can
    you keep it short?"), but not be what somebody else ordered."""
    start = text.casefold().find(found.candidate.trigger.casefold()[:_QUOTE_START])
    if start < 0:
        return True
    if POLICIES[found.candidate.kind].is_standing_instruction:
        sentence = _SENTENCE_END.split(text[max(0, start - _BEFORE_RULE) : start])[-1]
        return _REPORTS.search(sentence) is None
    clause = next((m[0] for m in _CLAUSE.finditer(text) if m.start() <= start < m.end()), "")
    is_asked = clause.endswith(("?", "？", "؟")) and _ASKS.match(clause) is not None
    return not is_asked and _SUPPOSES.match(clause) is None


def asserts(text: str, claim: str, instead: str) -> bool:
    """Whether one clause of the text has all words of the claim, and denies nothing. With the
    number that holds ``instead`` it tells of a change: "goes from 1,450 to 1,500"."""
    wanted, new = _terms(claim), _numbers(instead) - _numbers(claim)
    return bool(wanted) and any(
        wanted <= _terms(clause)
        and not polarity_of(clause).has_denial
        and not (_numbers(claim) and new & _numbers(clause))
        for clause in _CLAUSE_END.split(text)
        if clause
    )


def _numbers(text: str) -> frozenset[Decimal]:
    return numbers_of(text, "en").values


def _tells_an_end(text: str) -> bool:
    return polarity_of(text).has_denial or any(map(is_past, _CLAUSE_END.split(text)))


def _terms(text: str) -> frozenset[str]:
    return frozenset(analyse(text)) - _OF_THE_USER


def keys_of_corrected(item: MemoryItem, evidence: GivenEvidence) -> tuple[str, ...]:
    """ "k2", "k2, k5"; empty where it is said in words."""
    if not _KEYS.fullmatch(item.corrects.strip()):
        return ()
    keys = re.findall(r"k\d+", item.corrects.casefold())
    return tuple(key for key in dict.fromkeys(keys) if key in evidence.known)


def partly_right(item: MemoryItem, evidence: GivenEvidence) -> list[PassageEvidence]:
    """What a statement corrects may still be right in part: its numbers, days and values may stand
    in the new one."""
    return [evidence.statements[key] for key in keys_of_corrected(item, evidence)]


def may_correct(item: MemoryItem, corrects: str, place: PlacedQuote, support: Support) -> bool:
    """Whether the item is about the same, and tells of a change or of another value."""
    if not corrects:
        return False
    language = support.language_of(item.text)
    own = place.passage.terms | content_forms(f"{item.text} {item.subject}", language)
    about = content_forms(corrects, language)
    return not own.isdisjoint(about) and may_replace(corrects, item.text, place.sentence)
