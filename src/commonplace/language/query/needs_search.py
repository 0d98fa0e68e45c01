"""Whether a message needs a memory search, and why.

A message is searched for cues (cues.toml). Strong cues refer to the user's past, people and
decisions and always count. Weak cues ("my", "the trip") count only if the message is not a task
that can be done without memory. Without a cue, the user's memory decides: it is searched for what
it knows by name or word. A follow-up has the need of the turn it refers to.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from commonplace.language.query.known_words import NOTHING_KNOWN, KnownWords
from commonplace.language.query.message import (
    MAX_MESSAGE_CHARACTERS,
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
from commonplace.language.text.detect import detect_language
from commonplace.language.text.filler import is_filler

# These never need a search; other tasks do if there is a strong cue.
_TASKS_WITHOUT_SEARCH = ("small_talk", "arithmetic", "translation", "given_text")
_TASKS_ANYWHERE = ("given_text", "coding", "any")  # others only if the message begins with them
_CUE_LANGUAGES = ("en", "he")
_REASON_CHARACTERS = 60  # of a turn that a reason quotes

# Pasted text: after a colon or on the next line, in quotation marks, in code fences.
_PASTED_TEXT = re.compile(
    r"(?::(?=\s)|\n).*\Z|```.*|“[^“”]{12,}”|\"[^\"]{12,}\"|(?<!\w)'[^']{12,}'", re.S
)
_CODE = re.compile(
    # Spaces of one line only: a run of line breaks would be read again from each of them.
    r"[{};][^\S\n]*$|\w\([^()\n]*\)|=>|==|</?\w+>|^[^\S\n]*(?:def|class|import|const|let)\s",
    re.M,
)
_WORD = re.compile(r"[^\W_]+(?:['\"-][^\W_]+)*")
_HEBREW_FIRST_PERSON = re.compile(r"[א-ת]{2,}תי|[א-ת]{3,}נו")
# "why do cats purr", "is a tomato a fruit": any of a kind.
_ANY_OF_A_KIND = re.compile(
    r"(?:(?:why|how|how many \w+|how much \w+) )?"
    r"(?:(?:do|are|can|could|will|would) (?P<plural>[a-z]{2,}[^\Wsu]s)|(?:do|does|is|can) an?) "
)
_ME = frozenset(("me", "לי"))
_DEFINITE = frozenset(("the", "that", "those", "these"))
_MAX_FRAGMENT_WORDS = 5
_MAX_NAMED_WORDS = 3  # in a fragment without an everyday thing


@dataclass(frozen=True, slots=True)
class NeedsSearch:
    needed: bool
    reasons: tuple[str, ...]  # each a fixed sentence, then a colon and the words


def needs_search(
    message: str,
    recent: Sequence[RecentTurn] = (),
    known: Collection[str] = (),
    in_memory: Mapping[str, KnownWords] = MappingProxyType({}),
) -> NeedsSearch:
    """``known``: folded first names of people in the user's memory. ``in_memory``: what the memory
    knows of the message and of each recent turn."""
    shape = message_shape(message)
    own = _judge_message(message, known, in_memory)
    if own.needed or shape is FollowUpShape.WHOLE:
        return own
    if _needs_no_search(own):
        return own
    previous = _judge_previous_turn(latest_turns(recent), known, in_memory)
    if previous is not None:
        return previous
    if shape in (FollowUpShape.ABOUT, FollowUpShape.PLACE):
        return NeedsSearch(True, (_reason("alone", message),))
    return own


def _needs_no_search(found: NeedsSearch) -> bool:
    return any(found.reasons[0].startswith(reason_text(task)) for task in _TASKS_WITHOUT_SEARCH)


def _judge_previous_turn(
    recent: Sequence[RecentTurn], known: Collection[str], in_memory: Mapping[str, KnownWords]
) -> NeedsSearch | None:
    """The decision for the user's last whole message; without one, for the last answer."""
    whole = last_user_turn(
        turn for turn in recent if message_shape(turn.text) is FollowUpShape.WHOLE
    )
    turn = whole or last_user_turn(recent) or (recent[-1] if recent else None)
    if turn is None:
        return None
    needed = _judge_message(turn.text, known, in_memory).needed
    return NeedsSearch(
        needed, (_reason("follow_up" if needed else "generic_follow_up", turn.text),)
    )


