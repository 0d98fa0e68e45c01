"""The order of an overview: "what do you know about Noa?" asks for each thing once. Pure.

The node comes first, since it sums up; then memories, then passages. Of hits that say nearly the
same, the first is enough: the others come later. A storyline comes last: it was not asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from commonplace.engine.search.pack import Hit
from commonplace.engine.search.supersession import EDGE_KIND
from commonplace.language.text.terms import analyse
from commonplace.model.sources.source import PASSAGE_KIND

SPARE = 12  # hits more than asked for, to choose from
_REPEATS = 0.6  # of its score, that a hit loses if an earlier one says all of it
_NODE_KIND = "node"
_STORY_KINDS = ("storyline", "macro")

Terms = frozenset[str]


def arrange_overview(hits: Sequence[Hit], subject: Terms, k: int) -> list[Hit]:
    """``subject``: the terms that all of them have."""
    terms = {hit.id: frozenset(analyse(hit.text)) - subject for hit in hits}
    nodes = [hit for hit in hits if hit.kind == _NODE_KIND and not hit.weak][:1]
    said: Terms = frozenset().union(*(terms[node.id] for node in nodes))
    stories = [hit for hit in hits if hit.kind in _STORY_KINDS]
    rest = [hit for hit in hits if hit not in (*nodes, *stories)]
    told = [hit for hit in rest if hit.kind != EDGE_KIND or not terms[hit.id] <= said]
    arranged = list(nodes)
    for weak, is_passage in product((False, True), (False, True)):
        group = [h for h in told if h.weak is weak and (h.kind == PASSAGE_KIND) is is_passage]
        arranged += _varied(group, terms, [terms[each.id] for each in arranged])
    return [*arranged, *stories][:k]


def _varied(hits: Sequence[Hit], terms: dict[str, Terms], before: list[Terms]) -> list[Hit]:
    """The best first, then always the one that adds most."""
    left, chosen = list(hits), []
    while left:
        best = max(left, key=lambda hit: hit.score * (1 - _REPEATS * _said(terms[hit.id], before)))
        left.remove(best)
        chosen.append(best)
        before = [*before, terms[best.id]]
    return chosen


def _said(terms: Terms, before: Sequence[Terms]) -> float:
    """The largest share of the terms that one earlier hit has."""
    return max((len(terms & each) / max(len(terms), 1) for each in before), default=0.0)
