"""Graph match: an item of the graph that matches a query, and how well."""

from __future__ import annotations

from dataclasses import dataclass

from commonplace.engine.graph_search.graph_texts import GraphItem
from commonplace.engine.search.rank import MEANING_SIGNALS, WEIGHTS, WORD_SIGNALS
from commonplace.model.graph.storylines import Macro, Storyline

ANSWER_EVIDENCE = 0.9  # of an edge with the relationship and the end that the question names
OVERVIEW_LIFT = 1.2  # of a node, if the question asks for anything about it
LATER_STORY = 0.01  # of evidence, that each story has less than the one before it

WORDS_WEIGHT = sum(map(WEIGHTS.of, WORD_SIGNALS))
MEANING_WEIGHT = sum(map(WEIGHTS.of, MEANING_SIGNALS))


@dataclass(frozen=True, slots=True)
class GraphMatch:
    item: GraphItem
    held: float  # the share of the query's terms that it holds
    similarity: float | None
    is_named: bool = False
    is_answer: bool = False  # the question asks for this relationship, or for this story
    is_sure: bool = True  # False: only its name is in the question, which asks for something else
    place: int = 0  # among the stories that a question asks for

    @property
    def is_story(self) -> bool:
        return isinstance(self.item, Storyline | Macro)

    @property
    def is_asked_story(self) -> bool:
        return self.is_story and self.is_answer

    @property
    def is_along(self) -> bool:
        """A story that is not asked for: it comes after all that answers."""
        return self.is_story and not self.is_answer

    @property
    def evidence(self) -> float:
        if self.is_asked_story:
            return ANSWER_EVIDENCE - LATER_STORY * self.place
        found = evidence_of(self.held, self.similarity)
        if self.is_answer:
            return max(found, ANSWER_EVIDENCE)
        return OVERVIEW_LIFT * found if self.is_named and self.held == 1 else found


def evidence_of(held: float, similarity: float | None) -> float:
    """If the similarity is unknown, words carry all of it."""
    return WORDS_WEIGHT * held + MEANING_WEIGHT * (held if similarity is None else similarity)
