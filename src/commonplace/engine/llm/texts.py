"""Texts that a language model writes: summaries, descriptions, insights, storylines, macros.

Each is checked against the texts that it was made from; None means that there is no usable answer,
and what the rules made stays. Call them in the read session in which the texts were read (see
`ask_model`); only texts of one user may be given, and none that reads like instructions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from commonplace.engine.context import EngineContext
from commonplace.engine.llm.model_calls import ModelOutcome, ModelReply, ask_model, count_findings
from commonplace.engine.llm.text_checks import (
    DESCRIPTION,
    INSIGHT,
    MACRO,
    STORYLINE,
    SUMMARY,
    GivenTexts,
    TextStyle,
    ground_keywords,
    ground_tags,
    ground_text,
    ground_title,
)
from commonplace.language.llm.prompts import Prompt, as_data, load_prompt
from commonplace.model.access.principal import Scope

MAX_GIVEN = 12_000  # characters of a source; of a longer one, its beginning and its end
OPENING_SHARE = 2 / 3
MIN_KEYWORDS, MAX_KEYWORDS = 3, 10
MAX_TAGS = 5
MAX_KNOWN, MAX_KNOWN_TEXT = 20, 300  # sentences about a node, and characters of each
MAX_ACTIVITIES, MAX_FACTS, MAX_INSIGHT_INPUT = 5, 3, 1_000
MAX_INSIGHTS, MAX_INSIGHT_TAGS = 3, 3
MAX_SUMMARIES = 20
STORYLINE_NAME, MACRO_NAME = "{} – storyline", "{} – macro"


@dataclass(frozen=True, slots=True)
class GivenTurn:
    """A passage, as a model is given it."""

    text: str
    by: str  # owner, assistant, or a name
    on: date


@dataclass(frozen=True, slots=True)
class WrittenSummary:
    summary: str
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    title: str = ""  # empty: the source keeps its own


@dataclass(frozen=True, slots=True)
class SummaryReply:
    outcome: ModelOutcome
    written: WrittenSummary | None  # None: no usable answer
    model: str = ""


@dataclass(frozen=True, slots=True)
class WrittenInsight:
    text: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DatedSummary:
    """A summary, with the days that it is about."""

    text: str
    start: date
    end: date | None = None  # None: the same day

    @property
    def days(self) -> tuple[date, ...]:
        return (self.start, self.end) if self.end else (self.start,)

    def __str__(self) -> str:
        return f"{' to '.join(map(str, dict.fromkeys(self.days)))}: {self.text}"


@dataclass(frozen=True, slots=True)
class WrittenStory:
    """Of a storyline or a macro."""

    name: str
    text: str


def summarise(
    engine: EngineContext,
    scope: Scope,
    source: str,
    title: str,
    turns: Sequence[GivenTurn],
    *,
    share: float = 1.0,
) -> SummaryReply:
    """``turns``: the visible passages of one of the user's own sources. ``share``: of what is
    usually shown of them, if that was too long for the model."""
    room = min(MAX_GIVEN, sum(len(turn.text) for turn in turns))
    shown = _beginning_and_end(turns, int(room * share))
    if not shown:
        return SummaryReply(ModelOutcome.TOO_LONG, None)
    passages = [{"by": each.by, "at": str(each.on), "text": each.text} for each in shown]
    prompt = load_prompt("summarise")
    values = {"title": as_data(title), "passages": as_data(passages)}
    reply = ask_model(engine, scope, prompt, values, source=source)
    if not reply.has_answer:
        return SummaryReply(reply.outcome, None, reply.model)
    given = _given([title, *(f"{turn.by}: {turn.text}" for turn in shown)], [t.on for t in shown])
    written = _read_summary(reply.value, given)
    _count(engine, scope, prompt, reply, kept=int(written is not None), found=1)
    return SummaryReply(reply.outcome, written, reply.model)


def _read_summary(value: Any, given: GivenTexts) -> WrittenSummary | None:
    if not isinstance(value, Mapping):
        return None
    summary = ground_text(value.get("summary"), given, SUMMARY)
    keywords = ground_keywords(value.get("keywords"), given, MAX_KEYWORDS)
    if summary is None or len(keywords) < MIN_KEYWORDS:
        return None
    tags = ground_tags(value.get("tags"), given, MAX_TAGS)
    return WrittenSummary(summary, keywords, tags, ground_title(value.get("title"), given) or "")


def _beginning_and_end(turns: Sequence[GivenTurn], room: int) -> list[GivenTurn]:
    """As many as have room, in order."""
    opening = _until(turns, int(room * OPENING_SHARE))
    rest = turns[len(opening) :]
    ending = _until(rest[::-1], room - sum(len(turn.text) for turn in opening))
    return [*opening, *ending[::-1]]


def _until(turns: Sequence[GivenTurn], room: int) -> list[GivenTurn]:
    taken: list[GivenTurn] = []
    for turn in turns:
        room -= len(turn.text)
        if room < 0:
            break
        taken.append(turn)
    return taken


def describe_node(
    engine: EngineContext, scope: Scope, name: str, type: str, known: Sequence[str]
) -> str | None:
    """One or two sentences. ``known``: relations and notes, the most important first."""
    texts = [text[:MAX_KNOWN_TEXT] for text in known[:MAX_KNOWN]]
    if not texts:
        return None
    values = {"name": as_data(name), "type": as_data(type), "known": as_data(texts)}
    return _write(engine, scope, "describe_node", values, DESCRIPTION, _given([name, *texts]))


def write_insights(
    engine: EngineContext, scope: Scope, activities: Sequence[str], facts: Sequence[str]
) -> list[WrittenInsight] | None:
    """What follows from the activities of the last days and what became known: the newest first.
    None: the model gave no answer; an empty list: nothing follows, or nothing stood the check."""
    shown = _within([*activities[:MAX_ACTIVITIES], *facts[:MAX_FACTS]], MAX_INSIGHT_INPUT)
    listed = shown[: min(len(activities), MAX_ACTIVITIES)]
    new = shown[len(listed) :]
    if not shown:
        return None
    prompt = load_prompt("insights")
    values = {"activities": as_data(listed), "facts": as_data(new)}
    reply = ask_model(engine, scope, prompt, values)
    found = reply.value.get("insights") if isinstance(reply.value, Mapping) else None
    if not reply.has_answer or not isinstance(found, list):
        return None
    given = _given(shown)
    written = [each for one in found if (each := _read_insight(one, given)) is not None]
    kept = list({each.text: each for each in written}.values())[:MAX_INSIGHTS]
    _count(engine, scope, prompt, reply, kept=len(kept), found=len(found))
    return kept


# Addresses, roles of a conversation, and orders to who reads it.
_IS_NO_INSIGHT = re.compile(
    r"https?://|\bwww\.|^\W*\w+:|\bfrom now on\b|\b(the|an|any|every|all) (assistant|agent)s?\b"
    r"|מעכשיו|מעתה|מהיום והלאה|\bה?(עוזר|סוכן)\b",
    re.IGNORECASE,
)


def _read_insight(value: Any, given: GivenTexts) -> WrittenInsight | None:
    if not isinstance(value, Mapping):
        return None
    text = ground_text(value.get("text"), given, INSIGHT)
    if text is None or text in given.texts:  # a repetition
        return None
    if _IS_NO_INSIGHT.search(text):
        return None
    return WrittenInsight(text, ground_tags(value.get("tags"), given, MAX_INSIGHT_TAGS))


def _within(texts: Sequence[str], room: int) -> list[str]:
    """The texts, each shortened so that all fit."""
    share = room // max(1, len(texts))
    return [text if len(text) <= share else f"{text[: share - 1].rstrip()}…" for text in texts]


def write_storyline(
    engine: EngineContext, scope: Scope, name: str, summaries: Sequence[DatedSummary]
) -> WrittenStory | None:
    """Two or three sentences. ``summaries``: of the sources, the oldest first; the newest count."""
    values = {"name": as_data(name), "summaries": _as_lines(summaries)}
    return _write_story(engine, scope, ("storyline_text", STORYLINE_NAME), name, values, summaries)


def write_macro(
    engine: EngineContext, scope: Scope, name: str, storylines: Sequence[DatedSummary]
) -> WrittenStory | None:
    """Three or four sentences. ``storylines``: the oldest first; the newest count."""
    values = {"name": as_data(name), "storylines": _as_lines(storylines)}
    return _write_story(engine, scope, ("macro_text", MACRO_NAME), name, values, storylines)


_STYLE_OF_STORY: Mapping[str, TextStyle] = {"storyline_text": STORYLINE, "macro_text": MACRO}


def _write_story(
    engine: EngineContext,
    scope: Scope,
    prompt_and_name: tuple[str, str],
    about: str,
    values: Mapping[str, str],
    texts: Sequence[DatedSummary],
) -> WrittenStory | None:
    if not texts:
        return None
    prompt, title = prompt_and_name
    shown = texts[-MAX_SUMMARIES:]
    given = _given([about, *(each.text for each in shown)], [day for t in shown for day in t.days])
    text = _write(engine, scope, prompt, values, _STYLE_OF_STORY[prompt], given)
    return None if text is None else WrittenStory(title.format(about), text)


def _as_lines(texts: Sequence[DatedSummary]) -> str:
    return as_data([str(each) for each in texts[-MAX_SUMMARIES:]])


def _write(
    engine: EngineContext,
    scope: Scope,
    name: str,
    values: Mapping[str, str],
    style: TextStyle,
    given: GivenTexts,
) -> str | None:
    """The only text of an answer."""
    prompt = load_prompt(name)
    reply = ask_model(engine, scope, prompt, values)
    if not reply.has_answer or not isinstance(reply.value, Mapping):
        return None
    said = next(iter(reply.value.values()), None)
    text = ground_text(said, given, style)
    _count(engine, scope, prompt, reply, kept=int(text is not None), found=int(bool(said)))
    return text


def _given(texts: Sequence[str], days: Sequence[date] = ()) -> GivenTexts:
    return GivenTexts(tuple(text for text in texts if text), frozenset(days))


def _count(
    engine: EngineContext, scope: Scope, prompt: Prompt, reply: ModelReply, *, kept: int, found: int
) -> None:
    if reply.outcome is ModelOutcome.ANSWERED:
        count_findings(engine, scope, prompt, kept, found - kept, reply.model)
