"""Grounded memories: an item with its passage becomes a memory candidate, or is dropped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from commonplace.language.extract.facts.memory_candidates import source_confidence
from commonplace.language.extract.people.participants import parse_participant
from commonplace.language.fields.categories import categorise
from commonplace.language.fields.writing_policy import MAX_CHARACTERS
from commonplace.language.grounding.borrowed import is_only_borrowed
from commonplace.language.grounding.checks.certainty import is_supposed
from commonplace.language.grounding.checks.names import is_named, name_words
from commonplace.language.grounding.checks.negation import is_opposite, polarity_of
from commonplace.language.grounding.checks.numbers import unknown_numbers
from commonplace.language.grounding.checks.relation_cues import gives_role_of_another
from commonplace.language.grounding.checks.time_names import named_times
from commonplace.language.grounding.checks.words import content_words
from commonplace.language.grounding.evidence import (
    GivenEvidence,
    PassageEvidence,
    Support,
)
from commonplace.language.grounding.items import MemoryItem
from commonplace.language.grounding.placing import (
    PlacedQuote,
    Rejected,
    clause_with,
    is_swapped,
)
from commonplace.language.grounding.plausible import keys_of_corrected, may_correct, partly_right
from commonplace.language.grounding.times import (
    ResolvedTime,
    looks_ahead,
    names_weekdays_only,
    resolve_time,
    write_time,
)
from commonplace.language.grounding.values import DropReason, GroundedMemory, SpokenBy
from commonplace.language.observe.detectors import GOALS_FIELD, shorten_goal
from commonplace.language.observe.turn import to_hearsay
from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.language.safety.secret_words import REDACTED
from commonplace.language.safety.secrets import secret_values
from commonplace.language.safety.sensitive import guard_secrets, mark_sensitive
from commonplace.language.text.sentences import is_past
from commonplace.model.memory.candidate import MemoryCandidate
from commonplace.model.memory.kinds import Kind
from commonplace.model.sources.source import SourceType

CONFIDENCE = 0.8
_KINDS = {
    "fact": Kind.FACT,
    "preference": Kind.FACT,
    "plan": Kind.FACT,
    "event": Kind.EVENT,
    "contact": Kind.CONTACT,
    "value": Kind.KV,
    "rule": Kind.RULE,
}
_CATEGORIES = {
    "preference": "preferences",
    "event": "event",
    "contact": "relationships",
    "rule": "constraints",
}
_LEAST_IMPORTANCE = {"contact": 3, "value": 3, "rule": 4}
# Where the owner speaks to an assistant; an order in a mail is for its reader.
_RULE_SOURCES = frozenset((SourceType.CHAT, SourceType.VOICE_MEMO))
PROFILE_FIELDS = {
    "preferred_name": "preferred_name",
    "pronouns": "pronouns",
    "city": "city",
    "language": "language",
    "tone": "tone",
    "goal": GOALS_FIELD,
}
_ABOUT_THE_READER = re.compile(
    r"\b(?:I|me|my|mine|we|us|our|ours|myself)\b|\bthe user\b"
    r"|(?<![א-ת])(?:אני|אנחנו|שלי|שלנו|לי|לנו)(?![א-ת])|[הל]?משתמש",
    re.IGNORECASE,
)
_AHEAD = frozenset(("plan", "value", "contact"))
_HOW_THINGS_ARE = frozenset(("fact", "preference", "rule", "value"))


def ground_memory(
    item: MemoryItem,
    place: PlacedQuote,
    evidence: GivenEvidence,
    source_type: SourceType,
    names: Sequence[str] = (),
) -> GroundedMemory:
    """``names``: of the grounded nodes. Raises Rejected."""
    support = evidence.support_at(place.index, is_plan=item.kind == "plan")
    _check_speaker(item, place, source_type)
    when, until = (_resolve(words, item, place) for words in (item.when, item.until))
    _check_names(item, support, names)
    times = [each for each in (when, until) if each]
    _check_words(item, place, support, times, partly_right(item, evidence))
    if is_swapped(item.text, place, support, evidence):
        raise Rejected(DropReason.SWAPPED_NAMES)
    text = _dated(item, place, when or until)
    candidate = _candidate(item, place, text, support)
    starts, ends = _validity(item, when, until, place.at)
    candidate = replace(candidate, valid_from=starts, valid_to=ends)
    attributed = _attributed(candidate, place.passage)
    if attributed is None:
        raise Rejected(DropReason.NOT_THE_OWNER)
    if source_type is not SourceType.CHAT:
        confidence = source_confidence(attributed, source_type)
        attributed = replace(attributed, confidence=confidence)
    guarded = _guarded(attributed, place.passage)
    if is_suspicious(guarded.content) or is_suspicious(guarded.profile_value or ""):
        raise Rejected(DropReason.SUSPICIOUS)
    is_own = place.passage.given.by is SpokenBy.OWNER
    keys = keys_of_corrected(item, evidence) if is_own else ()
    meant = [key for key in keys if may_correct(item, evidence.known[key], place, support)]
    words = "; ".join(evidence.known[key] for key in meant) if keys else item.corrects
    is_meant = bool(meant) or (not keys and may_correct(item, words, place, support))
    return GroundedMemory(
        passage=place.passage.given.number,
        candidate=guarded,
        corrects=words if is_own and is_meant else "",
        known=tuple(meant),
        ended=item.ended,
    )


# ——— checks ———


def _check_speaker(item: MemoryItem, place: PlacedQuote, source_type: SourceType) -> None:
    by = place.passage.given.by
    is_owner_only = item.kind == "rule"
    if by is SpokenBy.MACHINE or (is_owner_only and by is not SpokenBy.OWNER):
        raise Rejected(DropReason.NOT_THE_OWNER)
    if is_owner_only and source_type not in _RULE_SOURCES:
        raise Rejected(DropReason.NOT_THE_OWNER)


def _check_names(item: MemoryItem, support: Support, names: Sequence[str]) -> None:
    fields = [item.text]
    if item.kind in ("value", "contact"):
        fields += [item.subject, item.role]
    is_foreign = item.kind == "contact" and not support.has_part_of_name(item.subject)
    if is_foreign or support.unknown_names(" . ".join(filter(None, fields)), names):
        raise Rejected(DropReason.UNGROUNDED_NAME)


def _check_words(
    item: MemoryItem,
    place: PlacedQuote,
    support: Support,
    times: list[ResolvedTime],
    corrected: list[PassageEvidence],
) -> None:
    _check_values(item, support, corrected)
    said = place.at.date()
    days = support.known_days.union(day for each in times for day in each.days)
    if not support.has_times(item.text, (said, *days), corrected):
        raise Rejected(DropReason.UNGROUNDED_NUMBER)
    spoken = f"{item.text} . {item.value}" if item.kind == "value" else item.text
    known_numbers = [*support.numbers, *(each.numbers for each in corrected)]
    if unknown_numbers(spoken, support.language_of(spoken), known_numbers, days, said):
        raise Rejected(DropReason.UNGROUNDED_NUMBER)
    if support.has_number_of_another(item.text, corrected):
        raise Rejected(DropReason.NUMBER_OF_ANOTHER)
    plain, is_anchored = _without_names(item.text, support), _is_anchored(item, place)
    has_some = is_anchored or support.has_some_word(item.text)
    if not (has_some and support.has_words(plain, is_anchored=is_anchored)):
        raise Rejected(DropReason.UNGROUNDED_WORDS)
    if support.lacks_predicate(item.text, corrected) or gives_role_of_another(
        item.text, support.text_around()
    ):
        raise Rejected(DropReason.UNGROUNDED_WORDS)
    if item.kind != "rule" and is_only_borrowed(item.text, support, corrected):
        raise Rejected(DropReason.UNGROUNDED_WORDS)
    is_over = item.ended and polarity_of(item.text).has_denial  # "no longer"
    if not is_over and is_opposite(item.text, place.basis, _ignored_terms(item, support)):
        raise Rejected(DropReason.NEGATED)
    if item.kind != "rule" and is_supposed(item.text, place.basis):
        raise Rejected(DropReason.NOT_STATED)
    if is_suspicious(item.text) or is_suspicious(place.quote):
        raise Rejected(DropReason.SUSPICIOUS)


def _check_values(item: MemoryItem, support: Support, corrected: Sequence[PassageEvidence]) -> None:
    if item.kind == "value":
        is_unchanged = any(each.has(item.value) for each in corrected)
        if not (is_unchanged or support.has_value(item.value)):
            raise Rejected(DropReason.UNGROUNDED_VALUE)
    is_foreign = (item.phone and not support.has_phone(item.phone)) or (
        item.email and not support.has_email(item.email)
    )
    if item.kind == "contact" and is_foreign:
        raise Rejected(DropReason.UNGROUNDED_VALUE)


def _without_names(text: str, support: Support) -> str:
    """Names and numbers have checks of their own."""
    has_capital_nouns = support.language_of(text) == "de"
    return " ".join(
        word
        for word in text.split()
        if not (_has_digit(word) or (_is_capital(word) and not has_capital_nouns))
    )


def _is_anchored(item: MemoryItem, place: PlacedQuote) -> bool:
    """Whether the quote has a name, a time or a number of the text."""
    quoted = name_words(place.quote)
    rest = item.text.split()[1:]
    names = (word for word in rest if word[:1].isupper() or _has_digit(word))
    times = named_times(place.quote) & named_times(item.text)
    return bool(times) or any(is_named(word, quoted, "") for word in names)


def _is_capital(word: str) -> bool:
    return word.lstrip("\"'(“«")[:1].isupper()


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _ignored_terms(item: MemoryItem, support: Support) -> frozenset[str]:
    language = support.language_of(item.text)
    names = "" if language == "de" else " ".join(filter(_is_capital, item.text.split()))
    return frozenset().union(*content_words(f"{names} user", language))


# ——— times ———


def _looks_back(item: MemoryItem, words: str, place: PlacedQuote) -> bool:
    """Whether a weekday or a month is the last one. The part of the sentence with its words
    decides: "he's in hospital till wednesday, hip replaced"."""
    if item.kind in _AHEAD or looks_ahead(words):
        return False
    return item.kind == "event" or is_past(clause_with(words, place))


def _is_weekly(item: MemoryItem, words: str, place: PlacedQuote) -> bool:
    """How things are on a weekday holds for every week."""
    if item.kind not in _HOW_THINGS_ARE or not names_weekdays_only(words):
        return False
    return not is_past(clause_with(words, place))


def _resolve(words: str, item: MemoryItem, place: PlacedQuote) -> ResolvedTime | None:
    """Words for a time that are not in the passage were guessed."""
    if not words or not place.passage.has(words) or _is_weekly(item, words, place):
        return None
    backwards = _looks_back(item, words, place)
    return resolve_time(words, clause_with(words, place), place.at, backwards=backwards)


def _dated(item: MemoryItem, place: PlacedQuote, time: ResolvedTime | None) -> str:
    if time is None and _is_weekly(item, item.text, place):
        return item.text
    backwards = _looks_back(item, item.when or item.until, place)
    has_year = item.kind in ("plan", "event")
    text = write_time(item.text, time, place.at, backwards=backwards, has_year=has_year)
    return text if len(text) <= MAX_CHARACTERS else item.text


def _validity(
    item: MemoryItem, when: ResolvedTime | None, until: ResolvedTime | None, at: datetime
) -> tuple[datetime | None, datetime | None]:
    """A start in the future is none: what is planned is true now. Rules have neither."""
    if item.kind == "rule":
        return None, None
    starts = when.begins if when and when.start <= at.date() else None
    ends = until.ends if until else None
    return starts, ends if ends and (starts is None or ends > starts) else None


# ——— candidates ———


def _candidate(
    item: MemoryItem, place: PlacedQuote, text: str, support: Support
) -> MemoryCandidate:
    kind = _kind_of(item, text, place.at)
    candidate = MemoryCandidate(
        kind,
        text,
        place.quote,
        category=_category_of(item, text),
        facet=_facet_of(item, text),
        importance=max(item.importance, _LEAST_IMPORTANCE.get(item.kind, 1)),
        confidence=CONFIDENCE,
        metadata=_metadata_of(item, support),
        evidence=(place.quote,) if kind is Kind.RULE else (),
        questions=tuple(each for each in item.questions if _is_harmless(each, place, support)),
    )
    return _with_profile(candidate, item, support)


def _is_harmless(question: str, place: PlacedQuote, support: Support) -> bool:
    """Questions are only searched: one that is wrong finds the memory for another question. They
    carry no name and no number that nobody has said, and no secret."""
    numbers = unknown_numbers(
        question, support.language_of(question), support.numbers, frozenset(), place.at.date()
    )
    return not (
        numbers
        or support.unknown_names(question)
        or is_suspicious(question)
        or secret_values(question)
        or any(secret in question for secret in place.passage.secrets)
    )


def _kind_of(item: MemoryItem, text: str, at: datetime) -> Kind:
    """What is still to come is a plan, whatever the model calls it."""
    kind = _KINDS[item.kind]
    return Kind.FACT if kind is Kind.EVENT and not is_past(text) else kind


def _is_goal(item: MemoryItem, text: str) -> bool:
    return item.profile == "goal" or (not item.when and categorise(text) == "goals")


def _category_of(item: MemoryItem, text: str) -> str | None:
    if item.kind == "plan":
        return "goals" if _is_goal(item, text) else "tasks"
    if item.kind == "value":
        return categorise(text)
    return _CATEGORIES.get(item.kind)


def _facet_of(item: MemoryItem, text: str) -> str:
    if item.kind == "plan":
        return "goal" if _is_goal(item, text) else "plan"
    return item.kind if item.kind in ("preference", "event", "rule") else "fact"


def _metadata_of(item: MemoryItem, support: Support) -> dict[str, str]:
    if item.kind == "value":
        return {"subject": item.subject, "value": item.value}
    if item.kind != "contact":
        return {}
    named = {"name": item.subject, "phone": item.phone, "email": item.email}
    if item.role and support.has_words(item.role):
        named["role"] = item.role
    return {name: value for name, value in named.items() if value}


def _with_profile(
    candidate: MemoryCandidate, item: MemoryItem, support: Support
) -> MemoryCandidate:
    """A claim about the owner, where it is said in their words."""
    field = PROFILE_FIELDS.get(item.profile)
    if field is None or candidate.kind is not Kind.FACT:
        return candidate
    if field == GOALS_FIELD:
        value = shorten_goal(candidate.content)
    elif item.value and support.has_value(item.value):
        value = item.value
    else:
        return candidate
    is_taste = field in ("tone", "language")
    return replace(
        candidate,
        category=candidate.category or ("preferences" if field == "tone" else "profile"),
        facet="preference" if is_taste else candidate.facet,
        importance=max(candidate.importance, 3),
        profile_field=field,
        profile_value=value,
    )


def _attributed(candidate: MemoryCandidate, passage: PassageEvidence) -> MemoryCandidate | None:
    """As the owner's statement, or as hearsay of a named speaker. A document without one says only
    what does not depend on who reads it."""
    if passage.given.by is SpokenBy.OWNER:
        return candidate
    speaker = parse_participant(passage.given.speaker or "").name or passage.given.speaker
    if not speaker:
        is_open = not _ABOUT_THE_READER.search(f"{candidate.trigger}\n{candidate.content}")
        return replace(candidate, profile_field=None, profile_value=None) if is_open else None
    first = speaker.split()[0]
    content = candidate.content
    if content.startswith(f"{first} ") and not content.startswith(speaker):
        content = f"{speaker}{content[len(first) :]}"
    return to_hearsay(replace(candidate, content=content), speaker)


def _guarded(candidate: MemoryCandidate, passage: PassageEvidence) -> MemoryCandidate:
    guarded = guard_secrets(mark_sensitive(candidate), passage.secrets)
    if not isinstance(guarded, MemoryCandidate) or REDACTED in guarded.content:
        raise Rejected(DropReason.SECRET)
    return guarded
