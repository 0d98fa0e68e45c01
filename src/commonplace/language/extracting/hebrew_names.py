"""Names in Hebrew, which has no capitals and glues small words to the front of others.

A name shows itself by being known, by a title or a noun before it, and by what it stands beside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from commonplace.language.extracting.described import kinds_of_nouns
from commonplace.language.extracting.found import (
    EVENT,
    GROUP,
    LOCATION,
    ORGANIZATION,
    PRODUCT,
    PROJECT,
)
from commonplace.language.extracting.mention import (
    DOUBTFUL,
    GUESSED,
    KNOWN,
    LIKELY,
    SURE,
    Mention,
    Vote,
)
from commonplace.language.extracting.unnamed import words_for
from commonplace.language.extracting.vocabulary import (
    HEBREW_FAMILY,
    HEBREW_GIVEN,
    HEBREW_ORDINARY_GIVEN,
    HEBREW_TITLES,
    PERSON,
    data,
    known_at,
    listed,
)
from commonplace.language.extracting.written import Passage, Word, beside
from commonplace.language.stopwords import stop_words
from commonplace.language.wordlists import word_lists

_PREFIX = re.compile("ו?(?:כש|מש|[לבמכשה])?|ו")
_GLUED = re.compile("[והבכלמש]")
_IS_DOING = re.compile("[א-ת]ו[א-ת]{2}ת?")  # עובד, חוגגת
_OWNING = frozenset(("שלי", "שלנו"))
_LISTS = word_lists("extracting/name_words.txt")
_AFTER = _LISTS["he after"] | stop_words("he")
_BESIDE = _LISTS["he beside"]
_SAYS = _LISTS["he says"]
_ENDINGS = tuple(sorted(_LISTS["he endings"]))
_HEADS = {
    ORGANIZATION: frozenset(listed(data("organisations")["he"]["heads"])),
    LOCATION: frozenset(listed(data("places")["he"]["heads"])),
    **{
        kind: frozenset(listed(data("things")["he"][kind]))
        for kind in (GROUP, EVENT, PROJECT, PRODUCT)
    },
}
_OCCASIONS = frozenset(listed(data("things")["he"]["occasions"]))
_OF = "של"
_CALLED = frozenset(("בשם", "ששמו", "ששמה", "שנקרא", "שנקראת"))
_OWNERS = "בעלי"  # "my husband", and "those who have"
_SHORTEST = 2
_SHORT_NAME = 3  # letters: with one more in front it is mostly another word


@dataclass(frozen=True, slots=True)
class _Row:
    """Words of a name from one place on, and how much of the first is glued to it."""

    at: int
    length: int
    glued: int
    votes: tuple[Vote, ...]
    phrase: bool = False


def named_in_hebrew(passage: Passage) -> Iterator[Mention]:
    words, at = passage.words, 0
    while at < len(words):
        row = _row(words, at) if words[at].hebrew else None
        if row is None:
            at += 1
            continue
        yield _mention(passage, row)
        at = row.at + row.length


def _mention(passage: Passage, row: _Row) -> Mention:
    first, last = passage.words[row.at], passage.words[row.at + row.length - 1]
    start = first.start + row.glued
    text = passage.text[start : last.end]
    key = " ".join(word.key for word in passage.words[row.at : row.at + row.length])[row.glued :]
    return Mention(passage.number, start, last.end, text, key, row.votes, row.phrase)


def _row(words: Sequence[Word], at: int) -> _Row | None:
    """The longest sign wins: a known name, a noun before a name, a title, a first name."""
    for glued in _prefixes(words[at].key):
        for rule in (_occasion, _called, _known, _relative, _headed, _titled, _person):
            found = rule(words, at, glued)
            if found is not None:
                return found
    return None


def _prefixes(key: str) -> tuple[int, ...]:
    """How many letters may be glued to a word: none first."""
    longest = _PREFIX.match(key)
    most = min(longest.end() if longest else 0, len(key) - _SHORTEST)
    return tuple(range(most + 1))


def _known(words: Sequence[Word], at: int, glued: int) -> _Row | None:
    length, kinds = known_at(words, at, glued)
    row = words[at : at + length]
    if not length:
        return None
    votes = [
        Vote(kind, KNOWN if only or (glued and kind == LOCATION) else GUESSED, "known")
        for kind, only in kinds
    ]
    if length == 1 and row[0].key[glued:] in HEBREW_GIVEN:
        votes.append(Vote(PERSON, DOUBTFUL, "given"))
    return _Row(at, length, glued, tuple(votes))


def _called(words: Sequence[Word], at: int, glued: int) -> _Row | None:
    """«בסטארטאפ בשם לוטם»."""
    if glued or at < 2 or words[at - 1].key not in _CALLED or not _follows(words, at):
        return None
    noun = words[at - 2].key
    kinds = (kinds_of_nouns().get(noun[each:]) for each in _prefixes(noun))
    kind = next(filter(None, kinds), None)
    more = _family_length(words, at + 1) if kind == PERSON else 0
    return _Row(at, 1 + more, 0, (Vote(kind, SURE, "described"),)) if kind else None


def _relative(words: Sequence[Word], at: int, glued: int) -> _Row | None:
    """«אחותי», «אמא שלי», «המנהלת שלי», «הצוות שלנו»."""
    key = words[at].key[glued:]
    following = words[at + 1].key if at + 1 < len(words) else ""
    if key in words_for("he_kin") and (key != _OWNERS or following in _AFTER | HEBREW_GIVEN):
        return _Row(at, 1, glued, (Vote(PERSON, LIKELY + 0.05, "phrase"),), phrase=True)
    if following not in _OWNING:
        alone = key in words_for("he_kin_names") and not following.startswith(_OF)
        return _Row(at, 1, glued, (Vote(PERSON, LIKELY, "phrase"),), phrase=True) if alone else None
    noun = key.removeprefix("ה")
    if {key, noun} & words_for("he_role"):
        return _Row(at, 2, glued, (Vote(PERSON, LIKELY + 0.05, "phrase"),), phrase=True)
    if {key, noun} & words_for("he_group"):
        return _Row(at, 2, glued, (Vote(GROUP, KNOWN, "phrase"),), phrase=True)
    return None


def _headed(words: Sequence[Word], at: int, glued: int) -> _Row | None:
    """«אוניברסיטת חיפה», «רחוב הרצל», «פרויקט נרקיס»."""
    if words[at].key[:glued].endswith("ה"):  # a noun before its name has no article
        return None
    for kind, heads in _HEADS.items():
        for length in (2, 1):
            head = " ".join(word.key for word in words[at : at + length])[glued:]
            if head in heads:
                more = _named_length(words, at + length)
                return (
                    _Row(at, length + more, glued, (Vote(kind, KNOWN, "head"),)) if more else None
                )
    return None


def _named_length(words: Sequence[Word], at: int) -> int:
    """How many words after such a noun are the name."""
    if at >= len(words) or not _follows(words, at):
        return 0
    named = words[at]
    known, _ = known_at(words, at) if named.hebrew else (0, ())
    if known:
        return known
    if not named.hebrew:
        return int(named.capital)
    if named.key in _AFTER or len(named.key) < _SHORTEST:
        return 0
    second = at + 1 < len(words) and _follows(words, at + 1) and words[at + 1].hebrew
    return 2 if second and _may_be_family(words[at + 1].key) else 1


def _occasion(words: Sequence[Word], at: int, glued: int) -> _Row | None:
    """«החתונה של שירה»."""
    noun = words[at].key[glued:]
    if at + 2 >= len(words) or {noun, noun.removeprefix("ה")}.isdisjoint(_OCCASIONS):
        return None
    if words[at + 1].key != _OF or words[at + 2].key not in HEBREW_GIVEN:
        return None
    return _Row(at, 3, glued, (Vote(EVENT, KNOWN, "phrase"),), phrase=True)


def _titled(words: Sequence[Word], at: int, glued: int) -> _Row | None:
    key = words[at].key[glued:]
    if key not in HEBREW_TITLES or at + 1 == len(words):
        return None
    named = words[at + 1]
    if not _follows(words, at + 1) or not (named.hebrew and _may_be_family(named.key)):
        return None
    more = _family_length(words, at + 2)
    if more:  # a full name needs no title
        return _Row(at + 1, 1 + more, 0, (Vote(PERSON, SURE, "title"),))
    return _Row(at, 2, glued, (Vote(PERSON, SURE, "title"),))


def _person(words: Sequence[Word], at: int, glued: int) -> _Row | None:
    key = words[at].key[glued:]
    if key not in HEBREW_GIVEN:
        return None
    family = _family_length(words, at + 1)
    ordinary = key in HEBREW_ORDINARY_GIVEN or (glued and len(key) <= _SHORT_NAME)
    before = words[at - 1].key if at and not words[at].first else ""
    of_mine = before in _OWNING or before in words_for("he_kin")
    if of_mine and family and not _is_family(words[at + family].key):
        family = 0  # «הבן שלי עידו יתחיל»
    if family and (not ordinary or _is_family(words[at + family].key)):
        return _Row(at, 1 + family, glued, (Vote(PERSON, LIKELY, "given"),))
    after = words[at + 1].key if at + 1 < len(words) and _follows(words, at + 1) else ""
    if after in _SAYS or before in _BESIDE or of_mine:
        return _Row(at, 1, glued, (Vote(PERSON, LIKELY, "given"),))
    if ordinary:
        return None
    return _Row(at, 1, glued, (Vote(PERSON, KNOWN, "given"),))


def _family_length(words: Sequence[Word], at: int) -> int:
    """Whether the next word is a family name: 1, and 2 for «בן דוד»."""
    if at >= len(words) or not _follows(words, at):
        return 0
    key = words[at].key
    if key in ("בן", "בר", "אבו") and _family_length(words, at + 1):
        return 2
    return int(words[at].hebrew and _may_be_family(key))


def _is_family(key: str) -> bool:
    return key in HEBREW_FAMILY or (key.endswith(_ENDINGS) and len(key) > _SHORT_NAME)


def _may_be_family(key: str) -> bool:
    """Any word that begins with no glued letter, is no everyday one and no plural."""
    if _is_family(key) or key in HEBREW_GIVEN:
        return True
    everyday = key in _AFTER or len(key) <= _SHORTEST or key.endswith(("ים", "ית", "ות", "ו"))
    return not everyday and _GLUED.match(key) is None and _IS_DOING.fullmatch(key) is None


def _follows(words: Sequence[Word], at: int) -> bool:
    return beside(words[at - 1], words[at])
