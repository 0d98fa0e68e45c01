"""Words of a message that name a person or thing of the graph, also in lower case or misspelt."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from rapidfuzz.distance import OSA

from commonplace.engine.context import EngineContext
from commonplace.engine.graph_search.graph_view import (
    GraphView,
    find_nodes_by_name,
    fold_text,
)
from commonplace.engine.search.graph.matches import load_searchable_graph
from commonplace.language.fields.names import strip_hebrew_prefix
from commonplace.language.query.question import words_never_names
from commonplace.model.access.principal import Principal
from commonplace.model.graph.types import NodeType

MIN_NAME_LETTERS = 3
MIN_MISSPELT_LETTERS = 5  # in shorter words one letter makes another word
_WORD = re.compile(r"[^\W_]+")


def find_known_names(engine: EngineContext, principal: Principal, message: str) -> frozenset[str]:
    """The folded words of the message that name a visible node."""
    graph = load_searchable_graph(engine, principal)
    if graph is None:
        return frozenset()
    words = [fold_text(word) for word in _WORD.findall(message)]
    names = graph.view.people_by_word.keys()
    people = (word for word in words if _is_name_of_person(word, names))
    return frozenset(people) | (frozenset(_words_of_things(message, graph.view)) & set(words))


def _is_name_of_person(word: str, names: Collection[str]) -> bool:
    """Exactly, as a possessive without its apostrophe, or misspelt by one letter."""
    if len(word) < MIN_NAME_LETTERS or word in words_never_names():
        return False
    if not {word, word.removesuffix("s"), strip_hebrew_prefix(word)}.isdisjoint(names):
        return True
    return len(word) >= MIN_MISSPELT_LETTERS and any(
        word[0] == name[0] and OSA.distance(word, name, score_cutoff=1) <= 1
        for name in names
        if len(name) >= MIN_MISSPELT_LETTERS
    )


def _words_of_things(message: str, view: GraphView) -> Iterator[str]:
    """Of whole names that are written with a capital: "car" is no name."""
    for id in find_nodes_by_name(message, view):
        node = view.snapshot.nodes[id]
        for name in node.names if node.type is NodeType.ENTITY else ():
            if name[:1].isupper():
                yield from fold_text(name).split()
