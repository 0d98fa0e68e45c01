"""What a source was for (its context_type), by readable rules over title and opening.

Mail and Slack say it by their form. The others are asked rule by rule; the first that fits wins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from commonplace.model.source import ContentType, ContextType, Reading

_HE = r"(?<![א-ת])[ובהלמש]?"
_END = r"(?![א-ת])"


@dataclass(frozen=True, slots=True)
class Rule:
    purpose: ContextType
    patterns: tuple[str, ...]
    only_notes: bool = False  # two friends who tell what they feel do not reflect, they talk


RULES = (
    Rule(
        ContextType.PHONE_CALL,
        (
            r"\b(?:phone|telephone) (?:call|conversation)\b|\bcall with\b",
            r"\bthanks for (?:calling|taking (?:my|the|this) call)\b|\bvoice ?mail\b",
            rf"{_HE}שיחת טלפון{_END}|{_HE}שיחה טלפונית{_END}",
        ),
    ),
    Rule(
        ContextType.BRAINSTORMING,
        (
            r"\bbrain ?storm(?:ing|ed)?\b|\bideation\b|\bthrow(?:ing)? (?:some )?ideas around\b",
            rf"{_HE}סיעור מוחות{_END}",
        ),
    ),
    Rule(
        ContextType.PLANNING,
        (
            r"\b(?:sprint|release|quarterly|project|trip|capacity|event|wedding) planning\b",
            r"\bplanning (?:session|meeting|for)\b|\broad ?map\b|\bmilestones?\b|\bitinerary\b",
            r"\b(?:our|the|my) plan (?:for|is)\b|^plan\b",
            rf"{_HE}(?:תכנון|תכנית עבודה|תוכנית עבודה|לוח זמנים){_END}",
        ),
    ),
    Rule(
        ContextType.TEAM_MEETING,
        (
            r"\bstand-?up\b|\bretro(?:spective)?\b|\ball[- ]hands\b|\bone[- ]on[- ]one\b|\b1:1\b",
            r"\b(?:team|weekly|staff|board|status) (?:meeting|sync|call)\b|\bkick-?off\b",
            r"\bmeeting (?:notes|minutes)\b|\bminutes of\b|\baction items\b|\bagenda\b",
            rf"{_HE}(?:ישיבת|ישיבה|פגישת צוות|סיכום פגישה|פגישת עבודה|סדר יום){_END}",
        ),
    ),
    Rule(
        ContextType.PERSONAL_REFLECTION,
        (
            r"\bdear diary\b|\bdiary\b|\bjournal(?:l?ing)?\b|\bgrateful for\b|\btherapy\b",
            r"\bi (?:feel|felt|have been feeling|realised|realized|wonder)\b|\bmy feelings\b",
            rf"{_HE}יומן(?: אישי)?{_END}|{_HE}(?:הרגשתי|אני מרגיש|אני מרגישה|הבנתי על עצמי){_END}",
        ),
        only_notes=True,
    ),
    Rule(
        ContextType.WORK_SESSION,
        (
            r"\b(?:refactor|debug|deploy|pull request|code review|bug|spreadsheet|draft)\w*\b",
            rf"{_HE}(?:קוד|באג|טיוטה|מצגת|אקסל){_END}",
        ),
    ),
)
_COMPILED = tuple((rule, re.compile("|".join(rule.patterns), re.M)) for rule in RULES)

# What a form says by itself, and what it is when no rule says more.
_BY_FORM = {
    ContentType.EMAIL: ContextType.EMAIL_THREAD,
    ContentType.SLACK_THREAD: ContextType.SLACK_DISCUSSION,
}
_OTHERWISE = {ContentType.MEETING: ContextType.TEAM_MEETING}

_OPENING = 2_000  # characters: what something is for is said early


def purpose_of(reading: Reading) -> ContextType | None:
    """The reading's own word, else what its form says, else the first rule that fits."""
    said = reading.context_type or _BY_FORM.get(reading.content_type)
    if said is not None:
        return said
    for text in (reading.title or "", _opening(reading)):
        found = _by_rules(text.casefold(), reading.content_type is ContentType.TEXT_NOTE)
        if found is not None:
            return found
    return _OTHERWISE.get(reading.content_type)


def _by_rules(text: str, is_note: bool) -> ContextType | None:
    fitting = (rule for rule, pattern in _COMPILED if pattern.search(text))
    return next((rule.purpose for rule in fitting if is_note or not rule.only_notes), None)


def _opening(reading: Reading) -> str:
    opening = ""
    for turn in reading.turns:
        opening += turn.text + "\n"
        if len(opening) >= _OPENING:
            break
    return opening[:_OPENING]