def _judge_message(
    message: str, known: Collection[str], in_memory: Mapping[str, KnownWords]
) -> NeedsSearch:
    request = _without_pasted_text(message[:MAX_MESSAGE_CHARACTERS])
    plain = plain_message(request)
    task = _task(plain, message[:MAX_MESSAGE_CHARACTERS])
    if task in _TASKS_WITHOUT_SEARCH:
        return NeedsSearch(False, (_reason(task),))
    reasons = _strong_reasons(plain, request, task, known)
    reasons += _memory_reasons(in_memory.get(message, NOTHING_KNOWN), task)
    if task is None:
        reasons += _weak_reasons(plain, request)
    elif not reasons:
        return NeedsSearch(False, (_reason(task),))
    if reasons:
        return NeedsSearch(True, tuple(dict.fromkeys(reasons)))
    if detect_language(request) not in _CUE_LANGUAGES and not is_filler(request):
        return NeedsSearch(True, (_reason("language"),))
    return NeedsSearch(False, (_reason("general"),))


def _reason(cue: str, words: str = "") -> str:
    quoted = " ".join(words.split())
    shown = quoted if len(quoted) <= _REASON_CHARACTERS else f"{quoted[: _REASON_CHARACTERS - 1]}…"
    return f"{reason_text(cue)}: {shown}" if shown else reason_text(cue)


def _without_pasted_text(message: str) -> str:
    remaining = _PASTED_TEXT.sub(" ", message.strip())
    return remaining if remaining.strip() else message


# ——— tasks ———


def _task(plain: str, message: str) -> str | None:
    """The task, if the message is one that needs no knowledge of the user; else None."""
    words = _WORD.findall(plain)
    if _is_small_talk(words):
        return "small_talk"
    if _is_arithmetic(words):
        return "arithmetic"
    start = _beginning(plain)
    for task, pattern in cue_patterns("tasks"):
        found = pattern.search(plain)
        if found and (found.start() <= start or task in _TASKS_ANYWHERE):
            return task
    if _CODE.search(message) or len(set(words) & cue_words_of_all_languages("coding")) > 0:
        return "coding"
    return "any" if _is_about_any(plain[start:]) else None


def _is_about_any(plain: str) -> bool:
    """Whether it asks about a kind. "Are kids …" is about those of the user."""
    found = _ANY_OF_A_KIND.match(plain)
    return found is not None and found["plural"] not in cue_words_of_all_languages("things")


def _beginning(plain: str) -> int:
    """Offset of the request after "please", "can you" and the like."""
    opening, end = cue_words_of_all_languages("opening"), 0
    for match in _WORD.finditer(plain):
        if match[0] not in opening:
            return match.start()
        end = match.end()
    return end


def _is_small_talk(words: Sequence[str]) -> bool:
    known = cue_words_of_all_languages("small_talk")
    return bool(words) and len(words) <= 8 and all(word in known for word in words)


def _is_arithmetic(tokens: Sequence[str]) -> bool:
    words = [word for word in tokens if not word[0].isdigit()]
    has_number = len(words) < len(tokens)
    known = cue_words_of_all_languages("arithmetic")
    return has_number and all(word.rstrip("-") in known for word in words)


# ——— cues ———


def _strong_reasons(
    plain: str, request: str, task: str | None, known: Collection[str]
) -> list[str]:
    reasons = []
    if named := _persons(request, task, known):
        reasons.append(_reason("person", ", ".join(named)))
    reasons += [
        _reason(cue, found[0])
        for cue, pattern in cue_patterns("strong")
        if (found := pattern.search(plain)) and not (task and cue == "self")
    ]
    first_person = [word for word in _WORD.findall(plain) if _is_hebrew_first_person(word)]
    return [*reasons, _reason("past", ", ".join(first_person[:3]))] if first_person else reasons


