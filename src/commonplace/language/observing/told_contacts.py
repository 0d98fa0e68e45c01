"""A contact inside a sentence that says other things too: "the plumber answered, his name is …"."""

from __future__ import annotations

import re

from commonplace.language.contact_fields import Contact, contact_in
from commonplace.language.contacts import Found, emails_in, phones_in
from commonplace.language.roles import role_in
from commonplace.language.triggers import without_trigger

_NAME = r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[A-Z][\w'-]+(?: [A-Z][\w'-]+){0,2}"
_ROLE = r"(?P<role>(?:[\w-]+ ){0,2}?[\w-]+)"
_OURS = r"(?i:\b(?:the|my|our))"
_TOLD = (
    re.compile(rf"{_OURS} {_ROLE} (?i:is|is called|'s name is) (?:called )?(?P<name>{_NAME})\b"),
    re.compile(rf"{_OURS} {_ROLE}\b.{{0,60}}?(?i:(?:his|her|their) name is) (?P<name>{_NAME})\b"),
    re.compile(rf"(?i:\b(?:from|by|with)) {_OURS} {_ROLE}(?:,| [–-]| is|:) (?P<name>{_NAME})\b"),
)
_HEBREW_TOLD = re.compile(
    r"(?P<role>ה?[א-ת]+(?: [א-ת]+)? (?:שלי|שלנו)|ה[א-ת]+(?: ה?[א-ת]+)?),? "
    r"(?:הוא |היא |קוראים לו |קוראים לה )?"
    r"(?P<name>(?:ד\"ר |ד״ר |פרופ' )?[א-ת]+(?: [א-ת]+)?),? "
)
_LEAD = re.compile(r"^[^:]{0,60}?:\s*|^.{0,60}?\s[–-]\s")


def contact_told(sentence: str) -> Contact | None:
    """The contact of a sentence with a phone number or an address; None without one."""
    marks = sorted((*phones_in(sentence), *emails_in(sentence)), key=lambda one: one.start)
    if not marks:
        return None
    said = without_trigger(sentence).said
    until = sentence[: marks[-1].end]
    for words in dict.fromkeys((said, without_trigger(until).said, _LEAD.sub("", until))):
        contact = contact_in(words)
        if contact is not None:
            return contact
    return _between_words(sentence, marks)


def _between_words(sentence: str, marks: list[Found]) -> Contact | None:
    """The name stands somewhere before the number."""
    before = sentence[: marks[0].start]
    for pattern in (*_TOLD, _HEBREW_TOLD):
        found = pattern.search(before)
        if found and (role := role_in(found["role"]) or _bare_role(found["role"])):
            phones, emails = phones_in(sentence), emails_in(sentence)
            return Contact(
                name=found["name"].strip(),
                role=role,
                phone=phones[0].text if phones else "",
                email=emails[0].text if emails else "",
            )
    return None


def _bare_role(words: str) -> str:
    """The last words may be a role where all of them are none: "new plumber who finally"."""
    for word in words.split():
        if role := role_in(word):
            return role
    return ""
