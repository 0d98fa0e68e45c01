"""A follow-up as a whole question, filled from the turns before it. Pure.

The user's own words stay: what is put in stands for a pronoun, or takes up the question before.
Earlier follow-ups are filled first, so that "and her brother?" after "what about sarah?" knows her.
Where there is no conversation, a bare mention asks what is known of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from commonplace.language.asking.antecedents import Antecedents
from commonplace.language.asking.cues import word_set
from commonplace.language.asking.shapes import WHOLE, Read, Shape, bare, read_shape
from commonplace.language.asking.take_up import take_up
from commonplace.language.asking.turns import Turn, latest
from commonplace.language.detect import Script, script

_HEBREW = re.compile("[א-ת]")
_KNOWN = {"en": "What does the user know about {}", "he": "מה המשתמש יודע על {}"}
_PLACE = re.compile(r"^(?:in|at|on|for|from|with|by|about|to)\s+", re.IGNORECASE)
_GLUED = re.compile(r"^(?:[בל]-?(?=[א-ת]{3})|מ-?(?=[א-ת]{4}))")


@dataclass(frozen=True, slots=True)
class Filled:
    """What was put into a message, and what for."""

    said: str  # the user's words that it stands for; "" where they left it out
    meant: str
    why: str


@dataclass(frozen=True, slots=True)
class Expanded:
    query: str
    filled: tuple[Filled, ...] = ()


def expand(message: str, recent: Sequence[Turn] = (), known: Collection[str] = ()) -> Expanded:
    """The message as it would stand without the conversation. ``known`` are folded first names."""
    said: list[Turn] = []
    for turn in latest(recent):
        text = _expand(turn.text, said, known).query if turn.is_users else turn.text
        said.append(Turn(text, turn.role))
    return _expand(message, said, known)


def _expand(message: str, said: Sequence[Turn], known: Collection[str]) -> Expanded:
    read = read_shape(message, known)
    if read == WHOLE:
        return Expanded(message)
    before = Antecedents(said, known)
    return _BY_SHAPE[read.shape](message, read, before)


def _place_or_person(message: str, read: Read, before: Antecedents) -> Expanded:
    part, filled = _pointed(read.part, before)
    if before.question:
        query = take_up(before.question, part, read.shape is Shape.PLACE, before.known)
        why = f"takes up: {before.question}"
        return Expanded(query, (*filled, Filled("", query, why)))
    about = _without_preposition(part)
    query = _KNOWN[_language(about)].format(about)
    return Expanded(query, (*filled, Filled("", query, "there is no conversation to take up")))


def _without_preposition(part: str) -> str:
    return _GLUED.sub("", _PLACE.sub("", part)) or part


def _language(text: str) -> str:
    return "he" if script(text) is Script.HEBREW else "en"


def _question_word(message: str, read: Read, before: Antecedents) -> Expanded:
    topic = before.question or before.last
    if not topic:
        return Expanded(message)
    query = f"{read.part} {_lowered(topic)}"
    return Expanded(query, (Filled("", topic, f"takes up: {topic}"),))


def _lowered(topic: str) -> str:
    """As it stands after a question word; names keep their capitals."""
    first = topic.split(maxsplit=1)[0]
    return topic[0].lower() + topic[1:] if first.lower() in word_set("en", "lowered") else topic


def _deed(message: str, read: Read, before: Antecedents) -> Expanded:
    deed = before.deed
    if not deed:
        return _pronouns(message, read, before)
    why = "the deed spoken of before"
    put, places = _DO_IT.subn(lambda _: deed, message, count=1)
    if places and not deed.split()[0].endswith("ing"):
        said = found[0] if (found := _DO_IT.search(message)) else ""
        return Expanded(put, (Filled(said, deed, why),))
    return Expanded(f"{bare(message)}: {deed}", (Filled("", deed, why),))


_DO_IT = re.compile(r"\bdo (?:it|that|this)\b|לעשות (?:את )?(?:זה|זאת)", re.IGNORECASE)


def _pronouns(message: str, read: Read, before: Antecedents) -> Expanded:
    query, filled = _pointed(message, before)
    if filled:
        return Expanded(query, filled)
    topic = before.thing or before.question
    if not topic:
        return Expanded(message)
    return Expanded(f"{bare(message)}: {topic}", (Filled("", topic, "spoken of before"),))


_BY_SHAPE: Mapping[Shape, Callable[[str, Read, Antecedents], Expanded]] = {
    Shape.ABOUT: _place_or_person,
    Shape.PLACE: _place_or_person,
    Shape.WORD: _question_word,
    Shape.DEED: _deed,
    Shape.POINTS: _pronouns,
}


# ——— pronouns ———

_PRONOUN = re.compile(
    r"\b(?:she|he|they|him|them|his|hers|her|their|theirs|its|it)\b"
    r"|(?<=on )that\b|(?<=for )that\b|(?<=about )that\b|(?<=of )that\b|(?<=is )that\b"
    r"|(?<![א-ת])(?:הוא|היא|הם|הן|אותו|אותה|אותם|שלו|שלה|שלהם|זה|זאת)(?![א-ת])",
    re.IGNORECASE,
)
_POSSESSIVE = frozenset(("his", "their", "its"))
_THINGS = frozenset(("it", "its", "that", "זה", "זאת"))
_GENDER = {"she": "she", "her": "she", "hers": "she", "he": "he", "him": "he", "his": "he"}
_NOUN_NEXT = re.compile(
    r"\s+(?!(?:again|back|that|about|to|for|with|in|on|at|and|or|now|still)\b)\w"
)


def _pointed(text: str, before: Antecedents) -> tuple[str, tuple[Filled, ...]]:
    """Pronouns replaced by what they point at, where that is known."""
    filled: dict[str, Filled] = {}

    def put(match: re.Match[str]) -> str:
        said = match[0].lower()
        meant = _meant(said, before)
        if not meant:
            return match[0]
        filled.setdefault(said, Filled(match[0], meant, "spoken of before"))
        if said in ("שלו", "שלה", "שלהם"):
            return f"של {meant}"
        meant = _inside(meant)
        owns = said in _POSSESSIVE or (said == "her" and _NOUN_NEXT.match(text, match.end()))
        return _owner(meant) if owns else meant

    return _PRONOUN.sub(put, text), tuple(filled.values())


def _meant(said: str, before: Antecedents) -> str:
    if said in _THINGS:
        return before.thing
    if said in ("they", "them", "their", "theirs", "הם", "הן", "אותם", "שלהם"):
        return before.people or before.thing
    person = before.person(_GENDER.get(said))
    return person or (before.thing if _HEBREW.search(said) else "")


def _inside(meant: str) -> str:
    """ "My nephew" began a sentence."""
    first, space, rest = meant.partition(" ")
    return f"{first.lower()}{space}{rest}" if first.lower() in word_set("en", "own") else meant


def _owner(meant: str) -> str:
    return meant if meant.endswith(("'s", "’s")) else f"{meant}'s"
