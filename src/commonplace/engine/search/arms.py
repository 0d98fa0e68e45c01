"""Search arms: each gives every candidate one or several signals, by name.

An arm reads the indexes of all searched scopes at one moment and is independent of the other arms;
a new arm is one more function in ARMS. Signals that are normalised by the best value use the best
of all indexes, so that scores of different scopes are comparable. `rank` weights the signals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from commonplace.engine.context import Vector
from commonplace.engine.search.context_scores import (
    ContextQuery,
    LexicalScores,
    SemanticScores,
    score_lexical,
    score_semantic,
)
from commonplace.engine.search.plan import ParsedQuery
from commonplace.engine.search.rank import Floats, above_floor, share_of_best
from commonplace.language.compare.keys import name_keys_in_terms
from commonplace.language.embedders.embedder import Calibration
from commonplace.language.query.question import correct_spelling
from commonplace.language.text.detect import (
    SCRIPT_SHIFT,
    Script,
    Trait,
    detect_language,
    detect_script,
    script_codes,
)
from commonplace.language.text.filler import empty_terms
from commonplace.model.parameters import ALL_WORDS
from commonplace.store.cache.postings import VisibleTerms
from commonplace.store.cache.scope_index import Mask, ScopeIndex

RECENCY_DAYS = 30.0  # after this long, recency is down to a third
_LONG_ENOUGH = 3.5  # ln(1 + terms): full score from about thirty terms
_LOG_WORDS = 0.45  # weight of words in a log of short turns, as a share of the terms that match
_PROFILE_CATEGORY = "profile"
_INTRODUCTIONS = (1.0, 0.6, 0.3)  # of the first turns
_MORE_HELD = 0.4  # of the query's terms
_SAME_MONTH, _MONTH_BEFORE, _MONTH_AFTER, _SAME_YEAR = 1.0, 0.2, 0.6, 0.5


@dataclass(frozen=True, slots=True)
class SearchedIndex:
    """The index of one scope, locked for reading."""

    index: ScopeIndex
    mask: Mask  # candidates
    visible: Mask  # visible units: filters narrow the candidates, not the vocabulary
    is_own: bool = True  # else invisible units are left out of the statistics


@dataclass(frozen=True)
class SearchInput:
    """The input of every arm: one parsed query and the indexes to search."""

    searched: tuple[SearchedIndex, ...]
    understood: ParsedQuery
    vectors: tuple[Vector, ...] | None  # of the query, and of the query without names
    now: datetime
    calibration: Calibration

    @cached_property
    def indexes(self) -> list[ScopeIndex]:
        return [each.index for each in self.searched]

    @cached_property
    def masks(self) -> list[Mask]:
        return [each.mask for each in self.searched]

    @cached_property
    def spelled(self) -> Mapping[str, str]:
        """The query's terms, corrected to the spelling of the visible texts."""
        known = VisibleTerms([(each.index.postings, each.visible) for each in self.searched])
        sure = self.understood.proper | self.understood.long_forms.keys() | empty_terms()
        return correct_spelling(self.understood.terms, known, sure)

    @cached_property
    def context_queries(self) -> list[ContextQuery]:
        return [_query_for_index(each, self.understood) for each in self.searched]

    @cached_property
    def words(self) -> list[LexicalScores]:
        terms = [self.spelled[term] for term in self.understood.terms]
        return score_lexical(self.indexes, terms, self.context_queries)

    @cached_property
    def meaning(self) -> list[SemanticScores] | None:
        return _score_meaning(self.indexes, self.vectors, self.context_queries)

    @cached_property
    def blind(self) -> list[Mask]:
        query = self.understood.query
        return [_unreadable_slots(index, query, self.calibration) for index in self.indexes]

    @cached_property
    def named(self) -> list[Mask]:
        """Memories whose name or key occurs in the query."""
        keys = name_keys_in_terms([self.spelled[term] for term in self.understood.spoken])
        return [_named_slots(each.index, keys, each.mask) for each in self.searched]


@dataclass(frozen=True, slots=True)
class IndexSignals:
    """All signals of all slots, and the raw values that decide relevance."""

    mask: Mask
    signals: Mapping[str, Floats]
    cosines: Floats  # NaN: unknown
    held: Floats  # the share of the query's terms that a unit holds
    known: Floats  # the share of the query that its near window covers
    named: Mask


