"""How the speaker is reached: "my email is …", "you can reach me at …", «הטלפון שלי …»."""

from __future__ import annotations

import re

from commonplace.language.contacts import emails_in, phones_in
from commonplace.language.kv_fields import Pair

# What precedes the number or the address. Whose it is has to be said: "my mother's" is not one's
# own, and neither is that of "my phone guy".
_LINK = (
    r"(?: (?:number|address|no|is|are|now|currently|at|on|by|via|through|under|here|anytime|"
    r"directly|using|work|home|office|phone|e-?mail|mobile|cell|whatsapp|my|text|or))*"
)
_MINE = re.compile(
    r"\b(?:my (?P<which>(?:(?:new|current|main|primary)\s+)*"
    r"(?:work|personal|private|home|business|office|school|university|second|other)?)\s*"
    rf"(?:e-?mail|mail|phone|cell|mobile|telephone|whatsapp|number)\b{_LINK}"
    rf"|(?:reach|contact|e-?mail|call|text|phone|message|ring|write|get hold of) me\b{_LINK})"
    r"\W*$",
    re.IGNORECASE,
)
_MINE_HE = re.compile(
    r"(?<![\w\"״׳'])(?:"
    r"ה?(?:מייל|אימייל|דוא[\"״]ל|טלפון|נייד|פלאפון|סלולרי|מספר|כתובת המייל|מספר הטלפון|מספר הנייד) "
    r"(?P<which>(?:החדש|הפרטי|האישי|הנוסף) )?שלי(?: (?:בעבודה|בבית))?(?: (?:הוא|היא|זה))?"
    r"|(?:להשיג|לתפוס|למצוא) אותי|(?:להתקשר|לכתוב|לסמס|תתקשר|תתקשרי|תתקשרו|תכתבו) אלי+)"
    r"(?: (?:ב|ל|בטלפון|במייל|בנייד|במספר|לכתובת))?\W*[בל]?-?$"
)
_PASSING = re.compile(r"^(?:new|current|main|primary)\s+|\s+$", re.IGNORECASE)
_MOST_BEFORE = 90  # characters


def own_contact(sentence: str, owner: str) -> Pair | None:
    """The speaker's address or number; None for a question, and for anybody else's."""
    if sentence.rstrip().endswith("?"):
        return None
    emails, phones = emails_in(sentence), phones_in(sentence)
    marks = sorted((*emails, *phones), key=lambda mark: mark.start)
    if not marks:
        return None
    before = sentence[max(0, marks[0].start - _MOST_BEFORE) : marks[0].start]
    found = _MINE.search(before)
    if found:
        what = "email" if marks[0] in emails else "phone number"
        which = _PASSING.sub("", found["which"] or "").lower()
        return Pair(f"{owner}'s {which} {what}".replace("  ", " "), marks[0].text)
    if _MINE_HE.search(before):
        what = "המייל" if marks[0] in emails else "הטלפון"
        whose = "המשתמש" if owner == "the user" else owner
        return Pair(f"{what} של {whose}", marks[0].text)
    return None
