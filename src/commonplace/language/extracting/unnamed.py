"""People and things that have no name: "my manager", "the engineering team", "our wedding".

They are named by the phrase. What is somebody's by name ("Dana's husband") is theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from commonplace.language.extracting.found import (
    EVENT,
    GROUP,
    ORGANIZATION,
    PROJECT,
)
from commonplace.language.extracting.mention import (
    DOUBTFUL,
    KNOWN,
    LIKELY,
    Mention,
    Vote,
    mention,
)
from commonplace.language.extracting.vocabulary import COMMON, PERSON, data
from commonplace.language.extracting.written import Passage, Word, beside
from commonplace.language.past import is_past
from commonplace.language.stopwords import stop_words
from commonplace.language.wordlists import word_lists

MINE = frozenset(("my", "our"))
_POINTING = MINE | {"the"}
_OTHERS = frozenset(("a", "the", "your", "his", "her", "their", "every", "any", "another"))
_OF_VERBS = ("s", "ing", "ly", "ed")
_NO_MODIFIERS = stop_words("en") | frozenset(data("phrases")["no_modifiers"].split())
_MOST_BEFORE = 2  # words between "my" and what it is


@cache
def words_for(what: str) -> frozenset[str]:
    """A list of phrases.toml."""
    found = frozenset(data("phrases")[what].split())
    if what == "kin":
        return found | word_lists("people.txt")["en role"] - words_for("group")
    return found


def unnamed(passage: Passage) -> Iterator[Mention]:
    words = passage.words
    at = 0
    while at < len(words):
        found = _phrase(passage, at) or _alone(passage, at) or _without_article(passage, at)
        if found is None:
            at += 1
            continue
        yield found
        at = next(
            (place for place in range(at, len(words)) if words[place].start >= found.end),
            len(words),
        )


def _phrase(passage: Passage, at: int) -> Mention | None:
    """ "my …", "our …", "the …", "Dana's …"."""
    words = passage.words
    opener = words[at]
    owned = opener.owns and opener.capital and opener.key not in COMMON
    if opener.key not in _POINTING and not owned:
        return None
    if at and words[at - 1].key == "as" and not opener.first:
        return None  # "joined as our engineer" says what somebody is, and names nobody
    place = _head(words, at + 1)
    if place is None:
        return None
    if _goes_on(words, place):
        return None
    pointing = "'s" if owned else opener.key
    head = words[place - 2 if words[place].key == "law" else place].key
    kind, weight = _kind(pointing, [word.key for word in words[at + 1 : place]], head)
    if kind == EVENT and weight == DOUBTFUL and _is_placed(words, place + 1):
        weight = KNOWN
    if not weight:
        return None
    whole = owned or _is_named_with(pointing, at, place)
    begin = at if whole else at + 1
    return mention(passage, begin, place + 1, (Vote(kind, weight, "phrase"),), phrase=True)


def _is_placed(words: Sequence[Word], at: int) -> bool:
    """ "the reunion in Tromsø"."""
    return at + 1 < len(words) and words[at].key in ("in", "at") and words[at + 1].tells


def _goes_on(words: Sequence[Word], place: int) -> bool:
    """ "our pilot customer", "my wedding dress": a noun that only belongs to the next one."""
    following = words[place + 1] if place + 1 < len(words) else None
    if following is None or words[place].key in data("phrases")["kin"].split():
        return False
    if not _is_next(words[place], following):
        return False
    key = following.key
    return key not in stop_words("en") and not is_past(key) and not key.endswith(_OF_VERBS)


def _is_named_with(pointing: str, at: int, place: int) -> bool:
    """ "my manager" is named with its "my", "the engineering team" without the article."""
    return place == at + 1 or pointing in MINE


def _alone(passage: Passage, at: int) -> Mention | None:
    """ "Mum called": a name of its own, unless it is somebody else's."""
    word = passage.words[at]
    if word.key not in words_for("alone") or word.mute:
        return None
    before = passage.words[at - 1] if at and not word.first else None
    if before is not None and (before.owns or before.key in _OTHERS):
        return None
    if before is not None and not word.capital and not _says_nothing(before.key):
        return None  # "an awesome mom"
    return mention(passage, at, at + 1, (Vote(PERSON, LIKELY, "phrase"),), phrase=True)


def _says_nothing(key: str) -> bool:
    """A small word or a verb, and no adjective."""
    return key in stop_words("en") or is_past(key)


def _without_article(passage: Passage, at: int) -> Mention | None:
    words = passage.words
    if words[at].key not in words_for("fields") or at + 1 == len(words):
        return None
    head = words[at + 1]
    if not _is_next(words[at], head):
        return None
    kind, weight = _kind("", [words[at].key], head.key)
    if not weight or kind == PERSON:
        return None
    end = at + 3 if _continues(words, at + 1) else at + 2
    if end == at + 3:
        kind, weight = _kind("", [words[at].key], words[at + 2].key)
    return mention(passage, at, end, (Vote(kind, weight, "phrase"),), phrase=True)


def _head(words: Sequence[Word], begin: int) -> int | None:
    """Where the noun of a phrase stands that begins here."""
    for place in range(begin, min(len(words), begin + _MOST_BEFORE + 1)):
        word, before = words[place], words[place - 1]
        apart = word.first or word.gap not in (" ", "\xa0")
        if apart or (word.capital and not _is_short(word)) or (place > begin and before.owns):
            return None
        if _is_head(word.key):
            if [each.key for each in words[place + 1 : place + 3]] == ["in", "law"]:
                return place + 2
            return place + 1 if _continues(words, place) else place
        if word.key in _NO_MODIFIERS or is_past(word.key) or word.key.endswith("ly"):
            return None
    return None


def _is_short(word: Word) -> bool:
    """ "Q4", "YC": capitals that go before a noun."""
    return len(word.text) < 4 and word.text.isupper()


def _continues(words: Sequence[Word], place: int) -> bool:
    """ "team offsite": the last noun says what it is."""
    following = words[place + 1] if place + 1 < len(words) else None
    return following is not None and _is_next(words[place], following) and _is_head(following.key)


def _is_next(one: Word, other: Word) -> bool:
    return beside(one, other) and not other.capital


@cache
def _is_head(key: str) -> bool:
    lists = ("kin", "group", "project", "event", "occasion", "organization")
    return any(key in words_for(each) for each in lists)


def _kind(pointing: str, before: list[str], head: str) -> tuple[str, float]:
    """What the phrase is, and how sure it is one that somebody would remember."""
    mine = pointing in MINE or pointing == "'s"
    modified = bool([word for word in before if word not in words_for("overlooked")])
    if head in words_for("group"):
        return GROUP, _group(pointing, before, head)
    if head in words_for("kin"):
        close = head in data("phrases")["kin"].split()
        return PERSON, LIKELY + 0.05 if pointing in MINE or (mine and close) else 0.0
    if head in words_for("project"):
        return PROJECT, KNOWN if modified else 0.0
    if head in words_for("event"):
        return EVENT, KNOWN if mine or modified else DOUBTFUL if pointing else 0.0
    if head in words_for("occasion"):
        return EVENT, DOUBTFUL if modified else 0.0
    return ORGANIZATION, DOUBTFUL if mine else 0.0


def _group(pointing: str, before: list[str], head: str) -> float:
    modified = bool(before)
    if head == "board" and modified and before[-1] not in words_for("fields"):
        return 0.0  # "my cork board"
    if pointing == "the" and not modified and head in words_for("vague"):
        return DOUBTFUL
    return KNOWN if pointing or modified else 0.0