def _persons(request: str, task: str | None, known: Collection[str]) -> list[str]:
    """Persons in a question. Full names in a general-knowledge question are public figures."""
    found = [mention.text for mention in find_persons(request, known)]
    if task == "general":
        found = [name for name in found if not (" " in name and name[0].isupper())]
    return list(dict.fromkeys(found))[:3]


def _memory_reasons(known: KnownWords, task: str | None) -> list[str]:
    """A general question is searched for names, for a particular thing ("how do I call the
    farrier"), and for what one memory says word by word. Other tasks need no memory, though their
    words may be known."""
    if task not in (None, "general"):
        return []
    is_known = known.are_asked_for if task is None else known.are_all_known
    words = known.names or known.particular or (known.held_together if is_known else ())
    return [_reason("known", ", ".join(words))] if words else []


def _is_hebrew_first_person(word: str) -> bool:
    """Hebrew has "I", "we" and "my" as suffixes."""
    return _HEBREW_FIRST_PERSON.fullmatch(word) is not None and word not in cue_words(
        "he", "not_mine"
    )


def _weak_reasons(plain: str, request: str) -> list[str]:
    words = _WORD.findall(plain)
    reasons = [
        _reason(cue, found[0])
        for cue, pattern in cue_patterns("weak")
        if (found := pattern.search(plain))
    ]
    for cue in ("own", "self"):
        if matched := [word for word in words if word in cue_words_of_all_languages(cue)]:
            reasons.append(_reason(cue, matched[0]))
    if _speaks_of_me(words):
        reasons.append(_reason("self", "me"))
    if things := _definite_things(words):
        reasons.append(_reason("thing", things[0]))
    if (
        not reasons
        and message_shape(request) is FollowUpShape.WHOLE
        and _is_fragment(words, request)
    ):
        reasons.append(_reason("fragment", " ".join(words)))
    return reasons


def _speaks_of_me(words: Sequence[str]) -> bool:
    """ "related to me"; not "give me", which says only for whom."""
    before = cue_words_of_all_languages("before_me")
    return any(
        word in _ME and place and words[place - 1] not in before for place, word in enumerate(words)
    )


def _definite_things(words: Sequence[str]) -> list[str]:
    """Everyday things with a definite article or possessive: "the landlord", "Monday's call",
    «החתונה»."""
    english, hebrew = cue_words("en", "things"), cue_words("he", "things")
    found = []
    for place, word in enumerate(words):
        preceding = words[max(0, place - 3) : place]
        is_definite = any(each in _DEFINITE or each.endswith("'s") for each in preceding)
        if (word in english and is_definite) or _definite_hebrew(word) in hebrew:
            found.append(word)
    return found


def _definite_hebrew(word: str) -> str:
    """The noun, if the word is definite; after other prefix letters ה is not written."""
    match = re.fullmatch(r"ו?[שמכ]?ה([א-ת]{2,})", word) or re.fullmatch(r"ו?[בל]([א-ת]{3,})", word)
    return match[1] if match else ""


def _is_fragment(words: Sequence[str], request: str) -> bool:
    """ "dentist appointment", "YC app": a few words without a request are a search; so is an
    everyday thing alone."""
    if (
        not words
        or len(words) > _MAX_FRAGMENT_WORDS
        or set(words)
        & (
            cue_words_of_all_languages("question")
            | cue_words_of_all_languages("sentence")
            | cue_words_of_all_languages("opening")
        )
    ):
        return False
    things = cue_words_of_all_languages("things")
    is_thing = any(word in things or _definite_hebrew(word) in things for word in words)
    return is_thing or (1 < len(words) <= _MAX_NAMED_WORDS and "?" not in request)
