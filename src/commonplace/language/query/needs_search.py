"""Whether a message needs a memory search, and why.

A message is read for cues (cues.toml). Strong cues speak of the user's past, people and decisions
and count always; weak ones ("my", "the trip") only where the message is no task that can be done
from nothing or from the text that it brings along. A follow-up is about what the turns before it
were about. Without any cue, nothing is needed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from commonplace.language.query.message import (
    FollowUpShape,
    RecentTurn,
    cue_patterns,
    cue_words,
    cue_words_of_all_languages,
    last_user_turn,
    latest_turns,
    message_shape,
    plain_message,
    reason_text,
)
from commonplace.language.query.question import find_persons

MAX_MESSAGE_CHARACTERS = (
    4000  # characters of a message that are read for cues; a longer one brings its own text
)

# These are what they are, whoever is named in them; the others yield to a strong cue.
_TASKS_WITHOUT_SEARCH = ("small_talk", "arithmetic", "translation", "given_text")
_REASON_CHARACTERS = 60  # characters of a turn that a reason repeats

# What is brought along: after a colon or on the next line, in quotation marks, in code fences.
_PASTED_TEXT = re.compile(
    r"(?::(?=\s)|\n).*\Z|```.*|“[^”]{12,}”|\"[^\"]{12,}\"|(?<!\w)'[^']{12,}'", re.S
)
_CODE = re.compile(
    r"[{};]\s*$|\w\([^()\n]*\)|=>|==|</?\w+>|^\s*(?:def|class|import|const|let)\s", re.M
)
_WORD = re.compile(r"[^\W_]+(?:['\"-][^\W_]+)*")
_HEBREW_FIRST_PERSON = re.compile(r"[א-ת]{2,}תי|[א-ת]{3,}נו")
_DEFINITE = frozenset(("the", "that", "those", "these"))
_MAX_FRAGMENT_WORDS = 5  # words at most
_MAX_NAMED_WORDS = 3  # words at most that need no thing of everyday life among them


@dataclass(frozen=True, slots=True)
class NeedsSearch:
    needed: bool
    reasons: tuple[str, ...]  # each a stable sentence, and the words after a colon


def needs_search(
    message: str, recent: Sequence[RecentTurn] = (), known: Collection[str] = ()
) -> NeedsSearch:
    """``known`` are first names of people whom the user's memory knows, folded."""
    shape = message_shape(message)
    own = _judge_message(message, known)
    if own.needed or shape is FollowUpShape.WHOLE:
        return own
    if _needs_no_search(own):
        return own
    asked = _judge_previous_turn(latest_turns(recent), known)
    if asked is not None:
        return asked
    if shape in (FollowUpShape.ABOUT, FollowUpShape.PLACE):
        return NeedsSearch(True, (_reason("alone", message),))
    return own


def _needs_no_search(found: NeedsSearch) -> bool:
    return any(found.reasons[0].startswith(reason_text(task)) for task in _TASKS_WITHOUT_SEARCH)


def _judge_previous_turn(
    recent: Sequence[RecentTurn], known: Collection[str]
) -> NeedsSearch | None:
    """What the last whole message of the user was about; before any, what was answered."""
    whole = last_user_turn(
        turn for turn in recent if message_shape(turn.text) is FollowUpShape.WHOLE
    )
    turn = whole or last_user_turn(recent) or (recent[-1] if recent else None)
    if turn is None:
        return None
    needed = _judge_message(turn.text, known).needed
    return NeedsSearch(
        needed, (_reason("follow_up" if needed else "generic_follow_up", turn.text),)
    )


def _judge_message(message: str, known: Collection[str]) -> NeedsSearch:
    asked = _without_pasted_text(message[:MAX_MESSAGE_CHARACTERS])
    said = plain_message(asked)
    task = _task(said, message[:MAX_MESSAGE_CHARACTERS])
    if task in _TASKS_WITHOUT_SEARCH:
        return NeedsSearch(False, (_reason(task),))
    reasons = _strong_reasons(said, asked, task, known)
    if task is None:
        reasons += _weak_reasons(said, asked)
    elif not reasons:
        return NeedsSearch(False, (_reason(task),))
    if reasons:
        return NeedsSearch(True, tuple(dict.fromkeys(reasons)))
    return NeedsSearch(False, (_reason("general"),))


