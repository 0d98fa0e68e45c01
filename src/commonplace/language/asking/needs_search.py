"""Whether the user's memory has to be looked at before a message is answered, and why.

A message is read for cues (cues.toml). Strong cues speak of the user's past, people and decisions
and count always; weak ones ("my", "the trip") only where the message is no task that can be done
from nothing or from the text that it brings along. A follow-up is about what the turns before it
were about. Without any cue, nothing is needed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from commonplace.language.asking.cues import either, patterns, plain, sentence, word_set
from commonplace.language.asking.persons import persons_in
from commonplace.language.asking.shapes import Shape, shape_of
from commonplace.language.asking.turns import Turn, latest, taken_up

LONGEST = 4000  # characters of a message that are read for cues; a longer one brings its own text

# These are what they are, whoever is named in them; the others yield to a strong cue.
_ABSOLUTE = ("small_talk", "arithmetic", "translation", "given_text")
_TOLD = 60  # characters of a turn that a reason repeats

# What is brought along: after a colon or on the next line, in quotation marks, in code fences.
_BROUGHT = re.compile(
    r"(?::(?=\s)|\n).*\Z|```.*|“[^”]{12,}”|\"[^\"]{12,}\"|(?<!\w)'[^']{12,}'", re.S
)
_CODE = re.compile(
    r"[{};]\s*$|\w\([^()\n]*\)|=>|==|</?\w+>|^\s*(?:def|class|import|const|let)\s", re.M
)
_WORD = re.compile(r"[^\W_]+(?:['\"-][^\W_]+)*")
_MINE = re.compile(r"[א-ת]{2,}תי|[א-ת]{3,}נו")
_DEFINITE = frozenset(("the", "that", "those", "these"))
_FRAGMENT = 5  # words at most
_NAMED = 3  # words at most that need no thing of everyday life among them


@dataclass(frozen=True, slots=True)
class NeedsSearch:
    needed: bool
    reasons: tuple[str, ...]  # each a stable sentence, and the words after a colon


def needs_search(
    message: str, recent: Sequence[Turn] = (), known: Collection[str] = ()
) -> NeedsSearch:
    """``known`` are first names of people whom the user's memory knows, folded."""
    shape = shape_of(message)
    own = _by_itself(message, known)
    if own.needed or shape is Shape.WHOLE:
        return own
    if _absolute(own):
        return own
    asked = _asked_before(latest(recent), known)
    if asked is not None:
        return asked
    if shape in (Shape.ABOUT, Shape.PLACE):
        return NeedsSearch(True, (_reason("alone", message),))
    return own


def _absolute(found: NeedsSearch) -> bool:
    return any(found.reasons[0].startswith(sentence(task)) for task in _ABSOLUTE)


def _asked_before(recent: Sequence[Turn], known: Collection[str]) -> NeedsSearch | None:
    """What the last whole message of the user was about; before any, what was answered."""
    whole = taken_up(turn for turn in recent if shape_of(turn.text) is Shape.WHOLE)
    turn = whole or taken_up(recent) or (recent[-1] if recent else None)
    if turn is None:
        return None
    needed = _by_itself(turn.text, known).needed
    return NeedsSearch(
        needed, (_reason("follow_up" if needed else "generic_follow_up", turn.text),)
    )


def _by_itself(message: str, known: Collection[str]) -> NeedsSearch:
    asked = _without_brought(message[:LONGEST])
    said = plain(asked)
    task = _task(said, message[:LONGEST])
    if task in _ABSOLUTE:
        return NeedsSearch(False, (_reason(task),))
    reasons = _strong(said, asked, task, known)
    if task is None:
        reasons += _weak(said, asked)
    elif not reasons:
        return NeedsSearch(False, (_reason(task),))
    if reasons:
        return NeedsSearch(True, tuple(dict.fromkeys(reasons)))
    return NeedsSearch(False, (_reason("general"),))


def _reason(cue: str, words: str = "") -> str:
    told = " ".join(words.split())
    shown = told if len(told) <= _TOLD else f"{told[: _TOLD - 1]}…"
    return f"{sentence(cue)}: {shown}" if shown else sentence(cue)


def _without_brought(message: str) -> str:
    kept = _BROUGHT.sub(" ", message.strip())
    return kept if kept.strip() else message


# ——— tasks ———


