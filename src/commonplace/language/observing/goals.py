"""A goal in few words, as a profile lists it: "run a marathon by May"."""

from __future__ import annotations

import re

FIELD = "goals_add"  # joins the goals that stand

# What only says that it is a goal. "Saving for a flat" is a goal in itself, so its verb stays.
_LEAD = re.compile(
    r"The user(?:'s (?:\w+ ){0,2}?(?:goal|aim|dream|resolution|ambition|target|plan)s?"
    r"[^.!?]{0,40}? (?:is|are) (?:to )?"
    r"| (?:\w+ly |also |still |always |just |now )*(?:"
    r"(?:wants?|hopes|plans|intends|aims|would like) to (?:\w+ly )?"
    r"|(?:is|has been) (?:\w+ly |also |still |now )*"
    r"(?:(?:aiming|hoping|planning|trying|determined) to |planning )?"
    r"|(?:has always )?(?:dreams|dreamed|dreamt) (?:of|about) )?)",
    re.IGNORECASE,
)
_LEAD_HE = re.compile(
    r"(?:ה(?:מטרה|מטרות|יעד|יעדים|חלום|שאיפה) (?:\S+ )??של המשתמשת? (?:[^ל]\S* ){0,2}?(?=ל)"
    r"|המשתמשת? (?:(?:רוצה|מתכנן|מתכננת|מתכוון|מתכוונת|שואף|שואפת|מקווה|מנסה|חולם|חולמת) (?=ל))?)"
)


def goal_in(content: str) -> str:
    """Of a goal as a sentence about the user, what the user is after."""
    said = _LEAD_HE.sub("", _LEAD.sub("", content, count=1), count=1)
    return said.strip(" .") or content