def run_arms(search: SearchInput) -> list[IndexSignals]:
    """Run every arm and collect the signals of each index."""
    if search.understood.asks_for_all:
        return [_overview_signals(each, search) for each in search.searched]
    signals: dict[str, list[Floats]] = {}
    for arm in ARMS:
        signals |= arm(search)
    return [
        IndexSignals(
            _without_echoes(search, place),
            {name: each[place] for name, each in signals.items()},
            _cosines(search, place),
            words.held,
            words.known,
            search.named[place],
        )
        for place, words in enumerate(search.words)
    ]


def _without_echoes(search: SearchInput, place: int) -> Mask:
    """The candidates without short replies that have hardly more of the query's words than the turn
    they answer: the turn is the hit. A question for what the assistant or a speaker said is an
    exception."""
    understood, mask = search.understood, search.masks[place]
    if understood.question.of_the_assistant or understood.named.mentions:
        return mask
    turns, replies = search.indexes[place].contexts.exchanges()
    held = search.words[place].held
    mask = mask.copy()
    mask[replies[mask[turns] & (held[replies] <= held[turns] + _MORE_HELD)]] = False
    return mask


def _overview_signals(searched: SearchedIndex, search: SearchInput) -> IndexSignals:
    """For a question that matches nothing in particular: the profile, then what is important and
    recent, then what the user said, the first turns before the others: there people introduce
    themselves."""
    index = searched.index
    is_memory = ~index.passages
    is_profile = index.of_category(_PROFILE_CATEGORY) & is_memory
    by_user = index.coded["role"][: index.size] == index.words["role"].known("user")
    is_told = is_memory | (by_user & ((index.traits[: index.size] & Trait.ENDS_IN_QUESTION) == 0))
    signals = score_by_prior(index, search) | {
        "named": is_profile.astype(np.float32),
        "introduces": np.maximum(
            is_memory, _first_mentions(index, searched.mask & is_told & index.passages)
        ).astype(np.float32),
    }
    evidence = (is_told if is_told.any() else np.ones(index.size, bool)).astype(np.float32)
    unknown = np.full(index.size, np.nan)
    return IndexSignals(searched.mask, signals, unknown, evidence, evidence, evidence > 0)


def _first_mentions(index: ScopeIndex, mask: Mask) -> Floats:
    slots = np.flatnonzero(mask)
    first = slots[np.argsort(index.numeric["created_at"][slots], kind="stable")]
    signal = np.zeros(index.size, dtype=np.float32)
    signal[first[: len(_INTRODUCTIONS)]] = _INTRODUCTIONS[: len(first)]
    return signal


def _cosines(search: SearchInput, place: int) -> Floats:
    blind, meaning = search.blind[place], search.meaning
    return np.where(blind, np.nan, np.nan if meaning is None else meaning[place].unit)


def _named_slots(index: ScopeIndex, names: Iterable[str], mask: Mask) -> Mask:
    found = np.zeros(index.size, dtype=bool)
    found[index.slots_with_keys(names, mask)] = True
    return found


def _query_for_index(searched: SearchedIndex, understood: ParsedQuery) -> ContextQuery:
    index = searched.index
    takes_part = np.zeros(index.size, dtype=bool)
    if understood.names:
        people = understood.named.people
        takes_part = index.of_sources({id for name in people for id in index.people.get(name, ())})
    question = understood.question
    dated = _date_signal(index, question.months, question.years) if question.is_dated else None
    return ContextQuery(
        searched.mask,
        understood.names,
        takes_part,
        understood.proper,
        understood.of_time,
        understood.idle,
        None if dated is None else dated >= _SAME_YEAR,
        understood.long_forms,
        None if searched.is_own else searched.visible,
    )


def _follow_up_signal(index: ScopeIndex, words: Floats) -> Floats:
    """The turn after a question that matches the query, if another person speaks it, may be the
    answer. Assistant logs are left out: there the question itself is the user's statement."""
    contexts, speakers = index.contexts, index.coded["actor_id"]
    questions = np.flatnonzero((words > 0) & (index.traits[: index.size] & Trait.HAS_QUESTION > 0))
    questions = questions[contexts.places[questions] < index.size - 1]
    next_place = contexts.places[questions] + 1
    after = contexts.slots[next_place]
    follows = (contexts.near.back[next_place] > 0) & (speakers[after] != speakers[questions])
    follows &= (index.coded["role"][after] == 0) & index.passages[after]
    found = np.zeros(index.size, dtype=words.dtype)
    found[after[follows]] = words[questions[follows]]
    return found


