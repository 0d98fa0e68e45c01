"""Why something was recalled, in one sentence a person understands. Pure."""

from __future__ import annotations

from commonplace.recall.rank import Ranked

_WORDS = {
    "similarity": "its meaning is close",
    "keywords": "it holds the words asked for",
    "relation": "it is linked to other memories",
    "recency": "it is recent",
    "importance": "it is important",
}
_WORTH_SAYING = 0.12  # of the whole score


def sentence(ranked: Ranked) -> str:
    by_weight = sorted(ranked.parts.items(), key=lambda part: -part[1])
    told = [
        _detail(name, ranked)
        for name, part in by_weight
        if ranked.score > 0 and part / ranked.score >= _WORTH_SAYING
    ]
    reasons = " and ".join(told) if told else "nothing else came closer"
    return f"Recalled because {reasons}."


def _detail(name: str, ranked: Ranked) -> str:
    if name == "similarity" and ranked.similarity is not None:
        return f"{_WORDS[name]} ({ranked.similarity:.0%})"
    if name == "keywords" and ranked.held:
        return f"{_WORDS[name]} ({ranked.held:.0%} of them)"
    return _WORDS[name]
