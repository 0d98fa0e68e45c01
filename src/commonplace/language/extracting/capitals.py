"""Names by their capitals: rows of words that nothing but a name explains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from commonplace.language.extracting.found import EVENT, LOCATION, ORGANIZATION, PROJECT
from commonplace.language.extracting.mention import LIKELY, Mention, Vote, mention
from commonplace.language.extracting.signs import signs_of
from commonplace.language.extracting.vocabulary import (
    CALENDAR,
    COMMON,
    FAMILY,
    GIVEN,
    INSIDE,
    NO_NAMES,
    OFFICES,
    ONLY_GIVEN,
    ORDINARY_GIVEN,
    PEOPLES,
    TITLES,
    after_a_name,
    data,
    first_words,
    gazetteer,
    known_at,
    last_words,
    listed,
)
from commonplace.language.extracting.written import Passage, Word, beside
from commonplace.language.past import is_past
from commonplace.language.stopwords import stop_words

_LONGEST = 6  # words: more is a heading
_BEFORE_A_DATE = frozenset(data("no_names")["before_a_date"].split())
# Small words that follow a name: "Will is here", "Mark and I".
_OF_NAMES = frozenset(("is", "was", "has", "had", "and", "isn't", "wasn't", "who", "will", "would"))
_NUMBERED = frozenset(listed(data("things")["product"]["numbered"]))
_JOINING = frozenset(("of", "the"))
_SAINTS = frozenset(("st", "saint"))  # "at St Mary's": a school, a church, a hospital
_POSSESSIVE = len("'s")
_SMALL_TITLES = frozenset(("dr", "prof", "mr", "mrs", "ms"))


def named_by_capitals(passage: Passage) -> Iterator[Mention]:
    words = passage.words
    at = 0
    while at < len(words):
        start, end = _row(words, at)
        if end == at:
            at += 1
            continue
        yield from _mentions(passage, start, end)
        at = end


def _row(words: Sequence[Word], at: int) -> tuple[int, int]:
    """The words of a name that begins here; an empty row where none does."""
    if words[at].hebrew:
        return at, at
    known = known_length(words, at)
    if words[at].mute:
        length = known or _known_person(words, at)
        return at, at + length
    begins = _may_be_named(words[at]) or _is_of_a_season(words, at)
    if not known and (not begins or _is_a_date(words, at)):
        return at, at
    end = at + max(known, 1)
    while end < len(words) and end - at <= _LONGEST:
        step = _joined(words, end)
        if not step:
            break
        end += step
    if not known and _only_begins(words, at, end):
        return (at + 1, end) if end > at + 1 else (at, at)
    if not known and _greets(words[at:end]):
        return at + 1, end
    return at, end


def _may_be_named(word: Word) -> bool:
    if not word.capital or word.text == "I" or word.text[0].isdigit():
        return False
    if word.key in TITLES or word.key in OFFICES or word.key in first_words(PROJECT):
        return True
    if word.key in CALENDAR and word.key not in GIVEN:
        return False
    ordinary = word.key in COMMON or is_past(word.key)
    return word.tells or not ordinary or word.key in ORDINARY_GIVEN


def _is_of_a_season(words: Sequence[Word], at: int) -> bool:
    """ "the Spring Summit"."""
    following = words[at + 1] if at + 1 < len(words) else None
    if following is None or words[at].key not in CALENDAR or not words[at].capital:
        return False
    return following.tells and following.key in last_words(EVENT)


def _is_a_date(words: Sequence[Word], at: int) -> bool:
    """ "in May", "4 May", "May 2025": a month or a season that is somebody's name elsewhere."""
    if words[at].key not in CALENDAR:
        return False
    before = words[at - 1].key if at else ""
    after = words[at + 1].key if at + 1 < len(words) else ""
    return before in _BEFORE_A_DATE or before[:1].isdigit() or after[:1].isdigit()


def _joined(words: Sequence[Word], end: int) -> int:
    """How many of the next words belong to the name before them."""
    last, word = words[end - 1], words[end]
    if word.gap == " & " and word.capital and last.capital:
        return 1
    if (
        last.owns
        and word.capital
        and word.gap in (" ", "' ", "’ ")
        and word.key in last_words(ORGANIZATION)
    ):
        return 1  # "St. Mary's Hospital"
    if not beside(last, word) or word.mute:
        return 0
    if word.key.isdigit() and last.capital and (last.key in _NUMBERED or _is_of_a_year(last, word)):
        return 1
    if word.capital and word.text != "I":
        breaks = word.key in CALENDAR or word.key in OFFICES
        return 0 if breaks or (word.first and len(last.text) > 1 and last.key not in TITLES) else 1
    following = words[end + 1] if end + 1 < len(words) else None
    if following is None or not beside(word, following):
        return 0
    if word.key in INSIDE and following.capital:
        return 2
    if word.key == "and":
        return 2 if last.tells and _is_partner(words, end + 1) else 0
    joins = word.key in _JOINING and last.key not in GIVEN and last.tells
    joins = joins or (word.key == "for" and last.key in last_words(ORGANIZATION))
    named = following.capital and following.text != "I" and following.key not in NO_NAMES
    return 2 if joins and named else 0


