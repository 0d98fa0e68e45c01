"""Why something was recalled, in one sentence a person understands. Pure."""

from __future__ import annotations

from commonplace.recall.fuse import MEANING, WORDS
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
}
_CONTEXT = (*WORDS[1:], *MEANING[1:])
_WORTH_SAYING = 0.12  # of the whole score
_MOST_REASONS = 3


def sentence(ranked: Ranked) -> str:
    told = [
        _detail(name, ranked)
        for name, part in sorted(_reasons(ranked).items(), key=lambda reason: -reason[1])
        if ranked.score > 0 and part / ranked.score >= _WORTH_SAYING
    ]
    return f"Recalled because {_listed(told) or 'nothing else came closer'}."


def _reasons(ranked: Ranked) -> dict[str, float]:
    """A memory stands alone: what its neighbours would say is what it says itself."""
    parts = dict(ranked.parts)
    around = sum(parts.pop(name, 0.0) for name in _CONTEXT)
    if ranked.is_passage:
        parts["context"] = around
    else:
        for name, whole in (("words", WORDS), ("meaning", MEANING)):
            parts[name] = sum(ranked.parts.get(each, 0.0) for each in whole)
    return {name: part for name, part in parts.items() if name in _WORDS}


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
