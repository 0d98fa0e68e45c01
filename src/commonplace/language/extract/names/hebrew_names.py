"""Hebrew names in a text: known names, titles, head nouns, given and family names.

Hebrew has no capitals: the evidence is a known name, a title or noun before it, or the words around
it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from commonplace.language.extract.names.gazetteer import (
    HEBREW_AMBIGUOUS_GIVEN_NAMES,
    HEBREW_FAMILY_NAMES,
    HEBREW_GIVEN_NAMES,
    HEBREW_TITLES,
    PERSON,
    find_known_name,
    load_name_table,
    split_list,
)
from commonplace.language.extract.names.kind_evidence import kinds_by_noun
from commonplace.language.extract.names.nominal_mentions import phrase_words
from commonplace.language.extract.names.words import (
    DOUBTFUL,
    GUESSED,
    KNOWN,
    LIKELY,
    SURE,
    EntityMention,
    KindVote,
    TokenizedPassage,
    Word,
    is_adjacent,
)
from commonplace.language.extract.values import (
    EVENT,
    GROUP,
    LOCATION,
    ORGANIZATION,
    PRODUCT,
    PROJECT,
)
from commonplace.language.text.lexicon import load_word_lists, stop_words

_PREFIX = re.compile("ו?(?:כש|מש|[לבמכשה])?|ו")
_PREFIX_LETTERS = re.compile("[והבכלמש]")
_PARTICIPLE = re.compile("[א-ת]ו[א-ת]{2}ת?")  # עובד, חוגגת
_MY_OUR = frozenset(("שלי", "שלנו"))
_LISTS = load_word_lists("extract/names/name_words.txt")
_NON_NAME_WORDS = _LISTS["he after"] | stop_words("he")
_WORDS_BEFORE_NAMES = _LISTS["he beside"]
_SPEECH_VERBS = _LISTS["he says"]
_FAMILY_NAME_ENDINGS = tuple(sorted(_LISTS["he endings"]))
_HEAD_NOUNS = {
    ORGANIZATION: frozenset(split_list(load_name_table("organisations")["he"]["heads"])),
    LOCATION: frozenset(split_list(load_name_table("places")["he"]["heads"])),
    **{
        kind: frozenset(split_list(load_name_table("things")["he"][kind]))
        for kind in (GROUP, EVENT, PROJECT, PRODUCT)
    },
}
_OCCASIONS = frozenset(split_list(load_name_table("things")["he"]["occasions"]))
_OF = "של"
_NAMING_WORDS = frozenset(("בשם", "ששמו", "ששמה", "שנקרא", "שנקראת"))
_HUSBAND_OR_OWNERS = "בעלי"  # "my husband", also "those who have"
_MIN_LETTERS = 2
_SHORT_NAME = 3  # letters: with a prefix letter it is mostly another word


@dataclass(frozen=True, slots=True)
class _HebrewMatch:
    """Words of a name from one position, and the length of the first word's prefix."""

    at: int
    length: int
    prefix_length: int
    votes: tuple[KindVote, ...]
    phrase: bool = False


def find_hebrew_names(passage: TokenizedPassage) -> Iterator[EntityMention]:
    words, at = passage.words, 0
    while at < len(words):
        row = _match_at(words, at) if words[at].hebrew else None
        if row is None:
            at += 1
            continue
        yield _build_hebrew_mention(passage, row)
        at = row.at + row.length


def _build_hebrew_mention(passage: TokenizedPassage, row: _HebrewMatch) -> EntityMention:
    first, last = passage.words[row.at], passage.words[row.at + row.length - 1]
    start = first.start + row.prefix_length
    text = passage.text[start : last.end]
    key = " ".join(word.key for word in passage.words[row.at : row.at + row.length])[
        row.prefix_length :
    ]
    return EntityMention(passage.number, start, last.end, text, key, row.votes, row.phrase)


def _match_at(words: Sequence[Word], at: int) -> _HebrewMatch | None:
    """The longest match: a known name, a head noun with a name, a title, a given name."""
    for prefix_length in _prefix_lengths(words[at].key):
        for rule in (
            _match_occasion,
            _match_called,
            _match_known,
            _match_relative,
            _match_headed,
            _match_titled,
            _match_person,
        ):
            found = rule(words, at, prefix_length)
            if found is not None:
                return found
    return None


