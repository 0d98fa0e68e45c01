"""Memory candidates in one sentence. The detectors run in a fixed order; the first that matches
wins."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time

from commonplace.language.fields.categories import categorise
from commonplace.language.fields.key_values import (
    KeyValue,
    ValueType,
    parse_key_value,
    value_type_of,
)
from commonplace.language.fields.writing_policy import MAX_CHARACTERS, check_writing
from commonplace.language.observe import detectors, english, hebrew
from commonplace.language.observe.detectors import (
    ProfileStatement,
    StatementRule,
    detect_contact,
    detect_own_contact,
    detect_profile_field,
    detect_remember_request,
    find_statement_rule,
    is_retracted,
    non_statement_reason,
)
from commonplace.language.observe.forget_requests import detect_forget_request
from commonplace.language.observe.own_words import OwnSentence
from commonplace.language.text.changes import read_change
from commonplace.language.text.dates import event_date
from commonplace.language.text.relative_dates import DatedText, resolve_relative_dates
from commonplace.model.memory.candidate import ForgetRequest, MemoryCandidate, TurnFinding
from commonplace.model.memory.kinds import Kind

LOG_DAYS = 30
USER = "the user"
_REQUESTED_CONFIDENCE = 0.95
_HEARSAY_CONFIDENCE = 0.7  # statements of others have little weight
_DOUBTED_CONFIDENCE = 0.5
_UNCONVERTED_CONFIDENCE = 0.6  # the statement could not be rewritten in the third person


@dataclass(frozen=True, slots=True)
class SpokenSentence:
    """A sentence with its speaker and time."""

    sentence: OwnSentence
    said_at: datetime | None
    speaker: str | None = None

    @property
    def own(self) -> str:
        return self.sentence.own

    @property
    def is_hebrew(self) -> bool:
        return hebrew.is_hebrew(self.own)

    @property
    def subject(self) -> str:
        return self.speaker or USER


def read_sentence(spoken: SpokenSentence) -> list[TurnFinding]:
    """All findings of one sentence, in text order."""
    forget = detect_forget_request(spoken.own)
    if forget:
        return [ForgetRequest(forget, spoken.sentence.written)]
    candidate = _rule_candidate(spoken) or _requested_candidate(spoken)
    if candidate:
        return [candidate]
    if spoken.sentence.has_quotation:
        return []
    contact = _own_contact_candidate(spoken) or _contact_candidate(spoken)
    if contact:
        return [contact]
    hearsay = _hearsay_candidate(spoken)
    if hearsay:
        return [hearsay]
    return list(_read_statements(spoken))


# ——— requests to the assistant ———


def _rule_candidate(spoken: SpokenSentence) -> MemoryCandidate | None:
    instruction = detectors.detect_rule(spoken.own)
    if instruction is None or detect_profile_field(spoken.own):
        return None
    written = spoken.sentence.written
    return MemoryCandidate(
        Kind.RULE,
        detectors.detect_rule(written) or instruction,
        written,
        category="constraints",
        facet="rule",
        importance=4,
        confidence=0.9,
        evidence=(written,),
        asked=True,
    )


def _requested_candidate(spoken: SpokenSentence) -> MemoryCandidate | None:
    """ "Remember that …": a candidate of the kind of its text; else a log of 30 days."""
    content = detect_remember_request(spoken.own)
    if content is None or _ADDRESSED_TO_OTHER.search(content):
        return None
    inner = replace(spoken, sentence=OwnSentence(content, content))
    found = _rule_candidate(inner) or _own_contact_candidate(inner) or _contact_candidate(inner)
    if (
        found is None
        and find_statement_rule(content, "hebrew" if spoken.is_hebrew else "english") is None
    ):
        found = _key_value_candidate(content, spoken, asked=True)
    if found is None:
        found = next(_read_statements(inner, asked=True), None)
    if found is None or not found.is_stored:
        found = _log_candidate(content, spoken)
    return replace(
        found,
        trigger=spoken.sentence.written,
        confidence=max(found.confidence, _REQUESTED_CONFIDENCE),
        importance=max(found.importance, 3),
        asked=True,
        evidence=(spoken.sentence.written,),
    )


# "I'm always here for you", "just do it": encouragement, not worth storing.
_ADDRESSED_TO_OTHER = re.compile(
    r"\b(?:for|to|with|about|love|on) you\b|\byourself\b|\bjust \w+ it\b", re.I
)


def _log_candidate(content: str, spoken: SpokenSentence) -> MemoryCandidate:
    dated = resolve_relative_dates(content, spoken.said_at, spoken.is_hebrew)
    return MemoryCandidate(
        Kind.LOG, dated.text, content, category="activity", facet="note", ttl_days=LOG_DAYS
    )


# ——— contacts and values ———


def _own_contact_candidate(spoken: SpokenSentence) -> MemoryCandidate | None:
    """Also from requests: "could you write to me at …" contains the address."""
    pair = detect_own_contact(spoken.own, spoken.subject)
    if pair is None or non_statement_reason(spoken.own) not in (None, "request", "question"):
        return None
    return _build_key_value(pair, spoken, "profile")


def _contact_candidate(spoken: SpokenSentence) -> MemoryCandidate | None:
    contact = detect_contact(spoken.own)
    if contact is None or spoken.own.rstrip().endswith("?"):
        return None
    fields = contact.fields()
    return MemoryCandidate(
        Kind.CONTACT,
        ", ".join(dict.fromkeys(fields.values())),
        spoken.sentence.written,
        category="relationships",
        importance=3,
        confidence=0.9,
        metadata=fields,
    )


def _key_value_candidate(
    clause: str, spoken: SpokenSentence, asked: bool = False
) -> MemoryCandidate | None:
    pair = parse_key_value(clause, asked)
    if pair is None or _UNKNOWN_OWNER.match(pair.subject) or (not asked and _is_opinion(pair)):
        return None
    return _build_key_value(pair, spoken, categorise(clause))


def _build_key_value(
    pair: KeyValue, spoken: SpokenSentence, category: str | None
) -> MemoryCandidate:
    return MemoryCandidate(
        Kind.KV,
        f"{pair.subject}: {pair.value}",
        spoken.sentence.written,
        category=category,
        importance=3,
        confidence=0.9,
        metadata={"subject": pair.subject, "value": pair.value},
    )


# "Her name is Shadow": the owner is unknown here.
_UNKNOWN_OWNER = re.compile(
    r"(?:his|her|their|its|your|this|that|another|every|each|\w+ing)\b", re.I
)


def _is_opinion(pair: KeyValue) -> bool:
    """ "The language is tough": an opinion in the form of a value."""
    says_something = re.search(r"[\d@A-Zא-ת]", pair.value)
    return not says_something and value_type_of(pair.subject) is not ValueType.CODE


# ——— hearsay ———


def _hearsay_candidate(spoken: SpokenSentence) -> MemoryCandidate | None:
    """A statement of somebody else, with its speaker and low confidence."""
    found = detectors.detect_hearsay(english.strip_opener(spoken.own))
    if found is None or non_statement_reason(spoken.own) or non_statement_reason(found.what):
        return None
    rewrite = hebrew.to_third_person if spoken.is_hebrew else english.to_third_person
    link = f" {hebrew.said_verb(found.who)} ש" if spoken.is_hebrew else " said that "
    rewritten = rewrite(f"{found.who}{link}{found.what}", spoken.subject)
    rule = find_statement_rule(found.what, "hebrew" if spoken.is_hebrew else "english")
    content = rewritten or _quote(spoken)
    return MemoryCandidate(
        Kind.FACT,
        resolve_relative_dates(content, spoken.said_at, spoken.is_hebrew).text,
        spoken.sentence.written,
        category=rule.category if rule and rule.category else "relationships",
        facet="hearsay",
        importance=2,
        confidence=_HEARSAY_CONFIDENCE
        if rewritten and check_writing(Kind.FACT, content) == ()
        else _DOUBTED_CONFIDENCE,
    )


def _quote(spoken: SpokenSentence) -> str:
    who = english.capitalise(spoken.subject)
    return f'{who} said: "{spoken.own.strip()[: MAX_CHARACTERS - 40]}"'


# ——— statements ———


def _read_statements(spoken: SpokenSentence, asked: bool = False) -> Iterator[MemoryCandidate]:
    if is_retracted(spoken.own):
        return
    changed = _read_change(spoken, asked)
    if changed:
        yield changed
        return
    parts = (hebrew if spoken.is_hebrew else english).split_clauses(spoken.own)
    is_question = spoken.own.rstrip().endswith("?")
    for clause in parts:
        found = detect_profile_field(clause)
        if found and is_question and _FIRST_PERSON.match(clause):  # "I live in Berlin?"
            continue
        if found and non_statement_reason(clause) in (None, "request"):
            yield _profile_candidate(found, clause, spoken)
    if not asked and non_statement_reason(spoken.own):
        return
    for clause in parts:
        if detect_profile_field(clause) is None:
            candidate = _read_statement(clause, spoken, asked)
            if candidate:
                yield candidate


def _read_change(spoken: SpokenSentence, asked: bool) -> MemoryCandidate | None:
    """ "They changed the garage code to 9027": what holds since, as a statement of its own, so that
    it is compared with the former value. None if the plain form says nothing worth storing."""
    said = read_change(spoken.own)
    if said is None or not said.is_told or non_statement_reason(spoken.own):
        return None
    own_rule = find_statement_rule(spoken.own, "hebrew" if spoken.is_hebrew else "english")
    if own_rule and own_rule.facet in _DATED_FACETS:  # "the meeting is moved to Tuesday at 3pm"
        return None
    return _read_statement(said.plain, spoken, asked)


_DATED_FACETS = ("task", "plan")


# Not "speak Hebrew with me, ok?": that is a request, despite the question mark.
_FIRST_PERSON = re.compile(r"(?:i|we|my|our)\b|(?:אני|אנחנו|שמי|השם|קוראים|עברתי|עברנו)(?= )", re.I)


def _read_statement(clause: str, spoken: SpokenSentence, asked: bool) -> MemoryCandidate | None:
    if non_statement_reason(clause):
        return None
    language = "hebrew" if spoken.is_hebrew else "english"
    rule = find_statement_rule(clause, language)
    if rule is None or rule.facet not in ("task", "plan", "decision", "goal", "event"):
        pair = _key_value_candidate(clause, spoken)
        if pair:
            return pair
    if rule is None and not asked:
        return None
    return _statement_candidate(clause, rule, spoken)


def _statement_candidate(
    clause: str, rule: StatementRule | None, spoken: SpokenSentence
) -> MemoryCandidate | None:
    """The clause in the third person with absolute dates; less confident if it is unchanged."""
    kind = rule.kind if rule else Kind.FACT
    rewrite = hebrew.to_third_person if spoken.is_hebrew else english.to_third_person
    rewritten = rewrite(clause, spoken.subject)
    dated = resolve_relative_dates(
        rewritten or _quote(spoken),
        spoken.said_at,
        spoken.is_hebrew,
        backwards=rule is not None and rule.facet == "event",
    )
    fits = rewritten is not None and _is_self_contained(kind, dated.text, spoken.said_at)
    confidence = rule.confidence if rule else 0.8
    is_goal = rule is not None and rule.facet == "goal" and spoken.speaker is None
    return MemoryCandidate(
        kind,
        dated.text,
        spoken.sentence.written,
        category=rule.category if rule and rule.category else categorise(clause),
        facet=rule.facet if rule else "fact",
        importance=rule.importance if rule else 2,
        confidence=confidence if fits else min(confidence, _UNCONVERTED_CONFIDENCE),
        valid_from=_event_start(dated, rule, spoken.said_at) if kind is Kind.EVENT else None,
        profile_field=detectors.GOALS_FIELD if is_goal else None,
        profile_value=detectors.shorten_goal(dated.text) if is_goal else None,
    )


def _event_start(
    dated: DatedText, rule: StatementRule | None, said_at: datetime | None
) -> datetime | None:
    """The event's date, if stated. The date in a decision may be that of the planned action."""
    if said_at is None:
        return None
    is_event = rule is not None and rule.facet == "event"
    day = dated.day or (event_date(dated.text, said_at.date()) if is_event else None)
    is_over = day is not None and day <= said_at.date()
    return datetime.combine(day, time.min, UTC) if day is not None and is_over else None


