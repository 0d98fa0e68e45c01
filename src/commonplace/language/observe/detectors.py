"""Detectors for one sentence: requests, contacts, profile fields, goals, statements.

The patterns are in the TOML files of this folder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from commonplace.language.fields.classify import strip_trigger
from commonplace.language.fields.contacts import Contact, parse_contact
from commonplace.language.fields.key_values import KeyValue
from commonplace.language.fields.names import parse_role
from commonplace.language.fields.phone_email import ContactMatch, find_emails, find_phones
from commonplace.language.text.lexicon import (
    BilingualPattern,
    any_pattern,
    fill_word_lists,
    first_match,
    first_named_group,
    load_patterns,
)
from commonplace.model.memory.kinds import Kind

_NON_STATEMENT_DATA = load_patterns("observe/non_statements")
_NON_STATEMENT_PATTERNS: dict[str, BilingualPattern] = {
    reason: any_pattern(each, _NON_STATEMENT_DATA["words"])
    for reason, each in _NON_STATEMENT_DATA["reasons"].items()
}
_RETRACTION, _CORRECTION = (
    any_pattern(_NON_STATEMENT_DATA["taken_back"]),
    any_pattern(_NON_STATEMENT_DATA["corrects"]),
)


def non_statement_reason(sentence: str) -> str | None:
    """Why a sentence is not a statement; None if it is one."""
    for reason, pattern in _NON_STATEMENT_PATTERNS.items():
        if pattern.search(sentence):
            return reason
    return None


def is_retracted(sentence: str) -> bool:
    """Whether the end of a sentence retracts its beginning."""
    return _RETRACTION.search(sentence) is not None


def is_correction(sentence: str) -> bool:
    """Whether a sentence only corrects the previous one."""
    return _CORRECTION.match(sentence) is not None


_PROFILE_DATA = load_patterns("observe/profile")
_PROFILE_PATTERNS = tuple(
    (field, any_pattern([pattern], _PROFILE_DATA["words"]))
    for field, patterns in _PROFILE_DATA["fields"].items()
    for pattern in patterns
)


@dataclass(frozen=True, slots=True)
class ProfileStatement:
    field: str
    value: str


def detect_profile_field(clause: str) -> ProfileStatement | None:
    """The field and its value, if the clause begins with them."""
    for field, pattern in _PROFILE_PATTERNS:
        found = pattern.match(clause)
        if found and (value := first_named_group(found, "value")):
            return ProfileStatement(field, value.strip(" .,!"))
    return None


GOALS_FIELD = "goals_add"  # adds to the active goals

# The words that only introduce a goal. The verb of "saving for a flat" is part of the goal.
_GOAL_LEAD = re.compile(
    r"The user(?:'s (?:\w+ ){0,2}?(?:goal|aim|dream|resolution|ambition|target|plan)s?"
    r"[^.!?]{0,40}? (?:is|are) (?:to )?"
    r"| (?:\w+ly |also |still |always |just |now )*(?:"
    r"(?:wants?|hopes|plans|intends|aims|would like) to (?:\w+ly )?"
    r"|(?:is|has been) (?:\w+ly |also |still |now )*"
    r"(?:(?:aiming|hoping|planning|trying|determined) to |planning )?"
    r"|(?:dreams|has (?:always|long) (?:dreamed|dreamt)) (?:of|about) )?)",
    re.IGNORECASE,
)
_GOAL_LEAD_HE = re.compile(
    r"(?:ה(?:מטרה|מטרות|יעד|יעדים|חלום|שאיפה) (?:\S+ )??של המשתמשת? (?:[^ל]\S* ){0,2}?(?=ל)"
    r"|המשתמשת? (?:(?:רוצה|מתכנן|מתכננת|מתכוון|מתכוונת|שואף|שואפת|מקווה|מנסה|חולם|חולמת) (?=ל))?)"
)


def shorten_goal(content: str) -> str:
    """The goal itself, from a sentence about the user."""
    goal = _GOAL_LEAD_HE.sub("", _GOAL_LEAD.sub("", content, count=1), count=1)
    return goal.strip(" .") or content


@dataclass(frozen=True, slots=True)
class StatementRule:
    """Matches a clause that `match` fits at its start and that does not contain `unless`."""

    name: str
    match: re.Pattern[str]
    unless: re.Pattern[str] | None
    kind: Kind
    facet: str
    category: str | None  # None: derived from the text
    confidence: float
    importance: int


@cache
def load_statement_rules(language: str) -> tuple[StatementRule, ...]:
    read = load_patterns(f"observe/{language}")
    return tuple(_build_rule(each, read["words"]) for each in read["rule"])


def _build_rule(entry: Mapping[str, Any], words: Mapping[str, str]) -> StatementRule:
    unless = entry.get("unless")
    return StatementRule(
        name=entry["name"],
        match=re.compile(fill_word_lists(entry["match"], words), re.IGNORECASE),
        unless=re.compile(fill_word_lists(unless, words), re.IGNORECASE) if unless else None,
        kind=Kind(entry.get("kind", "fact")),
        facet=entry.get("facet", "fact"),
        category=entry.get("category"),
        confidence=entry.get("confidence", 0.8),
        importance=entry.get("importance", 2),
    )


def find_statement_rule(clause: str, language: str) -> StatementRule | None:
    """The first rule that matches a clause."""
    for rule in load_statement_rules(language):
        if rule.match.match(clause) and not (rule.unless and rule.unless.search(clause)):
            return rule
    return None


# Words before the number or address. The owner must be the speaker: not "my mother's", not "my
# phone guy".
_CONTACT_LINK = (
    r"(?: (?:number|address|no|is|are|now|currently|at|on|by|via|through|under|here|anytime|"
    r"directly|using|work|home|office|phone|e-?mail|mobile|cell|whatsapp|my|text|or))*"
)
_OWN_CONTACT = re.compile(
    r"\b(?:my (?P<which>(?:(?:new|current|main|primary)\s+)*"
    r"(?:work|personal|private|home|business|office|school|university|second|other)?)\s*"
    rf"(?:e-?mail|mail|phone|cell|mobile|telephone|whatsapp|number)\b{_CONTACT_LINK}"
    r"|(?:reach|contact|e-?mail|call|text|phone|message|ring|write|get hold of) me\b"
    rf"{_CONTACT_LINK})"
    r"\W*$",
    re.IGNORECASE,
)
_OWN_CONTACT_HE = re.compile(
    r"(?<![\w\"״׳'])(?:"
    r"ה?(?:מייל|אימייל|דוא[\"״]ל|טלפון|נייד|פלאפון|סלולרי|מספר|כתובת המייל|מספר הטלפון|מספר הנייד) "
    r"(?P<which>(?:החדש|הפרטי|האישי|הנוסף) )?שלי(?: (?:בעבודה|בבית))?(?: (?:הוא|היא|זה))?"
    r"|(?:להשיג|לתפוס|למצוא) אותי|(?:להתקשר|לכתוב|לסמס|תתקשר|תתקשרי|תתקשרו|תכתבו) אלי+)"
    r"(?: (?:ב|ל|בטלפון|במייל|בנייד|במספר|לכתובת))?\W*[בל]?-?$"
)
_TEMPORARY_ADJECTIVE = re.compile(r"^(?:new|current|main|primary)\s+|\s+$", re.IGNORECASE)
_MAX_BEFORE = 90


def detect_own_contact(sentence: str, owner: str) -> KeyValue | None:
    """The speaker's own address or number; None for questions and for other people's."""
    if sentence.rstrip().endswith("?"):
        return None
    emails, phones = find_emails(sentence), find_phones(sentence)
    marks = sorted((*emails, *phones), key=lambda mark: mark.start)
    if not marks:
        return None
    before = sentence[max(0, marks[0].start - _MAX_BEFORE) : marks[0].start]
    found = _OWN_CONTACT.search(before)
    if found:
        what = "email" if marks[0] in emails else "phone number"
        adjective = _TEMPORARY_ADJECTIVE.sub("", found["which"] or "").lower()
        return KeyValue(f"{owner}'s {adjective} {what}".replace("  ", " "), marks[0].text)
    if _OWN_CONTACT_HE.search(before):
        what = "המייל" if marks[0] in emails else "הטלפון"
        hebrew_owner = "המשתמש" if owner == "the user" else owner
        return KeyValue(f"{what} של {hebrew_owner}", marks[0].text)
    return None


_NAME = r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[A-Z][\w'-]+(?: [A-Z][\w'-]+){0,2}"
_ROLE = r"(?P<role>(?:[\w-]+ ){0,2}?[\w-]+)"
_DETERMINER = r"(?i:\b(?:the|my|our))"
_NAMED_ROLE = (
    re.compile(
        rf"{_DETERMINER} {_ROLE} (?i:is|is called|'s name is) (?:called )?(?P<name>{_NAME})\b"
    ),
    re.compile(
        rf"{_DETERMINER} {_ROLE}\b.{{0,60}}?(?i:(?:his|her|their) name is) (?P<name>{_NAME})\b"
    ),
    re.compile(
        rf"(?i:\b(?:from|by|with)) {_DETERMINER} {_ROLE}(?:,| [–-]| is|:) (?P<name>{_NAME})\b"
    ),
)
_HEBREW_NAMED_ROLE = re.compile(
    r"(?P<role>ה?[א-ת]+(?: [א-ת]+)? (?:שלי|שלנו)|ה[א-ת]+(?: ה?[א-ת]+)?),? "
    r"(?:הוא |היא |קוראים לו |קוראים לה )?"
    r"(?P<name>(?:ד\"ר |ד״ר |פרופ' )?[א-ת]+(?: [א-ת]+)?),? "
)
_CONTACT_LEAD = re.compile(r"^[^:]{0,60}?:\s*|^.{0,60}?\s[–-]\s")


def detect_contact(sentence: str) -> Contact | None:
    """The contact in a sentence with a phone number or address; None without one."""
    marks = sorted((*find_phones(sentence), *find_emails(sentence)), key=lambda one: one.start)
    if not marks:
        return None
    content = strip_trigger(sentence).field_text
    until = sentence[: marks[-1].end]
    for words in dict.fromkeys(
        (content, strip_trigger(until).field_text, _CONTACT_LEAD.sub("", until))
    ):
        contact = parse_contact(words)
        if contact is not None:
            return contact
    return _contact_from_role(sentence, marks)


def _contact_from_role(sentence: str, marks: list[ContactMatch]) -> Contact | None:
    """A contact whose name or role precedes the number."""
    before = sentence[: marks[0].start]
    for pattern in (*_NAMED_ROLE, _HEBREW_NAMED_ROLE):
        found = pattern.search(before)
        if found and (role := parse_role(found["role"]) or _single_word_role(found["role"])):
            phones, emails = find_phones(sentence), find_emails(sentence)
            return Contact(
                name=found["name"].strip(),
                role=role,
                phone=phones[0].text if phones else "",
                email=emails[0].text if emails else "",
            )
    return None


def _single_word_role(words: str) -> str:
    """The first word that is a role by itself: "new plumber who finally"."""
    for word in words.split():
        if role := parse_role(word):
            return role
    return ""


_REQUEST_DATA = load_patterns("observe/requests")
_REQUEST_WORDS = _REQUEST_DATA["words"]


def _request_patterns(name: str) -> tuple[BilingualPattern, ...]:
    return tuple(any_pattern([one], _REQUEST_WORDS) for one in _REQUEST_DATA[name])


_AGENT_IDENTITY, _HEARSAY = (
    _request_patterns("soul"),
    _request_patterns("hearsay"),
)
_RULE = any_pattern(_REQUEST_DATA["rule"], _REQUEST_WORDS)
_FINISHED_JOB = any_pattern(_REQUEST_DATA["job"], _REQUEST_WORDS)
_NO_SPEAKER = any_pattern(_REQUEST_DATA["no_speaker"], _REQUEST_WORDS)
_IDENTITY_CHARACTERS = 600  # length of text searched for the assistant's identity
_POLITE = re.compile(
    r"^(?:(?:please|hey|hi|hello|ok|okay|so|and|also|oh|remember|reminder|important|note|rule|"
    r"בבקשה|נא|תזכור|תזכרי)\b[,:!]*\s+)+(?=\S)",
    re.IGNORECASE,
)


def detect_rule(sentence: str) -> str | None:
    """A standing instruction, without the words that introduce it."""
    if not _RULE.search(sentence) or sentence.rstrip().endswith("?"):
        return None
    instruction = _POLITE.sub("", sentence).strip()
    return instruction[:1].upper() + instruction[1:]


_AGENT_NAME_TEMPLATES = {
    "what_name": "The agent's name is {}.",
    "what_name_he": "שמו של הסוכן הוא {}.",
}
_AGENT_NAME_TEMPLATES["what_name_given"] = _AGENT_NAME_TEMPLATES["what_name"]


def detect_agent_identity(turn: str) -> str | None:
    """The identity explicitly given to the assistant; a bare name becomes a sentence."""
    found = first_match(_AGENT_IDENTITY, turn[:_IDENTITY_CHARACTERS])
    what = (first_named_group(found, "what") or "").strip(" ,;)") if found else ""
    if found is None or not what.strip("."):
        return None
    sentence = _AGENT_NAME_TEMPLATES.get(found.lastgroup or "")
    return sentence.format(what.strip(". !")) if sentence else what


def is_finished_job(text: str) -> bool:
    return _FINISHED_JOB.search(text) is not None and not text.rstrip().endswith("?")


@dataclass(frozen=True, slots=True)
class Hearsay:
    who: str
    what: str


def detect_hearsay(sentence: str) -> Hearsay | None:
    """A statement attributed to somebody else; None without a named speaker."""
    found = first_match(_HEARSAY, sentence)
    if found is None:
        return None
    speaker, what = first_named_group(found, "who"), first_named_group(found, "what")
    if speaker is None or what is None or _NO_SPEAKER.match(speaker):
        return None
    return Hearsay(speaker, what.strip(" .,!"))


# Unambiguous requests to store; "save", "add" and "write" alone may ask for other work.
_REMEMBER_REQUEST = re.compile(
    r"\b(?:remember(?! (?:when|how|who|what|where|why|to|me|if|the time))|memori[sz]e|"
    r"note(?: to self| down| that)|make a note|take a note|"
    r"(?:write|jot|put)(?: (?:this|it))? down|keep(?: this| it)? in mind|bear in mind|"
    r"(?:do(?:n't| not)|never) forget(?! (?:to|about)\b)|for the record|for your memory|"
    r"save this|store this)"
    r"|(?<![\w\"״׳'])(?:תזכור|תזכרי|תזכרו|זכור ש|זכרי ש|תרשום|תרשמי|תרשמו|רשום|רשמי|"
    r"אל תשכח|אל תשכחי|שתדע|שתדעי|קח בחשבון|קחי בחשבון|שים לב|שימי לב|"
    r"תשים לב|תשימי לב|"
    r"לזכור ש|תשמור ש|תשמרי ש)",
    re.IGNORECASE,
)
_BARE_REQUEST = re.compile(
    r"^(?:(?:please|hey|ok|okay|also|and|so|can you|could you)[,:]? )*"
    r"(?:remember|memori[sz]e|don't forget|do not forget|note to self|make a note(?: that| of)?)\b"
    r"[:,]? *(?:that )?",
    re.IGNORECASE,
)
_POINTING_WORD = re.compile(
    r"^(?:this|it|the following|את זה|זה)(?: for (?:later|me|now))?\s*[:,–-]\s*", re.I
)
_POLITE_REQUEST = re.compile(
    r"(?:(?:hey|please|ok|so|and|also|hi|היי|בבקשה)\W+){0,4}"
    r"(?:can|could|would|will|תוכל|תוכלי|אפשר|אתה יכול|את יכולה)\b",
    re.IGNORECASE,
)
_REQUEST_CHARACTERS = 60  # length of text in which the request must occur
_REMINISCENCE = re.compile(
    r"\b(?:i|we|she|he|they|you|who|to|can't|always|still|barely|hardly)"
    r"(?: (?:do|don't|can|can't|will|won't))? remember\b",
    re.I,
)


def detect_remember_request(sentence: str) -> str | None:
    """The text to remember; None without a request."""
    if _REMEMBER_REQUEST.search(sentence[:_REQUEST_CHARACTERS]) is None:
        return None
    is_question = sentence.rstrip().endswith("?") or _REMINISCENCE.search(sentence)
    if is_question and not _POLITE_REQUEST.match(sentence):  # "remember that summer?"
        return None
    content = _BARE_REQUEST.sub("", strip_trigger(sentence).content)
    content = _POINTING_WORD.sub("", content).strip()
    return None if content == sentence.strip() or not content else content