def _prefix_lengths(key: str) -> tuple[int, ...]:
    """Possible prefix lengths of a word; 0 first."""
    longest = _PREFIX.match(key)
    most = min(longest.end() if longest else 0, len(key) - _MIN_LETTERS)
    return tuple(range(most + 1))


def _match_known(words: Sequence[Word], at: int, prefix_length: int) -> _HebrewMatch | None:
    length, kinds = find_known_name(words, at, prefix_length)
    row = words[at : at + length]
    if not length:
        return None
    votes = [
        KindVote(kind, KNOWN if only or (prefix_length and kind == LOCATION) else GUESSED, "known")
        for kind, only in kinds
    ]
    if length == 1 and row[0].key[prefix_length:] in HEBREW_GIVEN_NAMES:
        votes.append(KindVote(PERSON, DOUBTFUL, "given"))
    return _HebrewMatch(at, length, prefix_length, tuple(votes))


def _match_called(words: Sequence[Word], at: int, prefix_length: int) -> _HebrewMatch | None:
    """«בסטארטאפ בשם לוטם»."""
    if (
        prefix_length
        or at < 2
        or words[at - 1].key not in _NAMING_WORDS
        or not _is_next_word(words, at)
    ):
        return None
    noun = words[at - 2].key
    kinds = (kinds_by_noun().get(noun[each:]) for each in _prefix_lengths(noun))
    kind = next(filter(None, kinds), None)
    more = _family_length(words, at + 1) if kind == PERSON else 0
    return _HebrewMatch(at, 1 + more, 0, (KindVote(kind, SURE, "described"),)) if kind else None


def _match_relative(words: Sequence[Word], at: int, prefix_length: int) -> _HebrewMatch | None:
    """«אחותי», «אמא שלי», «המנהלת שלי», «הצוות שלנו»."""
    key = words[at].key[prefix_length:]
    following = words[at + 1].key if at + 1 < len(words) else ""
    if key in phrase_words("he_kin") and (
        key != _HUSBAND_OR_OWNERS or following in _NON_NAME_WORDS | HEBREW_GIVEN_NAMES
    ):
        return _HebrewMatch(
            at, 1, prefix_length, (KindVote(PERSON, LIKELY + 0.05, "phrase"),), phrase=True
        )
    if following not in _MY_OUR:
        alone = key in phrase_words("he_kin_names") and not following.startswith(_OF)
        return (
            _HebrewMatch(at, 1, prefix_length, (KindVote(PERSON, LIKELY, "phrase"),), phrase=True)
            if alone
            else None
        )
    noun = key.removeprefix("ה")
    if {key, noun} & phrase_words("he_role"):
        return _HebrewMatch(
            at, 2, prefix_length, (KindVote(PERSON, LIKELY + 0.05, "phrase"),), phrase=True
        )
    if {key, noun} & phrase_words("he_group"):
        return _HebrewMatch(at, 2, prefix_length, (KindVote(GROUP, KNOWN, "phrase"),), phrase=True)
    return None


def _match_headed(words: Sequence[Word], at: int, prefix_length: int) -> _HebrewMatch | None:
    """«אוניברסיטת חיפה», «רחוב הרצל», «פרויקט נרקיס»."""
    if words[at].key[:prefix_length].endswith("ה"):  # a head noun has no article
        return None
    for kind, heads in _HEAD_NOUNS.items():
        for length in (2, 1):
            head = " ".join(word.key for word in words[at : at + length])[prefix_length:]
            if head in heads:
                more = _name_length(words, at + length)
                return (
                    _HebrewMatch(at, length + more, prefix_length, (KindVote(kind, KNOWN, "head"),))
                    if more
                    else None
                )
    return None