# Needs its context, although the writing policy accepts it.
_CONTEXT_DEPENDENT = re.compile(
    r"\b(?:this|these|those|such|here|there(?! (?:is|are|was))|the following|"
    r"stuff|a few|some|someone|something)\b"
    r"|\b(?:to|in|at|of|on|with|for|about|like|do|painted|took|made|saw|loves?|likes?) that\b"
    r"|\b(?:in|on|one|ones|few|things)\.$",
    re.IGNORECASE,
)


def _is_self_contained(kind: Kind, content: str, said_at: datetime | None) -> bool:
    """Whether the text can be understood by itself; without a clock, "tomorrow" is allowed."""
    if _CONTEXT_DEPENDENT.search(content):
        return False
    remarks = {remark.code for remark in check_writing(kind, content)}
    return not remarks - ({"context"} if said_at is None else set())


_PROFILE_TEMPLATES = {
    "preferred_name": "{who} is called {value}.",
    "pronouns": "The pronouns of {who} are {value}.",
    "city": "{who} lives in {value}.",
    "language": "{who} prefers {value} as a language.",
    "tone": "{who} prefers a tone that is {value}.",
}


def _profile_candidate(
    found: ProfileStatement, clause: str, spoken: SpokenSentence
) -> MemoryCandidate:
    words = hebrew.PROFILE_TEMPLATES if spoken.is_hebrew else _PROFILE_TEMPLATES
    user = hebrew.gendered_user(clause)
    subject = user if spoken.is_hebrew and spoken.speaker is None else spoken.subject
    lives = "גרה" if user == hebrew.HEBREW_USER_FEMALE else "גר"
    content = words[found.field].format(who=subject, value=found.value, lives=lives)
    if spoken.is_hebrew:
        content = content.replace("להמשתמש", "למשתמש")
    return MemoryCandidate(
        Kind.FACT,
        english.capitalise(content),
        spoken.sentence.written,
        category="preferences" if found.field == "tone" else "profile",
        facet="preference" if found.field in ("tone", "language") else "fact",
        importance=3,
        confidence=0.9,
        profile_field=found.field if spoken.speaker is None else None,
        profile_value=found.value if spoken.speaker is None else None,
    )