def score_by_words(search: SearchInput) -> dict[str, list[Floats]]:
    words, masks = search.words, search.masks
    unit = share_of_best([each.unit for each in words], masks)
    near = share_of_best([each.near for each in words], masks)
    wide = share_of_best([each.wide for each in words], masks)
    trust = _trust_in_words(search)
    return {
        "words": list(map(np.multiply, unit, trust)),
        "words_near": list(map(np.multiply, near, trust)),
        "words_wide": list(map(np.multiply, wide, trust)),
        "follows": list(map(_follow_up_signal, search.indexes, unit)),
    }


def _trust_in_words(search: SearchInput) -> list[Floats]:
    """How much a match of words says. Weeks later, people ask in other words than they used in a
    chat: a turn that has few of the query's terms is the best match by chance. There the weight
    follows the share of the query that any candidate holds. Where meaning is unknown, or guessed by
    a model of other languages, words are all there is."""
    if not search.calibration.reads(detect_language(search.understood.query)):
        return [np.ones(index.size, dtype=np.float32) for index in search.indexes]
    held = max(float(each.held[mask].max(initial=0.0)) for each, mask in _words_of(search))
    trust = held * (_LOG_WORDS + (1 - _LOG_WORDS) * held**2)
    return [
        np.where(index.contexts.logged() & ~blind, trust, 1.0).astype(np.float32)
        for index, blind in zip(search.indexes, search.blind, strict=True)
    ]


def _words_of(search: SearchInput) -> Iterable[tuple[LexicalScores, Mask]]:
    return zip(search.words, search.masks, strict=True)


def _score_meaning(
    indexes: Sequence[ScopeIndex],
    vectors: tuple[Vector, ...] | None,
    context_queries: Sequence[ContextQuery],
) -> list[SemanticScores] | None:
    if vectors is None or not vectors[0].any():
        return None
    bare = vectors[1] if len(vectors) > 1 and vectors[1].any() else None
    return [
        score_semantic(index, vectors[0], bare, each)
        for index, each in zip(indexes, context_queries, strict=True)
    ]


def score_by_meaning(search: SearchInput) -> dict[str, list[Floats]]:
    meaning, blind = search.meaning, search.blind
    if meaning is None:
        return {}
    known = [mask & ~unread for mask, unread in zip(search.masks, blind, strict=True)]
    unread = list(map(np.flatnonzero, blind))
    return {
        name: list(map(_mark_unknown, above_floor(cosines, known), unread))
        for name, cosines in (
            ("meaning", [each.unit for each in meaning]),
            ("meaning_near", [each.near for each in meaning]),
            ("meaning_session", [each.session for each in meaning]),
        )
    }


def _mark_unknown(signal: Floats, unknown: NDArray[np.int64]) -> Floats:
    signal[unknown] = np.nan
    return signal


def _unreadable_slots(index: ScopeIndex, query: str, calibration: Calibration) -> Mask:
    """Slots for which the model does not support the script of the unit or of the query."""
    if detect_script(query) not in calibration.knots:
        return np.ones(index.size, dtype=bool)
    if all(each in calibration.knots for each in Script):
        return np.zeros(index.size, dtype=bool)
    codes = index.traits[: index.size] >> SCRIPT_SHIFT
    blind: Mask = np.ones(len(Script), dtype=bool)
    blind[script_codes(frozenset(calibration.knots))] = False
    found: Mask = blind[codes]
    return found


def score_by_question(index: ScopeIndex, search: SearchInput) -> dict[str, Floats]:
    """Does the unit look like an answer to this question?"""
    understood = search.understood
    question, traits = understood.question, index.traits[: index.size]
    lengths = index.lengths[: index.size]
    by_length = np.log1p(np.arange(lengths.max(initial=0) + 1)) / _LONG_ENOUGH
    signals: dict[str, Floats] = {
        "asks": _question_signal(index),
        "length": np.minimum(by_length, 1.0)[lengths],
        "speaker": _speaker_signal(index, understood),
    }
    if question.asks_for:
        signals["answer"] = ((traits & int(question.asks_for)) > 0).astype(np.float32)
    if question.is_dated:
        signals["date"] = _date_signal(index, question.months, question.years)
    return signals