def _task(said: str, message: str) -> str | None:
    """What can be done without knowing the user; None when it is nothing of the kind."""
    spoken = _WORD.findall(said)
    if _is_small_talk(spoken):
        return "small_talk"
    if _is_arithmetic(spoken):
        return "arithmetic"
    start = _beginning(said)
    for task, pattern in patterns("tasks"):
        found = pattern.search(said)
        if found and (found.start() <= start or task in ("given_text", "coding")):
            return task
    if _CODE.search(message) or len(set(spoken) & either("coding")) > 0:
        return "coding"
    return None


def _beginning(said: str) -> int:
    """Where a request begins, after "please", "can you" and the like."""
    opening, end = either("opening"), 0
    for match in _WORD.finditer(said):
        if match[0] not in opening:
            return match.start()
        end = match.end()
    return end


def _is_small_talk(spoken: Sequence[str]) -> bool:
    known = either("small_talk")
    return bool(spoken) and len(spoken) <= 8 and all(word in known for word in spoken)


def _is_arithmetic(spoken: Sequence[str]) -> bool:
    words = [word for word in spoken if not word[0].isdigit()]
    has_number = len(words) < len(spoken)
    known = either("arithmetic")
    return has_number and all(word.rstrip("-") in known for word in words)


# ——— cues ———


def _strong(said: str, asked: str, task: str | None, known: Collection[str]) -> list[str]:
    reasons = []
    if named := _persons(asked, task, known):
        reasons.append(_reason("person", ", ".join(named)))
    reasons += [
        _reason(cue, found[0])
        for cue, pattern in patterns("strong")
        if (found := pattern.search(said)) and not (task and cue == "self")
    ]
    mine = [word for word in _WORD.findall(said) if _is_mine(word)]
    return [*reasons, _reason("past", ", ".join(mine[:3]))] if mine else reasons


def _persons(asked: str, task: str | None, known: Collection[str]) -> list[str]:
    """Somebody with a surname, in a question of general knowledge, is in the encyclopedia."""
    found = [mention.text for mention in persons_in(asked, known)]
    if task == "general":
        found = [name for name in found if not (" " in name and name[0].isupper())]
    return list(dict.fromkeys(found))[:3]


def _is_mine(word: str) -> bool:
    """Hebrew says "I" and "we" with the end of a word, and so it does "my"."""
    return _MINE.fullmatch(word) is not None and word not in word_set("he", "not_mine")


def _weak(said: str, asked: str) -> list[str]:
    spoken = _WORD.findall(said)
    reasons = [
        _reason(cue, found[0])
        for cue, pattern in patterns("weak")
        if (found := pattern.search(said))
    ]
    for cue in ("own", "self"):
        if words := [word for word in spoken if word in either(cue)]:
            reasons.append(_reason(cue, words[0]))
    if things := _particular(spoken):
        reasons.append(_reason("thing", things[0]))
    if not reasons and shape_of(asked) is Shape.WHOLE and _is_fragment(spoken, asked):
        reasons.append(_reason("fragment", " ".join(spoken)))
    return reasons


def _particular(spoken: Sequence[str]) -> list[str]:
    """Things of everyday life that are spoken of as known: "the landlord", "Monday's call",
    «החתונה»."""
    english, hebrew = word_set("en", "things"), word_set("he", "things")
    found = []
    for place, word in enumerate(spoken):
        near = spoken[max(0, place - 3) : place]
        is_definite = any(each in _DEFINITE or each.endswith("'s") for each in near)
        if (word in english and is_definite) or _definite_hebrew(word) in hebrew:
            found.append(word)
    return found


def _definite_hebrew(word: str) -> str:
    """The thing itself, if the word says "the"; glued behind other prefixes, ה is not written."""
    match = re.fullmatch(r"ו?[שמכ]?ה([א-ת]{2,})", word) or re.fullmatch(r"ו?[בל]([א-ת]{3,})", word)
    return match[1] if match else ""


def _is_fragment(spoken: Sequence[str], asked: str) -> bool:
    """ "dentist appointment", "YC app": a few words that ask for nothing else are to be looked up;
    so is a thing of everyday life, all alone."""
    if (
        not spoken
        or len(spoken) > _FRAGMENT
        or set(spoken) & (either("question") | either("sentence") | either("opening"))
    ):
        return False
    things = either("things")
    is_thing = any(word in things or _definite_hebrew(word) in things for word in spoken)
    return is_thing or (1 < len(spoken) <= _NAMED and "?" not in asked)
