"""Why something was recalled, in one sentence a person understands. Pure."""

from __future__ import annotations

from commonplace.recall.fuse import MEANING, WEIGHTS, WORDS
from commonplace.recall.rank import Ranked

_WORDS = {
    "meaning": "its meaning is close",
    "words": "it holds words asked for",
    "context": "what stands around it is about that",
    "speaker": "the one asked about said it",
    "date": "it was said at the time asked about",
    "answer": "it holds the kind of answer asked for",
    "relation": "it is linked to other memories",
    "recency": "it is recent",
    "importance": "it is important",
    "named": "the question calls it by name",
    "follows": "it follows a question like this one",
    "title": "another hit mentions it by its title",
    "graph": "names in the question lead to it",
}
_WORTH_SAYING = 0.12  # of the whole score
_MOST_REASONS = 3
_CLOSE = 0.2  # similarity


def sentence(ranked: Ranked) -> str:
    told = [
        _detail(name, ranked)
        for name, part in sorted(_reasons(ranked).items(), key=lambda reason: -reason[1])
        if ranked.score > 0 and part / ranked.score >= _WORTH_SAYING and _is_said(name, ranked)
    ]
    return f"Recalled because {_listed(told) or 'nothing else came closer'}."


def _reasons(ranked: Ranked) -> dict[str, float]:
    """A window holds the unit itself: what it says more than the unit is its neighbours' doing.
    What stands alone says all of it itself."""
    parts = dict(ranked.parts)
    around = 0.0
    for own, *wider in (WORDS, MEANING):
        said = parts.get(own, 0.0) / WEIGHTS.of(own)
        for name in wider:
            part = parts.pop(name, 0.0)
            beyond = max(0.0, part - said * WEIGHTS.of(name)) if ranked.has_neighbours else 0.0
            around += beyond
            parts[own] = parts.get(own, 0.0) + part - beyond
    parts["context"] = around
    return {name: part for name, part in parts.items() if name in _WORDS}


def _is_said(name: str, ranked: Ranked) -> bool:
    """Nearest is not yet close."""
    return name != "meaning" or ranked.similarity is None or ranked.similarity >= _CLOSE


def _listed(reasons: list[str]) -> str:
    reasons = reasons[:_MOST_REASONS]
    if len(reasons) < 3:
        return " and ".join(reasons)
    return f"{', '.join(reasons[:-1])} and {reasons[-1]}"


def _detail(name: str, ranked: Ranked) -> str:
    if name == "meaning" and ranked.similarity is not None:
        return f"{_WORDS[name]} ({ranked.similarity:.0%})"
    if name == "words" and ranked.held:
        return f"{_WORDS[name]} ({ranked.held:.0%} of them)"
    return _WORDS[name]
