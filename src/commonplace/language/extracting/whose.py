"""Whose somebody is: "my manager" is another one in another's mouth. Pure.

The owner's own stays "my manager". What others call theirs is called by them ("Maya's manager"),
and where nobody knows who speaks it says of nobody who they are.
"""

from __future__ import annotations

from commonplace.language.extracting.found import Said
from commonplace.language.extracting.hebrew_forms import MY, POSSESSIVES
from commonplace.language.extracting.mention import Mention
from commonplace.language.extracting.unnamed import MINE, words_for
from commonplace.language.extracting.vocabulary import PERSON
from commonplace.language.observing.hebrew import is_hebrew

_OF = "של"


def as_the_reader_says(phrase: Mention, said: Said) -> str:
    """What the reader would call whom a phrase means; nothing, where nobody knows whose it is."""
    thing = "" if said.by_owner else _what_is_mine(phrase.text)
    if not thing:
        return phrase.text
    if said.speaker is None or "@" in said.speaker:
        return "" if phrase.votes[0].kind == PERSON else phrase.text
    return of(said.speaker, thing)


def of(speaker: str, thing: str) -> str:
    return f"{thing} {_OF} {speaker}" if is_hebrew(thing) else f"{speaker}'s {thing}"


def _what_is_mine(text: str) -> str:
    """ "manager" of "my manager", «אחות» of «אחותי»; nothing of "Dana's manager"."""
    words = text.split()
    if words[0].casefold() in MINE:
        return " ".join(words[1:])
    if text.casefold() in words_for("alone"):
        return text.casefold()
    if words[-1] in POSSESSIVES:
        return " ".join(words[:-1])
    return MY.get(text) or (text if text in words_for("he_kin_names") else "")