def _reason(cue: str, words: str = "") -> str:
    told = " ".join(words.split())
    shown = told if len(told) <= _REASON_CHARACTERS else f"{told[: _REASON_CHARACTERS - 1]}…"
    return f"{reason_text(cue)}: {shown}" if shown else reason_text(cue)


def _without_pasted_text(message: str) -> str:
    kept = _PASTED_TEXT.sub(" ", message.strip())
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
    for task, pattern in cue_patterns("tasks"):
        found = pattern.search(said)
        if found and (found.start() <= start or task in ("given_text", "coding")):
            return task
    if _CODE.search(message) or len(set(spoken) & cue_words_of_all_languages("coding")) > 0:
        return "coding"
    return None


def _beginning(said: str) -> int:
    """Where a request begins, after "please", "can you" and the like."""
    opening, end = cue_words_of_all_languages("opening"), 0
    for match in _WORD.finditer(said):
        if match[0] not in opening:
            return match.start()
        end = match.end()
    return end


def _is_small_talk(spoken: Sequence[str]) -> bool:
    known = cue_words_of_all_languages("small_talk")
    return bool(spoken) and len(spoken) <= 8 and all(word in known for word in spoken)


def _is_arithmetic(spoken: Sequence[str]) -> bool:
    words = [word for word in spoken if not word[0].isdigit()]
    has_number = len(words) < len(spoken)
    known = cue_words_of_all_languages("arithmetic")
    return has_number and all(word.rstrip("-") in known for word in words)


# ——— cues ———


def _strong_reasons(said: str, asked: str, task: str | None, known: Collection[str]) -> list[str]:
    reasons = []
    if named := _persons(asked, task, known):
        reasons.append(_reason("person", ", ".join(named)))
    reasons += [
        _reason(cue, found[0])
        for cue, pattern in cue_patterns("strong")
        if (found := pattern.search(said)) and not (task and cue == "self")
    ]
    mine = [word for word in _WORD.findall(said) if _is_hebrew_first_person(word)]
    return [*reasons, _reason("past", ", ".join(mine[:3]))] if mine else reasons


def _persons(asked: str, task: str | None, known: Collection[str]) -> list[str]:
    """Somebody with a surname, in a question of general knowledge, is in the encyclopedia."""
    found = [mention.text for mention in find_persons(asked, known)]
    if task == "general":
        found = [name for name in found if not (" " in name and name[0].isupper())]
    return list(dict.fromkeys(found))[:3]


def _is_hebrew_first_person(word: str) -> bool:
    """Hebrew says "I" and "we" with the end of a word, and so it does "my"."""
    return _HEBREW_FIRST_PERSON.fullmatch(word) is not None and word not in cue_words(
        "he", "not_mine"
    )


def _weak_reasons(said: str, asked: str) -> list[str]:
    spoken = _WORD.findall(said)
    reasons = [
        _reason(cue, found[0])
        for cue, pattern in cue_patterns("weak")
        if (found := pattern.search(said))
    ]
    for cue in ("own", "self"):
        if words := [word for word in spoken if word in cue_words_of_all_languages(cue)]:
            reasons.append(_reason(cue, words[0]))
    if things := _definite_things(spoken):
        reasons.append(_reason("thing", things[0]))
    if not reasons and message_shape(asked) is FollowUpShape.WHOLE and _is_fragment(spoken, asked):
        reasons.append(_reason("fragment", " ".join(spoken)))
    return reasons


def _definite_things(spoken: Sequence[str]) -> list[str]:
    """Things of everyday life that are spoken of as known: "the landlord", "Monday's call",
    «החתונה»."""
    english, hebrew = cue_words("en", "things"), cue_words("he", "things")
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
        or len(spoken) > _MAX_FRAGMENT_WORDS
        or set(spoken)
        & (
            cue_words_of_all_languages("question")
            | cue_words_of_all_languages("sentence")
            | cue_words_of_all_languages("opening")
        )
    ):
        return False
    things = cue_words_of_all_languages("things")
    is_thing = any(word in things or _definite_hebrew(word) in things for word in spoken)
    return is_thing or (1 < len(spoken) <= _MAX_NAMED_WORDS and "?" not in asked)
