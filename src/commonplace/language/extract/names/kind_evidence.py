"""Evidence for the kind of a named thing: words in the name and around it, shape, lists."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise, product

from commonplace.language.extract.names.gazetteer import (
    AMBIGUOUS_GIVEN_NAMES,
    COMMON_WORDS,
    FAMILY_NAMES,
    GIVEN_NAMES,
    NON_NAMES,
    PERSON,
    TITLES,
    UNAMBIGUOUS_GIVEN_NAMES,
    kind_prefix_words,
    kind_suffix_words,
    known_names,
    load_name_table,
)
from commonplace.language.extract.names.words import (
    DOUBTFUL,
    GUESSED,
    KNOWN,
    LEANING,
    LIKELY,
    SURE,
    EntityMention,
    KindVote,
    Word,
    combine_votes,
)
from commonplace.language.extract.values import (
    EVENT,
    GROUP,
    LOCATION,
    ORGANIZATION,
    PRODUCT,
    PROJECT,
)

_CUE_WEIGHTS = {"sure": SURE, "likely": LIKELY - 0.1, "weak": LEANING}
_MAX_CUE_WORDS = 4
_SKIPPED_WORDS = frozenset(load_name_table("phrases")["between"].split())
_NUMBER = "\\d+"

_CueTable = dict[tuple[str, ...], tuple[KindVote, ...]]


@cache
def _load_cues(side: str) -> _CueTable:
    found: dict[tuple[str, ...], dict[str, KindVote]] = {}
    for kind, sides in load_name_table("cues").items():
        for strength in ("weak", "likely", "sure"):  # the strongest wins
            for pattern in sides[side][strength]:
                for row in product(*(slot.split("|") for slot in pattern.split())):
                    found.setdefault(row, {})[kind] = KindVote(kind, _CUE_WEIGHTS[strength], side)
    return {row: tuple(votes.values()) for row, votes in found.items()}


def cue_votes(words: Sequence[Word], start: int, end: int) -> list[KindVote]:
    """Votes of the words around the name words[start:end]."""
    return [*_votes_before(words, start), *_votes_after(words, end)]


def _votes_before(words: Sequence[Word], start: int) -> Iterator[KindVote]:
    at = start
    while at > 0 and not words[at].first and words[at - 1].key in _SKIPPED_WORDS:
        at -= 1
    places = (start,) if at == start else (start, at)
    for place in places:
        row: tuple[str, ...] = ()
        longest: tuple[KindVote, ...] = ()
        for back in range(1, _MAX_CUE_WORDS + 1):
            if place < back or _is_separated(words[place - back + 1]):
                break
            row = (words[place - back].key, *row)
            longest = _load_cues("before").get(row, longest)
        yield from longest


def _votes_after(words: Sequence[Word], end: int) -> Iterator[KindVote]:
    row: tuple[str, ...] = ("'s",) if words[end - 1].owns else ()
    longest: tuple[KindVote, ...] = ()
    for ahead in range(end, min(len(words), end + _MAX_CUE_WORDS)):
        if _is_separated(words[ahead]):
            break
        row = (*row, _NUMBER if words[ahead].key.isdigit() else words[ahead].key)
        longest = _load_cues("after").get(row, longest)
    yield from longest


def _is_separated(word: Word) -> bool:
    """Whether anything but a space precedes the word."""
    return word.first or word.gap.strip() != ""


_ARTICLES = frozenset(("a", "an", "our", "my", "the", "this", "another", "her", "his", "their"))
_NAMING_VERBS = frozenset(("called", "named", "titled", "codenamed"))
_FILLER_ADVERBS = frozenset(("just", "also", "now", "so", "aptly"))
_COPULAS = frozenset(("is", "was", "are"))
_MAX_WORDS_BEFORE_NOUN = 3  # words between the article and the noun
_DESCRIBED_WEIGHT = LIKELY + 0.05


@cache
def kinds_by_noun() -> dict[str, str]:
    return {
        noun: kind
        for kind, nouns in load_name_table("kind_nouns").items()
        for noun in nouns.split()
    }


def description_votes(words: Sequence[Word], start: int, end: int) -> Iterator[KindVote]:
    """Votes of descriptions of the name words[start:end]."""
    yield from _called_votes(words, start)
    yield from _copula_votes(words, end, given=words[start].key in UNAMBIGUOUS_GIVEN_NAMES)


def _called_votes(words: Sequence[Word], start: int) -> Iterator[KindVote]:
    """ "a game called Ironvale", "the band is named Kestrel"."""
    at = start - 1
    if at < 1 or words[start].first or words[at].key not in _NAMING_VERBS:
        return
    while at > 1 and words[at - 1].key in _COPULAS | _FILLER_ADVERBS and not words[at].first:
        at -= 1
    kind = kinds_by_noun().get(words[at - 1].key)
    if kind is not None and not words[at].first:
        yield KindVote(kind, SURE, "described")


def _copula_votes(words: Sequence[Word], end: int, given: bool) -> Iterator[KindVote]:
    """ "Lanternfish, an app", "Kestrel is a club"."""
    at = end
    if at < len(words) and words[at].key in _COPULAS and words[at].gap.isspace():
        at += 1
    elif at == len(words) or words[at].gap.strip() not in (",", "(", "—", "–", "-"):
        return
    if at >= len(words) or words[at].key not in _ARTICLES:
        return
    for word in words[at + 1 : at + 2 + _MAX_WORDS_BEFORE_NOUN]:
        if word.first or word.gap.strip():
            return
        kind = kinds_by_noun().get(word.key)
        if kind is not None:
            # "Hey Jon, my store is open" does not call Jon a store.
            if kind == PERSON or not given:
                yield KindVote(kind, _DESCRIBED_WEIGHT, "described")
            return


_KINDS_BY_LAST_WORD = (GROUP, ORGANIZATION, LOCATION, EVENT, PROJECT, PRODUCT)
_KINDS_BY_FIRST_WORD = (ORGANIZATION, LOCATION, PROJECT)
_MAX_ACRONYM_LETTERS = 4
_YEAR_DIGITS = 4
_MAX_PERSON_WORDS = 4
_SENTENCE_START_PENALTY = 0.1  # a capital counts less at the start of a sentence


def kind_votes(
    words: Sequence[Word], start: int, end: int, office: bool = False
) -> tuple[KindVote, ...]:
    row = words[start:end]
    found = [*_gazetteer_votes(row), *_head_word_votes(row)]
    if office:
        found.append(KindVote(PERSON, SURE, "title"))
    headed = any(vote.by == "head" for vote in found)
    thing = start > 0 and words[start - 1].key == "the" and not words[start].first
    if not headed and not thing:  # persons have no article
        found += _person_votes(row)
    found += _weigh_cues(row, cue_votes(words, start, end), thing)
    found += description_votes(words, start, end)
    found += _shape_votes(row, thing)
    return tuple(found)


def _weigh_cues(row: Sequence[Word], cues: Sequence[KindVote], thing: bool) -> Iterator[KindVote]:
    """Reduce the weight of cues if the name may be a common word: "Setbacks can help"."""
    word = row[0]
    known = (
        word.key in GIVEN_NAMES
        or word.key in FAMILY_NAMES
        or tuple(w.key for w in row) in known_names()
    )
    firm = (
        row[-1].key in kind_suffix_words(ORGANIZATION)
        and len(row) > 1
        and word.key not in UNAMBIGUOUS_GIVEN_NAMES
    )
    plain = (
        len(row) == 1 and not known and (word.key in COMMON_WORDS or not word.capital_signals_name)
    )
    sure = {kind for kind, _ in known_names().get(tuple(w.key for w in row), ())}
    called = len(row) == 1 and word.key in UNAMBIGUOUS_GIVEN_NAMES and not sure and not thing
    for vote in cues:
        if sure and vote.kind == PERSON and word.key not in GIVEN_NAMES:
            yield KindVote(PERSON, LEANING, vote.by)  # "switched to Notion and I like it"
        elif sure and vote.kind == LOCATION and LOCATION not in sure:
            yield KindVote(LOCATION, LEANING, vote.by)  # "all of it lives in Dropbox"
        elif firm and vote.kind == PERSON:
            yield KindVote(PERSON, min(vote.weight, DOUBTFUL), vote.by)  # "spoke to Acme Logistics"
        elif called and vote.kind != PERSON:
            yield KindVote(vote.kind, min(vote.weight, DOUBTFUL), vote.by)  # "Omar bought a car"
        elif not plain or vote.weight >= SURE:
            yield vote
        elif word.key not in COMMON_WORDS:
            yield KindVote(vote.kind, min(vote.weight, LEANING), vote.by)


def _gazetteer_votes(row: Sequence[Word]) -> Iterator[KindVote]:
    for kind, sure in known_names().get(tuple(word.key for word in row), ()):
        yield KindVote(kind, KNOWN if sure else DOUBTFUL, "known")


def _head_word_votes(row: Sequence[Word]) -> Iterator[KindVote]:
    """ "Hebrew University", "Bank of Israel", "Baker Street"."""
    if len(row) == 1:
        return
    known = tuple(word.key for word in row) in known_names()
    if row[0].key in UNAMBIGUOUS_GIVEN_NAMES and row[-1].key in FAMILY_NAMES:
        return
    for kind in _KINDS_BY_LAST_WORD:
        if row[-1].key in kind_suffix_words(kind) and row[-1].capital and not known:
            yield KindVote(kind, LIKELY + 0.05, "head")
            return
    if any(_is_head_before_of(*pair) for pair in pairwise(row)) and not known:
        yield KindVote(ORGANIZATION, LIKELY + 0.05, "head")
        return
    for kind in _KINDS_BY_FIRST_WORD:
        if row[0].key in kind_prefix_words(kind) and not known:
            yield KindVote(kind, LIKELY, "head")
            return


def _is_head_before_of(one: Word, other: Word) -> bool:
    """ "Leith School of Food"."""
    return other.key == "of" and one.capital and one.key in kind_suffix_words(ORGANIZATION)


def _person_votes(row: Sequence[Word]) -> Iterator[KindVote]:
    if len(row) > _MAX_PERSON_WORDS or _is_partnership(row):
        return
    if (
        len(row) == 1
        and row[0].text.isupper()
        and len(row[0].text) <= _MAX_ACRONYM_LETTERS
        and not row[0].among_capitals
    ):
        return  # ANA is an airline
    if row[0].key in TITLES and len(row) > 1:
        yield KindVote(PERSON, SURE, "title")
        return
    first, last = row[0], row[-1]
    if len(row) > 1 and last.key in FAMILY_NAMES:
        yield KindVote(PERSON, LIKELY if first.key in GIVEN_NAMES else DOUBTFUL, "family")
    if first.key in GIVEN_NAMES:
        yield KindVote(PERSON, _given_name_weight(row), "given")
    elif len(row) == 1 and first.key in FAMILY_NAMES and first.capital_signals_name:
        yield KindVote(PERSON, DOUBTFUL, "family")


def _given_name_weight(row: Sequence[Word]) -> float:
    ordinary = row[0].key in AMBIGUOUS_GIVEN_NAMES
    if len(row) > 1:
        return KNOWN if ordinary else LIKELY + 0.05
    if not ordinary:
        return KNOWN
    return DOUBTFUL if row[0].capital_signals_name else GUESSED - _SENTENCE_START_PENALTY


def _shape_votes(row: Sequence[Word], thing: bool) -> Iterator[KindVote]:
    """Votes for the capital alone and for the shape of the name."""
    if len(row) == 1 and (row[0].key in COMMON_WORDS or row[0].key in NON_NAMES):
        return
    weight = (
        GUESSED
        if row[0].capital_signals_name or len(row) > 1
        else GUESSED - _SENTENCE_START_PENALTY
    )
    text = "".join(word.text for word in row)
    if _is_partnership(row):
        yield KindVote(ORGANIZATION, KNOWN, "shape")
    elif len(row) > 1 and row[-1].key.isdigit() and len(row[-1].key) == _YEAR_DIGITS:
        yield KindVote(EVENT, KNOWN, "shape")
    elif len(row) == 1 and text.isupper() and 1 < len(text) < 6:
        yield KindVote(ORGANIZATION, weight, "shape")
    elif any(letter.isdigit() for letter in text) or _is_camel_case(row):
        yield KindVote(PRODUCT, weight, "shape")
    elif thing or len(row) > 3 or any(word.key in ("of", "the", "&") for word in row):
        yield KindVote(ORGANIZATION, weight, "shape")
    else:
        yield KindVote(PERSON, weight + (LEANING - GUESSED if len(row) == 2 else 0), "shape")


def _is_partnership(row: Sequence[Word]) -> bool:
    """ "Kelly & Sons", "Pickford and Daughters"."""
    return any(word.gap == " & " for word in row[1:]) or any(word.key == "and" for word in row)


def _is_camel_case(row: Sequence[Word]) -> bool:
    """ "GitLab", "iPod"; not "McDonald", nor "O'Brien"."""
    return any(
        any(letter.isupper() for letter in word.text[1:])
        and not word.text.isupper()
        and not word.text.startswith(("Mc", "Mac", "De", "O'", "O’", "Le", "Di"))
        and "-" not in word.text
        for word in row
    )


_SEPARATOR = re.compile(r"(?P<last>,? (?:and|or|&|ו) ?)|, ")
_MAX_SEPARATOR = 6
_FROM, _TO = "from ", " to "  # "switched from Jenkins to Buildkite"
_LIST_WEIGHT = 0.7  # weight of the other names in a list
_MIN_WEIGHT = 0.4


def share_kind_in_lists(text: str, mentions: Sequence[EntityMention]) -> list[EntityMention]:
    """Mentions in text order; uncertain ones get the kind of the others in their list."""
    return [each for chain in _split_lists(text, mentions) for each in _share_kind(chain)]


def _split_lists(text: str, mentions: Sequence[EntityMention]) -> Iterator[list[EntityMention]]:
    """Comma-separated lists of names that end in "and"; other names are lists of one."""
    row: list[EntityMention] = []
    for each in mentions:
        between = text[row[-1].end : each.start] if row else ""
        link = _SEPARATOR.fullmatch(between) if len(between) <= _MAX_SEPARATOR else None
        if between == _TO and text[: row[-1].start].endswith(_FROM):
            yield [row.pop(), each]
            continue
        if row and link is None:
            yield from ([one] for one in row)
            row = []
        row.append(each)
        if link is not None and link["last"]:
            yield row
            row = []
    yield from ([one] for one in row)


def _share_kind(chain: Sequence[EntityMention]) -> Iterator[EntityMention]:
    votes = [combine_votes(each.votes) for each in chain]
    kinds = {vote.kind for vote in votes if vote.weight >= _LIST_WEIGHT}
    for each, vote in zip(chain, votes, strict=True):
        fits = vote.weight <= DOUBTFUL or vote.kind in kinds
        if len(kinds) == 1 and fits and _MIN_WEIGHT <= vote.weight < KNOWN and len(chain) > 1:
            kind = next(iter(kinds))
            yield replace(each, votes=(*each.votes, KindVote(kind, _LIST_WEIGHT, "list")))
        else:
            yield each
