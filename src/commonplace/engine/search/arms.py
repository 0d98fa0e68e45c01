"""Search arms: each gives every candidate one or several signals, by name.

An arm sees the whole indexes of the scopes that are asked, at one moment, and knows nothing of the
other arms; a new one (the graph's, say) is one more function in ARMS. What is measured by the best
is measured by the best of all of them, so that scores of different scopes compare. What a signal is
worth is `fuse`'s business.
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
    detect_script,
    script_codes,
)
from commonplace.store.cache.postings import VisibleTerms
from commonplace.store.cache.scope_index import Mask, ScopeIndex

RECENCY_DAYS = 30.0  # after this long, recency is down to a third
_LONG_ENOUGH = 3.5  # ln(1 + terms): a unit of some thirty terms says enough
_SAME_MONTH, _MONTH_BEFORE, _MONTH_AFTER, _SAME_YEAR = 1.0, 0.2, 0.6, 0.5


@dataclass(frozen=True, slots=True)
class SearchedIndex:
    """The index of one scope, held still."""

    index: ScopeIndex
    mask: Mask  # who may be found
    visible: Mask  # who may be known of: a filter changes who is found, not how words are read
    is_own: bool = True  # else what is not visible is not counted either


@dataclass(frozen=True)
class SearchInput:
    """What every arm hears: one question, put to the indexes of some scopes."""

    listeners: tuple[SearchedIndex, ...]
    understood: ParsedQuery
    vectors: tuple[Vector, ...] | None  # of the query, and of the query without names
    now: datetime
    calibration: Calibration

    @cached_property
    def indexes(self) -> list[ScopeIndex]:
        return [each.index for each in self.listeners]

    @cached_property
    def masks(self) -> list[Mask]:
        return [each.mask for each in self.listeners]

    @cached_property
    def spelled(self) -> Mapping[str, str]:
        """The query's terms as the texts here spell them."""
        known = VisibleTerms([(each.index.postings, each.visible) for each in self.listeners])
        sure = self.understood.proper | self.understood.long_forms.keys()
        return correct_spelling(self.understood.terms, known, sure)

    @cached_property
    def asked(self) -> list[ContextQuery]:
        return [_query_for_index(each, self.understood) for each in self.listeners]

    @cached_property
    def words(self) -> list[LexicalScores]:
        terms = [self.spelled[term] for term in self.understood.terms]
        return score_lexical(self.indexes, terms, self.asked)

    @cached_property
    def meaning(self) -> list[SemanticScores] | None:
        return _score_meaning(self.indexes, self.vectors, self.asked)

    @cached_property
    def blind(self) -> list[Mask]:
        query = self.understood.query
        return [_unreadable_slots(index, query, self.calibration) for index in self.indexes]

    @cached_property
    def named(self) -> list[Mask]:
        """Memories that the query calls by name."""
        called = name_keys_in_terms([self.spelled[term] for term in self.understood.spoken])
        return [_named_slots(each.index, called, each.mask) for each in self.listeners]


@dataclass(frozen=True, slots=True)
class IndexSignals:
    """All signals of all slots, and the raw values that relevance is judged by."""

    mask: Mask
    signals: Mapping[str, Floats]
    cosines: Floats  # NaN: unknown
    held: Floats  # the share of the query's terms that a unit holds
    known: Floats  # how much of the query its near window knows
    named: Mask


def run_arms(listening: SearchInput) -> list[IndexSignals]:
    """Ask every arm; what each index is heard to say."""
    signals: dict[str, list[Floats]] = {}
    for arm in ARMS:
        signals |= arm(listening)
    return [
        IndexSignals(
            listening.masks[place],
            {name: each[place] for name, each in signals.items()},
            _cosines(listening, place),
            words.held,
            words.known,
            listening.named[place],
        )
        for place, words in enumerate(listening.words)
    ]


def _cosines(listening: SearchInput, place: int) -> Floats:
    blind, meaning = listening.blind[place], listening.meaning
    return np.where(blind, np.nan, np.nan if meaning is None else meaning[place].unit)


def _named_slots(index: ScopeIndex, names: Iterable[str], mask: Mask) -> Mask:
    found = np.zeros(index.size, dtype=bool)
    found[index.slots_with_keys(names, mask)] = True
    return found


def _query_for_index(listener: SearchedIndex, understood: ParsedQuery) -> ContextQuery:
    index = listener.index
    takes_part = np.zeros(index.size, dtype=bool)
    if understood.names:
        people = understood.named.people
        takes_part = index.of_sources({id for name in people for id in index.people.get(name, ())})
    question = understood.question
    dated = _date_signal(index, question.months, question.years) if question.is_dated else None
    return ContextQuery(
        listener.mask,
        understood.names,
        takes_part,
        understood.proper,
        understood.of_time,
        understood.idle,
        None if dated is None else dated >= _SAME_YEAR,
        understood.long_forms,
        None if listener.is_own else listener.visible,
    )


def _follow_up_signal(index: ScopeIndex, words: Floats) -> Floats:
    """Answers follow questions: where somebody else asked with the query's words, the next turn
    may be what is looked for. In logs of assistants the question is the user's own."""
    contexts, speakers = index.contexts, index.coded["actor_id"]
    asking = np.flatnonzero((words > 0) & (index.traits[: index.size] & Trait.HAS_QUESTION > 0))
    asking = asking[contexts.places[asking] < index.size - 1]
    next_place = contexts.places[asking] + 1
    after = contexts.slots[next_place]
    follows = (contexts.near.back[next_place] > 0) & (speakers[after] != speakers[asking])
    follows &= (index.coded["role"][after] == 0) & index.passages[after]
    found = np.zeros(index.size, dtype=words.dtype)
    found[after[follows]] = words[asking[follows]]
    return found


