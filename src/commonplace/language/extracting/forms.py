"""One form for the patterns: contractions spelled out, asides left out, what is missing put in.

All of it on marked sentences (marking.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from commonplace.language.extracting.table import compiled, data

_M = r"(⟨[a-z]\d+[imhry]?⟩)"
_CASUAL = {
    casual: full.replace("_", " ")
    for casual, full in (each.split(":") for each in data("said")["casual"]["words"].split())
}
_CASUALLY = re.compile(rf"(?<![\w'])(?:{'|'.join(_CASUAL)})(?![\w'])", re.IGNORECASE)


def in_full(text: str) -> str:
    """ "im gonna" → "I'm going to"."""
    return _CASUALLY.sub(lambda found: _CASUAL[found[0].lower()], text)


_IS_SAID_OF = "|".join(data("said")["casual"]["is_said_of"].split())
_FORMS = tuple(
    (re.compile(short, re.IGNORECASE), long)
    for short, long in (
        (rf"{_M},? \1(?!')", r"\1"),
        (rf"{_M}'m\b", r"\1 am"),
        (rf"{_M}'re\b", r"\1 are"),
        (rf"{_M}'ve\b", r"\1 have"),
        (rf"{_M}'ll\b", r"\1 will"),
        (rf"{_M}'d\b", r"\1 would"),
        (rf"{_M}'s (?=(?:been|got|gone|had|become)\b)", r"\1 has "),
        (rf"{_M}'s (?=(?:{_IS_SAID_OF}|⟨p\d+\w?⟩'s)\b)", r"\1 is "),
        # "Dana, who works at Acme": what follows is said of her.
        (rf"{_M}(?:,? who|, which) (?!⟨)", r"\1 "),
    )
)


# "I'm staying at my mom's in Haifa": her home, and not that she is there.
_HOME = re.compile(
    r"(\b(?:at|to|from|near|by|outside|behind|visited|visiting|left) "
    rf"(?:⟨p\d+\w?⟩'s (?:[\w-]+ ){{1,3}})?{_M})"
    r"'s (?=(?:in|on|at|near|by|for|with|from|now|today|tomorrow|until|this|over)\b)"
)


def spelled_out(text: str) -> str:
    text = _HOME.sub(r"\1's home ", text)
    for short, long in _FORMS:
        text = short.sub(long, text)
    return text


_ASIDES = tuple(
    (re.compile(aside, re.IGNORECASE), without)
    for aside, without in (
        (rf"{_M}, (?:⟨p\d+[ih]?⟩'s|an?|the) [^,.;⟨⟩]{{2,50}}(?:⟨\w\d+\w?⟩)?,(?= \w)", r"\1"),
        (rf"{_M}(?:,? who|, which) [^,.;]{{2,80}},(?= \w)", r"\1"),
        (rf"{_M} \([^()]{{2,60}}\)", r"\1"),
        # "A friend of mine, Dana, works": the name alone.
        (rf"\b(?:an?|one) [^,.;⟨⟩]{{2,40}} of ⟨p\d+[ih]⟩'s, {_M},", r"\1"),
        (rf"⟨p\d+[ih]?⟩'s [^,.;⟨⟩]{{2,40}}, {_M},", r"\1"),
        (rf"(?:the|their) [a-z][^,.;⟨⟩]{{2,30}}, {_M},", r"\1"),
    )
)


def without_asides(text: str) -> str:
    for aside, without in _ASIDES:
        text = aside.sub(without, text)
    return text


# The nouns by which people are called somebody's: "my sister Noa", "Tom's best friend Ann".
ROLES = "|".join(
    noun.replace("_", " ")
    for noun in sorted(
        (noun for role in data("roles")["role"] for noun in role["nouns"].split()),
        key=len,
        reverse=True,
    )
)
_WITH_A_ROLE = re.compile(
    rf"⟨p\d+[ihy]?⟩'s (?:[\w-]+ ){{0,2}}?(?:{ROLES})s? (⟨p\d+[ih]?⟩)", re.IGNORECASE
)


def by_name_alone(text: str) -> str:
    """ "Uri married my sister Shira" → "Uri married Shira"."""
    return _WITH_A_ROLE.sub(r"\1", text)


# ——— what is left out ———


@dataclass(frozen=True, slots=True)
class Around:
    """What a sentence need not say again: who speaks, and marks of what was named just before."""

    speaker: int | None = None
    organisation: str | None = None
    event: str | None = None


def filled_in(text: str, around: Around) -> str:
    """ "Joined Acme last week": the speaker did; "the landlord is Dan": it is the speaker's;
    "my contact there": at the one organisation that was spoken of."""
    if around.speaker is not None:
        me = f"⟨p{around.speaker}i⟩"
        text = _left_out("subject").sub(rf"{me} \g<verb>", text)
        text = _left_out("feeling").sub(rf"{me} am \g<rest>", text)
        text = _left_out("owner").sub(rf"{me}'s \g<noun> is ", text)
    text = _left_out("shared").sub(r"\g<subject>\g<first>, and \g<subject> \g<verb>", text)
    text = _left_out("shared_hebrew").sub(r"\g<subject>\g<first>, ו\g<subject> \g<verb>", text)
    if around.organisation is not None:
        text = _left_out("there").sub(rf"\g<noun> at {around.organisation}", text)
        text = _left_out("contact").sub(rf"\g<noun> at {around.organisation} \g<is>", text)
        text = _left_out("them").sub(rf"\g<verb> {around.organisation}", text)
        text = _left_out("their").sub(rf"{around.organisation}'s \g<noun>", text)
    if around.event is not None:
        text = _left_out("at_event").sub(rf"\g<noun> at {around.event}", text)
    return text


@cache
def _left_out(name: str) -> re.Pattern[str]:
    return compiled(data("said")["left_out"][name])
