"""Source descriptions without a model: summary, keywords, tags, context type.

The context type of mail and Slack follows from their format. For others, the first matching rule
decides.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from math import log, sqrt

from commonplace.language.fields.categories import categorise
from commonplace.language.text.sentences import split_sentences, summarise
from commonplace.language.text.terms import analyse, extract_keywords
from commonplace.model.sources.source import (
    ContentType,
    ContextType,
    ParsedSource,
    SourceTurn,
    SpeakerRole,
)

_HE = r"(?<![א-ת])[ובהלמש]?"
_END = r"(?![א-ת])"


@dataclass(frozen=True, slots=True)
class ContextTypeRule:
    purpose: ContextType
    patterns: tuple[str, ...]
    only_notes: bool = False  # the rule does not apply to conversations


CONTEXT_TYPE_RULES = (
    ContextTypeRule(
        ContextType.PHONE_CALL,
        (
            r"\b(?:phone|telephone) (?:call|conversation)\b|\bcall with\b",
            r"\bthanks for (?:calling|taking (?:my|the|this) call)\b|\bvoice ?mail\b",
            rf"{_HE}שיחת טלפון{_END}|{_HE}שיחה טלפונית{_END}",
        ),
    ),
    ContextTypeRule(
        ContextType.BRAINSTORMING,
        (
            r"\bbrain ?storm(?:ing|ed)?\b|\bideation\b|\bthrow(?:ing)? (?:some )?ideas around\b",
            rf"{_HE}סיעור מוחות{_END}",
        ),
    ),
    ContextTypeRule(
        ContextType.PLANNING,
        (
            r"\b(?:sprint|release|quarterly|project|trip|capacity|event|wedding) planning\b",
            r"\bplanning (?:session|meeting|for)\b|\broad ?map\b|\bmilestones?\b|\bitinerary\b",
            r"\b(?:our|the|my) plan (?:for|is)\b|^plan\b",
            rf"{_HE}(?:תכנון|תכנית עבודה|תוכנית עבודה|לוח זמנים){_END}",
        ),
    ),
    ContextTypeRule(
        ContextType.TEAM_MEETING,
        (
            r"\bstand-?up\b|\bretro(?:spective)?\b|\ball[- ]hands\b|\bone[- ]on[- ]one\b|\b1:1\b",
            r"\b(?:team|weekly|staff|board|status) (?:meeting|sync|call)\b|\bkick-?off\b",
            r"\bmeeting (?:notes|minutes)\b|\bminutes of\b|\baction items\b|\bagenda\b",
            rf"{_HE}(?:ישיבת|ישיבה|פגישת צוות|סיכום פגישה|פגישת עבודה|סדר יום){_END}",
        ),
    ),
    ContextTypeRule(
        ContextType.PERSONAL_REFLECTION,
        (
            r"\bdear diary\b|\bdiary\b|\bjournal(?:l?ing)?\b|\bgrateful for\b|\btherapy\b",
            r"\bi (?:feel|felt|have been feeling|realised|realized|wonder)\b|\bmy feelings\b",
            rf"{_HE}יומן(?: אישי)?{_END}|{_HE}(?:הרגשתי|אני מרגיש|אני מרגישה|הבנתי על עצמי){_END}",
        ),
        only_notes=True,
    ),
    ContextTypeRule(
        ContextType.WORK_SESSION,
        (
            r"\b(?:refactor|debug|deploy|pull request|code review|bug|spreadsheet|draft)\w*\b",
            rf"{_HE}(?:קוד|באג|טיוטה|מצגת|אקסל){_END}",
        ),
    ),
)
_COMPILED_RULES = tuple(
    (rule, re.compile("|".join(rule.patterns), re.M)) for rule in CONTEXT_TYPE_RULES
)

# By content type: fixed, and the default if no rule matches.
_BY_FORM = {
    ContentType.EMAIL: ContextType.EMAIL_THREAD,
    ContentType.SLACK_THREAD: ContextType.SLACK_DISCUSSION,
}
_BY_DEFAULT = {ContentType.MEETING: ContextType.TEAM_MEETING}

_OPENING = 2_000  # characters; the purpose is usually stated early


def context_type_of(reading: ParsedSource) -> ContextType | None:
    """The parsed type, else the content type's, else that of the first matching rule."""
    declared = reading.context_type or _BY_FORM.get(reading.content_type)
    if declared is not None:
        return declared
    for text in (reading.title or "", _opening(reading)):
        found = _by_rules(text.casefold(), reading.content_type is ContentType.TEXT_NOTE)
        if found is not None:
            return found
    return _BY_DEFAULT.get(reading.content_type)


def _by_rules(text: str, is_note: bool) -> ContextType | None:
    fitting = (rule for rule, pattern in _COMPILED_RULES if pattern.search(text))
    return next((rule.purpose for rule in fitting if is_note or not rule.only_notes), None)


def _opening(reading: ParsedSource) -> str:
    opening = ""
    for turn in reading.turns:
        opening += turn.text + "\n"
        if len(opening) >= _OPENING:
            break
    return opening[:_OPENING]


SUMMARY_LENGTH = 300  # characters
KEYWORDS = 10
TAGS = 5

_CANDIDATES = 120  # words considered as keywords
_MAX_TEXT = 50_000  # characters; a longer text is described by its beginning
_MOST_SENTENCES = 2
_FEWEST_TERMS = 3  # fewer: a greeting or a yes
_LONGEST = 200  # characters of a sentence, so that two fit
_SMOOTHING_TERMS = 4  # terms; without it, the shortest sentences would always win
_ASKS = 0.7
_REPLYING = (SpeakerRole.ASSISTANT, SpeakerRole.TOOL, SpeakerRole.SYSTEM)
_EARLY = 1.3  # factor for early sentences, which often state the topic


