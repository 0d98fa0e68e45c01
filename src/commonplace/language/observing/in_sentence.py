"""One sentence of a turn → what of it is worth keeping. The order of the steps is the rule."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time

from commonplace.language.categorise import categorise
from commonplace.language.kv_fields import Pair, Sort, pair_in, sort_of
from commonplace.language.observing import asking, english, goals, hebrew
from commonplace.language.observing.candidate import Candidate, ForgetAsked, Observed
from commonplace.language.observing.days_told import happened_on
from commonplace.language.observing.meant import not_meant, taken_back
from commonplace.language.observing.own_contact import own_contact
from commonplace.language.observing.own_words import Sentence
from commonplace.language.observing.profile import ProfileSaid, profile_in
from commonplace.language.observing.remembered import asked_to_remember
from commonplace.language.observing.statements import StatementRule, rule_for
from commonplace.language.observing.told_contacts import contact_told
from commonplace.language.observing.when import Dated, with_dates
from commonplace.language.policy import LONGEST, check_writing
from commonplace.model.kinds import Kind

LOG_DAYS = 30
USER = "the user"
_ASKED = 0.95
_HEARD = 0.7  # what somebody else said is worth little more than nothing
_DOUBTED = 0.5
_UNTOLD = 0.6  # a statement that could not be put into the third person


@dataclass(frozen=True, slots=True)
class Heard:
    """A sentence, and who said it when."""

    sentence: Sentence
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


def observed_in(heard: Heard) -> list[Observed]:
    """Everything that one sentence leaves behind, in the order in which it is said."""
    forget = asking.forget_asked(heard.own)
    if forget:
        return [ForgetAsked(forget, heard.sentence.written)]
    said = _instruction(heard) or _remembered(heard)
    if said:
        return [said]
    if heard.sentence.has_quotation:
        return []
    contact = _own_contact(heard) or _contact(heard)
    if contact:
        return [contact]
    heard_of = _hearsay(heard)
    if heard_of:
        return [heard_of]
    return list(_statements(heard))


# ——— said to the assistant ———


def _instruction(heard: Heard) -> Candidate | None:
    said = asking.rule_given(heard.own)
    if said is None or profile_in(heard.own):
        return None
    written = heard.sentence.written
    return Candidate(
        Kind.RULE,
        asking.rule_given(written) or said,
        written,
        category="constraints",
        facet="rule",
        importance=4,
        confidence=0.9,
        evidence=(written,),
        asked=True,
    )


def _remembered(heard: Heard) -> Candidate | None:
    """ "Remember that …": by the kind of what follows; a log of 30 days when none fits."""
    content = asked_to_remember(heard.own)
    if content is None or _TO_YOU.search(content):
        return None
    inner = replace(heard, sentence=Sentence(content, content))
    found = _instruction(inner) or _own_contact(inner) or _contact(inner)
    if found is None and rule_for(content, "hebrew" if heard.is_hebrew else "english") is None:
        found = _pair(content, heard, asked=True)
    if found is None:
        found = next(_statements(inner, asked=True), None)
    if found is None or not found.is_stored:
        found = _log(content, heard)
    return replace(
        found,
        trigger=heard.sentence.written,
        confidence=max(found.confidence, _ASKED),
        importance=max(found.importance, 3),
        asked=True,
        evidence=(heard.sentence.written,),
    )


# "I'm always here for you", "just do it": said to cheer up, and nothing to keep.
_TO_YOU = re.compile(r"\b(?:for|to|with|about|love|on) you\b|\byourself\b|\bjust \w+ it\b", re.I)


def _log(content: str, heard: Heard) -> Candidate:
    dated = with_dates(content, heard.said_at, heard.is_hebrew)
    return Candidate(
        Kind.LOG, dated.text, content, category="activity", facet="note", ttl_days=LOG_DAYS
    )


# ——— contacts and values ———


def _own_contact(heard: Heard) -> Candidate | None:
    """Also of a request: "could you write to me at …" tells where."""
    pair = own_contact(heard.own, heard.subject)
    if pair is None or not_meant(heard.own) not in (None, "request", "question"):
        return None
    return _value_of(pair, heard, "profile")


def _contact(heard: Heard) -> Candidate | None:
    contact = contact_told(heard.own)
    if contact is None or heard.own.rstrip().endswith("?"):
        return None
    fields = contact.fields()
    return Candidate(
        Kind.CONTACT,
        ", ".join(dict.fromkeys(fields.values())),
        heard.sentence.written,
        category="relationships",
        importance=3,
        confidence=0.9,
        metadata=fields,
    )


def _pair(clause: str, heard: Heard, asked: bool = False) -> Candidate | None:
    pair = pair_in(clause, asked)
    if pair is None or _NOBODYS.match(pair.subject) or (not asked and _is_chatter(pair)):
        return None
    return _value_of(pair, heard, categorise(clause))


def _value_of(pair: Pair, heard: Heard, category: str | None) -> Candidate:
    return Candidate(
        Kind.KV,
        f"{pair.subject}: {pair.value}",
        heard.sentence.written,
        category=category,
        importance=3,
        confidence=0.9,
        metadata={"subject": pair.subject, "value": pair.value},
    )


# "Her name is Shadow": whose is not known here.
_NOBODYS = re.compile(r"(?:his|her|their|its|your|this|that|another|every|each|\w+ing)\b", re.I)


def _is_chatter(pair: Pair) -> bool:
    """ "The language is tough": an opinion has the form of a value."""
    says_something = re.search(r"[\d@A-Zא-ת]", pair.value)
    return not says_something and sort_of(pair.subject) is not Sort.CODE


# ——— hearsay ———


def _hearsay(heard: Heard) -> Candidate | None:
    """Kept with who said it, and believed a little."""
    found = asking.hearsay_in(english.without_opener(heard.own))
    if found is None or not_meant(heard.own) or not_meant(found.what):
        return None
    tell = hebrew.retold if heard.is_hebrew else english.retold
    link = f" {hebrew.said_by(found.who)} ש" if heard.is_hebrew else " said that "
    told = tell(f"{found.who}{link}{found.what}", heard.subject)
    rule = rule_for(found.what, "hebrew" if heard.is_hebrew else "english")
    content = told or _quoted(heard)
    return Candidate(
        Kind.FACT,
        with_dates(content, heard.said_at, heard.is_hebrew).text,
        heard.sentence.written,
        category=rule.category if rule and rule.category else "relationships",
        facet="hearsay",
        importance=2,
        confidence=_HEARD if told and check_writing(Kind.FACT, content) == () else _DOUBTED,
    )


def _quoted(heard: Heard) -> str:
    who = english.capitalised(heard.subject)
    return f'{who} said: "{heard.own.strip()[: LONGEST - 40]}"'


# ——— statements ———


def _statements(heard: Heard, asked: bool = False) -> Iterator[Candidate]:
    if taken_back(heard.own):
        return
    parts = (hebrew if heard.is_hebrew else english).clauses(heard.own)
    asks = heard.own.rstrip().endswith("?")
    for clause in parts:
        found = profile_in(clause)
        if found and asks and _OF_ONESELF.match(clause):  # "I live in Berlin?"
            continue
        if found and not_meant(clause) in (None, "request"):
            yield _about_profile(found, clause, heard)
    if not asked and not_meant(heard.own):
        return
    for clause in parts:
        if profile_in(clause) is None:
            said = _statement(clause, heard, asked)
            if said:
                yield said


# Not "speak Hebrew with me, ok?": that is wished for, with whatever mark.
_OF_ONESELF = re.compile(r"(?:i|we|my|our)\b|(?:אני|אנחנו|שמי|השם|קוראים|עברתי|עברנו)(?= )", re.I)


def _statement(clause: str, heard: Heard, asked: bool) -> Candidate | None:
    if not_meant(clause):
        return None
    language = "hebrew" if heard.is_hebrew else "english"
    rule = rule_for(clause, language)
    if rule is None or rule.facet not in ("task", "plan", "decision", "goal", "event"):
        pair = _pair(clause, heard)
        if pair:
            return pair
    if rule is None and not asked:
        return None
    return _told(clause, rule, heard)


def _told(clause: str, rule: StatementRule | None, heard: Heard) -> Candidate | None:
    """The clause in the third person, with dates; one that cannot be is only reported."""
    kind = rule.kind if rule else Kind.FACT
    tell = hebrew.retold if heard.is_hebrew else english.retold
    told = tell(clause, heard.subject)
    dated = with_dates(
        told or _quoted(heard),
        heard.said_at,
        heard.is_hebrew,
        backwards=rule is not None and rule.facet == "event",
    )
    fits = told is not None and _stands_alone(kind, dated.text, heard.said_at)
    confidence = rule.confidence if rule else 0.8
    is_goal = rule is not None and rule.facet == "goal" and heard.speaker is None
    return Candidate(
        kind,
        dated.text,
        heard.sentence.written,
        category=rule.category if rule and rule.category else categorise(clause),
        facet=rule.facet if rule else "fact",
        importance=rule.importance if rule else 2,
        confidence=confidence if fits else min(confidence, _UNTOLD),
        valid_from=_happened(dated, rule, heard.said_at) if kind is Kind.EVENT else None,
        profile_field=goals.FIELD if is_goal else None,
        profile_value=goals.goal_in(dated.text) if is_goal else None,
    )


def _happened(
    dated: Dated, rule: StatementRule | None, said_at: datetime | None
) -> datetime | None:
    """When, if the sentence tells it. A date in what was decided may be that of the deed."""
    if said_at is None:
        return None
    is_event = rule is not None and rule.facet == "event"
    day = dated.day or (happened_on(dated.text, said_at.date()) if is_event else None)
    is_over = day is not None and day <= said_at.date()
    return datetime.combine(day, time.min, UTC) if day is not None and is_over else None


# Understood only by who was there, though the writing policy lets it pass.
_POINTS = re.compile(
    r"\b(?:this|these|those|such|here|there(?! (?:is|are|was))|the following|"
    r"stuff|a few|some|someone|something)\b"
    r"|\b(?:to|in|at|of|on|with|for|about|like|do|painted|took|made|saw|loves?|likes?) that\b"
    r"|\b(?:in|on|one|ones|few|things)\.$",
    re.IGNORECASE,
)


def _stands_alone(kind: Kind, content: str, said_at: datetime | None) -> bool:
    """Whether it says by itself what is so; without a clock, "tomorrow" has to stay."""
    if _POINTS.search(content):
        return False
    remarks = {remark.code for remark in check_writing(kind, content)}
    return not remarks - ({"context"} if said_at is None else set())


_FIELD_SAYS = {
    "preferred_name": "{who} is called {value}.",
    "pronouns": "The pronouns of {who} are {value}.",
    "city": "{who} lives in {value}.",
    "language": "{who} prefers {value} as a language.",
    "tone": "{who} prefers a tone that is {value}.",
}


def _about_profile(found: ProfileSaid, clause: str, heard: Heard) -> Candidate:
    words = hebrew.FIELD_SAYS if heard.is_hebrew else _FIELD_SAYS
    user = hebrew.user_of(clause)
    subject = user if heard.is_hebrew and heard.speaker is None else heard.subject
    lives = "גרה" if user == hebrew.WOMAN else "גר"
    said = words[found.field].format(who=subject, value=found.value, lives=lives)
    if heard.is_hebrew:
        said = said.replace("להמשתמש", "למשתמש")
    return Candidate(
        Kind.FACT,
        english.capitalised(said),
        heard.sentence.written,
        category="preferences" if found.field == "tone" else "profile",
        facet="preference" if found.field in ("tone", "language") else "fact",
        importance=3,
        confidence=0.9,
        profile_field=found.field if heard.speaker is None else None,
        profile_value=found.value if heard.speaker is None else None,
    )
