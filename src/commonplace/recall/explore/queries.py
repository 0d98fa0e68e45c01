"""What is really looked for: the queries asked, and those that are made from them. Pure.

Without a language model, further queries come from rules: one with the long forms of abbreviations,
one aimed at the people and things that are named, one at what is asked about them.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonplace.language.asking.abbreviations import Terminology, with_long_forms
from commonplace.language.names import named_in, without_names
from commonplace.model.graph.picture import Picture
from commonplace.recall.explore.asked import Asked, Query

FEWEST_WORDS = 2  # of a question that still asks something without its names


def executed(asked: Asked, picture: Picture, words: Terminology) -> tuple[Query, ...]:
    """In the order asked; each keeps the threshold of the query that it was made from."""
    if not asked.widen:
        return asked.queries
    names = [name for node in picture.nodes.values() for name in node.names]
    made = [
        Query(text, query.threshold)
        for query in asked.queries
        for text in _widened(query.query, names, words)
    ]
    return tuple({each.query: each for each in reversed([*asked.queries, *made])}.values())[::-1]


def _widened(query: str, names: list[str], words: Terminology) -> Iterator[str]:
    yield with_long_forms(query, words.met_in(query))
    named = named_in(query, names)
    if not named.people:
        return
    yield ", ".join(sorted(named.people))
    rest = without_names(query, named)
    if len(rest.split()) >= FEWEST_WORDS:
        yield rest