def score_by_words(heard: SearchInput) -> dict[str, list[Floats]]:
    words, masks = heard.words, heard.masks
    unit = share_of_best([each.unit for each in words], masks)
    return {
        "words": unit,
        "words_near": share_of_best([each.near for each in words], masks),
        "words_wide": share_of_best([each.wide for each in words], masks),
        "follows": list(map(_follow_up_signal, heard.indexes, unit)),
    }


def _score_meaning(
    indexes: Sequence[ScopeIndex], vectors: tuple[Vector, ...] | None, asked: Sequence[ContextQuery]
) -> list[SemanticScores] | None:
    if vectors is None or not vectors[0].any():
        return None
    bare = vectors[1] if len(vectors) > 1 and vectors[1].any() else None
    return [
        score_semantic(index, vectors[0], bare, each)
        for index, each in zip(indexes, asked, strict=True)
    ]


def score_by_meaning(heard: SearchInput) -> dict[str, list[Floats]]:
    meaning, blind = heard.meaning, heard.blind
    if meaning is None:
        return {}
    known = [mask & ~unread for mask, unread in zip(heard.masks, blind, strict=True)]
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
    """The signal, unknown at these."""
    signal[unknown] = np.nan
    return signal


def _unreadable_slots(index: ScopeIndex, query: str, calibration: Calibration) -> Mask:
    """Where the model cannot read the unit's script, or the query's."""
    if detect_script(query) not in calibration.knots:
        return np.ones(index.size, dtype=bool)
    if all(each in calibration.knots for each in Script):
        return np.zeros(index.size, dtype=bool)
    codes = index.traits[: index.size] >> SCRIPT_SHIFT
    blind: Mask = np.ones(len(Script), dtype=bool)
    blind[script_codes(frozenset(calibration.knots))] = False
    found: Mask = blind[codes]
    return found


def score_by_question(index: ScopeIndex, heard: SearchInput) -> dict[str, Floats]:
    """What a unit would have to be like to be the answer."""
    understood = heard.understood
    question, traits = understood.question, index.traits[: index.size]
    lengths = index.lengths[: index.size]
    worth = np.log1p(np.arange(lengths.max(initial=0) + 1)) / _LONG_ENOUGH  # of each length
    signals: dict[str, Floats] = {
        "asks": _question_signal(index),
        "length": np.minimum(worth, 1.0)[lengths],
        "speaker": _speaker_signal(index, understood),
    }
    if question.asks_for:
        signals["answer"] = ((traits & int(question.asks_for)) > 0).astype(np.float32)
    if question.is_dated:
        signals["date"] = _date_signal(index, question.months, question.years)
    return signals


def _question_signal(index: ScopeIndex) -> Floats:
    """Among people a question is seldom the answer. What a user asked an assistant may well be
    what is looked for."""
    asks = (index.traits[: index.size] & Trait.ENDS_IN_QUESTION) > 0
    return np.asarray(asks & (index.coded["role"][: index.size] == 0), dtype=np.float32)


def _speaker_signal(index: ScopeIndex, understood: ParsedQuery) -> Floats:
    """The one whom the query names, where no other who is named takes part; in a log of an
    assistant the user, when they speak of themselves."""
    if understood.named.mentions:
        return _named_speaker_signal(index, understood.named.mentions)
    if understood.question.of_the_user:
        said = index.coded["role"][: index.size] == index.words["role"].known("user")
        return np.asarray(said & index.passages, dtype=np.float32)
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
    """Passages of the months asked for, and of the next, in which people tell of the last."""
    said = index.numeric["created_at"][: index.size].astype("datetime64[us]")
    month = said.astype("datetime64[M]").astype(np.int64)
    first, last = month.min(initial=0), month.max(initial=0)
    found: Floats = _month_weights(np.arange(first, last + 1), months, years)[month - first]
    found[~index.passages] = 0.0
    return found


def _month_weights(
    month: NDArray[np.int64], months: frozenset[int], years: frozenset[int]
) -> NDArray[np.float64]:
    """Of each month, counted from 1970."""
    found = np.zeros(len(month))
    if not months:
        found[np.isin(month // 12 + 1970, list(years))] = _SAME_YEAR
    for wanted in months:
        for offset, worth in ((0, _SAME_MONTH), (1, _MONTH_AFTER), (-1, _MONTH_BEFORE)):
            about = month - offset
            hit = about % 12 + 1 == wanted
            if years:
                hit &= np.isin(about // 12 + 1970, list(years))
            found[hit] = np.maximum(found[hit], worth)
    return found


def score_by_prior(index: ScopeIndex, heard: SearchInput) -> dict[str, Floats]:
    """What a unit is worth whatever is asked."""
    age = np.maximum(index.age_days(heard.now), 0.0)
    return {
        "recency": np.exp(-age / RECENCY_DAYS),
        "importance": (index.numeric["importance"][: index.size] - 1) / 4,
    }


def score_by_name(heard: SearchInput) -> dict[str, list[Floats]]:
    return {"named": [each.astype(np.float32) for each in heard.named]}


Arm = Callable[[SearchInput], dict[str, list[Floats]]]  # a signal of each index, in their order


def _per_index(arm: Callable[[ScopeIndex, SearchInput], dict[str, Floats]]) -> Arm:
    """For what a unit shows whoever stands beside it in other indexes."""

    def listening(heard: SearchInput) -> dict[str, list[Floats]]:
        found = [arm(index, heard) for index in heard.indexes]
        return {name: [each[name] for each in found] for name in found[0]}

    return listening


ARMS: tuple[Arm, ...] = (
    score_by_words,
    score_by_meaning,
    _per_index(score_by_question),
    _per_index(score_by_prior),
    score_by_name,
)