@dataclass(frozen=True, slots=True)
class SourceDescription:
    summary: str
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    context_type: ContextType | None


@dataclass(frozen=True, slots=True)
class _SummarySentence:
    place: int
    shown: str
    terms: frozenset[str]  # without small talk


def describe(reading: ParsedSource) -> SourceDescription:
    reading = replace(reading, turns=_beginning(reading))
    text = "\n".join(turn.text for turn in reading.turns)
    summary, found = _summary(reading, text), _keywords(reading, text)
    return SourceDescription(
        summary=summary,
        keywords=found,
        tags=_tags(reading, summary, found),
        context_type=context_type_of(reading),
    )


def _beginning(reading: ParsedSource) -> tuple[SourceTurn, ...]:
    """The turns up to the maximum length."""
    turns: list[SourceTurn] = []
    room = _MAX_TEXT
    for turn in reading.turns:
        if room <= 0:
            break
        turns.append(replace(turn, text=turn.text[:room]))
        room -= len(turn.text)
    return tuple(turns)


def _summary(reading: ParsedSource, text: str) -> str:
    """A short text itself, else the one or two sentences that share most terms with the rest."""
    found = list(_sentences(reading))
    whole = " ".join(one.shown for one in found)
    if len(found) <= _MOST_SENTENCES and len(whole) <= SUMMARY_LENGTH:
        return whole
    counts = Counter(term for one in found for term in one.terms)
    assertion = [one for one in found if _is_informative(one)]
    ranked = sorted(assertion, key=lambda one: -_weight(one, counts, len(found)))
    if not ranked:
        return summarise(text, SUMMARY_LENGTH) if text else ""
    best = ranked[0]
    others = [one for one in ranked[1:] if _adds_to(best, one)][: _MOST_SENTENCES - 1]
    chosen = sorted([best, *others], key=lambda one: one.place)
    return _within_length(" ".join(one.shown for one in chosen), best.shown)


def _is_informative(sentence: _SummarySentence) -> bool:
    return len(sentence.terms) >= _FEWEST_TERMS and len(sentence.shown) <= _LONGEST


def _within_length(both: str, best: str) -> str:
    """Both sentences if they fit, else the better one, truncated if necessary."""
    if len(both) <= SUMMARY_LENGTH:
        return both
    return best if len(best) <= SUMMARY_LENGTH else summarise(best, SUMMARY_LENGTH)


def _adds_to(best: _SummarySentence, other: _SummarySentence) -> bool:
    """True if both fit and at least half of the other sentence's terms are new."""
    fits = len(best.shown) + len(other.shown) < SUMMARY_LENGTH
    return fits and 2 * len(other.terms & best.terms) <= len(other.terms)


def _weight(sentence: _SummarySentence, counts: Counter[str], total: int) -> float:
    """The frequency of its terms in the text; early sentences gain, questions lose."""
    shared = sum(log(counts[term]) for term in sentence.terms)
    early = _EARLY if sentence.place < max(3, total // 10) else 1.0
    asks = _ASKS if sentence.shown.endswith("?") else 1.0
    return early * asks * (shared + 1) / sqrt(len(sentence.terms) + _SMOOTHING_TERMS)


def _sentences(reading: ParsedSource) -> Iterator[_SummarySentence]:
    """The sentences in order, prefixed with the speaker if there are several. An assistant's
    replies are left out where anybody else says something."""
    turns = [turn for turn in reading.turns if turn.role not in _REPLYING] or reading.turns
    several = len({turn.speaker for turn in turns}) > 1
    little = _small_talk() | frozenset(analyse(" ".join(reading.participants)))
    place = 0
    for turn in turns:
        for text in split_sentences(turn.text):
            shown = f"{turn.speaker}: {text}" if several and turn.speaker else text
            yield _SummarySentence(place, shown, frozenset(analyse(text)) - little)
            place += 1


def _keywords(reading: ParsedSource, text: str) -> tuple[str, ...]:
    """The most frequent words, without the participants' names."""
    names = frozenset(analyse(" ".join(reading.participants)))
    return _distinct(extract_keywords(text, _CANDIDATES), KEYWORDS, names | _small_talk())


def _distinct(
    words: Iterable[str], most: int, but: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    """The first word of each term, in order."""
    seen = set(but)
    distinct: list[str] = []
    for word in words:
        if len(distinct) == most:
            break
        terms = set(analyse(word)) or {word}
        if not terms <= seen:
            distinct.append(word)
        seen |= terms
    return tuple(distinct)


@cache
def _small_talk() -> frozenset[str]:
    """The terms of small_talk.txt."""
    file = resources.files(__package__).joinpath("small_talk.txt")
    lines = file.read_text(encoding="utf-8").splitlines()
    listed = " ".join(line for line in lines if not line.startswith(("#", "[")))
    return frozenset(analyse(listed, "en"))


def _tags(reading: ParsedSource, summary: str, found: tuple[str, ...]) -> tuple[str, ...]:
    """Coarser than keywords: category, channel, words of the title, most frequent words."""
    title = reading.title or ""
    channel = reading.provenance.get("channel")
    category = categorise(f"{title}\n{summary}")
    candidates = (
        *([category] if category else []),
        *([channel.casefold()] if isinstance(channel, str) else []),
        *_distinct(extract_keywords(title), 2, _small_talk()),
        *found,
    )
    return _distinct(candidates, TAGS)