def _question_signal(index: ScopeIndex) -> Floats:
    """A question between people is rarely the answer. A user's question to an assistant may be."""
    asks = (index.traits[: index.size] & Trait.ENDS_IN_QUESTION) > 0
    return np.asarray(asks & (index.coded["role"][: index.size] == 0), dtype=np.float32)


def _speaker_signal(index: ScopeIndex, understood: ParsedQuery) -> Floats:
    """Turns by the person named in the query, unless another named person takes part as well; if
    the query is about the user, memories and, in assistant logs, the user's turns."""
    if understood.named.mentions:
        return _named_speaker_signal(index, understood.named.mentions)
    if understood.question.of_the_user:
        by_user = index.coded["role"][: index.size] == index.words["role"].known("user")
        return np.asarray(by_user | ~index.passages, dtype=np.float32)
    return np.zeros(index.size, dtype=np.float32)


def _named_speaker_signal(index: ScopeIndex, mentions: Sequence[frozenset[str]]) -> Floats:
    speakers, known = index.coded["actor_id"][: index.size], index.words["actor_id"].known
    spoken = np.zeros(index.size, dtype=bool)
    named_here = np.zeros(index.size, dtype=np.int8)
    for people in mentions:
        spoken |= np.isin(speakers, [known(person) for person in people])
        named_here += index.of_sources(
            {id for person in people for id in index.people.get(person, ())}
        )
    return np.asarray(spoken & (named_here == 1), dtype=np.float32)


def _date_signal(index: ScopeIndex, months: frozenset[int], years: frozenset[int]) -> Floats:
    """Passages of the queried months, and of the next month, which often reports on the last."""
    times = index.numeric["created_at"][: index.size].astype("datetime64[us]")
    month = times.astype("datetime64[M]").astype(np.int64)
    first, last = month.min(initial=0), month.max(initial=0)
    found: Floats = _month_weights(np.arange(first, last + 1), months, years)[month - first]
    found[~index.passages] = 0.0
    return found


def _month_weights(
    month: NDArray[np.int64], months: frozenset[int], years: frozenset[int]
) -> NDArray[np.float64]:
    """The weight of each month; months are counted from January 1970."""
    weights = np.zeros(len(month))
    if not months:
        weights[np.isin(month // 12 + 1970, list(years))] = _SAME_YEAR
    for target_month in months:
        for offset, weight in ((0, _SAME_MONTH), (1, _MONTH_AFTER), (-1, _MONTH_BEFORE)):
            about = month - offset
            hit = about % 12 + 1 == target_month
            if years:
                hit &= np.isin(about // 12 + 1970, list(years))
            weights[hit] = np.maximum(weights[hit], weight)
    return weights


def score_by_prior(index: ScopeIndex, search: SearchInput) -> dict[str, Floats]:
    """Signals that do not depend on the query."""
    age = np.maximum(index.age_days(search.now), 0.0)
    return {
        "recency": np.exp(-age / RECENCY_DAYS),
        "importance": (index.numeric["importance"][: index.size] - 1) / 4,
    }


def score_by_name(search: SearchInput) -> dict[str, list[Floats]]:
    return {"named": [each.astype(np.float32) for each in search.named]}


def score_by_introduction(index: ScopeIndex, search: SearchInput) -> dict[str, Floats]:
    """For "what do you know about Noa?": the first turns that mention Noa say who she is."""
    if not search.understood.is_overview:
        return {}
    place = search.indexes.index(index)
    holds = search.words[place].held > ALL_WORDS
    return {"introduces": _first_mentions(index, search.masks[place] & index.passages & holds)}


Arm = Callable[[SearchInput], dict[str, list[Floats]]]  # signal name -> one array for each index


def _per_index(arm: Callable[[ScopeIndex, SearchInput], dict[str, Floats]]) -> Arm:
    """Adapt an arm that scores each index separately."""

    def run(search: SearchInput) -> dict[str, list[Floats]]:
        found = [arm(index, search) for index in search.indexes]
        return {name: [each[name] for each in found] for name in found[0]}

    return run


ARMS: tuple[Arm, ...] = (
    score_by_words,
    score_by_meaning,
    _per_index(score_by_question),
    _per_index(score_by_prior),
    _per_index(score_by_introduction),
    score_by_name,
)
