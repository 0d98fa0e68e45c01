"""English names in a text: capitalised words, and known names in lower case.

Lower-case words are names only if they are known names; words around them raise the confidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from commonplace.language.extract.names.gazetteer import (
    AMBIGUOUS_GIVEN_NAMES,
    CALENDAR_WORDS,
    COMMON_WORDS,
    FAMILY_NAMES,
    GIVEN_NAMES,
    NAME_PARTICLES,
    NATIONALITIES,
    NON_NAMES,
    OFFICE_TITLES,
    PERSON,
    TITLES,
    UNAMBIGUOUS_GIVEN_NAMES,
    find_known_name,
    kind_nouns_after_name,
    kind_prefix_words,
    kind_suffix_words,
    known_names,
    load_name_table,
    split_list,
)
from commonplace.language.extract.names.kind_evidence import cue_votes, kind_votes
from commonplace.language.extract.names.words import (
    DOUBTFUL,
    GUESSED,
    KNOWN,
    LIKELY,
    EntityMention,
    KindVote,
    TokenizedPassage,
    Word,
    build_mention,
    is_adjacent,
)
from commonplace.language.extract.values import EVENT, LOCATION, ORGANIZATION, PROJECT
from commonplace.language.text.lexicon import stop_words
from commonplace.language.text.sentences import is_past

_MAX_NAME_WORDS = 6  # more is a heading
_BEFORE_A_DATE = frozenset(load_name_table("no_names")["before_a_date"].split())
# Words that may follow a name: "Will is here", "Mark and I".
_AFTER_NAMES = frozenset(
    ("is", "was", "has", "had", "and", "isn't", "wasn't", "who", "will", "would")
)
_NUMBERED_PRODUCTS = frozenset(split_list(load_name_table("things")["product"]["numbered"]))
_JOINING_WORDS = frozenset(("of", "the"))
_SAINT_PREFIXES = frozenset(("st", "saint"))  # "at St Mary's": a school, a church, a hospital
_POSSESSIVE_LENGTH = len("'s")
_LOWERCASE_TITLES = frozenset(("dr", "prof", "mr", "mrs", "ms"))


def find_capitalised_names(passage: TokenizedPassage) -> Iterator[EntityMention]:
    words = passage.words
    at = 0
    while at < len(words):
        start, end = _name_range(words, at)
        if end == at:
            at += 1
            continue
        yield from _mentions_in_range(passage, start, end)
        at = end


def _name_range(words: Sequence[Word], at: int) -> tuple[int, int]:
    """Range of the words of a name that begins here; empty if none does."""
    if words[at].hebrew:
        return at, at
    known = known_name_length(words, at)
    if words[at].among_capitals:
        length = known or _known_person_length(words, at)
        return at, at + length
    begins = _may_begin_name(words[at]) or _begins_seasonal_event(words, at)
    if not known and (not begins or _is_a_date(words, at)):
        return at, at
    end = at + max(known, 1)
    while end < len(words) and end - at <= _MAX_NAME_WORDS:
        step = _continuation_length(words, end)
        if not step:
            break
        end += step
    if not known and _has_sentence_capital(words, at, end):
        return (at + 1, end) if end > at + 1 else (at, at)
    if not known and _begins_with_greeting(words[at:end]):
        return at + 1, end
    return at, end


def _may_begin_name(word: Word) -> bool:
    if not word.capital or word.text == "I" or word.text[0].isdigit():
        return False
    if word.key in TITLES or word.key in OFFICE_TITLES or word.key in kind_prefix_words(PROJECT):
        return True
    if word.key in CALENDAR_WORDS and word.key not in GIVEN_NAMES:
        return False
    ordinary = word.key in COMMON_WORDS or is_past(word.key)
    return word.capital_signals_name or not ordinary or word.key in AMBIGUOUS_GIVEN_NAMES


def _begins_seasonal_event(words: Sequence[Word], at: int) -> bool:
    """ "the Spring Summit"."""
    following = words[at + 1] if at + 1 < len(words) else None
    if following is None or words[at].key not in CALENDAR_WORDS or not words[at].capital:
        return False
    return following.capital_signals_name and following.key in kind_suffix_words(EVENT)


def _is_a_date(words: Sequence[Word], at: int) -> bool:
    """ "in May", "4 May", "May 2025": a month or a season that is also a given name."""
    if words[at].key not in CALENDAR_WORDS:
        return False
    before = words[at - 1].key if at else ""
    after = words[at + 1].key if at + 1 < len(words) else ""
    return before in _BEFORE_A_DATE or before[:1].isdigit() or after[:1].isdigit()


def _continuation_length(words: Sequence[Word], end: int) -> int:
    """Number of the next words that continue the name."""
    last, word = words[end - 1], words[end]
    if word.gap == " & " and word.capital and last.capital:
        return 1
    if (
        last.owns
        and word.capital
        and word.gap in (" ", "' ", "’ ")
        and word.key in kind_suffix_words(ORGANIZATION)
    ):
        return 1  # "St. Mary's Hospital"
    if not is_adjacent(last, word) or word.among_capitals:
        return 0
    if (
        word.key.isdigit()
        and last.capital
        and (last.key in _NUMBERED_PRODUCTS or _is_name_with_year(last, word))
    ):
        return 1
    if word.capital and word.text != "I":
        breaks = word.key in CALENDAR_WORDS or word.key in OFFICE_TITLES
        return 0 if breaks or (word.first and len(last.text) > 1 and last.key not in TITLES) else 1
    following = words[end + 1] if end + 1 < len(words) else None
    if following is None or not is_adjacent(word, following):
        return 0
    if word.key in NAME_PARTICLES and following.capital:
        return 2
    if word.key == "and":
        return 2 if last.capital_signals_name and _is_partner_noun(words, end + 1) else 0
    joins = word.key in _JOINING_WORDS and last.key not in GIVEN_NAMES and last.capital_signals_name
    joins = joins or (word.key == "for" and last.key in kind_suffix_words(ORGANIZATION))
    named = following.capital and following.text != "I" and following.key not in NON_NAMES
    return 2 if joins and named else 0


def _is_name_with_year(name: Word, number: Word) -> bool:
    """ "NeuroLink 2026"; not "Berlin 2019", nor "May 2025"."""
    is_year = len(number.key) == 4 and number.key.startswith(("19", "20"))
    return is_year and (name.key,) not in known_names() and name.key not in CALENDAR_WORDS


def _is_partner_noun(words: Sequence[Word], at: int) -> bool:
    """ "Pickford and Daughters": a capitalised ordinary word that ends the name."""
    word = words[at]
    ordinary = word.key in COMMON_WORDS or word.key.removesuffix("s") in COMMON_WORDS
    continues = at + 1 < len(words) and words[at + 1].capital and is_adjacent(word, words[at + 1])
    return (
        word.capital_signals_name
        and word.text.istitle()
        and ordinary
        and word.key not in NON_NAMES
        and not continues
    )


def _has_sentence_capital(words: Sequence[Word], at: int, end: int) -> bool:
    """Whether the first word has a sentence-start capital: "Met Sarah", "Will Sarah come"."""
    word = words[at]
    if not word.first:
        return False
    begins_a_thing = end > at + 1 and word.key in kind_prefix_words(PROJECT)
    if word.key in TITLES or word.key in OFFICE_TITLES or begins_a_thing:
        return False
    if word.key in COMMON_WORDS or word.key in NON_NAMES:
        if word.key in NATIONALITIES and end > at + 1:
            return False
        if word.key in AMBIGUOUS_GIVEN_NAMES and end > at + 1:
            return words[at + 1].key in GIVEN_NAMES and words[at + 1].key not in FAMILY_NAMES
        return word.key not in AMBIGUOUS_GIVEN_NAMES or _is_used_as_verb(words, at)
    return False


def _begins_with_greeting(row: Sequence[Word]) -> bool:
    """ "Woohoo Melanie": an unknown word at a sentence start, before a known name."""
    if len(row) != 2 or not row[0].first:
        return False
    greeting, name = row
    a_name = greeting.key in GIVEN_NAMES or greeting.key in FAMILY_NAMES or greeting.key in TITLES
    return not a_name and (
        name.key in NATIONALITIES
        or (name.key in UNAMBIGUOUS_GIVEN_NAMES and name.key not in FAMILY_NAMES)
    )


def _is_used_as_verb(words: Sequence[Word], at: int) -> bool:
    """ "Will you come", "May I ask", "Mark my words": used as a verb."""
    following = words[at + 1].key if at + 1 < len(words) else ""
    return following in stop_words("en") and following not in _AFTER_NAMES


def _mentions_in_range(passage: TokenizedPassage, start: int, end: int) -> Iterator[EntityMention]:
    """The name without a preceding role: "CEO Tim Cook"."""
    words, office = passage.words, False
    while start < end and words[start].key in OFFICE_TITLES and words[start].key not in GIVEN_NAMES:
        start, office = start + 1, True
    while start < end and not words[start].capital:  # "CTO of Lumenworks"
        start, office = start + 1, False
    if start == end or (end - start == 1 and _is_non_name(words[start])):
        return
    row = words[start:end]
    if all(word.key in TITLES for word in row):
        return
    whole = _vote_with_noun(words, start, end)
    if whole is not None:
        yield build_mention(passage, start, end + 1, (whole,))
        return
    if row[0].key in _SAINT_PREFIXES and row[-1].owns and len(row) > 1:
        found = build_mention(passage, start, end, (KindVote(ORGANIZATION, LIKELY, "head"),))
        whole_text = passage.text[found.start : found.end + _POSSESSIVE_LENGTH]
        yield replace(found, end=found.end + _POSSESSIVE_LENGTH, text=whole_text)
        return
    while (
        start
        and words[start - 1].key in _LOWERCASE_TITLES
        and is_adjacent(words[start - 1], words[start])
    ):
        start -= 1  # "prof Delgado"
    votes = kind_votes(words, start, end, office)
    if votes:
        yield build_mention(passage, start, end, votes)


def _vote_with_noun(words: Sequence[Word], start: int, end: int) -> KindVote | None:
    """ "the Lyon offsite", "Q4 launch": the noun is part of the name; in "Apollo project" it is
    not."""
    noun = words[end] if end < len(words) else None
    if noun is None or noun.capital or not is_adjacent(words[end - 1], noun):
        return None
    if words[start].key in UNAMBIGUOUS_GIVEN_NAMES:
        return None
    for kind in (EVENT, LOCATION, PROJECT):
        if noun.key in kind_nouns_after_name(kind):
            return KindVote(kind, LIKELY, "noun")
    return None


def _is_non_name(word: Word) -> bool:
    return word.key in NON_NAMES and word.key not in GIVEN_NAMES


def known_name_length(words: Sequence[Word], at: int) -> int:
    """Number of words of a known name that begins here and has a capital."""
    length, _ = find_known_name(words, at)
    row = words[at : at + length]
    if not any(word.capital for word in row):
        return 0
    return length if _is_unambiguous_name(row) else 0


def _is_unambiguous_name(row: Sequence[Word]) -> bool:
    """At a sentence start a common word is not a company: "Target", "Word"."""
    return len(row) > 1 or row[0].capital_signals_name or row[0].key not in COMMON_WORDS


def _known_person_length(words: Sequence[Word], at: int) -> int:
    """In text where every word is capitalised, only known names count."""
    word = words[at]
    if word.key not in GIVEN_NAMES or word.key in AMBIGUOUS_GIVEN_NAMES:
        return 0
    following = words[at + 1] if at + 1 < len(words) else None
    has_family = (
        following is not None and following.key in FAMILY_NAMES and is_adjacent(word, following)
    )
    return 2 if has_family else 1


_MIN_CUE_WEIGHT = 0.7  # a cue of this weight confirms a known name
_MIN_LETTERS = 3
_PRODUCTS_ALSO_WORDS = frozenset(split_list(load_name_table("things")["product"]["also_words"]))


def find_lowercase_names(passage: TokenizedPassage) -> Iterator[EntityMention]:
    words = passage.words
    at = 0
    while at < len(words):
        length, kinds = _find_known_lowercase(words, at)
        if length:
            votes = tuple(_lowercase_votes(words, at, at + length, kinds))
            if votes:
                yield build_mention(passage, at, at + length, votes)
        at += max(length, 1)


def _find_known_lowercase(words: Sequence[Word], at: int) -> tuple[int, tuple[str, ...]]:
    word = words[at]
    if word.capital or word.hebrew or len(word.key) < _MIN_LETTERS:
        return 0, ()
    length, kinds = find_known_name(words, at)
    sure = tuple(kind for kind, only in kinds if only and word.key not in _PRODUCTS_ALSO_WORDS)
    if sure and not (length == 1 and word.key in COMMON_WORDS):
        return length, sure
    is_given = word.key in UNAMBIGUOUS_GIVEN_NAMES and word.key not in COMMON_WORDS
    return (1, (PERSON,)) if is_given else (0, ())


def _lowercase_votes(
    words: Sequence[Word], start: int, end: int, kinds: tuple[str, ...]
) -> Iterator[KindVote]:
    cue_weights = {
        vote.kind: vote.weight for vote in cue_votes(words, start, end) if vote.weight >= DOUBTFUL
    }
    for kind in kinds:
        if kind in cue_weights:
            yield KindVote(
                kind, KNOWN if cue_weights[kind] >= _MIN_CUE_WEIGHT else DOUBTFUL, "small"
            )
        elif kind == PERSON:
            yield KindVote(kind, GUESSED, "small")
