"""Recall plan: the checked request, its search targets, and the parsed query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice

import numpy as np

from commonplace.engine.access import visibility_in
from commonplace.engine.context import EngineContext
from commonplace.engine.sources.listing import load_visible_source, resolve_source_id
from commonplace.errors import InvalidInput, NotFound
from commonplace.language.fields.names import (
    NamedPeople,
    capitalised_words,
    find_named_people,
    remove_names,
)
from commonplace.language.query.abbreviations import (
    NO_ABBREVIATIONS,
    AbbreviationMatch,
    Terminology,
    add_long_forms,
    build_terminology,
)
from commonplace.language.query.follow_ups import topic_of_template
from commonplace.language.query.overview import parse_overview
from commonplace.language.query.question import ParsedQuestion, parse_question
from commonplace.language.text.detect import question_words
from commonplace.language.text.terms import analyse, query_synonyms
from commonplace.model.access.principal import Principal, ReadableScope
from commonplace.model.filters import NO_FILTERS, Filters, Visibility
from commonplace.model.journal import JournalNode
from commonplace.model.memory.kinds import ON_REQUEST_KINDS
from commonplace.model.sources.source import split_passage_id
from commonplace.store.cache.scope_index import Mask, ScopeIndex

NO_PASSAGES, ONLY_PASSAGES = "none", "only"
MAX_TERMS = 256  # distinct ones that are searched for: each costs a pass over its postings


@dataclass(frozen=True, slots=True)
class SearchTargets:
    memories: bool = True
    passages: bool = True
    sources: tuple[str, ...] = ()  # if given: only passages of these
    procedures: bool = True
    graph: bool = False  # nodes, edges and artifacts, too
    ids: frozenset[str] | None = None  # if given: only these memories, which the database selected

    def narrowed(self, index: ScopeIndex, candidates: Mask) -> Mask:
        """Restrict the candidates, before scoring."""
        if not self.procedures:
            for kind in ON_REQUEST_KINDS:
                candidates = candidates & ~index.of_kind(kind)
        if self.ids is not None:
            candidates = candidates & index.of_ids(self.ids)
        if self.sources:
            return candidates & index.of_sources(self.sources)
        if not self.passages:
            return candidates & ~index.passages if self.memories else np.zeros_like(candidates)
        return candidates if self.memories else candidates & index.passages

    def visibility(self, principal: Principal, reading: ReadableScope) -> Visibility:
        """Named sources count as a lookup by id: their owner sees sensitive content, too."""
        allowed = visibility_in(principal, reading)
        by_id = reading.is_own and principal.is_owner and bool(self.sources)
        return replace(allowed, cleared=True) if by_id else allowed


ALL_TARGETS = SearchTargets(graph=True)


def read_targets(
    engine: EngineContext, principal: Principal, requested: Sequence[str]
) -> SearchTargets:
    """Parse the request: ``none``, ``only``, or sources by id or by name."""
    match requested:
        case []:
            return ALL_TARGETS
        case [word] if word == NO_PASSAGES:
            return SearchTargets(passages=False, graph=True)
        case [word] if word == ONLY_PASSAGES:
            return SearchTargets(memories=False)
    return SearchTargets(
        memories=False, sources=tuple(_resolve_source(engine, principal, id) for id in requested)
    )


def _resolve_source(engine: EngineContext, principal: Principal, id: str) -> str:
    known = resolve_source_id(engine, principal, id)
    if known is None:
        raise NotFound(
            f"Unknown source {id!r}.",
            remedy=f"Give ids or names of sources, or {NO_PASSAGES} or {ONLY_PASSAGES}.",
            field="sources",
        )
    source, number = split_passage_id(known)
    if number is not None:
        raise InvalidInput(
            f"{id} is a passage, not a source.",
            remedy=f"Give its source: {source}.",
            field="sources",
        )
    return load_visible_source(engine, principal, source, "sources").id


class WordedBy(StrEnum):
    MODEL = "model"
    RULES = "rules"


@dataclass(frozen=True, slots=True)
class DeepSearch:
    """How a deep query was searched."""

    by: WordedBy
    outcome: str  # of asking the model: answered, cached, no_model, over_budget, down, …
    phrasings: tuple[str, ...]  # that were searched besides the query


@dataclass(frozen=True, slots=True)
class RecallPlan:
    """A checked request."""

    query: str
    also: tuple[str, ...] = ()  # other wordings, searched too: an expansion must not find less
    deep: DeepSearch | None = None  # its phrasings may be a model's: they are fused
    k: int = 5
    budget_tokens: int | None = None
    filters: Filters = NO_FILTERS
    threshold: float | None = None
    strict: bool = False  # leave out weak hits
    wide: bool = False  # the caller has room for hits with hardly any evidence
    explain: bool = False
    thread_id: str | None = None
    turn: int | None = None  # of the thread; for the recall log
    logged_as: str | None = "recall"  # None: the caller logs it
    node: JournalNode = JournalNode.HOTPATH
    within: SearchTargets = ALL_TARGETS
    include_archived: bool = False  # archived passages at full weight, and archived graph items
    hits_only: bool = False  # the caller packs the hits and records the reads

    @property
    def wordings(self) -> tuple[str, ...]:
        topic = topic_of_template(self.query)
        return tuple(dict.fromkeys((self.query, *self.also, *((topic,) if topic else ()))))

    @property
    def phrasings(self) -> tuple[str, ...]:
        return self.deep.phrasings if self.deep else ()


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A parsed query: its terms, the people it names, the kind of answer it asks for."""

    query: str
    spoken: tuple[str, ...]  # all terms, in order
    terms: tuple[str, ...]  # distinct terms
    question: ParsedQuestion
    named: NamedPeople  # participants of sources
    names: frozenset[str]  # the terms of their names
    bare: str  # the query without their names
    proper: frozenset[str]  # capitalised terms
    of_time: frozenset[str]  # terms of a month or a year
    idle: frozenset[str]  # terms without content, such as question words
    is_overview: bool = False  # "what do you know about Noa?": the query is Noa
    asks_for_all: bool = False  # "what do you remember?": nothing to match
    abbreviations: tuple[AbbreviationMatch, ...] = ()
    long_forms: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)  # of terms

    @property
    def says_nothing(self) -> bool:
        """No words to search for, and no question about the user."""
        return not (self.terms or self.asks_for_all or self.question.of_the_user)

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts to embed: the query and, if it names participants, the query without names."""
        variants = (self.query,) if self.bare == self.query else (self.query, self.bare)
        return tuple(add_long_forms(text, self._abbreviations_in(text)) for text in variants)

    def _abbreviations_in(self, text: str) -> tuple[AbbreviationMatch, ...]:
        """Matches at their positions in ``text``, which differ once names are removed."""
        if text == self.query or not self.abbreviations:
            return self.abbreviations
        return tuple(
            build_terminology([each.abbreviation for each in self.abbreviations]).find_matches(text)
        )


def parse_query(
    query: str, people: Iterable[str], vocabulary: Terminology = NO_ABBREVIATIONS
) -> ParsedQuery:
    """Pure. Names are removed from a query only if other terms remain. A question for an overview
    is a search for its subject."""
    overview = parse_overview(query)
    query = overview.subject if overview and overview.subject else query
    abbreviations = tuple(vocabulary.find_matches(query))
    analysed = _without_chat_words(analyse(query))
    terms = tuple(islice(dict.fromkeys(analysed), MAX_TERMS))
    spoken = tuple(filter(frozenset(terms).__contains__, analysed))
    named = find_named_people(query, people)
    names = _terms_of(named.words)
    bare = remove_names(query, named)
    if not set(terms) - names:
        names, bare = frozenset(), query
    question = parse_question(query, named.words)
    return ParsedQuery(
        query=query,
        spoken=spoken,
        terms=terms,
        question=question,
        named=named,
        names=names,
        bare=bare,
        proper=_terms_of(capitalised_words(query)),
        of_time=_terms_of(question.time_words),
        idle=_terms_of(question.idle_words),
        is_overview=overview is not None,
        asks_for_all=overview is not None and overview.is_of_all,
        abbreviations=abbreviations,
        long_forms=query_synonyms(terms) | _long_forms(abbreviations),
    )


def _without_chat_words(terms: Sequence[str]) -> Sequence[str]:
    """ "whats", "u" and "n" are small words, too, where other words remain."""
    kept = [term for term in terms if term not in question_words("chat")]
    return kept or terms


def _long_forms(
    abbreviations: Iterable[AbbreviationMatch],
) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Map each term of an abbreviation to the terms of its long forms."""
    long_forms: dict[str, tuple[tuple[str, ...], ...]] = {}
    for each in abbreviations:
        terms = tuple(dict.fromkeys(analyse(each.abbreviation.long)))
        for short in dict.fromkeys(analyse(each.said)) if terms else ():
            long_forms[short] = (*long_forms.get(short, ()), terms)
    return long_forms


def _terms_of(words: Iterable[str]) -> frozenset[str]:
    return frozenset(term for word in words for term in analyse(word))