def _is_of_a_year(name: Word, number: Word) -> bool:
    """ "NeuroLink 2026"; not "Berlin 2019", nor "May 2025"."""
    is_year = len(number.key) == 4 and number.key.startswith(("19", "20"))
    return is_year and (name.key,) not in gazetteer() and name.key not in CALENDAR


def _is_partner(words: Sequence[Word], at: int) -> bool:
    """ "Pickford and Daughters": an ordinary word with a capital, and nothing else after it."""
    word = words[at]
    ordinary = word.key in COMMON or word.key.removesuffix("s") in COMMON
    goes_on = at + 1 < len(words) and words[at + 1].capital and beside(word, words[at + 1])
    return (
        word.tells and word.text.istitle() and ordinary and word.key not in NO_NAMES and not goes_on
    )


def _only_begins(words: Sequence[Word], at: int, end: int) -> bool:
    """Whether the first word has its capital from the sentence: "Met Sarah", "Will Sarah come"."""
    word = words[at]
    if not word.first:
        return False
    begins_a_thing = end > at + 1 and word.key in first_words(PROJECT)
    if word.key in TITLES or word.key in OFFICES or begins_a_thing:
        return False
    if word.key in COMMON or word.key in NO_NAMES:
        if word.key in PEOPLES and end > at + 1:
            return False
        if word.key in ORDINARY_GIVEN and end > at + 1:
            return words[at + 1].key in GIVEN and words[at + 1].key not in FAMILY
        return word.key not in ORDINARY_GIVEN or _asks(words, at)
    return False


def _greets(row: Sequence[Word]) -> bool:
    """ "Woohoo Melanie": at a beginning, a word that no list knows before a name that is known."""
    if len(row) != 2 or not row[0].first:
        return False
    greeting, name = row
    a_name = greeting.key in GIVEN or greeting.key in FAMILY or greeting.key in TITLES
    return not a_name and (
        name.key in PEOPLES or (name.key in ONLY_GIVEN and name.key not in FAMILY)
    )


def _asks(words: Sequence[Word], at: int) -> bool:
    """ "Will you come", "May I ask", "Mark my words": what follows makes a verb of it."""
    following = words[at + 1].key if at + 1 < len(words) else ""
    return following in stop_words("en") and following not in _OF_NAMES


def _mentions(passage: Passage, start: int, end: int) -> Iterator[Mention]:
    """The name, without what only says what somebody is: "CEO Tim Cook"."""
    words, office = passage.words, False
    while start < end and words[start].key in OFFICES and words[start].key not in GIVEN:
        start, office = start + 1, True
    while start < end and not words[start].capital:  # "CTO of Lumenworks"
        start, office = start + 1, False
    if start == end or (end - start == 1 and _is_no_name(words[start])):
        return
    row = words[start:end]
    if all(word.key in TITLES for word in row):
        return
    whole = _with_noun(words, start, end)
    if whole is not None:
        yield mention(passage, start, end + 1, (whole,))
        return
    if row[0].key in _SAINTS and row[-1].owns and len(row) > 1:
        found = mention(passage, start, end, (Vote(ORGANIZATION, LIKELY, "head"),))
        whole_text = passage.text[found.start : found.end + _POSSESSIVE]
        yield replace(found, end=found.end + _POSSESSIVE, text=whole_text)
        return
    while (
        start and words[start - 1].key in _SMALL_TITLES and beside(words[start - 1], words[start])
    ):
        start -= 1  # "prof Delgado"
    votes = signs_of(words, start, end, office)
    if votes:
        yield mention(passage, start, end, votes)


def _with_noun(words: Sequence[Word], start: int, end: int) -> Vote | None:
    """ "the Lyon offsite", "Q4 launch": the noun is of the name; of "Apollo project" it is not."""
    noun = words[end] if end < len(words) else None
    if noun is None or noun.capital or not beside(words[end - 1], noun):
        return None
    if words[start].key in ONLY_GIVEN:
        return None
    for kind in (EVENT, LOCATION, PROJECT):
        if noun.key in after_a_name(kind):
            return Vote(kind, LIKELY, "noun")
    return None


def _is_no_name(word: Word) -> bool:
    return word.key in NO_NAMES and word.key not in GIVEN


def known_length(words: Sequence[Word], at: int) -> int:
    """How many words of a known name begin here, written with a capital somewhere."""
    length, _ = known_at(words, at)
    row = words[at : at + length]
    if not any(word.capital for word in row):
        return 0
    return length if _is_meant(row) else 0


def _is_meant(row: Sequence[Word]) -> bool:
    """At a sentence's beginning, a word like others is no company: "Target", "Word"."""
    return len(row) > 1 or row[0].tells or row[0].key not in COMMON


def _known_person(words: Sequence[Word], at: int) -> int:
    """Where all have capitals, only what is known to be a name is one."""
    word = words[at]
    if word.key not in GIVEN or word.key in ORDINARY_GIVEN:
        return 0
    following = words[at + 1] if at + 1 < len(words) else None
    has_family = following is not None and following.key in FAMILY and beside(word, following)
    return 2 if has_family else 1