def _name_length(words: Sequence[Word], at: int) -> int:
    """Number of words of the name after a head noun."""
    if at >= len(words) or not _is_next_word(words, at):
        return 0
    named = words[at]
    known, _ = find_known_name(words, at) if named.hebrew else (0, ())
    if known:
        return known
    if not named.hebrew:
        return int(named.capital)
    if named.key in _NON_NAME_WORDS or len(named.key) < _MIN_LETTERS:
        return 0
    second = at + 1 < len(words) and _is_next_word(words, at + 1) and words[at + 1].hebrew
    return 2 if second and _may_be_family(words[at + 1].key) else 1


def _match_occasion(words: Sequence[Word], at: int, prefix_length: int) -> _HebrewMatch | None:
    """«החתונה של שירה»."""
    noun = words[at].key[prefix_length:]
    if at + 2 >= len(words) or {noun, noun.removeprefix("ה")}.isdisjoint(_OCCASIONS):
        return None
    if words[at + 1].key != _OF or words[at + 2].key not in HEBREW_GIVEN_NAMES:
        return None
    return _HebrewMatch(at, 3, prefix_length, (KindVote(EVENT, KNOWN, "phrase"),), phrase=True)


def _match_titled(words: Sequence[Word], at: int, prefix_length: int) -> _HebrewMatch | None:
    key = words[at].key[prefix_length:]
    if key not in HEBREW_TITLES or at + 1 == len(words):
        return None
    named = words[at + 1]
    if not _is_next_word(words, at + 1) or not (named.hebrew and _may_be_family(named.key)):
        return None
    more = _family_length(words, at + 2)
    if more:  # a full name needs no title
        return _HebrewMatch(at + 1, 1 + more, 0, (KindVote(PERSON, SURE, "title"),))
    return _HebrewMatch(at, 2, prefix_length, (KindVote(PERSON, SURE, "title"),))


def _match_person(words: Sequence[Word], at: int, prefix_length: int) -> _HebrewMatch | None:
    key = words[at].key[prefix_length:]
    if key not in HEBREW_GIVEN_NAMES:
        return None
    family = _family_length(words, at + 1)
    ordinary = key in HEBREW_AMBIGUOUS_GIVEN_NAMES or (prefix_length and len(key) <= _SHORT_NAME)
    before = words[at - 1].key if at and not words[at].first else ""
    of_mine = before in _MY_OUR or before in phrase_words("he_kin")
    if of_mine and family and not _is_family(words[at + family].key):
        family = 0  # «הבן שלי עידו יתחיל»
    if family and (not ordinary or _is_family(words[at + family].key)):
        return _HebrewMatch(at, 1 + family, prefix_length, (KindVote(PERSON, LIKELY, "given"),))
    after = words[at + 1].key if at + 1 < len(words) and _is_next_word(words, at + 1) else ""
    if after in _SPEECH_VERBS or before in _WORDS_BEFORE_NAMES or of_mine:
        return _HebrewMatch(at, 1, prefix_length, (KindVote(PERSON, LIKELY, "given"),))
    if ordinary:
        return None
    return _HebrewMatch(at, 1, prefix_length, (KindVote(PERSON, KNOWN, "given"),))


def _family_length(words: Sequence[Word], at: int) -> int:
    """1 if the next word is a family name, 2 for «בן דוד», else 0."""
    if at >= len(words) or not _is_next_word(words, at):
        return 0
    key = words[at].key
    if key in ("בן", "בר", "אבו") and _family_length(words, at + 1):
        return 2
    return int(words[at].hebrew and _may_be_family(key))


def _is_family(key: str) -> bool:
    return key in HEBREW_FAMILY_NAMES or (
        key.endswith(_FAMILY_NAME_ENDINGS) and len(key) > _SHORT_NAME
    )


def _may_be_family(key: str) -> bool:
    """A word without prefix letters that is neither common nor a plural."""
    if _is_family(key) or key in HEBREW_GIVEN_NAMES:
        return True
    everyday = (
        key in _NON_NAME_WORDS or len(key) <= _MIN_LETTERS or key.endswith(("ים", "ית", "ות", "ו"))
    )
    return (
        not everyday and _PREFIX_LETTERS.match(key) is None and _PARTICIPLE.fullmatch(key) is None
    )


def _is_next_word(words: Sequence[Word], at: int) -> bool:
    return is_adjacent(words[at - 1], words[at])
