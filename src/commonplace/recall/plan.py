"""A checked request, and what was understood of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from commonplace.language.analyse import analyse
from commonplace.language.asking.abbreviations import (
    NO_ABBREVIATIONS,
    Met,
    Terminology,
    terminology,
    with_long_forms,
)
from commonplace.language.names import Named, named_in, proper_words, without_names
from commonplace.language.question import Question, read_question
from commonplace.model.filters import NO_FILTERS, Filters
from commonplace.model.journal import Node
from commonplace.recall.within import EVERYWHERE, Within


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked request."""

    query: str
    k: int = 5
    budget_tokens: int | None = None
    filters: Filters = NO_FILTERS
    threshold: float | None = None
    explain: bool = False
    thread_id: str | None = None
    turn: int | None = None  # of the thread; for the recall log
    logged_as: str | None = "recall"  # None: whoever asks for it logs it
    node: Node = Node.HOTPATH
    within: Within = EVERYWHERE
    hits_only: bool = False  # whoever asks packs them, and notes what was read, in its own way


@dataclass(frozen=True, slots=True)
class Understood:
    """What a query says: its words, whom it names, what kind of answer it asks for."""

    query: str
    spoken: tuple[str, ...]  # its terms in their order
    terms: tuple[str, ...]  # each once
    question: Question
    named: Named  # of those who take part in some source
    names: frozenset[str]  # the terms of their names
    bare: str  # the query without them
    proper: frozenset[str]  # terms written like names, wherever they are from
    of_time: frozenset[str]  # terms that say a month or a year
    idle: frozenset[str]  # terms that say nothing about what is asked for
    met: tuple[Met, ...] = ()  # abbreviations
    long_forms: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)  # of terms

    @property
    def texts(self) -> tuple[str, ...]:
        """To embed: for those who hear the names, and for those who do not."""
        said = (self.query,) if self.bare == self.query else (self.query, self.bare)
        return tuple(with_long_forms(text, self._met_in(text)) for text in said)

    def _met_in(self, text: str) -> tuple[Met, ...]:
        """Without names, words stand elsewhere."""
        if text == self.query or not self.met:
            return self.met
        return tuple(terminology([each.abbreviation for each in self.met]).met_in(text))


def understand(
    query: str, people: Iterable[str], vocabulary: Terminology = NO_ABBREVIATIONS
) -> Understood:
    """Pure. Names come out of a query only while something is left of it."""
    met = tuple(vocabulary.met_in(query))
    spoken = tuple(analyse(query))
    terms = tuple(dict.fromkeys(spoken))
    named = named_in(query, people)
    names = _terms_of(named.words)
    bare = without_names(query, named)
    if not set(terms) - names:
        names, bare = frozenset(), query
    question = read_question(query, named.words)
    return Understood(
        query=query,
        spoken=spoken,
        terms=terms,
        question=question,
        named=named,
        names=names,
        bare=bare,
        proper=_terms_of(proper_words(query)),
        of_time=_terms_of(question.time_words),
        idle=_terms_of(question.idle_words),
        met=met,
        long_forms=_long_forms(met),
    )


def _long_forms(met: Iterable[Met]) -> dict[str, tuple[tuple[str, ...], ...]]:
    """By each term of an abbreviation, the terms that say the same, all together."""
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for each in met:
        terms = tuple(dict.fromkeys(analyse(each.abbreviation.long)))
        for short in dict.fromkeys(analyse(each.said)) if terms else ():
            found[short] = (*found.get(short, ()), terms)
    return found


def _terms_of(words: Iterable[str]) -> frozenset[str]:
    return frozenset(term for word in words for term in analyse(word))
